//! Workers that die, hang, lie or answer nonsense: each costs one cell, which keeps the reason, and the study
//! continues.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Cell, assert_done, assert_failure, cells, folder, link_program, program, stdout, wait_for};

/// Three engines at one operation and two at another, so that what follows the fault can be seen.
const PLAN: &str = r#"
title = "Faults"
[measure]
precision = 0.0
budget_s = 0.4
min_blocks = 3
max_blocks = 6
block_ms = 30
discard_ms = 1
[[grid]]
operations = ["private"]
engines = ["own", "gmp", "textbook"]
bits = [512]
threads = [1]
[[grid]]
operations = ["public"]
engines = ["own", "textbook"]
bits = [512]
threads = [1]
"#;

#[test]
fn a_faulty_engine_costs_one_cell() {
    let rows = [
        ("wrong", "wrong"),
        ("fickle", "another output"),
        ("panic", "died"),
        ("exit", "died"),
        ("hang", "did not answer"),
        ("noise", "protocol"),
        ("refuse", "as the test wants it"),
    ];
    for (fault, words) in rows {
        let here = folder();
        let rsalab = with_faulty_gmp(here.path());
        fs::write(here.path().join("plan.toml"), PLAN).expect("the folder can be written to");
        let output = Command::new(rsalab)
            .current_dir(here.path())
            .env("FAULT", fault)
            .args(["study", "plan.toml", "--out", "study"])
            .args(["--give-up-after", patience(words)])
            .output()
            .expect("the program starts");
        assert_done(&output);
        assert_one_failure(&cells(&here.path().join("study")), "gmp", words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("FAILED"), "{fault}: {said}");
    }
}

/// The program in a folder of its own, with a faulty worker next to it.
pub(crate) fn with_faulty_gmp(folder: &Path) -> PathBuf {
    let target = program().parent().expect("it lies in a folder").to_owned();
    let faulty = target.join("examples/faulty-worker");
    assert!(
        faulty.is_file(),
        "{} is missing: run the tests of the whole package",
        faulty.display()
    );
    link_program(&faulty, &folder.join("rsalab-peer-gmp"));
    let rsalab = folder.join("rsalab");
    link_program(&program(), &rsalab);
    rsalab
}

#[test]
fn a_key_of_close_primes_is_not_taken_from_an_engine() {
    let here = folder();
    let rsalab = with_faulty_gmp(here.path());
    let output = Command::new(&rsalab)
        .current_dir(here.path())
        .env("FAULT", "close primes")
        .args(["keygen", "--engine", "gmp", "--bits", "512", "--insecure-size"])
        .args(["--out", "key.pem"])
        .output()
        .expect("the program starts");
    assert_failure(&output, 4, "Fermat's method factors its modulus");
    assert!(!here.path().join("key.pem").exists());
}

#[test]
fn a_program_of_the_users_own_is_an_engine_and_its_lies_cost_one_cell() {
    let rows = [
        ("", None),
        (r#"s/"operations":[0-9]*/"operations":0/"#, Some("without operations")),
        (r#"s/"operations":/"operations":-/"#, Some("protocol")),
        (r#"s/"elapsed_ns":[0-9]*/"elapsed_ns":1/g"#, Some("it reported")),
        (r#"s/"elapsed_ns":/"elapsed_ns":99/g"#, Some("it reported")),
        (r#"s/.*"block".*/Segmentation fault/"#, Some("protocol")),
    ];
    for (lie, words) in rows {
        let here = folder();
        let rsalab = with_own_engine(here.path());
        fs::write(here.path().join("plan.toml"), PLAN.replace("gmp", "mine")).expect("the folder can be written to");
        let run = |arguments: &[&str]| {
            Command::new(&rsalab)
                .current_dir(here.path())
                .env("LIE", lie)
                .args(arguments)
                .output()
                .expect("the program starts")
        };
        let listed = run(&["engines"]);
        assert_done(&listed);
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains("an engine of your own"), "{listed}");
        assert_done(&run(&["study", "plan.toml", "--out", "study"]));
        let cells = cells(&here.path().join("study"));
        match words {
            Some(words) => assert_one_failure(&cells, "mine", words),
            None => assert!(cells.iter().all(|cell| cell.state == "done"), "{cells:?}"),
        }
    }
}

/// The program in a folder of its own, next to it the engine `mine`: the textbook's, whose answers go through what the
/// environment variable `LIE` has for sed.
pub(crate) fn with_own_engine(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let rsalab = with_faulty_gmp(folder);
    fs::rename(folder.join("rsalab-peer-gmp"), folder.join("truthful")).expect("it is there");
    let program = folder.join("rsalab-peer-mine");
    let script = r#"#!/bin/sh
"$(dirname "$0")/truthful" | sed -u -e 's/"name":"gmp"/"name":"mine"/' -e "$LIE"
"#;
    fs::write(&program, script).expect("the folder can be written to");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    rsalab
}

#[test]
fn an_engine_without_code_for_this_cpu_is_unsupported_with_its_reason() {
    use std::os::unix::fs::PermissionsExt;
    let here = folder();
    let rsalab = with_faulty_gmp(here.path());
    // As a worker answers whose library is there and has nothing for this CPU.
    let script = r#"#!/bin/sh
read -r request
echo '{"answer":"error","kind":"unsupported","message":"gmp has no code for this CPU"}'
"#;
    let worker = here.path().join("rsalab-peer-gmp");
    // It is a link: written through, it would change the worker of every other test.
    fs::remove_file(&worker).expect("it is there");
    fs::write(&worker, script).expect("the folder can be written to");
    fs::set_permissions(&worker, fs::Permissions::from_mode(0o755)).expect("it is ours");
    fs::write(here.path().join("plan.toml"), PLAN).expect("the folder can be written to");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&rsalab);
        command.current_dir(here.path()).args(arguments);
        command.output().expect("the program starts")
    };
    assert_done(&run(&["study", "plan.toml", "--out", "study"]));
    for cell in cells(&here.path().join("study")) {
        let (state, reason) = match cell.engine.as_str() {
            "gmp" => ("unsupported", Some("gmp has no code for this CPU")),
            _ => ("done", None),
        };
        assert_eq!((cell.state.as_str(), cell.reason.as_deref()), (state, reason));
    }
    let listed = run(&["engines"]);
    assert!(
        stdout(&listed).contains("gmp: gmp has no code for this CPU"),
        "{}",
        stdout(&listed)
    );
}

#[test]
fn a_worker_that_is_killed_or_stopped_costs_one_cell() {
    for (signal, words) in [(Signal::KILL, "died"), (Signal::STOP, "did not answer")] {
        let here = folder();
        fs::write(here.path().join("plan.toml"), PLAN.replace("\"gmp\", ", "")).expect("the folder can be written to");
        let mut study = Command::new(program())
            .current_dir(here.path())
            .args(["study", "plan.toml", "--out", "study"])
            .args(["--give-up-after", patience(words)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let worker = wait_for("a worker", || worker_of(&study, "textbook"));
        kill_process(worker, signal).expect("it is there");
        assert!(study.wait().expect("it ends").success());
        assert_one_failure(&cells(&here.path().join("study")), "textbook", words);
    }
}

/// Seconds until an engine is given up: few where it hangs, and many where it is to end by itself, which it does slowly
/// on a busy machine.
fn patience(words: &str) -> &'static str {
    if words == "did not answer" { "4" } else { "120" }
}

#[track_caller]
fn assert_one_failure(cells: &[Cell], engine: &str, words: &str) {
    let failed: Vec<&Cell> = cells.iter().filter(|cell| cell.state == "failed").collect();
    let [failed] = failed[..] else {
        panic!("not one failure: {cells:?}")
    };
    assert_eq!(failed.engine, engine);
    let reason = failed.reason.as_deref().unwrap_or_default();
    assert!(reason.contains(words), "no '{words}' in: {reason}");
    assert!(
        cells.iter().all(|cell| cell.state == "done" || cell.state == "failed"),
        "{cells:?}"
    );
}

/// The child of a process that serves an engine.
pub(crate) fn worker_of(parent: &Child, engine: &str) -> Option<Pid> {
    let children = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name, in parentheses, may hold anything; the state and the parent follow it.
        let parent_pid: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        let words = fs::read(entry.path().join("cmdline")).ok()?;
        let serves = words.split(|&byte| byte == 0).any(|word| word == engine.as_bytes());
        (parent_pid == parent.id() && serves).then(|| Pid::from_raw(pid))?
    });
    children.into_iter().next()
}

//! SIGINT and SIGTERM: saved and stopped within two seconds, with the line that continues.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{assert_done, folder, open, program, run, wait_for};

/// Would run for an hour.
const PLAN: &str = r#"
title = "Long"
[measure]
precision = 0.0
budget_s = 1800.0
max_blocks = 1000000
block_ms = 100
[[grid]]
operations = ["private"]
engines = ["own", "textbook"]
bits = [512]
threads = [1]
"#;

const PATIENCE: Duration = Duration::from_secs(2);

#[test]
fn a_study_is_stopped_saved_and_resumed() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let here = folder();
        fs::write(here.path().join("plan.toml"), PLAN).expect("the folder can be written to");
        let study = start(here.path(), &["study", "plan.toml", "--out", "a study"]);
        wait_for("the first block", || blocks(here.path()).filter(|&count| count > 0));
        let (ended_with, stderr) = stop(study, &[signal]);
        assert_eq!(ended_with, Some(code), "{stderr}");
        assert!(stderr.contains("rsalab resume 'a study'"), "{stderr}");
        let stored = blocks(here.path());

        // A report of what there is can be had, and the study continues where it was.
        assert_done(&run(here.path(), ["report", "a study"]));
        let resumed = start(here.path(), &["resume", "a study"]);
        wait_for("another block", || {
            blocks(here.path()).filter(|count| Some(*count) > stored)
        });
        assert_eq!(stop(resumed, &[signal]).0, Some(code));
    }
}

#[test]
fn a_second_signal_does_not_wait() {
    let here = folder();
    fs::write(here.path().join("plan.toml"), PLAN).expect("the folder can be written to");
    let study = start(here.path(), &["study", "plan.toml", "--out", "a study"]);
    wait_for("the first block", || blocks(here.path()).filter(|&count| count > 0));
    // The first signal alone ends the study within milliseconds: whether the second finds it still there is a race.
    let (code, stderr) = stop(study, &[Signal::INT, Signal::TERM]);
    assert!(matches!(code, Some(130 | 143)), "{code:?} {stderr}");
}

#[test]
fn bench_stops_and_prints_what_it_has() {
    let here = folder();
    let arguments = [
        "bench",
        "--op",
        "private",
        "--bits",
        "512",
        "--engines",
        "own",
        "--seconds",
        "3600",
        "--json",
    ];
    let bench = start(here.path(), &arguments);
    thread::sleep(Duration::from_millis(1500));
    let (code, stderr) = stop(bench, &[Signal::INT]);
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("stopped"), "{stderr}");
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(program())
        .current_dir(folder)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Sends signals and waits for the end, which must come in time. Returns the exit code and standard error.
fn stop(child: Child, signals: &[Signal]) -> (Option<i32>, String) {
    let pid = Pid::from_child(&child);
    let begun = Instant::now();
    for signal in signals {
        kill_process(pid, *signal).expect("it is there");
    }
    let output = child.wait_with_output().expect("it ends");
    let took = begun.elapsed();
    assert!(took < PATIENCE, "it took {took:?} to stop");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Blocks that the study has stored; none as long as there is no database to be read.
fn blocks(folder: &Path) -> Option<i64> {
    let database = folder.join("a study/study.db");
    if !database.is_file() {
        return None;
    }
    open(&database)
        .query_row("SELECT count(*) FROM block", [], |row| row.get(0))
        .ok()
}

//! A system that refuses threads, or the files of a study: an error that says what was refused, no panic and no hang.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::Command,
};

use crate::support::{assert_done, assert_failure, cells, folder, link_program, program, run};

/// No system has addresses for a stack of so many bytes.
const ENDLESS: &str = "1152921504606846976";

const PLAN: &str = r#"
title = "Refused"
[measure]
precision = 0.0
budget_s = 0.1
min_blocks = 2
max_blocks = 2
block_ms = 30
discard_ms = 1
[[grid]]
operations = ["private", "public"]
engines = ["own", "textbook"]
bits = [512]
threads = [1]
"#;

/// Every file of a directory, and of those in it.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("it is there").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.path().is_dir() {
            true => files.extend(
                self::files(&entry.path())
                    .into_iter()
                    .map(|(below, bytes)| (format!("{name}/{below}"), bytes)),
            ),
            false => {
                files.insert(name, fs::read(entry.path()).expect("it can be read"));
            }
        }
    }
    files
}

#[test]
fn without_threads_a_cell_fails_and_a_report_is_still_drawn() {
    let here = folder();
    fs::write(here.path().join("plan.toml"), PLAN).expect("the folder can be written to");
    let without_threads = |arguments: &[&str]| {
        Command::new(program())
            .current_dir(here.path())
            .env("RUST_MIN_STACK", ENDLESS)
            .args(arguments)
            .output()
            .expect("the program starts")
    };
    let refused = without_threads(&["study", "plan.toml", "--quiet", "--out", "none"]);
    assert_failure(&refused, 4, "no cell was measured: 4 failed");
    for cell in cells(&here.path().join("none")) {
        let reason = cell.reason.unwrap_or_default();
        assert!(reason.contains("thread") && reason.contains("os error"), "{reason}");
    }

    assert_done(&run(here.path(), ["study", "plan.toml", "--quiet", "--out", "study"]));
    assert_done(&run(here.path(), ["report", "study", "--out", "with"]));
    assert_done(&without_threads(&["report", "study", "--out", "without"]));
    let without = files(&here.path().join("without"));
    assert_eq!(files(&here.path().join("with")), without);
    assert!(without.keys().any(|name| name.ends_with(".png")), "nothing was drawn");
}

#[test]
fn threads_of_a_job_that_are_refused_release_the_others() {
    // Room for a few stacks of 1 GiB: the input's, and some of the eight of the job.
    let output = Command::new("prlimit")
        .arg("--as=6442450944")
        .arg(program())
        .env("RUST_MIN_STACK", (1_u64 << 30).to_string())
        .args([
            "bench",
            "--quiet",
            "--op",
            "public",
            "--bits",
            "512",
            "--engines",
            "own",
        ])
        .args(["--threads", "8", "--seconds", "0.1", "--give-up-after", "20"])
        .output()
        .expect("the system has prlimit");
    assert_failure(&output, 4, "1 cell failed");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("of 8 threads could be started"), "{printed}");
}

#[test]
fn a_database_that_may_not_be_read_is_reported_as_such() {
    let here = folder();
    fs::write(here.path().join("plan.toml"), PLAN).expect("the folder can be written to");
    assert_done(&run(here.path(), ["study", "plan.toml", "--quiet", "--out", "study"]));
    let set_mode = |name: &str, mode: u32| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(here.path().join(name), mode).expect("it is ours");
    };
    // Something is left to do, so that going on with it must write.
    rusqlite::Connection::open(here.path().join("study/study.db"))
        .and_then(|database| database.execute_batch("UPDATE cell SET state = 'running'"))
        .expect("it is a database");
    link_program(&program(), &here.path().join("rsalab"));
    let modes = [
        ("", 0o755),
        ("study", 0o777),
        ("rsalab", 0o755),
        ("study/study.db", 0o000),
    ];
    modes.into_iter().for_each(|(name, mode)| set_mode(name, mode));
    // Permissions mean nothing to root, so that somebody else must type it.
    const NOBODY: u32 = 65_534;
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new(here.path().join("rsalab"));
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.current_dir(here.path()).args(arguments).output();
        output.expect("the program starts")
    };
    let refused = as_nobody(&["report", "study", "--out", "study/out"]);
    assert_failure(&refused, 5, "study/study.db: Permission denied");
    assert_failure(&refused, 5, "have its permissions changed");

    // It may be read, and not be written: that is no read-only file system.
    set_mode("study/study.db", 0o444);
    set_mode("study/study.lock", 0o666);
    let refused = as_nobody(&["resume", "study"]);
    assert_failure(&refused, 5, "study/study.db: Permission denied");
}

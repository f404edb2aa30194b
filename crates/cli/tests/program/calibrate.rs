//! `rsalab machine --calibrate`: real workers, one of them slowed by as much as nobody can overlook.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{assert_done, assert_failure, folder, program, run};

fn calibrate(more: &[&str]) -> Vec<String> {
    let common = "machine --calibrate --bits 512 --seconds 0.1 --json --allow-unoptimised";
    let common = common.split(' ').chain(more.iter().copied());
    common.map(str::to_owned).collect()
}

#[test]
fn an_engine_that_takes_a_hundred_times_as_long_is_found_out() {
    let here = folder();
    let output = run(
        here.path(),
        calibrate(&["--runs", "2", "--launches", "2", "--plant", "99"]),
    );
    assert_done(&output);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["is_complete"], true);
    assert_eq!(found["runs"].as_array().expect("runs").len(), 2);
    for run in found["runs"].as_array().expect("runs") {
        let speed = run["planted"]["to_first"]["value"].as_f64().expect("a ratio");
        // A hundredth. Whatever else runs here may take the CPU from the engine that it is beside, but not for
        // fifty times as long as that works.
        assert!(speed < 0.5, "{found}");
        assert!(run["equals"]["to_first"]["value"].is_f64(), "{found}");
    }
    assert_eq!(found["verdict"]["runs"], 2);
    assert_eq!(found["launches"], 2);
    let confidence = found["verdict"]["confidence"].as_f64().expect("a share");
    assert!((confidence - 0.5).abs() < 1e-9, "of two values: {found}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("run 2 of 2: with itself"), "{stderr}");
}

#[test]
fn a_signal_ends_it_with_what_was_found() {
    let here = folder();
    let mut calibration = Command::new(program())
        .current_dir(here.path())
        .args(calibrate(&["--runs", "10000"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stderr = BufReader::new(calibration.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.starts_with("run 1 of 10000") {
        line.clear();
        let read = stderr.read_line(&mut line).expect("lines are text");
        assert_ne!(read, 0, "it ended before its first run");
    }
    kill_process(Pid::from_child(&calibration), Signal::INT).expect("it runs");
    let mut stdout = String::new();
    let mut piped = calibration.stdout.take().expect("it is piped");
    piped.read_to_string(&mut stdout).expect("JSON is text");
    assert_eq!(calibration.wait().expect("it ends").code(), Some(130));
    let found: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(found["is_complete"], false);
    assert_eq!(found["verdict"]["runs"], found["runs"].as_array().expect("runs").len());
}

#[test]
fn a_slowed_worker_serves_nobody_who_has_not_asked_for_it() {
    let here = folder();
    let mut worker = crate::support::rsalab(here.path());
    let hello = "{\"request\":\"hello\",\"protocol\":1}\n";
    let output = worker
        .args(["worker", "--engine", "own", "--plant", "0.02"])
        .write_stdin(hello)
        .output()
        .expect("the program starts");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["engine"]["name"], "own with an injected delay");
    for command in ["bench --op private --engines", "study smoke --engines"] {
        let typed = command.split(' ').chain(["own with an injected delay"]);
        assert_failure(&run(here.path(), typed), 2, "there is no engine");
    }
}

//! A worker that is stopped in the middle of a block, as by SIGSTOP or a debugger, and continues.

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    support::{cells, folder, open, program, wait_for},
    workers::{with_own_engine, worker_of},
};

const PLAN: &str = r#"
title = "Pauses"
[measure]
precision = 0.0
budget_s = 20.0
min_blocks = 6
max_blocks = 6
block_ms = 300
discard_ms = 10
[[grid]]
operations = ["private"]
engines = ["textbook"]
bits = [512]
threads = [1]
"#;

#[test]
fn a_block_in_which_the_worker_was_stopped_is_marked_and_repeated() {
    let here = folder();
    fs::write(here.path().join("plan.toml"), PLAN).expect("the folder can be written to");
    let mut study = Command::new(program())
        .current_dir(here.path())
        .args(["study", "plan.toml", "--out", "study", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let place = here.path().join("study");
    wait_for("a block", || (stored(&place)? > 1).then_some(()));
    stop_for(&study, "textbook", Duration::from_secs(3));
    let mut printed = [String::new(), String::new()];
    let pipes = study.stdout.take().zip(study.stderr.take());
    let (mut stdout, mut stderr) = pipes.expect("both are pipes");
    stdout.read_to_string(&mut printed[0]).expect("it is text");
    stderr.read_to_string(&mut printed[1]).expect("it is text");
    assert!(study.wait().expect("it ends").success(), "{}", printed[1]);

    // Nothing that is measured took longer than it does, and every turn was measured.
    let cells = cells(&place);
    assert!(cells.iter().all(|cell| cell.state == "done"), "{cells:?}");
    let database = open(&place.join("study.db"));
    let number = |sql: &str| -> i64 {
        let number = database.query_row(sql, [], |row| row.get(0));
        number.expect("it can be asked")
    };
    assert!(number("SELECT max(elapsed_ns) FROM sample") < 1_500_000_000);
    assert_eq!(number("SELECT count(*) FROM block"), 6);
    let interrupted = number("SELECT count(*) FROM interrupted_block");
    assert!(interrupted >= 1, "the pause is not marked");
    // On a busy machine others are marked too, for another reason.
    let stopped = "SELECT count(*) FROM interrupted_block WHERE reason = 'its process was stopped'";
    assert!(number(stopped) >= 1, "the pause has another reason");

    // Whoever reads the answer, the log or the report hears of it.
    let answer: Value = serde_json::from_str(&printed[0]).expect("it is JSON");
    assert_eq!(answer["interrupted_blocks"], interrupted);
    assert!(
        printed[1].contains("a block was interrupted, and is repeated"),
        "{}",
        printed[1]
    );
    let results = fs::read_to_string(place.join("results.json")).expect("it is there");
    let results: Value = serde_json::from_str(&results).expect("it is JSON");
    let row = &results["groups"][0]["rows"][0];
    assert_eq!(row["interrupted_blocks"], interrupted);
    let notes = row["notes"].to_string();
    assert!(notes.contains("interrupted and"), "{notes}");
    let page = fs::read_to_string(place.join("report.html")).expect("it is there");
    assert!(page.contains("interrupted and"));
}

/// Ctrl-Z stops the program and none of its workers. An engine's own clock cannot show whose time that was.
#[test]
fn a_study_that_was_stopped_itself_blames_no_engine() {
    // On a busy machine the pause may fall between two requests, where it costs nothing and marks no block.
    let reason = (0..5)
        .find_map(|_| reason_after_a_pause())
        .expect("of five pauses one falls into a block");
    assert!(
        reason.starts_with("the program that measures did not run for 1."),
        "{reason}"
    );
}

/// Pauses a study, which must finish all the same; why a block was repeated, if one was.
fn reason_after_a_pause() -> Option<String> {
    let here = folder();
    let rsalab = with_own_engine(here.path());
    let plan = PLAN.replace("textbook", "mine");
    fs::write(here.path().join("plan.toml"), plan).expect("the folder can be written to");
    let mut study = Command::new(rsalab)
        .current_dir(here.path())
        .env("LIE", "")
        .args(["study", "plan.toml", "--quiet", "--out", "study"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let place = here.path().join("study");
    wait_for("a block", || (stored(&place)? > 1).then_some(()));
    pause(Pid::from_child(&study), Duration::from_millis(1500));
    let status = study.wait().expect("it ends");
    let cells = cells(&place);
    assert!(status.success(), "{status}: {cells:?}");
    assert!(cells.iter().all(|cell| cell.state == "done"), "{cells:?}");
    open(&place.join("study.db"))
        .query_row("SELECT max(reason) FROM interrupted_block", [], |row| row.get(0))
        .expect("it can be asked")
}

fn stop_for(study: &Child, engine: &str, time: Duration) {
    pause(wait_for("a worker", || worker_of(study, engine)), time);
}

fn pause(process: Pid, time: Duration) {
    kill_process(process, Signal::STOP).expect("it is there");
    thread::sleep(time);
    kill_process(process, Signal::CONT).expect("it is there");
}

/// Blocks in a database, once there is one.
fn stored(study: &Path) -> Option<i64> {
    let file = study.join("study.db");
    file.is_file().then_some(())?;
    let counted = open(&file).query_row("SELECT count(*) FROM block", [], |row| row.get(0));
    counted.ok()
}

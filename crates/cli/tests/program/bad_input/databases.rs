//! Databases that are none, or not ours, or damaged, or taken.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{blocks, finished_study, judge, refuse, split, write};
use crate::support::{assert_done, folder, open, program, run, wait_for};

#[test]
fn databases() {
    type Harm = fn(&Path);
    let here = folder();
    finished_study(here.path(), "good");
    let sql = |file: &Path, text: &str| {
        rusqlite::Connection::open(file)
            .and_then(|database| database.execute_batch(text))
            .expect("it is a database");
    };
    const AGAIN: &str = "restore it from a copy, or start the study again";
    #[rustfmt::skip]
    let rows: &[(&str, Harm, &[&str])] = &[
        (
            "missing",
            |file| fs::remove_file(file).expect("it is there"),
            &["there is no study in", "'rsalab study' printed"],
        ),
        (
            "empty",
            |file| fs::write(file, "").expect("it can be written"),
            &["is empty", "start the study again"],
        ),
        (
            "text",
            |file| fs::write(file, "a letter, ".repeat(999)).expect("it can be written"),
            &["is not a study's database", "Name the directory"],
        ),
        (
            "zeros",
            |file| fs::write(file, [0; 9999]).expect("it can be written"),
            &["is not a study's database", "Name the directory"],
        ),
        (
            "directory",
            |file| {
                fs::remove_file(file)
                    .and_then(|()| fs::create_dir(file))
                    .expect("it can be made")
            },
            &["it is not a file", "Name the directory"],
        ),
    ];
    #[rustfmt::skip]
    let statements: &[(&str, &str, &[&str])] = &[
        ("foreign", "PRAGMA application_id = 7", &["another program made it", "Name the directory"]),
        ("newer", "PRAGMA user_version = 99", &["newer rsalab", "its schema is 99", "use that version"]),
        ("older", "PRAGMA user_version = 0", &["no rsalab has written"]),
        ("without a table", "DROP TABLE sample", &["damaged", "sample", AGAIN]),
        ("without its plan", "DELETE FROM study", &["cannot be read", AGAIN]),
        ("strange job", "UPDATE cell SET job_json = '{}', state = 'planned'", &["holds a cell that cannot be read", AGAIN]),
        ("strange confidence", "UPDATE cell_group SET measure_json = json_set(measure_json, '$.confidence', 2.5); UPDATE cell SET state = 'planned'", &["'confidence'", AGAIN]),
    ];
    for (name, harm, words) in rows {
        refuse_copy(here.path(), name, harm, words);
    }
    for (name, statement, words) in statements {
        refuse_copy(here.path(), name, |file| sql(file, statement), words);
    }
    refuse_both(
        here.path(),
        "nowhere",
        7,
        &["there is no study in", "'rsalab study' printed"],
    );
    write(here.path(), "file", "precious");
    refuse_both(here.path(), "file", 5, &["name a directory"]);
    assert_done(&run(here.path(), ["resume", "good"]));
}

#[test]
fn databases_that_are_cut() {
    const PAGE: usize = 4096;
    let here = folder();
    finished_study(here.path(), "good");
    let whole = fs::read(here.path().join("good/study.db")).expect("there is a good one");
    // In the header, inside a page, and at its borders. What the pages hold differs from run to run: not one of
    // these may depend on it.
    let header = [1, 15, 16, 17, 18, 50, 99, 100, 101, 511, 512, 513];
    let borders = (PAGE..whole.len())
        .step_by(PAGE)
        .flat_map(|border| [border - 1, border, border + 1]);
    for cut in header.into_iter().chain(borders).chain([whole.len() - 1]) {
        let harm = |file: &Path| fs::write(file, &whole[..cut]).expect("it can be written");
        refuse_copy(here.path(), &format!("cut-at-{cut}"), harm, &["study.db"]);
    }
    assert_done(&run(here.path(), ["resume", "good"]));
}

/// Harms a copy of the good study, and checks what is said of it.
#[track_caller]
fn refuse_copy(here: &Path, name: &str, harm: impl Fn(&Path), words: &[&str]) {
    let study = here.join(name);
    fs::create_dir(&study).expect("the folder can be written to");
    let file = study.join("study.db");
    fs::copy(here.join("good/study.db"), &file).expect("there is a good one");
    harm(&file);
    refuse_both(here, name, 7, words);
    fs::remove_dir_all(&study).expect("it is there");
}

/// Neither a reader nor 'resume' can use it, and neither touches it.
#[track_caller]
fn refuse_both(here: &Path, name: &str, code: i32, words: &[&str]) {
    let words: Vec<&str> = [name].iter().chain(words).copied().collect();
    let rows = ["report", "resume --quiet"].map(|command| (format!("{command} '{name}'"), code, &words[..]));
    refuse(here, &rows);
}

#[test]
fn a_study_in_use() {
    let here = folder();
    write(
        here.path(),
        "plan.toml",
        "[measure]\nprecision = 0.0\nbudget_s = 120.0\nmax_blocks = 1000000\n
         [[grid]]\noperations = [\"private\"]\nengines = [\"own\"]\nbits = [512]\n",
    );
    let study = Command::new(program())
        .current_dir(here.path())
        .args(["study", "plan.toml", "--out", "busy"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let busy = here.path().join("busy");
    let has_more_than = |least: usize| busy.join("study.db").is_file() && blocks_so_far(&busy) > least;
    wait_for("the first block", || has_more_than(0).then_some(()));
    let pid = study.id().to_string();
    for (typed, code, words) in [
        (
            "resume busy",
            7,
            ["in use by another process", &pid, "wait for it to end, or stop it"],
        ),
        (
            "study plan.toml --out busy",
            2,
            ["holds a study already", "rsalab resume busy", "--out"],
        ),
    ] {
        let output = run(here.path(), split(typed.as_bytes()));
        judge(&output, code, &words).unwrap_or_else(|what| panic!("{typed}: {what}"));
    }
    // Who only reads is not turned away, and the study has not noticed.
    assert_done(&run(here.path(), ["report", "busy", "--out", "so far"]));
    let stored = blocks(&busy);
    wait_for("another block", || has_more_than(stored.len()).then_some(()));
    kill_process(Pid::from_child(&study), Signal::TERM).expect("it is there");
    let output = study.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(143));
    let after = blocks(&busy);
    assert!(stored.iter().all(|block| after.contains(block)), "a block was lost");
}

/// In the moment in which a database gets its log it cannot be read.
fn blocks_so_far(study: &Path) -> usize {
    open(&study.join("study.db"))
        .query_row("SELECT count(*) FROM block", [], |row| row.get(0))
        .unwrap_or(0)
}

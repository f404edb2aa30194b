//! `export --samples`: what a file holds, and that none is left half or lost.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::support::{assert_done, assert_failure, folder, open, program, run, stdout};

fn smoke(here: &Path) {
    let study = ["study", "smoke", "--engines", "own", "-q", "--out", "out"];
    assert_done(&run(here, study));
}

#[test]
fn the_samples_of_a_study_are_those_of_its_database_and_of_its_figures() {
    let here = folder();
    smoke(here.path());
    let path = here.path().join("samples.csv");
    let exported = run(here.path(), ["export", "out", "--samples", "--out", "samples.csv"]);
    assert_done(&exported);
    assert_eq!(stdout(&exported), "");
    let database = open(&here.path().join("out/study.db"));
    let samples: usize = database
        .query_row("SELECT count(*) FROM sample", [], |row| row.get(0))
        .expect("it has samples");
    let note = String::from_utf8_lossy(&exported.stderr);
    assert!(note.contains("written to samples.csv"), "{note}");

    let text = fs::read_to_string(&path).expect("it was made");
    let (head, rows) = text.split_once('\n').expect("a line of names");
    let names: Vec<&str> = head.split(',').collect();
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split(',').collect()).collect();
    let place = |name| names.iter().position(|it| *it == name).expect("a column");
    // On a busy machine blocks are measured again, and those that were are exported too.
    let kept = rows.iter().filter(|row| row[place("interruption")].is_empty());
    assert_eq!(kept.count(), samples);
    let results = fs::read_to_string(here.path().join("out/results.json")).expect("a report");
    let results: serde_json::Value = serde_json::from_str(&results).expect("it is JSON");
    let groups = results["groups"].as_array().expect("it has groups");
    for (number, group) in (1..).zip(groups) {
        let number: i64 = number;
        let is_counted =
            |row: &&Vec<&str>| row[place("group")] == number.to_string() && row[place("counted")] == "TRUE";
        let figure = |row: &Vec<&str>, name| row[place(name)].parse::<f64>().expect("a number");
        let mut times: Vec<f64> = rows
            .iter()
            .filter(is_counted)
            .map(|row| figure(row, "elapsed_ns") / figure(row, "operations"))
            .collect();
        times.sort_by(f64::total_cmp);
        let (low, high) = (times[(times.len() - 1) / 2], times[times.len() / 2]);
        let median = &group["rows"][0]["figures"]["ns_per_op"]["value"];
        assert_eq!(median.as_f64(), Some((low + high) / 2.0), "{group:#}");
    }

    // To standard output, and as Parquet by the name's ending.
    let printed = run(here.path(), ["export", "out", "--samples"]);
    assert_done(&printed);
    assert_eq!(stdout(&printed), text);
    let parquet = ["export", "out", "--samples", "--out", "samples.parquet"];
    assert_done(&run(here.path(), parquet));
    let bytes = fs::read(here.path().join("samples.parquet")).expect("it was made");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let piped = ["export", "out", "--samples", "--format", "parquet"];
    let piped = run(here.path(), piped);
    assert_done(&piped);
    assert_eq!(piped.stdout, bytes);

    // Whoever reads the beginning of a table has read enough.
    let mut child = Command::new(program())
        .current_dir(here.path())
        .args(["export", "out", "--samples"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    assert_done(&child.wait_with_output().expect("it ends"));
}

#[test]
fn nothing_is_overwritten_and_nothing_half_is_left() {
    let here = folder();
    let names = || {
        let entries = here.path().read_dir().expect("it is a folder");
        entries.count()
    };
    let export = |arguments: &[&str]| {
        let arguments = ["export"].iter().chain(arguments);
        run(here.path(), arguments)
    };
    fs::write(here.path().join("mine.csv"), "precious").expect("there is room");
    let missing = export(&["out", "--samples", "--out", "samples.csv"]);
    assert_failure(&missing, 7, "there is no study in out");
    assert_failure(&export(&["out"]), 2, "--samples");
    assert_failure(&export(&["out", "--samples", "--format", "xml"]), 2, "csv");
    assert_eq!(names(), 1);

    smoke(here.path());
    for format in ["csv", "parquet"] {
        let taken = ["out", "--samples", "--out", "mine.csv", "--format", format];
        assert_failure(&export(&taken), 5, "mine.csv exists already");
        let nowhere = ["out", "--samples", "--out", "no/where", "--format", format];
        assert_failure(&export(&nowhere), 5, "no/where");
        // A disk that is full.
        let full = Command::new(program())
            .current_dir(here.path())
            .args(["export", "out", "--samples", "--format", format])
            .stdout(fs::File::create("/dev/full").expect("Linux has it"))
            .output();
        let full = full.expect("the program starts");
        assert_failure(&full, 5, "cannot write standard output");
    }
    let mine = fs::read(here.path().join("mine.csv")).expect("it is there");
    assert_eq!(mine, b"precious");
    assert_eq!(names(), 2, "the study, and the file that was there");
}

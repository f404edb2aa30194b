//! Findings reach the exit code, whatever else happens.

use std::{fs, fs::File, path::Path, process::Command};

use crate::{
    support::{assert_done, assert_failure, folder, stdout},
    workers::with_faulty_gmp,
};

fn plan(engines: &str) -> String {
    format!(
        r#"
title = "Verdicts"
[measure]
precision = 0.0
budget_s = 0.1
min_blocks = 2
max_blocks = 2
block_ms = 30
discard_ms = 1
[[grid]]
operations = ["private"]
engines = [{engines}]
bits = [512]
threads = [1]
"#
    )
}

/// The program next to a worker whose answers are all wrong, with a study of these engines to do.
fn prepared(rsalab: &Path, here: &Path, engines: &str) -> Command {
    fs::write(here.join("plan.toml"), plan(engines)).expect("the folder can be written to");
    let mut command = Command::new(rsalab);
    command.current_dir(here).env("FAULT", "wrong");
    command
}

#[test]
fn a_study_without_a_measured_cell_has_failed() {
    let rows = [
        (r#""gmp""#, 4, "no cell was measured: 1 failed"),
        (
            r#""gmp", "cryptopp""#,
            4,
            "no cell was measured: 1 failed and 1 is not supported",
        ),
        (
            r#""cryptopp", "aws-lc""#,
            6,
            "no cell was measured: 2 are not supported",
        ),
    ];
    for (engines, code, words) in rows {
        let here = folder();
        let rsalab = with_faulty_gmp(here.path());
        let run = |arguments: &[&str]| {
            let mut command = prepared(&rsalab, here.path(), engines);
            command.args(arguments).output().expect("the program starts")
        };
        // A study that is complete is judged like one that has just been measured.
        for arguments in [
            &["study", "plan.toml", "--quiet", "--out", "study"][..],
            &["resume", "study", "--quiet"],
            &["resume", "study", "--quiet", "--json"],
        ] {
            let output = run(arguments);
            assert_failure(&output, code, words);
            assert_failure(&output, code, "study/report.html");
            assert!(stdout(&output).contains("study/report.html"), "{arguments:?}");
            assert!(here.path().join("study/report.html").is_file());
        }
        // A report is a report.
        assert_done(&run(&["report", "study"]));
    }

    let here = folder();
    let rsalab = with_faulty_gmp(here.path());
    for arguments in [&["study", "plan.toml", "--out", "study"][..], &["resume", "study"]] {
        let mut command = prepared(&rsalab, here.path(), r#""own", "gmp""#);
        let output = command.args(arguments).output().expect("the program starts");
        assert_done(&output);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("1 cell failed; the report has the reasons"), "{said}");
    }
}

/// Standard output that cannot be written is no excuse.
#[test]
fn a_verdict_outlives_standard_output() {
    let here = folder();
    let rsalab = with_faulty_gmp(here.path());
    let rows: &[(&[&str], &str)] = &[
        (
            &["study", "plan.toml", "--quiet", "--out", "study"],
            "no cell was measured",
        ),
        (&["resume", "study", "--json"], "no cell was measured"),
        (
            &[
                "bench",
                "--quiet",
                "--op",
                "private",
                "--bits",
                "512",
                "--engines",
                "gmp",
                "--seconds",
                "0.1",
            ],
            "1 cell failed",
        ),
        (
            &[
                "vectors",
                "--quiet",
                "--engines",
                "gmp",
                "--bits",
                "512",
                "--count",
                "2",
            ],
            "wrong",
        ),
    ];
    for (arguments, words) in rows {
        let full = File::options().write(true).open("/dev/full");
        let mut command = prepared(&rsalab, here.path(), r#""gmp""#);
        let output = command
            .args(*arguments)
            .stdout(full.expect("Linux has such a file"))
            .output()
            .expect("the program starts");
        assert_failure(&output, 4, words);
    }
}

//! `study`, `resume`, `report` and `bench`, from the command line to the files they leave.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::support::{assert_done, assert_failure, cells, folder, link_program, rsalab, run, stdout};

#[test]
fn smoke_runs_to_its_report() {
    let here = folder();
    let done = run(
        here.path(),
        ["study", "smoke", "--engines", "own,textbook", "--out", "out"],
    );
    assert_done(&done);
    let study = here.path().join("out");
    let last = stdout(&done).lines().last().expect("something is printed");
    assert_eq!(last, "report: out/report.html");
    // Each job's engines, the fastest first.
    let mut tables = 0;
    for table in stdout(&done).split("\n\n") {
        let lines = table.lines().skip_while(|line| !line.starts_with("engine "));
        let speed = |line: &str| -> Option<f64> {
            let number = line.split_whitespace().nth(1)?;
            number.replace(',', "").parse().ok()
        };
        let speeds: Vec<f64> = lines.skip(1).filter_map(speed).collect();
        assert!(speeds.is_sorted_by(|one, other| one >= other), "{table}");
        tables += usize::from(speeds.len() == 2);
    }
    assert!(tables >= 1, "{}", stdout(&done));
    for file in ["report.html", "results.csv", "results.json", "report.md", "study.db"] {
        assert!(study.join(file).is_file(), "{file} is missing");
    }
    let mode = fs::metadata(study.join("study.db"))
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o077, 0, "the database holds keys");
    let cells = cells(&study);
    assert!(cells.iter().any(|cell| cell.engine == "textbook"));
    assert!(
        cells
            .iter()
            .all(|cell| cell.state == "done" || cell.state == "unsupported"),
        "{cells:?}"
    );
    assert!(
        !cells.iter().any(|cell| cell.engine == "own" && cell.state != "done"),
        "{cells:?}"
    );

    // There is nothing left to do, and the report is a function of the database.
    let page = fs::read(study.join("report.html")).expect("it is there");
    let again = run(here.path(), ["report", "out", "--out", "elsewhere", "--json"]);
    assert_done(&again);
    let printed: serde_json::Value = serde_json::from_str(stdout(&again)).expect("it is JSON");
    assert_eq!(printed["report"], "elsewhere/report.html");
    let rankings = printed["rankings"].as_array().expect("a list");
    assert!(!rankings.is_empty());
    for ranking in rankings {
        let engines = ranking["engines"].as_array().expect("a list");
        let speed = |engine: &serde_json::Value| engine["ops_per_s"]["value"].as_f64().expect("a number");
        assert!(
            engines.is_sorted_by(|one, other| speed(one) >= speed(other)),
            "{ranking}"
        );
        assert!(stdout(&done).contains(ranking["title"].as_str().expect("a title")));
    }
    assert!(fs::read(here.path().join("elsewhere/report.html")).expect("it was made") == page);
    assert_done(&run(here.path(), ["resume", "out"]));

    let refused = run(here.path(), ["study", "smoke", "--out", "out"]);
    assert_failure(&refused, 2, "rsalab resume out");
}

#[test]
fn bench_prints_the_documented_rows() {
    let here = folder();
    let arguments = [
        "bench",
        "--op",
        "private",
        "--bits",
        "512,768",
        "--engines",
        "own,textbook",
        "--seconds",
        "0.2",
        "--json",
    ];
    let done = run(here.path(), arguments);
    assert_done(&done);
    let rows: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(stdout(&done)).expect("it is a list of objects");
    assert_eq!(rows.len(), 4);
    let mut fields: Vec<&str> = vec![
        "engine",
        "engine_version",
        "kernel",
        "op",
        "bits",
        "threads",
        "batch",
        "disturbance",
        "mode",
        "ops_per_s",
        "ns_per_op",
        "tsc_per_op",
        "ratio_to_first",
        "ledger",
        "notes",
    ];
    fields.sort_unstable();
    for row in &rows {
        let mut found: Vec<&str> = row.keys().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, fields);
        for interval in ["ns_per_op", "ratio_to_first"] {
            let part = |name: &str| row[interval][name].as_f64().expect("it is a number");
            assert!(
                part("low") <= part("median") && part("median") <= part("high"),
                "{row:?}"
            );
        }
    }
    assert_eq!(rows[0]["ratio_to_first"]["median"], 1.0);

    let table = run(
        here.path(),
        [
            "bench",
            "--op",
            "public",
            "--bits",
            "512",
            "--engines",
            "own",
            "--bare",
            "--seconds",
            "0.2",
        ],
    );
    assert_done(&table);
    assert!(stdout(&table).contains("per second"), "{}", stdout(&table));
}

#[test]
fn an_absent_engine_is_named_with_what_installs_it() {
    let here = folder();
    // A program without neighbours and with an empty prefix.
    let alone = here.path().join("rsalab");
    link_program(&crate::support::program(), &alone);
    let command = |arguments: &[&str]| {
        assert_cmd::Command::new(&alone)
            .current_dir(here.path())
            .env("RSALAB_PREFIX", here.path().join("prefix"))
            // As on a machine without a device, whatever this one has.
            .env("OCL_ICD_VENDORS", here.path())
            .env("CUDA_VISIBLE_DEVICES", "-1")
            .args(arguments)
            .output()
            .expect("the program starts")
    };
    let bench = command(&["bench", "--op", "private", "--engines", "own,gmp"]);
    assert_failure(&bench, 6, "rsalab-peer-gmp");
    let bench = command(&["bench", "--op", "private", "--engines", "own,gpu:article"]);
    assert_failure(&bench, 6, "no device, because ");

    let table = command(&["engines"]);
    assert_done(&table);
    let listing = command(&["engines", "--json"]);
    assert_done(&listing);
    let listing: serde_json::Value = serde_json::from_str(stdout(&listing)).expect("it is JSON");
    let engines = listing["engines"].as_array().expect("it lists the engines");
    for engine in engines {
        let name = engine["name"].as_str().expect("it has a name");
        assert!(stdout(&table).contains(name), "{}", stdout(&table));
        if ["own", "textbook"].contains(&name) {
            assert_eq!(engine["info"]["name"], name);
            continue;
        }
        assert_eq!(engine["present"], false);
        if name == "gpu" {
            let reason = engine["reason"].as_str().expect("there is a reason");
            assert!(reason.starts_with("no device, because "), "{reason}");
            assert!(stdout(&table).contains(reason), "{}", stdout(&table));
            assert!(
                engine["install"]
                    .as_str()
                    .is_some_and(|install| install.contains("pocl"))
            );
            continue;
        }
        let install = engine["install"].as_str().expect("there is a command that installs it");
        let builds = install.contains("--package rsalab-peer-") || install.ends_with("/build.sh");
        assert!(builds && stdout(&table).contains(install), "{name}: {install}");
    }
    assert!(engines.len() >= 5);

    // In a study it is a record, not an error.
    let study = command(&["study", "smoke", "--engines", "own,gmp,gpu", "--out", "out"]);
    assert_done(&study);
    let cells = cells(&here.path().join("out"));
    assert!(
        cells
            .iter()
            .filter(|cell| cell.engine != "own")
            .all(|cell| cell.state == "unsupported"),
        "{cells:?}"
    );
}

/// A library of drivers that is none: the reason is the loader's, and nothing panics.
#[test]
#[cfg(target_os = "linux")]
fn a_driver_that_does_not_load_is_a_reason() {
    let here = folder();
    fs::write(here.path().join("libOpenCL.so.1"), "no library").expect("it can be written");
    let command = |arguments: &[&str]| {
        rsalab(here.path())
            .env("LD_LIBRARY_PATH", here.path())
            .env("CUDA_VISIBLE_DEVICES", "-1")
            .args(arguments)
            .output()
            .expect("the program starts")
    };
    let bench = command(&["bench", "--op", "private", "--engines", "gpu"]);
    assert_failure(&bench, 6, "the OpenCL library cannot be loaded");
    let engines = command(&["engines"]);
    assert_done(&engines);
    assert!(stdout(&engines).contains("the OpenCL library cannot be loaded"));
}

/// A printed plan is a plan, with what the options change of it.
#[test]
fn a_plan_is_printed_and_read_again() {
    let here = folder();
    let printed = run(here.path(), ["study", "cpu-gpu", "--bits", "1280", "--print-plan"]);
    assert_done(&printed);
    let plan = stdout(&printed);
    assert!(
        plan.contains("bits = [1280]") && !plan.contains("bits = [1024]"),
        "{plan}"
    );
    fs::write(here.path().join("plan.toml"), plan).expect("it can be written");
    let again = run(here.path(), ["study", "plan.toml", "--print-plan"]);
    assert_done(&again);
    assert_eq!(stdout(&again), plan);
    let wrong = run(here.path(), ["study", "quick", "--bits", "100", "--print-plan"]);
    assert_failure(&wrong, 2, "--bits");
}

/// A study of a text that was given is one of this text, also when it is continued.
#[test]
fn a_text_of_ones_own_is_studied() {
    let here = folder();
    let text = "To be, or not to be\n";
    fs::write(here.path().join("my.txt"), text).expect("it can be written");
    let study = |arguments: &[&str]| {
        let study = [
            "study",
            "text-threads",
            "--engines",
            "own",
            "--threads",
            "1",
            "--repeats",
            "2",
        ];
        run(here.path(), [&study[..], arguments].concat())
    };
    let done = study(&[
        "--text",
        "my.txt",
        "--bits",
        "1024",
        "--out",
        "mine",
        "--allow-unoptimised",
    ]);
    assert_done(&done);
    let page = fs::read_to_string(here.path().join("mine/report.html")).expect("a report");
    assert!(page.contains("Texts are the beginnings of one that was given, of 20 bytes"));
    let csv = fs::read_to_string(here.path().join("mine/results.csv")).expect("results");
    assert!(csv.lines().count() == 3 && csv.contains("text_encrypt"), "{csv}");
    let printed = study(&["--text", "my.txt", "--symbols", "5,19", "--print-plan"]);
    assert_done(&printed);
    assert!(stdout(&printed).contains("symbols = [5, 19]") || stdout(&printed).contains("symbols = [19]"));
    let beyond = study(&["--text", "my.txt", "--symbols", "21", "--print-plan"]);
    assert_failure(&beyond, 2, "--text: the text has 20 bytes, and a cell takes 21 of it");
    assert_failure(&study(&["--text", "none.txt"]), 5, "cannot read the text from none.txt");
    fs::write(here.path().join("latin.txt"), b"caf\xe9").expect("it can be written");
    assert_failure(&study(&["--text", "latin.txt"]), 2, "is not UTF-8");
    fs::write(here.path().join("long.txt"), vec![b'a'; 1_000_001]).expect("it can be written");
    assert_failure(&study(&["--text", "long.txt"]), 2, "more than 1000000 bytes");
    assert_done(&run(here.path(), ["keygen", "--out", "key.pem"]));
    let of_key = study(&["--text", "key.pem", "--print-plan"]);
    assert_failure(&of_key, 2, "the text from key.pem holds a key");
    assert!(of_key.stdout.is_empty());
    assert_failure(&study(&["--text-typed", "--text", "my.txt"]), 2, "cannot be used with");
}

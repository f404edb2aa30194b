//! `profile`: made from a study, read by the commands, and not used on another machine.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::support::{assert_done, assert_failure, folder, rsalab, run, stdout, study_key};

const PLAN: &str = "title = 'Texts'\n[measure]\nprecision = 0\nbudget_s = 0.2\nmin_blocks = 2\nblock_ms = 20\ndiscard_ms = 1\n\
    [[grid]]\noperations = ['text_encrypt']\nengines = ['own']\nbits = [1024]\nthreads = [1, 2]\nsymbols = [100, 10_000]\n";

/// Measures, and makes a profile of it: other programs may disturb the tests' machine.
fn profile(here: &Path) -> Value {
    fs::write(here.join("plan.toml"), PLAN).expect("it can be written");
    assert_done(&run(here, ["study", "plan.toml", "-q", "--out", "study"]));
    let made = run(here, ["profile", "study", "--with-disturbed", "--out", "profile.json"]);
    assert_done(&made);
    assert!(stdout(&made).contains("text_encrypt"), "{}", stdout(&made));
    let text = fs::read_to_string(here.join("profile.json")).expect("it was made");
    serde_json::from_str(&text).expect("it is JSON")
}

fn write(here: &Path, name: &str, profile: &Value) {
    fs::write(here.join(name), profile.to_string()).expect("it can be written");
}

/// How many threads a text of so many bytes was encrypted on.
fn threads(here: &Path, symbols: usize, arguments: &[&str], variable: Option<&str>) -> (u64, String) {
    fs::write(here.join("text"), vec![b'a'; symbols]).expect("it can be written");
    let mut command = rsalab(here);
    command.args(["text-encrypt", "--key", "public.pem", "text", "--trace", "--json"]);
    command.args(arguments);
    if let Some(path) = variable {
        command.env("RSALAB_PROFILE", path);
    }
    let output = command.output().expect("the program starts");
    assert_done(&output);
    let stderr = String::from_utf8(output.stderr).expect("messages are text");
    let trace = stderr.lines().find(|line| line.starts_with('{')).expect("a trace");
    let trace: Value = serde_json::from_str(trace).expect("it is JSON");
    (trace["threads"].as_u64().expect("a number"), stderr)
}

#[test]
fn what_is_typed_comes_first_then_the_profile_then_what_is_built_in() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let mut own = profile(here);
    assert_eq!(own["rsalab_profile"], 1);
    let choices = own["choices"].as_array().expect("a list");
    let lengths: Vec<u64> = choices.iter().map(|it| it["symbols"].as_u64().unwrap()).collect();
    assert_eq!(lengths, [100, 10_000]);
    // Counts that nothing else would choose.
    (own["choices"][0]["threads"], own["choices"][1]["threads"]) = (5.into(), 7.into());
    write(here, "own.json", &own);
    let by_option = ["--profile", "own.json"];
    assert_eq!(threads(here, 100, &by_option, None).0, 5);
    assert_eq!(threads(here, 20_000, &by_option, None).0, 7);
    assert_eq!(threads(here, 20_000, &[], Some("own.json")).0, 7);
    assert_eq!(
        threads(here, 20_000, &["--profile", "own.json", "--threads", "3"], None).0,
        3
    );
    let built_in = std::thread::available_parallelism().expect("it is known").get() as u64;
    assert_eq!(threads(here, 100, &[], None).0, built_in);
    assert_eq!(threads(here, 100, &[], Some("")).0, built_in);

    // A kernel of the profile, and one that was typed.
    own["choices"][0]["kernel"] = "mont64x1_portable".into();
    write(here, "kernel.json", &own);
    let (_, steps) = threads(here, 100, &["--profile", "kernel.json", "-v"], None);
    assert!(
        steps.contains("profile: 5 threads, kernel mont64x1_portable"),
        "{steps}"
    );
    let typed = ["--profile", "kernel.json", "--kernel", "mont52x8_portable", "-v"];
    let (_, steps) = threads(here, 100, &typed, None);
    assert!(steps.contains("as typed, not kernel mont64x1_portable"), "{steps}");
    assert!(steps.contains("kernel: mont52x8_portable, as --kernel asks"), "{steps}");
}

#[test]
fn a_profile_of_another_cpu_is_not_used_and_a_damaged_one_is_refused() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let choice =
        json!({"operation": "text_encrypt", "bits": 1024, "symbols": 100, "threads": 9, "batch": 1, "engine": "own"});
    let other = json!({
        "rsalab_profile": 1, "made_by": "rsalab 0.1.0", "study": "Texts", "choices": [choice],
        "cpu": {"name": "Another CPU", "revision": "family 1, model 2, stepping 3", "cpus": 3},
    });
    write(here, "other.json", &other);
    let (count, words) = threads(here, 100, &["--profile", "other.json"], None);
    assert_ne!(count, 9);
    assert!(
        words.contains("other.json is not used: the profile is of Another CPU (family 1, model 2, stepping 3), 3 CPUs"),
        "{words}"
    );

    fs::write(here.join("bad.json"), "{\"rsalab_profile\": \"hush\"}").expect("it can be written");
    let encrypt = ["text-encrypt", "--key", "public.pem", "--text", "a", "--profile"];
    let bad = run(here, encrypt.into_iter().chain(["bad.json"]));
    assert_failure(&bad, 3, "bad.json");
    assert!(!String::from_utf8_lossy(&bad.stderr).contains("hush"));
    assert_failure(
        &run(here, encrypt.into_iter().chain(["missing.json"])),
        5,
        "missing.json",
    );
    assert_failure(&run(here, ["profile", "nowhere"]), 7, "nowhere");
}

#[test]
fn bench_takes_threads_and_batch_from_a_profile_that_is_named() {
    let here = folder();
    let here = here.path();
    let mut own = profile(here);
    let choice = json!({"operation": "public", "bits": 1024, "threads": 2, "batch": 4, "engine": "own"});
    own["choices"] = json!([choice]);
    write(here, "own.json", &own);
    let bench = |more: &[&str]| -> Value {
        let fixed = [
            "bench",
            "--op",
            "public",
            "--bits",
            "1024",
            "--engines",
            "own",
            "--seconds",
            "0.2",
            "--json",
            "-q",
        ];
        let output = rsalab(here)
            .args(fixed)
            .args(more)
            .env("RSALAB_PROFILE", "own.json")
            .output();
        let output = output.expect("the program starts");
        assert_done(&output);
        serde_json::from_str(stdout(&output)).expect("it is JSON")
    };
    let settings = |rows: &Value| (rows[0]["threads"].as_u64(), rows[0]["batch"].as_u64());
    // What is measured is what was typed: a variable does not change it.
    assert_eq!(settings(&bench(&[])), (Some(1), Some(1)));
    assert_eq!(settings(&bench(&["--profile", "own.json"])), (Some(2), Some(4)));
    assert_eq!(
        settings(&bench(&["--profile", "own.json", "--batch", "2"])),
        (Some(2), Some(2))
    );
}

#[test]
fn settings_are_compared_with_those_of_another_study() {
    let here = folder();
    let here = here.path();
    profile(here);
    assert_done(&run(here, ["study", "plan.toml", "-q", "--out", "again"]));
    let compared = run(
        here,
        ["profile", "study", "--with-disturbed", "--against", "again", "--json"],
    );
    // How fast settings are is the machine's affair.
    assert!(matches!(compared.status.code(), Some(0 | 4)), "{compared:?}");
    let rows: Value = serde_json::from_str(stdout(&compared)).expect("it is JSON");
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row["settings"], 2, "{row}");
        assert!(
            row["share"]["value"]
                .as_f64()
                .is_some_and(|share| share > 0.0 && share <= 1.0),
            "{row}"
        );
    }
}

//! `compare`: two studies beside each other, its exit code, its page and Bencher's format.

use std::{fs, path::Path};

use serde_json::Value;

use crate::support::{assert_done, assert_failure, folder, run, stdout};

/// A study of our engine alone, and the results of one in which everything took a fourth longer.
fn studies(here: &Path) {
    let study = ["study", "smoke", "--engines", "own", "-q", "--out", "base"];
    assert_done(&run(here, study));
    let results = fs::read_to_string(here.join("base/results.json")).expect("a report");
    let mut results: Value = serde_json::from_str(&results).expect("it is JSON");
    for group in results["groups"].as_array_mut().expect("groups") {
        // Whatever else runs here.
        group["rows"][0]["disturbance"] = Value::Null;
        let figures = &mut group["rows"][0]["figures"];
        // The smoke study has too few blocks for a verdict.
        for estimate in ["ops_per_s", "ns_per_op"] {
            let figure = &mut figures[estimate];
            let value = figure["value"].as_f64().expect("a number");
            *figure = serde_json::json!({
                "value": value, "low": value * 0.999, "high": value * 1.001, "confidence": 0.95, "n": 30
            });
        }
    }
    write(&here.join("before.json"), &results);
    for group in results["groups"].as_array_mut().expect("groups") {
        let figure = &mut group["rows"][0]["figures"]["ops_per_s"];
        for name in ["value", "low", "high"] {
            figure[name] = (figure[name].as_f64().expect("a number") / 1.25).into();
        }
    }
    write(&here.join("after.json"), &results);
}

fn write(path: &Path, results: &Value) {
    fs::write(path, results.to_string()).expect("it can be written");
}

#[test]
fn a_slower_engine_ends_with_the_code_that_was_asked_for() {
    let here = folder();
    let here = here.path();
    studies(here);
    let same = run(here, ["compare", "--fail-if", "changed", "before.json", "before.json"]);
    assert_done(&same);
    assert!(stdout(&same).contains("no change"), "{}", stdout(&same));

    let both = run(here, ["compare", "before.json", "after.json"]);
    assert_done(&both);
    let text = stdout(&both);
    assert!(text.contains("slower") && text.contains("0.8000"), "{text}");
    assert!(text.contains("no engine is known not to have changed"), "{text}");
    let judged = run(here, ["compare", "--fail-if", "slower", "before.json", "after.json"]);
    assert_failure(&judged, 4, "became slower");
    assert_eq!(stdout(&judged), text);
    // Faster is no failure, unless any change is.
    assert_done(&run(
        here,
        ["compare", "--fail-if", "slower", "after.json", "before.json"],
    ));
    let judged = run(here, ["compare", "--fail-if", "changed", "after.json", "before.json"]);
    assert_failure(&judged, 4, "became faster");

    let json = run(here, ["compare", "--json", "before.json", "after.json"]);
    let json: Value = serde_json::from_str(stdout(&json)).expect("it is JSON");
    assert_eq!(json["cells"][0]["values"][1]["change"]["verdict"], "slower");
    assert_eq!(json["studies"][0]["name"], "before.json");
    let sentences = json["summary"].as_array().expect("sentences");
    assert!(!sentences.is_empty());
    for sentence in sentences {
        assert!(text.contains(sentence.as_str().expect("a text")), "{sentence}\n{text}");
    }
}

#[test]
fn a_cell_that_failed_is_named_and_ends_with_the_code() {
    let here = folder();
    let here = here.path();
    studies(here);
    let results = fs::read_to_string(here.join("before.json")).expect("a report");
    let mut results: Value = serde_json::from_str(&results).expect("it is JSON");
    let row = &mut results["groups"][0]["rows"][0];
    row["figures"] = Value::Null;
    row["state"] = "failed".into();
    row["reason"] = "a wrong result".into();
    write(&here.join("failed.json"), &results);
    let row = &mut results["groups"][0]["rows"][0];
    row["state"] = "unsupported".into();
    write(&here.join("unsupported.json"), &results);

    let judged = run(here, ["compare", "--fail-if", "slower", "before.json", "failed.json"]);
    assert_failure(&judged, 4, "1 cell failed that the first study has");
    let text = stdout(&judged);
    assert!(
        text.contains("Failed in failed.json: 1 cell that before.json has a speed of, as own, "),
        "{text}"
    );
    assert!(text.contains("a wrong result"), "{text}");
    // What cannot be done elsewhere is no failure, and what nobody could do is not shown.
    let other = run(
        here,
        ["compare", "--fail-if", "changed", "before.json", "unsupported.json"],
    );
    assert_done(&other);
    let count = |one: &str, other: &str| {
        let json = run(here, ["compare", "--json", one, other]);
        let json: Value = serde_json::from_str(stdout(&json)).expect("it is JSON");
        json["cells"].as_array().expect("cells").len()
    };
    let all = count("before.json", "unsupported.json");
    assert_eq!(count("unsupported.json", "unsupported.json"), all - 1);

    assert_done(&run(
        here,
        ["compare", "--out", "page.html", "before.json", "failed.json"],
    ));
    let html = fs::read_to_string(here.join("page.html")).expect("a page");
    assert!(html.contains(">failed</td>"));
}

#[test]
fn a_page_is_made_once_and_a_study_stands_for_its_results() {
    let here = folder();
    let here = here.path();
    studies(here);
    let page = ["compare", "--out", "page.html", "base", "base/results.json"];
    assert_done(&run(here, page));
    let html = fs::read_to_string(here.join("page.html")).expect("a page");
    assert!(html.contains("2 studies compared") && html.contains("base/results.json"));
    assert_failure(&run(here, page), 5, "page.html");
    assert_eq!(fs::read_to_string(here.join("page.html")).expect("as it was"), html);

    let bencher = run(here, ["compare", "--bencher", "base"]);
    assert_done(&bencher);
    let measures: Value = serde_json::from_str(stdout(&bencher)).expect("it is JSON");
    let measures = measures.as_object().expect("benchmarks by name");
    assert!(!measures.is_empty());
    for (name, measure) in measures {
        assert!(name.ends_with(", own"), "{name}");
        assert!(measure["throughput"]["value"].as_f64() > Some(0.0));
        assert!(measure["latency"]["value"].as_f64() > Some(0.0));
    }
}

#[test]
fn what_is_no_study_is_refused() {
    let here = folder();
    let here = here.path();
    studies(here);
    assert_failure(&run(here, ["compare", "base"]), 2, "nothing to be compared with");
    assert_failure(&run(here, ["compare", "base", "nowhere"]), 7, "nowhere");
    fs::write(here.join("words"), "no report").expect("it can be written");
    assert_failure(&run(here, ["compare", "base", "words"]), 3, "words");
}

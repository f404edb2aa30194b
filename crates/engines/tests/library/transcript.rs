//! The transcript in `docs/src/reference/worker-protocol.md`, replayed: what the page shows is what a worker says.

use rsalab_engines::{Textbook, worker::serve};
use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/src/reference/worker-protocol.md");

/// Facts of the machine and the moment, which are not compared.
const VOLATILE: [&str; 8] = [
    "pid",
    "version",
    "optimised",
    "cpus",
    "oversubscribed",
    "block",
    "trace",
    "cpu",
];

#[test]
fn the_page_shows_what_a_worker_says() {
    let transcript: Vec<&str> = PAGE
        .lines()
        .filter(|line| line.starts_with("→ ") || line.starts_with("← "))
        .collect();
    let requests: String = transcript
        .iter()
        .filter_map(|line| line.strip_prefix("→ "))
        .map(|line| format!("{line}\n"))
        .collect();
    let shown: Vec<&str> = transcript.iter().filter_map(|line| line.strip_prefix("← ")).collect();
    let mut said = Vec::new();
    serve(&Textbook, &mut requests.as_bytes(), &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    let said: Vec<&str> = said.lines().collect();
    for (shown, said) in shown.iter().zip(&said) {
        assert_eq!(settled(shown), settled(said), "the worker said:\n{said}");
    }
    assert_eq!(shown.len(), said.len(), "the worker said:\n{}", said.join("\n"));
    assert!(shown.len() >= 12, "the page has lost its transcript");
}

#[test]
fn the_transcript_shows_requests_and_answers_of_every_kind() {
    for request in ["hello", "supports", "prepare", "outputs", "block", "release", "quit"] {
        assert!(PAGE.contains(&format!(r#"→ {{"request":"{request}""#)), "{request}");
    }
    for answer in [
        "hello",
        "supported",
        "unsupported",
        "prepared",
        "outputs",
        "block",
        "released",
        "bye",
        "error",
    ] {
        assert!(PAGE.contains(&format!(r#"← {{"answer":"{answer}""#)), "{answer}");
    }
}

/// The line without what differs from one machine and moment to the next; that the fields are there is compared.
fn settled(line: &str) -> Value {
    let mut value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    settle(&mut value);
    value
}

fn settle(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match VOLATILE.contains(&name.as_str()) {
                    true => *field = Value::Null,
                    false => settle(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(settle),
        _ => {}
    }
}

//! `rsalab audit`: exit codes, reports, and nothing secret.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use serde_json::Value;

use crate::support::{assert_done, assert_failure, folder, program, rsalab, run, stdout};

/// Two keys of 1024 bits that share a prime, and the prime, in hexadecimal.
pub(crate) const MODULI: [&str; 2] = [
    "d97b5640d90e9c9ed51d3e3548761934bdcfa254ae9272cf55f9e181c03645825d31aa58cacd3f9dbc71bf503f5c16ad3642\
     fe809cd0158265e05594804fe7ecf0fdf7b376019ba3e713675f3dc8d04e5c1c668057f1d570046affc7d91cb9e75bfb306e\
     01a2a5ae23f64f80344fa433eb549bb47e436299e84801da5d3e8ed9",
    "e2fe3b4504ee46fe9e24b786f6cc1bb18285a9dc991ff1183e0d112586bbaa37bf8d776d631175a1120ea4cd354467b30011\
     b37896d7e0a9feb921de0922dbc7fc268657357a78bdc30abcf41d9de2626ac78b244d19c0673a299f87f5e4ddaa6e45ba0b\
     54e2d80f4c26470356599b04ecb1ee1d4a1248c9206efcb902fe58a7",
];
const PRIME: &str = "f6f675cc81e74ef5e8e25d940ed904759531985d5d9dc9f81818e811892f902bd23f0824128b2f330c5c7fd0a6a3a4506513\
     270e269e0d37f2a74de452e6b7a7";

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn audit(here: &Path, words: &str) -> std::process::Output {
    run(here, format!("audit {words}").split(' '))
}

#[test]
fn sound_keys_pass_and_the_manifest_is_compared() {
    let here = folder();
    assert_done(&run(
        here.path(),
        ["keygen", "--count", "3", "--public", "--out", "keys"],
    ));
    let output = audit(here.path(), "keys");
    assert_done(&output);
    assert!(
        stdout(&output).contains("6 RSA keys (3 private), 3 different moduli: nothing found"),
        "{}",
        stdout(&output)
    );
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(
        talk.contains("7 files of") && talk.contains("of memory; from a sample"),
        "{talk}"
    );
    fs::remove_file(here.path().join("keys/key-000002.pem")).expect("it is there");
    let output = audit(here.path(), "keys --json");
    assert_failure(&output, 3, "the manifest names keys/key-000002.pem, which is not there");
    assert_eq!(lines(stdout(&output))[0]["finding"], "missing-file");
    assert_done(&audit(here.path(), "keys --fail-on high"));
    assert_done(&audit(here.path(), "keys --ignore missing-file"));
    assert_done(&audit(here.path(), "keys --estimate"));
    let output = audit(here.path(), "keys --estimate --json");
    assert_done(&output);
    let estimate: Value = serde_json::from_str(stdout(&output)).expect("JSON");
    assert_eq!(estimate["files"], 6);
    assert!(
        estimate["bytes"].as_u64() > Some(0) && estimate["keys"].is_u64(),
        "{estimate}"
    );
}

#[test]
fn findings_are_said_where_a_file_of_them_cannot_be_written_and_the_exit_code_says_that() {
    let here = folder();
    fs::write(here.path().join("moduli"), format!("{}\n{}\n", MODULI[0], MODULI[1])).expect("a file");
    let twice = audit(here.path(), "moduli --sarif s --junit s");
    assert_failure(&twice, 2, "s is named twice");
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = Command::new(program())
        .current_dir(here.path())
        .args(["audit", "moduli"])
        .stdout(full)
        .output()
        .expect("rsalab runs");
    assert_failure(&output, 5, "cannot write to standard output");
}

#[test]
fn shared_primes_are_named_by_their_files_and_written_only_on_request() {
    let here = folder();
    let at = |name: &str| here.path().join(name);
    fs::write(at("moduli"), format!("{}\n{}\n", MODULI[0], MODULI[1])).expect("a file");
    let words = "moduli --sarif a.sarif --junit a.xml --secret-primes primes --json";
    let output = audit(here.path(), words);
    assert_failure(&output, 3, "moduli, line 1");
    let found = lines(stdout(&output));
    assert_eq!(found[0]["finding"], "shared-prime");
    assert_eq!(
        (&found[0]["places"][0]["line"], &found[0]["places"][1]["line"]),
        (&1.into(), &2.into())
    );
    let secret = fs::read_to_string(at("primes")).expect("it was made");
    assert_eq!(
        lines(&secret)[0]["prime"].as_str().map(str::to_lowercase).as_deref(),
        Some(PRIME)
    );
    let mode = at("primes").metadata().expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let sarif = fs::read_to_string(at("a.sarif")).expect("it was made");
    let junit = fs::read_to_string(at("a.xml")).expect("it was made");
    let table = audit(here.path(), "moduli -vv");
    for text in [
        stdout(&output),
        &String::from_utf8_lossy(&output.stderr),
        stdout(&table),
        &String::from_utf8_lossy(&table.stderr),
        &sarif,
        &junit,
    ] {
        let text = text.to_lowercase();
        assert!(
            !text.contains(&PRIME[10..40]) && !text.contains(&PRIME[PRIME.len() - 40..]),
            "{text}"
        );
    }
    assert!(stdout(&table).contains("Heninger"), "{}", stdout(&table));
    // Nothing is overwritten, and that is known before the work.
    let again = audit(here.path(), words);
    assert_failure(&again, 5, "a.sarif exists already");
    assert!(again.stdout.is_empty());
}

#[test]
fn standard_input_may_be_an_archive() {
    let here = folder();
    assert_done(&run(here.path(), ["keygen", "--count", "2", "--out", "keys.tar"]));
    let archive = fs::read(here.path().join("keys.tar")).expect("it is there");
    let output = rsalab(here.path())
        .args(["audit", "-"])
        .write_stdin(archive.clone())
        .output()
        .expect("it starts");
    assert_done(&output);
    assert!(
        stdout(&output).contains("2 RSA keys (2 private)"),
        "{}",
        stdout(&output)
    );
    let torn = rsalab(here.path())
        .args(["audit", "-"])
        .write_stdin(&archive[..2500])
        .output()
        .expect("it starts");
    assert_failure(&torn, 3, "this archive is cut or damaged");
}

#[test]
fn what_makes_no_sense_is_refused_at_once() {
    let here = folder();
    fs::write(here.path().join("list"), "not a digest\n").expect("a file");
    for (words, code, sentence) in [
        ("missing", 5, "cannot read missing"),
        ("- -", 2, "two things cannot both be standard input"),
        (". --ignore nonsense", 2, "there is no such rule"),
        (". --memory 1", 2, "1M at the least"),
        (". --memory 99999999999G", 2, "1M at the least"),
        (". --blocklist list", 3, "line 1 of list is not of a list of keys"),
        (". --password-file missing", 5, "missing"),
    ] {
        assert_failure(&audit(here.path(), words), code, sentence);
    }
    assert_failure(&run(here.path(), ["audit"]), 2, "PATH");
}

#[test]
fn rules_are_listed() {
    let here = folder();
    let output = audit(here.path(), "--rules --json");
    assert_done(&output);
    let rules: Vec<Value> = serde_json::from_str(stdout(&output)).expect("JSON");
    assert!(rules.len() > 30 && rules.iter().all(|rule| rule["remedy"].is_string()));
    let table = audit(here.path(), "--rules");
    assert!(stdout(&table).contains("shared-prime") && stdout(&table).contains("critical"));
}

#[test]
fn known_keys_are_found_by_fingerprint() {
    let here = folder();
    assert_done(&run(here.path(), ["keygen", "--out", "key.pem"]));
    let output = run(here.path(), ["key", "check", "key.pem", "--json"]);
    let verdicts: Vec<Value> = serde_json::from_str(stdout(&output)).expect("JSON");
    let fingerprint = verdicts[0]["fingerprint"].as_str().expect("text");
    fs::write(
        here.path().join("list"),
        format!("# leaked\n{}\n", fingerprint.to_uppercase()),
    )
    .expect("a file");
    for command in [["audit", "key.pem", "--json"], ["key", "check", "key.pem"]] {
        let words: Vec<&str> = command.into_iter().chain(["--blocklist", "list"]).collect();
        let output = run(here.path(), &words);
        assert!(
            stdout(&output).contains("in the list of known weak keys list"),
            "{}",
            stdout(&output)
        );
    }
}

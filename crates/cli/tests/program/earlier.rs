//! Files of version 0.1.0 as of November 2026, in the folder `earlier`: this version reads all of them. Made by the
//! program itself, from one seed of keys; they are never made anew.

use std::{fs, path::Path};

use crate::support::{assert_done, assert_failure, folder, run, stdout};

/// The seed of the keys.
const SEED: &str = "4040404040404040404040404040404040404040404040404040404040404040";
/// SHA-256 of the file of the third key.
const THIRD: &str = "d6e224265d6ebf16553069d3ebdce2e072fea693f6249ca3bc717ac6c9d2ec9e";
const MESSAGE: &str = "a message of an earlier version\n";

/// The files in a folder that may be written to.
fn files() -> tempfile::TempDir {
    let here = folder();
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/earlier"),
        here.path(),
    );
    here
}

fn copy(from: &Path, to: &Path) {
    for entry in from.read_dir().expect("it is a folder") {
        let entry = entry.expect("it can be read");
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => {
                fs::create_dir(&to).expect("it is not there");
                copy(&entry.path(), &to);
            }
            false => drop(fs::copy(entry.path(), to).expect("it can be copied")),
        }
    }
}

/// The output of a command that succeeds.
#[track_caller]
fn printed(folder: &Path, typed: &str) -> String {
    let output = run(folder, typed.split(' '));
    assert_done(&output);
    stdout(&output).to_owned()
}

#[test]
fn keys_of_every_format_are_the_same_key() {
    let here = files();
    let public = fs::read_to_string(here.path().join("public.pem")).expect("it is there");
    for private in [
        "key.pem",
        "key.der",
        "key.pkcs1.pem",
        "key.pkcs1.der",
        "key.encrypted.pem --password-file password.txt",
        "key.jwk",
        "key.openssh",
    ] {
        assert_eq!(
            printed(here.path(), &format!("key public {private}")),
            public,
            "{private}"
        );
        let again = format!("key convert {private} --format pkcs1-der --out again");
        assert_done(&run(here.path(), again.split(' ')));
        let [again, known] = ["again", "key.pkcs1.der"].map(|name| fs::read(here.path().join(name)).expect("a key"));
        assert!(again == known, "{private}");
        fs::remove_file(here.path().join("again")).expect("it was made");
    }
    for file in ["public.pem", "public.pkcs1.pem", "public.openssh", "public.jwk"] {
        assert_eq!(printed(here.path(), &format!("key public {file}")), public, "{file}");
    }
    let checked = printed(here.path(), "key check keys.json --json");
    assert_eq!(checked.matches("\"private\": true").count(), 2, "{checked}");
}

/// Two of three keys are there: the third is the one that the earlier version would have made.
#[test]
fn a_folder_of_keys_is_gone_on_with() {
    let here = files();
    let typed = format!("keygen --bits 1024 --insecure-size --insecure-seed {SEED} --count 3 --out keys --json");
    let report = printed(here.path(), &typed);
    assert!(report.contains("\"made_now\": 1"), "{report}");
    let manifest = fs::read_to_string(here.path().join("keys/manifest.jsonl")).expect("it is there");
    let third = manifest.lines().last().expect("a line for each key");
    assert!(third.contains(THIRD), "{third}");
}

#[test]
fn messages_and_texts_are_decrypted() {
    let here = files();
    for typed in [
        "decrypt --key key.pem message.oaep.enc",
        "decrypt --key key.pem --scheme pkcs1v15 --encoding hex message.pkcs1v15.enc",
        "text-decrypt --key key.pem message.text",
    ] {
        assert_eq!(printed(here.path(), typed), MESSAGE, "{typed}");
    }
}

#[test]
fn signatures_are_verified_and_a_blind_one_is_finalized() {
    let here = files();
    for typed in [
        "verify --key public.pem message --sig message.pss.sig",
        "verify --key public.pem message --sig message.pkcs1v15.sig --scheme pkcs1v15 --encoding base64",
    ] {
        assert_eq!(printed(here.path(), typed), "message: OK\n", "{typed}");
    }
    printed(here.path(), "blind finalize --key public.pem message");
    assert_eq!(
        printed(here.path(), "blind verify --key public.pem message"),
        "message: OK\n"
    );
}

#[test]
fn a_study_is_exported_reported_and_complete() {
    let here = files();
    let known = fs::read_to_string(here.path().join("samples.csv")).expect("it is there");
    let exported = printed(here.path(), "export store --samples");
    // That version wrote truth values in small letters, and not of which study and machine a row is.
    assert_eq!(exported.lines().count(), known.lines().count());
    for (row, known) in exported.lines().zip(known.lines()) {
        let known = known.replace(",true,", ",TRUE,").replace(",false,", ",FALSE,");
        assert!(row.starts_with(&known), "{row} is not {known}");
    }
    let before = fs::read(here.path().join("store/study.db")).expect("it is there");
    let report = printed(here.path(), "report store --json");
    assert!(
        report.contains("\"done\": 3") && report.contains("\"unsupported\": 1"),
        "{report}"
    );
    let figures = fs::read_to_string(here.path().join("store/results.csv")).expect("it was made");
    assert_eq!(figures.lines().count(), 5, "{figures}");
    let after = fs::read(here.path().join("store/study.db")).expect("it is there");
    assert!(before == after, "a report changes no study");
    // The same pages from what the report says of itself.
    printed(here.path(), "report store/results.json --out again");
    for name in ["report.html", "report.md", "report.tex", "results.csv", "results.json"] {
        let [made, again] = ["store", "again"].map(|folder| fs::read(here.path().join(folder).join(name)));
        assert!(made.expect("it was made") == again.expect("it was made"), "{name}");
    }
    let refused = |line: &str, code, words| {
        assert_failure(&run(here.path(), line.split(' ')), code, words);
    };
    refused("report store/results.json", 2, "--out");
    refused(
        "report store/results.json --out again --batch-files",
        2,
        "--batch-files",
    );
    refused(
        "report samples.csv --out other",
        3,
        "is not the results.json of a report",
    );
    let resumed = printed(here.path(), "resume store --allow-unoptimised --json");
    assert!(resumed.contains("\"done\": 3"), "{resumed}");
}

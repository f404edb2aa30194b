//! `keygen`, and what is said of files that are not the key they should be.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use crate::support::{assert_done, assert_failure, folder, run, stdout};

#[test]
fn openssl_reads_a_key_in_every_format() {
    let here = folder();
    let formats = [
        ("pkcs8-pem", "PEM", "-pubin"),
        ("pkcs8-der", "DER", "-pubin"),
        ("pkcs1-pem", "PEM", "-RSAPublicKey_in"),
        ("pkcs1-der", "DER", "-RSAPublicKey_in"),
    ];
    for (format, form, public_structure) in formats {
        let (private, public) = (format!("{format}.key"), format!("{format}.pub"));
        let made = run(
            here.path(),
            ["keygen", "--format", format, "--out", &private, "--public-out", &public],
        );
        assert_done(&made);
        let mode = fs::metadata(here.path().join(&private))
            .expect("it was made")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{format}");

        let checked = openssl(
            here.path(),
            &["rsa", "-inform", form, "-in", &private, "-check", "-modulus", "-noout"],
        );
        let Some(checked) = checked else {
            eprintln!("SKIPPED: there is no openssl command to read the keys with");
            return;
        };
        assert!(checked.contains("RSA key ok"), "{format}: {checked}");
        let read = openssl(
            here.path(),
            &[
                "rsa",
                "-inform",
                form,
                "-in",
                &public,
                public_structure,
                "-modulus",
                "-noout",
            ],
        );
        let modulus = read.expect("openssl is there").trim().to_owned();
        assert!(
            modulus.len() == "Modulus=".len() + 512 && checked.contains(&modulus),
            "{format}: {modulus}"
        );
    }
}

/// Both streams of the command; none if there is no such command.
fn openssl(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("openssl")
        .current_dir(folder)
        .args(arguments)
        .output()
        .ok()?;
    let said = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn nothing_is_overwritten() {
    let here = folder();
    fs::write(here.path().join("taken"), "precious").expect("the folder can be written to");
    let rows: &[&[&str]] = &[
        &["keygen", "--out", "taken"],
        &["keygen", "--out", "new", "--public-out", "taken"],
    ];
    for arguments in rows {
        assert_failure(&run(here.path(), *arguments), 5, "taken exists already");
    }
    assert_eq!(fs::read(here.path().join("taken")).expect("it is there"), b"precious");
    assert!(!here.path().join("new").exists(), "half a pair of keys was left");
    assert_failure(
        &run(here.path(), ["keygen", "--out", "a", "--public-out", "a"]),
        2,
        "both name a",
    );
    assert_failure(&run(here.path(), ["keygen", "--out", "missing/key"]), 5, "missing/key");
}

#[test]
fn small_keys_are_made_on_demand_only() {
    let here = folder();
    assert_failure(
        &run(here.path(), ["keygen", "--bits", "1024", "--out", "key"]),
        2,
        "--insecure-size",
    );
    let odd = run(
        here.path(),
        ["keygen", "--bits", "1025", "--insecure-size", "--out", "key"],
    );
    assert_failure(&odd, 2, "1025");
    assert_failure(&run(here.path(), ["keygen", "--e", "4", "--out", "key"]), 2, "odd");
    let made = run(
        here.path(),
        ["keygen", "--bits", "1024", "--insecure-size", "--out", "key", "--json"],
    );
    assert_done(&made);
    let printed: serde_json::Value = serde_json::from_str(stdout(&made)).expect("it is JSON");
    assert_eq!((&printed["bits"], &printed["e"]), (&1024.into(), &65_537.into()));
    assert!(!stdout(&made).contains("BEGIN"), "the key itself is not printed");
}

#[test]
fn keys_of_three_primes_are_made_checked_and_used() {
    let here = folder();
    let here = here.path();
    let made = run(
        here,
        [
            "keygen",
            "--primes",
            "3",
            "--out",
            "key.pem",
            "--public-out",
            "public.pem",
            "--json",
        ],
    );
    assert_done(&made);
    assert!(stdout(&made).contains("\"primes\": 3"), "{}", stdout(&made));
    let checked = run(here, ["key", "check", "key.pem", "--strict", "--json"]);
    assert_done(&checked);
    assert!(stdout(&checked).contains("\"primes\": 3"), "{}", stdout(&checked));
    fs::write(here.join("message"), "of three primes").expect("a file");
    assert_done(&run(here, ["sign", "--key", "key.pem", "message"]));
    assert_done(&run(here, ["verify", "--key", "public.pem", "message"]));
    assert_done(&run(
        here,
        ["key", "convert", "key.pem", "--format", "jwk", "--out", "key.jwk"],
    ));
    assert_done(&run(
        here,
        [
            "key",
            "convert",
            "key.jwk",
            "--format",
            "pkcs8-pem",
            "--out",
            "again.pem",
        ],
    ));
    let again = fs::read(here.join("again.pem")).expect("it was written");
    assert!(again == fs::read(here.join("key.pem")).expect("it was made"));

    // Many, and the same command goes on; another number of primes is another command.
    let many = |primes: &str, count: &str| {
        let arguments = [
            "--bits",
            "1024",
            "--insecure-size",
            "--primes",
            primes,
            "--count",
            count,
        ];
        run(here, [&["keygen", "--out", "keys"][..], &arguments].concat())
    };
    assert_done(&many("3", "2"));
    assert_done(&many("3", "3"));
    assert_failure(&many("2", "4"), 2, "a number of primes of 3, and 2 was asked for");

    for (arguments, words) in [
        (&["--primes", "4"][..], "2 to 3 primes, not 4"),
        (&["--primes", "6"], "whole numbers from 2 to 5 are possible"),
        (&["--primes", "3", "--strict"], "cannot be used with"),
        (&["--primes", "3", "--engine", "openssl"], "cannot be used with"),
        (&["--primes", "3", "--format", "openssh"], "room for two"),
    ] {
        let refused = run(here, [&["keygen", "--out", "refused"], arguments].concat());
        assert_failure(&refused, 2, words);
        assert!(!here.join("refused").exists(), "{arguments:?}");
    }
    if let Some(answer) = openssl(here, &["rsa", "-in", "key.pem", "-check", "-noout"]) {
        assert!(answer.contains("RSA key ok"), "{answer}");
    } else {
        eprintln!("SKIPPED: there is no openssl command to read the keys with");
    }
}

#[test]
fn an_engine_makes_a_key_that_the_program_writes() {
    let here = folder();
    let output = run(
        here.path(),
        [
            "keygen",
            "--engine",
            "own",
            "--bits",
            "512",
            "--insecure-size",
            "--out",
            "key.pem",
            "--public-out",
            "public.pem",
            "--json",
        ],
    );
    assert_done(&output);
    let printed: serde_json::Value = serde_json::from_str(stdout(&output)).expect("JSON");
    assert_eq!(printed["engine"], "own");
    assert_eq!(printed["bits"], 512);
    let text = "from a key of an engine";
    let cipher = run(
        here.path(),
        ["text-encrypt", "--key", "public.pem", "--text", text, "--out", "cipher"],
    );
    assert_done(&cipher);
    let back = run(here.path(), ["text-decrypt", "--key", "key.pem", "cipher"]);
    assert_done(&back);
    assert_eq!(stdout(&back), text);
}

#[test]
fn an_engine_makes_many_keys_and_the_same_command_makes_those_that_are_missing() {
    let here = folder();
    let command = |count| {
        let bits = ["--bits", "256", "--insecure-size", "--threads", "2"];
        let out = ["--count", count, "--out", "keys", "--json"];
        run(here.path(), [&["keygen", "--engine", "own"][..], &bits, &out].concat())
    };
    let output = command("5");
    assert_done(&output);
    let printed: serde_json::Value = serde_json::from_str(stdout(&output)).expect("JSON");
    assert_eq!((&printed["count"], &printed["threads"]), (&5.into(), &2.into()));
    let key = here.path().join("keys/key-000003.pem");
    let before = fs::read(&key).unwrap();
    let output = command("21");
    assert_done(&output);
    let printed: serde_json::Value = serde_json::from_str(stdout(&output)).expect("JSON");
    assert_eq!(printed["made_now"], 16);
    assert_eq!(fs::read(&key).unwrap(), before);
    let mut files: Vec<_> = fs::read_dir(here.path().join("keys"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "pem"))
        .collect();
    files.sort();
    assert_eq!(files.len(), 21);
    let mut keys: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 21, "no key twice");
    let check = [&["key".into(), "check".into()][..], &files].concat();
    assert_done(&run(here.path(), check));
}

#[test]
fn an_engine_that_makes_no_keys_says_why() {
    let here = folder();
    for (engine, code, words) in [
        ("textbook", 6, "exponentiation only"),
        ("opensll", 2, "did you mean 'openssl'?"),
        ("own:mont9", 2, "mont9"),
    ] {
        let output = run(here.path(), ["keygen", "--engine", engine, "--out", "key.pem"]);
        assert_failure(&output, code, words);
        assert!(!here.path().join("key.pem").exists());
    }
    let both = [
        "keygen",
        "--engine",
        "own",
        "--kernel",
        "mont64x1_portable",
        "--out",
        "key.pem",
    ];
    assert_failure(&run(here.path(), both), 2, "leave one of them out");
}

#[test]
fn a_key_of_a_seed_says_that_it_protects_nothing() {
    let here = folder();
    let seed = "07".repeat(32);
    for format in ["pkcs8-pem", "pkcs1-pem", "openssh", "jwk"] {
        let output = run(
            here.path(),
            [
                "keygen",
                "--insecure-seed",
                &seed,
                "--format",
                format,
                "--out",
                format,
                "--json",
            ],
        );
        assert_done(&output);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("INSECURE"), "{said}");
        let printed: serde_json::Value = serde_json::from_str(stdout(&output)).expect("JSON");
        assert_eq!(printed["insecure"], true);
        // The file itself says so, and is a key that others read all the same.
        let checked = run(here.path(), ["key", "check", format]);
        assert_done(&checked);
        if format != "openssh" {
            let written = std::fs::read_to_string(here.path().join(format)).expect("it was made");
            assert!(written.contains("INSECURE: made from a seed"), "{written}");
        }
    }
    let public = run(here.path(), ["key", "public", "openssh", "--format", "openssh"]);
    assert_done(&public);
    let ordinary = run(here.path(), ["keygen", "--out", "key.pem", "--json"]);
    let printed: serde_json::Value = serde_json::from_str(stdout(&ordinary)).expect("JSON");
    assert_eq!(printed["insecure"], false);
}

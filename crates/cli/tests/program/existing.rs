//! Files that are there already: proved to be what would be made, or refused. Nothing is overwritten, and nothing is
//! taken on its name.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Output,
};

use crate::support::{assert_done, assert_failure, folder, run, study_key};

fn typed(here: &Path, line: &str) -> Output {
    run(here, line.split(' '))
}

fn write(here: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(here.join(name), bytes).expect("the folder can be written to");
}

fn read(here: &Path, name: &str) -> Vec<u8> {
    fs::read(here.join(name)).expect(name)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn ciphertexts_that_exist_are_not_taken_for_others() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let other = "keygen --bits 1024 --insecure-size --out other.pem --public-out other-public.pem";
    assert_done(&typed(here, other));
    write(here, "a", "first");
    write(here, "b", "second");
    assert_done(&typed(here, "encrypt --raw-oaep --key public.pem a b"));
    let before = (read(here, "a.enc"), read(here, "b.enc"));
    for line in [
        "encrypt --raw-oaep --key public.pem a b",
        "encrypt --raw-oaep --key other-public.pem a b",
        "encrypt --key public.pem --hash sha1 a b",
        "encrypt --key public.pem --label x a b",
    ] {
        let output = typed(here, line);
        assert_failure(&output, 5, "a: a.enc exists already, and only the private key");
        assert_failure(&output, 5, "2 of 2 ciphertexts not made");
        assert_failure(&output, 5, "move away what is in the way");
    }
    assert_eq!((read(here, "a.enc"), read(here, "b.enc")), before);
    // After a stop: what the user says is there is skipped, what is missing is made, and what cannot be one is named.
    write(here, "c", "third");
    let output = typed(here, "encrypt --raw-oaep --key public.pem --skip-existing a b c");
    assert_done(&output);
    assert!(said(&output).contains("1 ciphertext made, 2 there already"));
    write(here, "b.enc", [1; 127]);
    let output = typed(here, "encrypt --raw-oaep --key public.pem --skip-existing a b c");
    assert_failure(
        &output,
        5,
        "b.enc exists already, and has not the length of a ciphertext",
    );
    let output = typed(here, "encrypt --raw-oaep --key public.pem --skip-existing a --out new");
    assert_failure(&output, 2, "for several files");
}

#[test]
fn requests_that_exist_are_of_the_message_or_refused() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    write(here, "a", "first");
    write(here, "b", "second");
    for variant in ["", " --variant pss-deterministic", " --variant psszero-randomized"] {
        let line = format!("blind request --key public.pem a b{variant}");
        assert_done(&typed(here, &line));
        let again = typed(here, &line);
        assert_done(&again);
        assert!(said(&again).contains("0 requests made, 2 there already"));
        // Another message, and another's request.
        write(here, "a", "changed");
        fs::copy(here.join("a.blinded"), here.join("b.blinded")).expect("copied");
        let output = typed(here, &line);
        for name in ["a", "b"] {
            let words = format!("{name}: {name}.blinded or {name}.state exists already");
            assert_failure(&output, 5, &words);
        }
        write(here, "a", "first");
        for name in ["a.blinded", "a.state", "b.blinded", "b.state"] {
            fs::remove_file(here.join(name)).expect("it was made");
        }
    }
    let output = typed(here, "blind request --key public.pem a --out x --state x");
    assert_failure(&output, 2, "--out and --state both name x");
    assert!(!here.join("x").exists());
}

#[test]
fn keys_that_are_counted_are_looked_at() {
    const KEYGEN: &str = "keygen --bits 512 --insecure-size --public --count";
    let here = folder();
    let here = here.path();
    assert_done(&typed(here, &format!("{KEYGEN} 3 --out keys")));
    let more = format!("{KEYGEN} 4 --out keys");
    let manifest = String::from_utf8(read(here, "keys/manifest.jsonl")).expect("it is text");
    type Spoil = fn(&[u8], &[u8]) -> Vec<u8>;
    let spoilt: [Spoil; 4] = [
        |_, _| Vec::new(),
        |key, _| key[..key.len() - 40].to_vec(),
        |_, other| other.to_vec(),
        |key, _| key.iter().map(|byte| byte ^ 1).collect(),
    ];
    for name in ["key-000002.pem", "key-000002.pub.pem"] {
        let path = format!("keys/{name}");
        let key = read(here, &path);
        let other = read(here, &path.replace('2', "1"));
        for spoil in spoilt {
            write(here, &path, spoil(&key, &other));
            let output = typed(here, &more);
            assert_failure(&output, 5, "key 2 was changed, or is none");
            assert_eq!(fs::read_dir(here.join("keys")).expect("it is there").count(), 7);
        }
        write(here, &path, &key);
    }
    fs::remove_file(here.join("keys/key-000003.pub.pem")).expect("it was made");
    assert_failure(&typed(here, &more), 5, "keys/key-000003.pub.pem is missing");
    let public = "key public keys/key-000003.pem --out keys/key-000003.pub.pem";
    assert_done(&typed(here, public));

    // A line that says something else of a key, and two of one number.
    let tampered = |from: &str, to: &str| {
        write(here, "keys/manifest.jsonl", manifest.replacen(from, to, 1));
        typed(here, &more)
    };
    let second = "\"file\":\"key-000002.pem\"";
    let of_other = tampered(second, "\"file\":\"key-000001.pem\"");
    assert_failure(&of_other, 5, "key 2 was changed");
    let twice = tampered("\"number\":2,", "\"number\":1,");
    assert_failure(&twice, 3, "cannot be read");

    // Without digests, as an earlier version wrote it, and with files that somebody wrote anew: the same keys.
    let (lines, mut of_earlier) = (manifest.lines(), String::new());
    for line in lines {
        let end = line.find(",\"check\"").unwrap_or(line.len() - 1);
        of_earlier += &format!("{}}}\n", &line[..end]);
    }
    assert!(!of_earlier.contains("check") && manifest.contains("check"));
    write(here, "keys/manifest.jsonl", of_earlier);
    let with_line_ends = |name: &str| {
        let key = String::from_utf8(read(here, name)).expect("it is text");
        write(here, name, key.replace('\n', "\r\n"));
    };
    with_line_ends("keys/key-000001.pem");
    assert_done(&typed(here, &more));
    with_line_ends("keys/key-000004.pem");
    assert_done(&typed(here, &more));
}

/// An archive or a set that was stopped after some keys: its part, and its note.
fn stopped(here: &Path, options: &str, out: &str) -> (String, String) {
    // The file of 200 kB holds some of the keys, and not all; of one thread, also those that are written together (at
    // most 71). Of several, what one has made waits for all keys before it, and may be too long.
    let script = format!(
        "ulimit -f 400; exec \"$0\" keygen --bits 512 --insecure-size --count 1000 --threads 1 {options} --out {out}"
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .arg(crate::support::program())
        .current_dir(here)
        .output()
        .expect("there is a shell");
    assert_failure(&output, 5, "of 1,000 keys are made, in ");
    assert_failure(&output, 5, "ulimit -f");
    assert!(!here.join(out).exists());
    (format!("{out}.part"), format!("{out}.part.jsonl"))
}

#[test]
fn what_is_left_of_an_archive_is_said_and_looked_at() {
    let here = folder();
    let here = here.path();
    for (options, out) in [
        ("--public", "keys.tar"),
        ("--format jwk-set", "keys.json"),
        ("--format jwk-set --public", "both.json"),
    ] {
        let (part, note) = stopped(here, options, out);
        let lines = String::from_utf8(read(here, &note)).expect("it is text");
        let keys = read(here, &part);
        // No key is in it that has no line.
        let last = lines.lines().last().expect("there are some");
        let last: serde_json::Value = serde_json::from_str(last).expect("it is JSON");
        assert_eq!(last["end"], keys.len());
        assert!(last["number"].as_u64() > Some(10));

        let again = format!("keygen --bits 512 --insecure-size --count 1000 {options} --out {out}");
        let line = lines.lines().nth(3).expect("there are some");
        let entry: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        let end = entry["end"].as_u64().expect("a number");
        let digest = entry["sha256"].as_str().expect("a text");
        for (from, to) in [
            (format!("\"end\":{end}"), format!("\"end\":{}", end - 7)),
            (format!("\"end\":{end}"), format!("\"end\":{}", end + 512)),
            (format!("\"end\":{end}"), "\"end\":99999999999999".to_owned()),
            (digest.to_owned(), "ab".repeat(32)),
        ] {
            write(here, &note, lines.replacen(&from, &to, 1));
            let output = typed(here, &again);
            assert_failure(&output, 5, "was changed, or is none");
            assert_eq!(read(here, &part), keys);
        }
        write(here, &note, &lines);
        let mut changed = keys.clone();
        let before = lines.lines().nth(2).expect("there are some");
        let before: serde_json::Value = serde_json::from_str(before).expect("it is JSON");
        let start = before["end"].as_u64().expect("a number");
        changed[usize::try_from(start).expect("it is small") + 20] ^= 1;
        write(here, &part, &changed);
        assert_failure(&typed(here, &again), 5, "key 3 was changed, or is none");
        write(here, &part, &keys);
        // As after a copy: what goes on is its owner's only.
        fs::set_permissions(here.join(&part), fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert_done(&typed(here, &again));
        let mode = here.join(out).metadata().expect("it was made").mode();
        assert_eq!(mode & 0o777, 0o600, "{out}");
        assert!(here.join(out).exists() && !here.join(part).exists() && !here.join(note).exists());
    }
}

#[test]
fn a_failure_before_the_first_key_leaves_nothing_empty() {
    let here = folder();
    let here = here.path();
    for (blocks, out) in [
        (0, "keys"),
        (1, "keys"),
        (0, "keys.tar"),
        (1, "keys.tar"),
        (1, "keys.json"),
    ] {
        let format = if out == "keys.json" { "jwk-set" } else { "pkcs8-pem" };
        let script = format!("ulimit -f {blocks}; exec \"$0\" keygen --count 3 --format {format} --out {out}");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .arg(crate::support::program())
            .current_dir(here)
            .output()
            .expect("there is a shell");
        assert_failure(&output, 5, "ulimit -f");
        assert_eq!(fs::read_dir(here).expect("it is there").count(), 0, "{blocks} {out}");
    }
}

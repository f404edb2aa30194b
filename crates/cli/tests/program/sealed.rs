//! Sealed files: of any length, for several recipients, exchanged with age and rage; and what is left of changed ones.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::{assert_done, assert_failure, folder, rsalab, run, stdout, study_key};

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

fn message(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index * 167 / 5 + index / 251) as u8).collect()
}

#[test]
fn every_way_in_and_out() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    for len in [0, 1, 65_536, 1_000_000] {
        let message = message(len);
        write(here, "message", &message);
        for armor in ["", " --armor"] {
            let line = format!("encrypt --key public.pem{armor} message --out message.age");
            assert_done(&typed(here, &line));
            let file = read(here, "message.age");
            let begin = if armor.is_empty() {
                "age-encryption.org/v1\n"
            } else {
                "-----BEGIN AGE"
            };
            assert!(file.starts_with(begin.as_bytes()));
            assert_done(&typed(here, "decrypt --key key.pem message.age --out back"));
            assert!(read(here, "back") == message, "{len}{armor}");
            let piped = rsalab(here)
                .args(format!("encrypt --key public.pem{armor}").split(' '))
                .write_stdin(message.clone())
                .output()
                .expect("the program starts");
            assert_done(&piped);
            assert_ne!(piped.stdout, file, "each file has a key of its own");
            let back = rsalab(here)
                .args(["decrypt", "--key", "key.pem"])
                .write_stdin(piped.stdout)
                .output()
                .expect("the program starts");
            assert_done(&back);
            assert!(back.stdout == message, "{len}{armor}");
            for made in ["message.age", "back"] {
                fs::remove_file(here.join(made)).expect("it was made");
            }
        }
    }
    let sealed = typed(here, "encrypt --armor --key public.pem --text -x");
    assert_done(&sealed);
    write(here, "typed", &sealed.stdout);
    let verbose = typed(here, "decrypt -v --key key.pem typed");
    assert_eq!(stdout(&verbose), "-x");
    assert!(said(&verbose).contains("scheme: age's format"), "{}", said(&verbose));
}

#[test]
fn a_password_and_a_kid_are_for_the_first_key_alone() {
    let here = folder();
    let here = here.path();
    write(here, "secret", "a password\n");
    for line in [
        "keygen --bits 1024 --insecure-size --count 2 --format jwk-set --public --out set.json",
        "keygen --bits 1024 --insecure-size --format pkcs8-encrypted --password-file secret --out locked",
        "keygen --bits 1024 --insecure-size --out open",
        "key public open --out open.pub",
    ] {
        assert_done(&typed(here, line));
    }
    let verdicts = typed(here, "key check set.json --json");
    let verdicts: serde_json::Value = serde_json::from_slice(&verdicts.stdout).expect("it is JSON");
    let kid = verdicts[1]["jwk_thumbprint"].as_str().expect("a name");
    write(here, "message", "for two");
    assert_done(&typed(
        here,
        &format!("encrypt --key set.pub.json --kid {kid} -r open.pub message --out sealed"),
    ));
    assert_eq!(
        stdout(&typed(here, &format!("decrypt --key set.json --kid {kid} sealed"))),
        "for two"
    );
    assert_eq!(stdout(&typed(here, "decrypt --key open sealed")), "for two");
    // The password is read once.
    let sealed = rsalab(here)
        .args("encrypt --key locked --password-file - -r open.pub message --out again".split(' '))
        .write_stdin("a password\n")
        .output()
        .expect("the program starts");
    assert_done(&sealed);
    let unlocked = typed(here, "decrypt --key locked --password-file secret again");
    assert_eq!(stdout(&unlocked), "for two");
    assert_eq!(stdout(&typed(here, "decrypt --key open again")), "for two");
}

#[test]
fn recipients_in_every_format() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let recipients = [("pkcs1-pem", "one"), ("openssh", "two"), ("jwk", "three")];
    for (format, name) in recipients {
        let line = format!("keygen --bits 1024 --insecure-size --out {name}");
        assert_done(&typed(here, &line));
        assert_done(&typed(
            here,
            &format!("key public {name} --format {format} --out {name}.pub"),
        ));
    }
    write(here, "message", "for four");
    let line = "encrypt --key public.pem -r one.pub --recipient two.pub -r three.pub message --out sealed";
    assert_done(&typed(here, line));
    for name in ["key.pem", "one", "two", "three"] {
        let back = typed(here, &format!("decrypt --key {name} sealed"));
        assert_done(&back);
        assert_eq!(stdout(&back), "for four");
    }
    assert_done(&typed(here, "keygen --bits 1024 --insecure-size --out stranger"));
    let refused = typed(here, "decrypt --key stranger sealed --out back");
    assert_failure(&refused, 4, "not encrypted for this key");
    assert!(!here.join("back").exists());
    for (line, words) in [
        (
            "encrypt --key public.pem -r one.pub --raw-oaep message",
            "cannot be used with",
        ),
        (
            "encrypt --key public.pem --armor --scheme oaep message",
            "cannot be used with",
        ),
        (
            "encrypt --key public.pem --armor --encoding hex message",
            "cannot be used with",
        ),
        (
            "encrypt --key public.pem --raw-oaep --scheme pkcs1v15 message",
            "--raw-oaep is for",
        ),
        ("encrypt --key - -r - message", "cannot both be standard input"),
    ] {
        assert_failure(&typed(here, line), 2, words);
    }
    // A key whose file says what it is for.
    let jwk = String::from_utf8(read(here, "three.pub")).expect("it is text");
    for (name, member, code) in [
        ("sig", "\"use\":\"sig\"", 3),
        ("block", "\"alg\":\"RSA-OAEP-256\"", 3),
        ("enc", "\"use\":\"enc\"", 0),
    ] {
        write(here, name, jwk.replacen('{', &format!("{{{member},"), 1));
        let output = typed(here, &format!("encrypt --key {name} message --out {name}.age"));
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert_eq!(
            said(&output).contains("add --raw-oaep"),
            name == "block",
            "{}",
            said(&output)
        );
        assert_done(&typed(
            here,
            &format!("encrypt --any-use --key {name} message --out {name}.any"),
        ));
        assert_eq!(
            stdout(&typed(here, &format!("decrypt --key three {name}.any"))),
            "for four"
        );
    }
    let refused = typed(here, "decrypt --raw-oaep --key key.pem sealed");
    assert_failure(&refused, 3, "sealed is a sealed file, and no block");
}

#[test]
fn many_files_beside_blocks() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    for name in ["a", "b", "c"] {
        write(here, name, name.repeat(100_000));
    }
    assert_done(&typed(here, "encrypt --key public.pem a b"));
    let before = (read(here, "a.age"), read(here, "b.age"));
    let again = typed(here, "encrypt --key public.pem a b");
    assert_failure(&again, 5, "a: a.age exists already, and only the private key");
    let rest = typed(here, "encrypt --key public.pem --skip-existing a b c");
    assert_done(&rest);
    assert!(
        said(&rest).contains("1 sealed file made, 2 there already"),
        "{}",
        said(&rest)
    );
    assert_eq!((read(here, "a.age"), read(here, "b.age")), before);
    write(here, "a", "shorter");
    let other = typed(here, "encrypt --key public.pem --skip-existing a b c");
    assert_failure(
        &other,
        5,
        "a.age exists already, and has not the length and the recipients",
    );

    write(here, "d", "a block");
    assert_done(&typed(here, "encrypt --raw-oaep --key public.pem d --out d.enc"));
    let names = "decrypt --key key.pem a.age b.age c.age d.enc";
    assert_done(&typed(here, names));
    let messages = |names: &[&str]| names.iter().map(|name| read(here, name)).collect::<Vec<_>>();
    assert!(messages(&["b.age.dec", "c.age.dec", "d.enc.dec"]) == messages(&["b", "c", "d"]));
    let again = typed(here, names);
    assert_done(&again);
    assert!(
        said(&again).contains("0 messages made, 4 there already"),
        "{}",
        said(&again)
    );
    for (end, bytes) in [
        ("longer", "b".repeat(100_001)),
        ("shorter", "b".repeat(99_999)),
        ("other", "c".repeat(100_000)),
    ] {
        write(here, "b.age.dec", bytes);
        let other = typed(here, names);
        assert_failure(&other, 5, "b.age.dec exists already, and is no message of it");
        assert!(said(&other).contains("1 of 4 messages"), "{end}: {}", said(&other));
    }
}

#[test]
fn what_is_missing_of_files_as_text() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    for (name, len) in [("a", 0), ("b", 100_000), ("c", 47)] {
        write(here, name, message(len));
    }
    assert_done(&typed(here, "encrypt --armor --key public.pem a b"));
    let rest = typed(here, "encrypt --armor --key public.pem --skip-existing a b c");
    assert_done(&rest);
    assert!(
        said(&rest).contains("1 sealed file made, 2 there already"),
        "{}",
        said(&rest)
    );
    // They are not those of a command that makes no text.
    let others = typed(here, "encrypt --key public.pem --skip-existing a b");
    assert_failure(&others, 5, "a.age exists already, and has not the length");
    assert_done(&typed(here, "decrypt --key key.pem c.age --out back"));
    assert!(read(here, "back") == message(47));
}

/// Changes of a file, as many as are asked for.
fn changes(file: &[u8], other: &[u8], count: usize) -> Vec<Vec<u8>> {
    let header = file
        .windows(5)
        .position(|line| line == b"\n--- ")
        .expect("it has a MAC")
        + 5
        + 44
        + 16;
    let (chunk, mut state) = (65_552, 45_u64);
    let mut next = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut changed = Vec::with_capacity(count);
    while changed.len() < count {
        let mut new = file.to_vec();
        match changed.len() % 5 {
            0 => new[next(file.len())] ^= 1 << next(8),
            1 => new[next(header)] ^= 1 << next(8),
            2 => new.truncate(next(file.len())),
            3 => {
                let (first, second) = new[header..].split_at_mut(chunk);
                let len = second.len().min(1 + next(chunk));
                first[..len].swap_with_slice(&mut second[..len]);
            }
            _ => {
                let from = next(other.len());
                new.extend(&other[from..]);
            }
        }
        if new != file {
            changed.push(new);
        }
    }
    changed
}

fn all_are_refused(count: usize) {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    write(here, "message", message(150_000));
    write(here, "other", message(70_000));
    assert_done(&typed(here, "encrypt --key public.pem message other"));
    let (file, other) = (read(here, "message.age"), read(here, "other.age"));
    let changed = changes(&file, &other, count);
    // In parts, so that little lies on the disk.
    for (part, changed) in changed.chunks(500).enumerate() {
        let folder = here.join(part.to_string());
        fs::create_dir(&folder).expect("it can be made");
        let names: Vec<String> = (0..changed.len()).map(|number| format!("{number}.age")).collect();
        for (name, bytes) in names.iter().zip(changed) {
            write(&folder, name, bytes);
        }
        write(&folder, "list", names.join("\n"));
        let output = typed(&folder, "decrypt --key ../key.pem --files-from list");
        assert_eq!(output.status.code(), Some(4));
        let said = said(&output);
        let failures = said.lines().filter(|line| line.contains(": cannot decrypt ")).count();
        assert_eq!(failures, changed.len());
        let left = fs::read_dir(&folder).expect("it is there").count();
        assert_eq!(left, changed.len() + 1, "something was made");
        fs::remove_dir_all(&folder).expect("it was made");
    }
    // One by one: the same verdict, and nothing at the target.
    for bytes in changed.iter().take(25) {
        write(here, "changed", bytes);
        let output = typed(here, "decrypt --key key.pem changed --out back");
        assert_failure(&output, 4, "cannot decrypt changed");
        assert!(!here.join("back").exists());
        let piped = typed(here, "decrypt --key key.pem changed");
        assert_eq!(piped.status.code(), Some(4));
        assert!(message(150_000).starts_with(&piped.stdout) && piped.stdout.len() < 150_000);
    }
}

#[test]
fn changed_files_are_refused() {
    all_are_refused(300);
}

#[test]
#[ignore = "long: make test-all"]
fn ten_thousand_changed_files_are_refused() {
    all_are_refused(10_000);
}

/// Runs another program; none if it is not installed.
fn other(here: &Path, program: &str, arguments: &[&str], input: &[u8]) -> Option<Output> {
    write(here, "input", input);
    let input = fs::File::open(here.join("input")).expect("it was written");
    let started = Command::new(program)
        .args(arguments)
        .current_dir(here)
        .stdin(Stdio::from(input))
        .output();
    match started {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("SKIPPED: {program} is not installed");
            None
        }
    }
}

#[test]
fn age_and_rage_read_what_is_made_and_make_what_is_read() {
    let here = folder();
    let here = here.path();
    assert_done(&typed(here, "keygen --out key.pem --public-out public.pem"));
    assert_done(&typed(here, "key convert key.pem --format openssh --out key.openssh"));
    assert_done(&typed(here, "key public key.pem --format openssh --out key.pub"));
    assert_done(&typed(here, "keygen --out second.pem --public-out second.pub"));
    for program in ["age", "rage"] {
        if other(here, program, &["--version"], &[]).is_none() {
            continue;
        }
        for len in [0, 1, 65_536, 300_000] {
            let message = message(len);
            write(here, "message", &message);
            for armor in [false, true] {
                let mut line = "encrypt --key second.pub -r public.pem message".to_owned();
                let mut theirs = vec!["-e", "-R", "key.pub"];
                if armor {
                    line += " --armor";
                    theirs.push("-a");
                }
                let ours = typed(here, &line);
                assert_done(&ours);
                let opened = other(here, program, &["-d", "-i", "key.openssh"], &ours.stdout).expect("it is installed");
                assert!(opened.status.success(), "{program}: {}", said(&opened));
                assert!(opened.stdout == message, "{program}, {len} bytes");
                let made = other(here, program, &theirs, &message).expect("it is installed");
                assert!(made.status.success(), "{program}: {}", said(&made));
                write(here, "theirs", &made.stdout);
                let back = typed(here, "decrypt --key key.pem theirs");
                assert_done(&back);
                assert!(back.stdout == message, "{program}, {len} bytes");
            }
        }
    }
}

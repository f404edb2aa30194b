//! Verdicts, and what becomes of them when nobody reads: standard output that is closed, full, or read for one byte
//! only.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::{assert_done, assert_failure, folder, program, run, stdout, study_key};

/// The fate of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// It was closed before the program was started.
    Closed,
    /// It is a full disk.
    Full,
    /// It is a pipe whose reader went away after one byte.
    OneByte,
    /// It is a pipe whose reader is not there.
    Gone,
}

const READERS: [Reader; 4] = [Reader::Closed, Reader::Full, Reader::OneByte, Reader::Gone];

fn typed(here: &Path, line: &str) -> Output {
    run(here, line.split(' '))
}

/// Runs a command line before such a reader.
fn before(reader: Reader, here: &Path, line: &str) -> Output {
    let words = line.split(' ');
    let mut command = match reader {
        Reader::Closed => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "exec \"$@\" >&-", "sh"]).arg(program());
            shell
        }
        _ => Command::new(program()),
    };
    command
        .current_dir(here)
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    match reader {
        Reader::Closed => command.output().expect("there is a shell"),
        Reader::Full => {
            let full = File::options().write(true).open("/dev/full");
            let full = full.expect("Linux has it");
            command.stdout(full).output().expect("the program starts")
        }
        Reader::Gone => {
            // Gone before the program is started: what it writes goes nowhere, however soon.
            let (reader, writer) = io::pipe().expect("there are pipes");
            drop(reader);
            command.stdout(writer).output().expect("the program starts")
        }
        Reader::OneByte => {
            let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
            let mut pipe = child.stdout.take().expect("it is piped");
            // Where nothing comes, the program has ended.
            let _ = pipe.read(&mut [0]);
            drop(pipe);
            child.wait_with_output().expect("it ends")
        }
    }
}

/// More names than a pipe holds, so that its reader is missed however early the rest is written.
fn many(name: &str) -> String {
    vec![name; 20_000].join(" ")
}

#[test]
fn a_verdict_decides_the_exit_code_whoever_reads_it() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    fs::write(here.join("message"), "a message").expect("it can be written");
    assert_done(&typed(here, "sign --key key.pem message"));
    fs::write(here.join("changed"), "another message").expect("it can be written");
    fs::copy(here.join("message.sig"), here.join("changed.sig")).expect("it is there");
    fs::write(here.join("broken.pem"), "no key").expect("it can be written");
    let right = many("message");
    let wrong = [
        ("verify --key public.pem changed".to_owned(), 4),
        (format!("verify --key public.pem {right} changed"), 4),
        (format!("verify --json --key public.pem {right} changed"), 4),
        ("verify --key public.pem missing".to_owned(), 5),
        ("key check broken.pem".to_owned(), 3),
        ("key check --json broken.pem".to_owned(), 3),
        ("key check --strict --quiet key.pem".to_owned(), 3),
        ("key check missing".to_owned(), 5),
    ];
    for (line, code) in &wrong {
        for reader in READERS {
            let output = before(reader, here, line);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(*code), "{reader:?}: {said}");
        }
    }
    // What is right is right, unless the words of it could not be written to a disk.
    for line in [
        "verify --key public.pem message",
        "key check key.pem",
        "engines",
        "machine",
        "--help",
    ] {
        for reader in READERS {
            let output = before(reader, here, line);
            let code = if reader == Reader::Full { 5 } else { 0 };
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{reader:?} {line}: {said}");
        }
    }
}

#[test]
fn what_is_made_is_delivered_or_it_is_a_failure() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    fs::write(here.join("message"), vec![b'x'; 300_000]).expect("it can be written");
    fs::write(here.join("short"), "short").expect("it can be written");
    fs::write(here.join("zeros"), vec![0; 128 * 2000]).expect("it can be written");
    for line in [
        "text-encrypt --key public.pem message --out message.rsa",
        "encrypt --scheme oaep --key public.pem short --out short.enc",
    ] {
        assert_done(&typed(here, line));
    }
    let small = "--bits 512 --insecure-size --quiet";
    let lines = [
        format!("keygen {small} --out -"),
        format!("keygen {small} --count 300 --out -"),
        "sign --key key.pem message --sig -".to_owned(),
        "text-encrypt --quiet --key public.pem message".to_owned(),
        "encrypt --scheme oaep --key public.pem short".to_owned(),
        "text-decrypt --quiet --key key.pem message.rsa".to_owned(),
        "decrypt --scheme oaep --key key.pem short.enc".to_owned(),
        "raw-public --key public.pem --in zeros".to_owned(),
        "key public key.pem".to_owned(),
        "key convert key.pem --out -".to_owned(),
    ];
    let listed = || fs::read_dir(here).expect("it is there").count();
    let there = listed();
    for line in &lines {
        for reader in READERS {
            let output = before(reader, here, line);
            let said = String::from_utf8_lossy(&output.stderr);
            // What fits the pipe's buffer is taken by the system before the reader goes.
            let may_be_taken = reader == Reader::OneByte && output.status.code() == Some(0);
            if !may_be_taken {
                assert_failure(&output, 5, "standard output");
            } else {
                assert!(!line.contains("300") && !line.contains("message.rsa"), "{line}: {said}");
            }
            assert_eq!(listed(), there, "{line}");
        }
    }
    // Who throws the result away by name gets that.
    for line in &lines {
        let output = Command::new("sh")
            .args(["-c", "exec \"$@\" > /dev/null", "sh"])
            .arg(program())
            .args(line.split(' '))
            .current_dir(here)
            .output()
            .expect("there is a shell");
        assert_done(&output);
    }
    let stream = before(Reader::Gone, here, &format!("keygen {small} --count 300 --out -"));
    assert_failure(&stream, 5, "keys were written");
}

#[test]
fn a_study_and_its_report_are_made_whoever_reads() {
    let here = folder();
    let here = here.path();
    for (number, reader) in READERS.into_iter().enumerate() {
        let study = format!("study{number}");
        let line = format!("study smoke --engines own --quiet --out {study}");
        let code = if reader == Reader::Full { 5 } else { 0 };
        let output = before(reader, here, &line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{reader:?}: {said}");
        assert!(here.join(&study).join("report.html").is_file());
        fs::remove_file(here.join(&study).join("report.html")).expect("it is there");
        let output = before(reader, here, &format!("report {study}"));
        assert_eq!(output.status.code(), Some(code), "{reader:?}");
        assert!(here.join(&study).join("report.html").is_file());
    }
}

#[test]
fn every_file_has_a_verdict_of_its_own() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let names: Vec<String> = (0..600).map(|number| format!("file{number}")).collect();
    for name in &names {
        fs::write(here.join(name), name).expect("it can be written");
    }
    fs::write(here.join("list"), names.join("\n")).expect("it can be written");
    assert_done(&typed(here, "sign --key key.pem --files-from list"));
    fs::remove_file(here.join("file3")).expect("it is there");
    fs::remove_file(here.join("file300.sig")).expect("it is there");
    let verified = typed(here, "verify --key public.pem --files-from list");
    assert_failure(&verified, 5, "2 of 600 signatures not verified, the first: ");
    let lines: Vec<&str> = stdout(&verified).lines().collect();
    assert_eq!(lines.len(), 600);
    assert_eq!(lines.iter().filter(|line| line.ends_with(": OK")).count(), 598);
    assert!(
        lines[3].starts_with("file3: not verified (cannot read file3: No such file"),
        "{}",
        lines[3]
    );
    assert!(lines[300].contains("cannot read file300.sig"), "{}", lines[300]);

    // A wrong signature is graver; one that is too long is wrong, and is not read to its end.
    let long = File::create(here.join("file7.sig")).expect("it can be made");
    long.set_len(1 << 40).expect("a sparse file takes no room");
    let verified = typed(here, "verify --key public.pem --files-from list --json");
    assert_failure(
        &verified,
        4,
        "3 of 600 signatures not verified, the first: the signature of file7 is wrong",
    );
    let verdicts: serde_json::Value = serde_json::from_slice(&verified.stdout).expect("it is JSON");
    assert_eq!(verdicts[7]["verdict"], "FAILED");
    assert_eq!(verdicts[7]["reason"], "it is longer than 128 bytes");
    assert_eq!(verdicts[3]["verdict"], "unread");
    assert_eq!(verdicts[0]["verdict"], "OK");
    let alone = typed(here, "verify --key public.pem file7");
    assert_failure(&alone, 4, "the signature of file7 is wrong");
    assert!(!String::from_utf8_lossy(&alone.stderr).contains("split"));

    // A missing file does not stop the others from being signed, and the same command signs it later.
    for name in &names[..300] {
        let _ = fs::remove_file(here.join(format!("{name}.sig")));
    }
    let signed = typed(here, "sign --key key.pem --files-from list");
    assert_failure(&signed, 5, "file3: cannot read file3");
    assert_failure(&signed, 5, "1 of 600 signatures not made");
    fs::write(here.join("file3"), "file3").expect("it can be written");
    let signed = typed(here, "sign --key key.pem --files-from list");
    assert_done(&signed);
    let said = String::from_utf8_lossy(&signed.stderr);
    assert!(said.contains("1 signature made, 599 there already"), "{said}");
    assert_done(&typed(here, "verify --key public.pem --files-from list"));
}

#[test]
fn every_key_has_a_verdict_of_its_own() {
    let here = folder();
    let here = here.path();
    study_key(here, 2048);
    fs::write(here.join("empty"), "").expect("it can be written");
    fs::write(here.join("ec.pub"), "ecdsa-sha2-nistp256 AAAA").expect("it can be written");
    fs::write(here.join("password"), "not it\n").expect("it can be written");
    let encrypted = typed(
        here,
        "keygen --format pkcs8-encrypted --password-file list --out locked.pem",
    );
    assert_failure(&encrypted, 5, "cannot read list");
    fs::write(here.join("list"), "secret\n").expect("it can be written");
    assert_done(&typed(
        here,
        "keygen --format pkcs8-encrypted --password-file list --out locked.pem",
    ));
    let output = typed(
        here,
        "key check --json --password-file password empty missing key.pem ec.pub locked.pem public.pem",
    );
    assert_failure(&output, 3, "4 of 6 keys refused, the first");
    let verdicts: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let found: Vec<&str> = verdicts
        .as_array()
        .expect("a list")
        .iter()
        .map(|verdict| verdict["verdict"].as_str().expect("a word"))
        .collect();
    assert_eq!(
        found,
        ["unreadable", "unreadable", "good", "unsupported", "unreadable", "good"]
    );
    // Fingerprints are whole, in a table as in JSON.
    let shown = typed(here, "key check public.pem");
    let fingerprint = verdicts[5]["fingerprint"].as_str().expect("it has one");
    assert_eq!(fingerprint.len(), 64);
    assert!(stdout(&shown).contains(fingerprint));

    // Only what is wrong with a key is a reason to replace it.
    for (line, words) in [
        ("key check empty", "this file is empty"),
        ("key check ec.pub", "RSA keys only"),
        (
            "key check --password-file password locked.pem",
            "the first line of password is not its password",
        ),
    ] {
        let output = typed(here, line);
        assert_failure(&output, 3, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("do not use it"), "{line}: {said}");
        assert!(!said.contains("with --password-file"), "{line}: {said}");
    }
}

#[test]
fn names_forge_no_lines_and_command_no_terminal() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let names: [&[u8]; 4] = [
        b"a\nforged: OK",
        b"b\x1b[2K\x1b]0;title\x07",
        "c\u{202e}gpj.\u{2028}".as_bytes(),
        b"d\xff\rforged",
    ];
    for name in names {
        let name = std::ffi::OsStr::from_bytes(name);
        fs::write(here.join(name), "text").expect("it can be written");
        assert_done(&run(
            here,
            [std::ffi::OsStr::new("sign"), "--key".as_ref(), "key.pem".as_ref(), name],
        ));
        fs::write(here.join(name), "changed").expect("it can be written");
        for command in [
            "verify --key public.pem",
            "key check",
            "text-decrypt --quiet --key key.pem",
            "text-encrypt --key public.pem --out public.pem",
        ] {
            let words = command.split(' ').map(std::ffi::OsStr::new);
            let output = run(here, words.chain([name]));
            assert_ne!(output.status.code(), Some(0), "{command}");
            for text in [&output.stdout, &output.stderr] {
                let text = String::from_utf8_lossy(text);
                let is_forged = |line: &str| line.starts_with("forged");
                assert!(!text.lines().any(is_forged), "{command}: {text:?}");
                let commands = |character: char| {
                    (character.is_control() && character != '\n') || matches!(character, '\u{202e}' | '\u{2028}')
                };
                assert!(!text.contains(commands), "{command}: {text:?}");
            }
        }
    }
}

//! Standard streams that nobody reads, that are full, or that are closed.

use std::{
    fs::File,
    process::{Command, Stdio},
};

use super::{finished_study, judge, split};
use crate::support::{assert_done, assert_failure, folder, program, run, study_key};

#[test]
fn streams() {
    let here = folder();
    study_key(here.path(), 512);
    finished_study(here.path(), "good");
    let made = run(
        here.path(),
        split(b"text-encrypt --key public.pem --text 'some text' --out text.rsa"),
    );
    assert_done(&made);
    let talkative = [
        "engines",
        "engines --json",
        "machine",
        "machine --json",
        "--help",
        "study --help",
        "--version",
        "completions bash",
        "report good --out elsewhere",
        "resume good --json",
        "vectors --engines own --bits 512 --count 1 --json --quiet",
        "bench --op public --bits 512 --engines own --seconds 0.1 --quiet",
    ];
    let start = |typed: &str| {
        let mut command = Command::new(program());
        command
            .current_dir(here.path())
            .args(split(typed.as_bytes()))
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        command
    };
    for typed in talkative {
        // Whoever stops reading has had enough: that is no failure.
        let mut child = start(typed).stdout(Stdio::piped()).spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{typed}: {said}");
        assert!(!said.contains("rsalab:"), "{typed}: {said}");

        // A full disk is one.
        let full = File::options().write(true).open("/dev/full");
        let output = start(typed)
            .stdout(full.expect("Linux has it"))
            .output()
            .expect("the program starts");
        judge(&output, 5, &["standard output", "make room"])
            .unwrap_or_else(|what| panic!("{typed} > /dev/full: {what}"));

        // Nobody hears the talk.
        let full = File::options().write(true).open("/dev/full");
        let output = start(typed)
            .stderr(full.expect("Linux has it"))
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{typed} 2> /dev/full");
    }

    // Streams that are closed from the beginning: an empty text is a text, but not an encrypted one.
    let shell = |script: &str| {
        Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(program())
            .current_dir(here.path())
            .output()
            .expect("there is a shell")
    };
    assert_done(&shell(
        "\"$1\" text-encrypt --quiet --key public.pem --out of-nothing <&-",
    ));
    assert_done(&shell("\"$1\" text-decrypt --quiet --key key.pem of-nothing <&-"));
    assert_done(&shell("\"$1\" machine >&-"));
    let closed = shell("\"$1\" text-decrypt --quiet --key key.pem <&-");
    assert_failure(&closed, 3, "cannot decrypt standard input");
    assert_failure(&closed, 3, "'rsalab text-encrypt'");
    let directory = shell("\"$1\" text-encrypt --quiet --key public.pem < .");
    assert_failure(&directory, 5, "cannot read standard input");
    let silent = shell("\"$1\" study nonsense 2>&-");
    assert_eq!(silent.status.code(), Some(2));
}

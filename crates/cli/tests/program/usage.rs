//! The command line: what is refused, with which code and in which words.

use crate::support::{assert_done, folder, run, stdout};

#[test]
fn nothing_typed_shows_the_commands() {
    let here = folder();
    let output = run(here.path(), [""; 0]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    for command in [
        "study",
        "resume",
        "report",
        "bench",
        "engines",
        "machine",
        "keygen",
        "encrypt",
        "decrypt",
        "text-encrypt",
        "text-decrypt",
    ] {
        assert!(stderr.contains(command), "{command} is not offered: {stderr}");
    }
    assert!(!stderr.contains("worker"), "the worker is not for people: {stderr}");
}

#[test]
fn help_and_version_are_data() {
    let here = folder();
    let help = run(here.path(), ["--help"]);
    assert_done(&help);
    assert!(stdout(&help).contains("Exit codes"));
    let short = run(here.path(), ["-h"]);
    assert_done(&short);
    assert!(stdout(&short).lines().count() <= 40, "{}", stdout(&short));
    let version = run(here.path(), ["--version"]);
    assert_done(&version);
    assert!(stdout(&version).starts_with("rsalab "));
}

#[test]
fn completions_name_the_commands() {
    let here = folder();
    for shell in ["bash", "zsh", "fish"] {
        let script = run(here.path(), ["completions", shell]);
        assert_done(&script);
        assert!(stdout(&script).contains("keygen"), "{shell}");
    }
}

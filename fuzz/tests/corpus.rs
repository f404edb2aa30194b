//! Every target on its seeds, on seeds that were damaged, and on what fuzzing has found: in seconds, without libFuzzer.

use std::{env, process::Command};

use rsalab_fuzz::{TARGETS, replay::Replay};

fn replay() -> Replay {
    Replay::new(TARGETS, env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn targets_return_on_seeds_and_on_what_was_found() {
    replay().seeds_and_kept();
}

#[test]
fn targets_return_on_damaged_seeds() {
    replay().damaged();
}

#[test]
fn names_are_names_of_folders() {
    replay().names();
}

#[test]
fn what_was_found_is_there() {
    assert!(
        replay().count_kept() > 0,
        "no input is kept: is there no folder corpus?"
    );
}

#[test]
fn a_target_that_nobody_knows_is_refused() {
    for test in [
        "targets_return_on_seeds_and_on_what_was_found",
        "targets_return_on_damaged_seeds",
    ] {
        let output = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", test])
            .env("RSALAB_FUZZ_TARGET", "no-such-target")
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            !output.status.success() && said.contains("names no target here"),
            "{said}"
        );
    }
}

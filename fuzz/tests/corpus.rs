//! Every target on its seeds, on seeds that were damaged, and on what fuzzing has found: in seconds, without libFuzzer.

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

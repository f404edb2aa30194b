//! Steps of a command, printed on standard error as they end: `-v` names them, `-vv` adds how long each took.
//!
//! A step names files, formats, lengths of moduli, schemes, kernels, engines and checks. It repeats nothing that a file
//! of a key, a password or a message holds, and tells no length of what is private. Where decryption fails, it tells
//! nothing: whoever makes ciphertexts could learn messages from it.

use std::{
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use rsalab_study::number;

use crate::{exit::shortened, printable::printable, terminal::error_line};

/// How often `-v` was given.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// When the program began, and when the last step ended.
static ENDS: OnceLock<Mutex<[Instant; 2]>> = OnceLock::new();

/// Prints steps from here on, if the level is above 0, and their times, if it is above 1.
pub(crate) fn show(level: u8) {
    LEVEL.store(level, Ordering::Relaxed);
    ENDS.get_or_init(|| Mutex::new([Instant::now(); 2]));
}

/// Returns whether steps are printed, so that it is worth finding out more about one.
pub(crate) fn are_shown() -> bool {
    LEVEL.load(Ordering::Relaxed) > 0
}

/// Prints a step that ended just now. Its time is that since the step before it.
pub(crate) fn ended(step: impl FnOnce() -> String) {
    print(step, |[_, last]| last.elapsed());
}

/// Prints how the command ended, with the time that it took in all.
pub(crate) fn all_ended(step: impl FnOnce() -> String) {
    print(step, |[begin, _]| begin.elapsed());
}

fn print(step: impl FnOnce() -> String, took: impl FnOnce([Instant; 2]) -> Duration) {
    if !are_shown() {
        return;
    }
    let mut ends = ENDS
        .get_or_init(|| Mutex::new([Instant::now(); 2]))
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let took = took(*ends);
    let step = printable(&shortened(&step()));
    match LEVEL.load(Ordering::Relaxed) {
        1 => error_line(step),
        _ => error_line(format_args!("{step} [{}]", number::duration(took.as_nanos() as f64))),
    }
    ends[1] = Instant::now();
}

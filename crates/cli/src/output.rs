//! Standard output is data, standard error is talk. Neither may panic when its reader is gone.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use serde::Serialize;

use crate::exit::Failure;

/// Writes bytes to standard output.
pub(crate) fn data(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::io("cannot write to standard output", error))
}

/// Writes one value as JSON to standard output, over several lines.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value).expect("the program's own types are JSON");
    text.push('\n');
    data(text.as_bytes())
}

/// Writes one value as JSON to standard output, on one line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(value).expect("the program's own types are JSON");
    text.push('\n');
    data(text.as_bytes())
}

/// What is said on standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk {
    quiet: bool,
}

impl Talk {
    /// Talks unless it is to be quiet.
    pub(crate) fn new(quiet: bool) -> Self {
        Talk { quiet }
    }

    /// Says one thing.
    pub(crate) fn say(self, words: impl Display) {
        if !self.quiet {
            complain(words);
        }
    }

    /// Whether somebody is looking at a terminal and wants to hear.
    pub(crate) fn is_watched(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }
}

/// Says on standard error what must be said even by a quiet program. There is nobody to tell if that fails.
pub(crate) fn complain(words: impl Display) {
    let _ = writeln!(io::stderr(), "{words}");
}

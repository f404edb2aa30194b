//! Standard output is data, standard error is talk. Neither may panic when its reader is gone.
//!
//! There are two kinds of data. What a command *makes* (a key, a signature, a message) must reach its reader: anything less is a
//! failure, whoever closed the pipe. What it *reports* (tables, verdicts, JSON) may be read in part, as `head` does: a reader
//! that has gone is no failure, and the verdict alone decides how the program ends.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fstat, major, minor},
    stdio,
};
use serde::Serialize;

use crate::exit::{Class, Failure};

/// Delivers what a command made: all of it, or it is a failure.
pub(crate) fn deliver(bytes: &[u8]) -> Result<(), Failure> {
    check_open()?;
    write(bytes).map_err(|error| Failure::io("cannot write all of it to standard output", error))
}

/// Prints what is reported. A reader that has gone has read enough.
pub(crate) fn report(text: &str) -> Result<(), Failure> {
    match write(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| Failure::io("cannot write to standard output", error)),
    }
}

/// Reports one value as JSON, over several lines.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value).expect("the program's own types are JSON");
    text.push('\n');
    report(&text)
}

/// Reports one value as JSON, on one line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(value).expect("the program's own types are JSON");
    text.push('\n');
    report(&text)
}

/// Fails if nobody could ever read what is delivered, before the work that would make it.
///
/// A program that is started without a standard output is given `/dev/null`, opened for reading and writing, by Rust's
/// runtime. What a shell opens for `> /dev/null` is for writing alone: who asks for that gets it.
pub(crate) fn check_open() -> Result<(), Failure> {
    const NULL: (u32, u32) = (1, 3);
    let stdout = stdio::stdout();
    let is_null =
        fstat(stdout).is_ok_and(|found| (major(found.st_rdev), minor(found.st_rdev)) == NULL);
    let is_for_both = fcntl_getfl(stdout).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    match is_null && is_for_both {
        true => Err(Failure::new(
            Class::Io,
            "standard output is closed, so that the result would be lost",
        )
        .advice("name a file for it, or give the program a standard output")),
        false => Ok(()),
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush())
}

/// Text from elsewhere, such as the name of a file, without what would forge a line or command a terminal: control characters,
/// line separators, and characters that are invisible or turn the direction of writing are escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        let is_invisible = matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        match character.is_control() || is_invisible {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
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

    /// Says one thing, on one line.
    pub(crate) fn say(self, words: impl Display) {
        if !self.quiet {
            complain(printable(&words.to_string()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_forge_lines_or_command_a_terminal() {
        assert_eq!(printable("Übung 1.pem"), "Übung 1.pem");
        assert_eq!(
            printable("a: OK\nb\r\u{1b}[2K\u{9b}1m\u{202e}gpj.exe\u{2028}\u{200b}"),
            "a: OK\\nb\\r\\u{1b}[2K\\u{9b}1m\\u{202e}gpj.exe\\u{2028}\\u{200b}"
        );
    }
}

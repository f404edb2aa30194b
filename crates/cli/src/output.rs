//! Standard output is data, standard error is the log. Neither may panic when its reader is gone.
//!
//! There are two kinds of data. What a command *makes* (a key, a signature, a message) must reach its reader: anything
//! less is a failure, whoever closed the pipe. What it *reports* (tables, verdicts, JSON) may be read in part, as
//! `head` does: a closed pipe is no failure, and the verdict alone decides the exit code.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fstat, major, minor},
    stdio,
};
use serde::Serialize;

use crate::{
    exit::{Class, Failure, Result},
    patience::Patient,
    printable::printable,
    steps, terminal,
};

/// Delivers what a command made: all of it, or it is a failure.
pub(crate) fn deliver(bytes: &[u8]) -> Result<()> {
    check_open()?;
    write(bytes).map_err(|error| Failure::io("cannot write all of it to standard output", error))?;
    steps::ended(|| "standard output: written".to_owned());
    Ok(())
}

/// Standard output for what a command makes piece by piece: all of it, or it is a failure.
pub(crate) fn stream() -> Result<impl Write + Send> {
    check_open()?;
    Ok(Patient::new(Descriptor))
}

/// Prints what is reported; on a terminal, lines break between words. A closed pipe is no failure: its reader has read
/// enough.
pub(crate) fn report(text: &str) -> Result<()> {
    match terminal::width(io::stdout()) {
        Some(width) => report_lines(&terminal::wrapped(text, width)),
        None => report_lines(text),
    }
}

/// Reports what a program reads, or people copy: it is not wrapped.
pub(crate) fn report_lines(text: &str) -> Result<()> {
    match write(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| Failure::io("cannot write to standard output", error)),
    }
}

/// Reports one value as JSON, over several lines.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).expect("the program's own types are JSON");
    report_lines(&(text + "\n"))
}

/// Reports one value: as JSON, or as a person reads it.
pub(crate) fn print(as_json: bool, value: &impl Serialize, shown: impl FnOnce() -> String) -> Result<()> {
    match as_json {
        true => json(value),
        false => report(&shown()),
    }
}

/// One value as JSON, on one line with its end.
pub(crate) fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("the program's own types are JSON") + "\n"
}

/// Fails if nobody could ever read what is delivered, before the work that would make it.
///
/// A program that is started without a standard output is given `/dev/null`, opened for reading and writing, by Rust's
/// runtime. What a shell opens for `> /dev/null` is for writing alone: who asks for that gets it.
pub(crate) fn check_open() -> Result<()> {
    const NULL: (u32, u32) = (1, 3);
    let stdout = stdio::stdout();
    let is_null = fstat(stdout).is_ok_and(|found| (major(found.st_rdev), minor(found.st_rdev)) == NULL);
    let is_for_both = fcntl_getfl(stdout).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    match is_null && is_for_both {
        true => Err(
            Failure::new(Class::Io, "standard output is closed, so that the result would be lost")
                .advice("name a file for it, or give the program a standard output"),
        ),
        false => Ok(()),
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    // Nothing of this program's waits in the standard library's buffer, which would repeat an interrupted call for
    // ever.
    Patient::new(Descriptor).write_all(bytes)
}

/// Standard output without a buffer.
struct Descriptor;

impl Write for Descriptor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(stdio::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Messages on standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log {
    quiet: bool,
}

impl Log {
    /// Messages are printed unless `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        Log { quiet }
    }

    /// Prints one message on one line.
    pub(crate) fn note(self, message: impl Display) {
        if !self.quiet {
            terminal::error_line(printable(&message.to_string()));
        }
    }

    /// Returns whether standard error is a terminal and messages are wanted.
    pub(crate) fn is_watched(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }
}

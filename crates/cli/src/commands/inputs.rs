//! Inputs of a command, and where its result goes.

use std::{
    ffi::OsString,
    io::{IsTerminal, stdin, stdout},
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use rsalab_rsa::format::is_key_text;

use crate::{
    arguments::{InputOptions, KeyFileOptions, OneFileOptions},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    key_text,
    output::{self, Log},
};

/// The longest list of files.
const MOST_LIST: u64 = 64 << 20;

/// Files to be read.
pub(super) enum Inputs {
    /// One file, or standard input.
    One(Option<PathBuf>),
    /// Files that each get a result next to them.
    Many(Vec<PathBuf>),
}

impl Inputs {
    /// As it was typed.
    pub(super) fn of(options: &InputOptions) -> Result<Inputs> {
        if let Some(list) = &options.files_from {
            return listed(list).map(Inputs::Many);
        }
        Ok(match options.files.as_slice() {
            [] => Inputs::One(options.input.clone()),
            [only] => Inputs::One(Some(only.clone())),
            many => Inputs::Many(many.to_vec()),
        })
    }
}

/// The input and the destination of a command that takes one file.
pub(super) fn one_file(options: &OneFileOptions) -> Result<(Option<&Path>, Destination)> {
    let from = options.file.as_deref().or(options.input.as_deref());
    Ok((from, Destination::of(options.out.path())?))
}

/// Something that may be read, in words, and whether that is standard input.
pub(super) type Source = (&'static str, bool);

impl InputOptions {
    /// Where the files, or their names, come from.
    pub(super) fn stdin(&self) -> Source {
        if let Some(list) = &self.files_from {
            return ("the list of files", files::is_dash(list));
        }
        let is_stdin = match self.files.as_slice() {
            [] => self.input.as_deref().is_none_or(files::is_dash),
            files => files.iter().any(|file| files::is_dash(file)),
        };
        ("the message", is_stdin)
    }
}

impl OneFileOptions {
    /// Where the one file comes from.
    pub(super) fn stdin(&self) -> Source {
        let file = self.file.as_deref().or(self.input.as_deref());
        ("the input", file.is_none_or(files::is_dash))
    }
}

/// Refuses to read standard input for two things, of which one would get what is meant for the other.
pub(super) fn check_stdin(key: &Path, reading: &KeyFileOptions, others: &[Source]) -> Result<()> {
    let password = reading.password_file.as_deref();
    let of_key = [
        ("the key", files::is_dash(key)),
        ("the password", password.is_some_and(files::is_dash)),
    ];
    let mut from_stdin = others.iter().chain(&of_key).filter(|(_, is_stdin)| *is_stdin);
    match (from_stdin.next(), from_stdin.next()) {
        (Some((one, _)), Some((other, _))) => {
            let what = format!("{one} and {other} cannot both be standard input");
            Err(Failure::new(Class::Usage, what).advice("name a file for one of them"))
        }
        _ => Ok(()),
    }
}

/// Returns whether a list is a key, or has one on a line; or is no text, as keys in DER and in UTF-16 are none, which
/// have zero bytes in them, and no name has one.
pub(super) fn holds_key(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    bytes.contains(&0) || is_key_text(bytes) || lines.any(key_text::is_key)
}

/// The lines of a list that are not empty, each with its number. They end with a line feed, or with a carriage return
/// before each.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    // A name may end in a carriage return, but not each.
    let is_crlf = bytes
        .split_inclusive(|&byte| byte == b'\n')
        .all(|line| line.ends_with(b"\r\n") || !line.ends_with(b"\n"));
    let numbered = (1..).zip(bytes.split(|&byte| byte == b'\n'));
    numbered
        .map(move |(number, line)| match is_crlf {
            true => (number, line.strip_suffix(b"\r").unwrap_or(line)),
            false => (number, line),
        })
        .filter(|(_, line)| !line.is_empty())
}

/// The names in a list, one a line. Names that are not text stay what they are.
fn listed(list: &Path) -> Result<Vec<PathBuf>> {
    let bytes = files::read(Some(list), MOST_LIST).map_err(|failure| failure.or_advice("give fewer names at once"))?;
    // The names would be in messages.
    if holds_key(&bytes) {
        let what = format!("{} holds a key, not names of files", files::name(Some(list)));
        return Err(Failure::new(Class::Input, what).advice("write a name on each line"));
    }
    let names: Vec<PathBuf> = lines(&bytes)
        .map(|(_, line)| OsString::from_vec(line.to_vec()).into())
        .collect();
    if names.is_empty() {
        let what = format!("{} names no files", files::name(Some(list)));
        return Err(Failure::new(Class::Input, what).advice("write a name on each line"));
    }
    Ok(names)
}

/// Tells whoever sits at the terminal that the program waits for input.
pub(super) fn note_if_typed(from: Option<&Path>, log: Log) {
    if from.is_none_or(files::is_dash) && stdin().is_terminal() {
        log.note("reading standard input; Ctrl-D ends it");
    }
}

/// A file's name with something after it.
pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Where a result goes.
#[derive(PartialEq, Eq)]
pub(super) enum Destination {
    Stdout,
    File(PathBuf),
}

impl Destination {
    /// Fails before the work if the result could not be delivered after it.
    pub(super) fn of(out: Option<&Path>) -> Result<Self> {
        match out.filter(|out| !files::is_dash(out)) {
            None => output::check_open().map(|()| Destination::Stdout),
            Some(path) => {
                files::check_absent(path)?;
                Ok(Destination::File(path.to_owned()))
            }
        }
    }

    /// Refuses to print binary data on a terminal.
    pub(super) fn check_terminal(&self, what: &str) -> Result<()> {
        if *self == Destination::Stdout && stdout().is_terminal() {
            let what = format!("{what} is binary and would garble the terminal");
            return Err(Failure::new(Class::Usage, what).advice("name a file with --out, or use a pipe"));
        }
        Ok(())
    }

    pub(super) fn write(&self, bytes: &[u8], privacy: Privacy) -> Result<()> {
        match self {
            Destination::Stdout => output::deliver(bytes),
            Destination::File(path) => files::create(&[(path, bytes, privacy)]),
        }
    }
}

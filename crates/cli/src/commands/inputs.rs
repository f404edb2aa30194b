//! What a command reads and where its result goes.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::{
    arguments::InputOptions,
    exit::{Class, Failure},
    files::{self, NewFile, Privacy},
    output,
};

/// The longest list of files.
const MOST_LIST: u64 = 64 << 20;

/// What is read.
pub(super) enum Inputs {
    /// One file, or standard input.
    One(Option<PathBuf>),
    /// Files that each get a result beside them.
    Many(Vec<PathBuf>),
}

impl Inputs {
    /// As it was typed.
    pub(super) fn of(options: &InputOptions) -> Result<Inputs, Failure> {
        if let Some(list) = &options.files_from {
            return listed(list).map(Inputs::Many);
        }
        Ok(match options.files.as_slice() {
            [] => Inputs::One(options.input.clone()),
            [only] => Inputs::One(Some(only.clone())),
            many => Inputs::Many(many.to_vec()),
        })
    }

    /// The one input, for what takes no more.
    pub(super) fn only(self, what: &str) -> Result<Option<PathBuf>, Failure> {
        match self {
            Inputs::One(path) => Ok(path),
            Inputs::Many(_) => Err(Failure::new(
                Class::Usage,
                format!("{what} takes one file at a time"),
            )
            .advice("name one file, or use standard input")),
        }
    }
}

/// The names in a list, one a line. Names that are not text stay what they are.
fn listed(list: &Path) -> Result<Vec<PathBuf>, Failure> {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt};
    let bytes = files::read(Some(list), MOST_LIST)?;
    let names: Vec<PathBuf> = bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| OsString::from_vec(line.to_vec()).into())
        .collect();
    if names.is_empty() {
        let what = format!("{} names no files", files::name(Some(list)));
        return Err(Failure::new(Class::Input, what).advice("write a name on each line"));
    }
    Ok(names)
}

/// A file's name with something after it.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Files that are worked on side by side, and whose results are made together.
pub(super) const GROUP: usize = 256;

/// Makes a file beside each, group by group: `work` gets the names of a group and gives what is to be in the new ones. Nothing is
/// begun if one of the new ones is there already; what a group has made stays when a later one fails.
pub(super) fn make_beside(
    paths: &[PathBuf],
    ending: &str,
    privacy: Privacy,
    mut work: impl FnMut(&[PathBuf]) -> Result<Vec<Zeroizing<Vec<u8>>>, Failure>,
) -> Result<(), Failure> {
    let outs: Vec<PathBuf> = paths.iter().map(|path| beside(path, ending)).collect();
    for out in &outs {
        files::check_absent(out)?;
    }
    for (paths, outs) in paths.chunks(GROUP).zip(outs.chunks(GROUP)) {
        let results = work(paths)?;
        let new: Vec<NewFile<'_>> = outs
            .iter()
            .zip(&results)
            .map(|(path, bytes)| NewFile {
                path,
                bytes,
                privacy,
            })
            .collect();
        files::create(&new)?;
    }
    Ok(())
}

/// Where a result goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination<'a> {
    Stdout,
    File(&'a Path),
}

impl<'a> Destination<'a> {
    /// Fails before the work if the file could not be made after it.
    pub(super) fn of(out: Option<&'a Path>) -> Result<Self, Failure> {
        match out.filter(|out| !files::is_dash(out)) {
            None => Ok(Destination::Stdout),
            Some(path) => {
                files::check_absent(path)?;
                Ok(Destination::File(path))
            }
        }
    }

    /// Refuses to spoil a terminal with what is binary.
    pub(super) fn check_terminal(self, what: &str) -> Result<(), Failure> {
        use std::io::{IsTerminal, stdout};
        if self == Destination::Stdout && stdout().is_terminal() {
            let what = format!("{what} is binary and would spoil the terminal");
            return Err(
                Failure::new(Class::Usage, what).advice("name a file with --out, or use a pipe")
            );
        }
        Ok(())
    }

    pub(super) fn write(self, bytes: &[u8], privacy: Privacy) -> Result<(), Failure> {
        match self {
            Destination::Stdout => output::data(bytes),
            Destination::File(path) => files::create(&[NewFile {
                path,
                bytes,
                privacy,
            }]),
        }
    }
}

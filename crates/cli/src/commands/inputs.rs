//! What a command reads and where its result goes.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use rsalab_study::number;

use crate::{
    arguments::InputOptions,
    exit::{Class, Failure},
    files::{self, NewFile, Privacy},
    output::{self, Talk, complain, printable},
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
    let bytes = files::read(Some(list), MOST_LIST)
        .map_err(|failure| failure.or_advice("give fewer names at once"))?;
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

/// Files that are worked on together.
pub(super) const GROUP: usize = 256;

/// The results that several files get beside them.
pub(super) struct Results {
    /// What the names end in.
    pub(super) ending: &'static str,
    pub(super) privacy: Privacy,
    /// What one is called, such as `signature`.
    pub(super) noun: &'static str,
    /// More bytes than one has.
    pub(super) most: u64,
}

/// One of several files.
pub(super) struct Item<'a> {
    pub(super) path: &'a Path,
    /// What has the result's name already: of an earlier run of the same command, or not.
    pub(super) there: Option<There>,
}

/// A file in the place of a result.
pub(super) struct There {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    /// Whether it is not older than the file that the result would be made of.
    pub(super) is_newer: bool,
}

/// What came of one file.
pub(super) enum Made {
    New(Zeroizing<Vec<u8>>),
    /// Its result is there already.
    There,
}

/// Makes a result beside each file. `work` gets the items of a group and says of each what came of it; an error of the whole
/// ends the command. A file at fault stops no other: it is named on standard error, and decides the exit code in the end. The
/// same command goes on: results that are there already stay.
pub(super) fn make_beside(
    paths: &[PathBuf],
    results: &Results,
    talk: Talk,
    mut work: impl FnMut(&[Item<'_>]) -> Result<Vec<Result<Made, Failure>>, Failure>,
) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    let paths: Vec<&PathBuf> = paths.iter().filter(|path| seen.insert(*path)).collect();
    let mut tally = Tally::default();
    for group in paths.chunks(GROUP) {
        let mut items = Vec::with_capacity(group.len());
        for path in group {
            match there(path, results) {
                Ok(there) => items.push(Item { path, there }),
                Err(failure) => tally.fail(path, failure),
            }
        }
        let outcomes = work(&items)?;
        for (item, outcome) in items.iter().zip(outcomes) {
            let made = outcome.and_then(|made| match made {
                Made::There => Ok(false),
                Made::New(_) if item.there.is_some() => {
                    Err(files::exists(&beside(item.path, results.ending)))
                }
                Made::New(bytes) => files::create(&[NewFile {
                    path: &beside(item.path, results.ending),
                    bytes: &bytes,
                    privacy: results.privacy,
                }])
                .map(|()| true),
            });
            match made {
                Ok(true) => tally.made += 1,
                Ok(false) => tally.there += 1,
                Err(failure) => tally.fail(item.path, failure),
            }
        }
    }
    tally.end(paths.len(), results.noun, talk)
}

/// What has the name of a file's result.
fn there(path: &Path, results: &Results) -> Result<Option<There>, Failure> {
    let out = beside(path, results.ending);
    let Ok(found) = out.symlink_metadata() else {
        return files::check_absent(&out).map(|()| None);
    };
    if !found.is_file() {
        return Err(files::exists(&out));
    }
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    Ok(Some(There {
        bytes: Zeroizing::new(files::read_start(Some(&out), results.most)?),
        is_newer: changed(&out) >= changed(path),
    }))
}

#[derive(Default)]
struct Tally {
    made: usize,
    there: usize,
    failed: usize,
    class: Option<Class>,
}

impl Tally {
    fn fail(&mut self, path: &Path, failure: Failure) {
        complain(format_args!(
            "{}: {}",
            printable(&path.display().to_string()),
            failure.sentence()
        ));
        self.failed += 1;
        self.class = Some(failure.class()).max(self.class);
    }

    fn end(self, all: usize, noun: &str, talk: Talk) -> Result<(), Failure> {
        let there = match self.there {
            0 => String::new(),
            count => format!(", {count} there already"),
        };
        talk.say(format_args!(
            "{} made{there}",
            number::counted(self.made, noun)
        ));
        let Some(class) = self.class else {
            return Ok(());
        };
        let what = format!(
            "{} of {} not made; the reasons stand above",
            self.failed,
            number::counted(all, noun)
        );
        Err(Failure::new(class, what).advice("the same command goes on with what is missing"))
    }
}

/// Where a result goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination<'a> {
    Stdout,
    File(&'a Path),
}

impl<'a> Destination<'a> {
    /// Fails before the work if the result could not be delivered after it.
    pub(super) fn of(out: Option<&'a Path>) -> Result<Self, Failure> {
        match out.filter(|out| !files::is_dash(out)) {
            None => output::check_open().map(|()| Destination::Stdout),
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
            Destination::Stdout => output::deliver(bytes),
            Destination::File(path) => files::create(&[NewFile {
                path,
                bytes,
                privacy,
            }]),
        }
    }
}

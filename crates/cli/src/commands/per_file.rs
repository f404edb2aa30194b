//! A result for one file, or for each of many: signatures, ciphertexts, messages.
//!
//! Many files are worked on in groups, which the batch interfaces of the library need to be fast. A file that fails
//! stops no other: it is named on standard error, and the gravest failure decides the exit code. The same command
//! continues where it was stopped, since results that exist already stay.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use rsalab_study::number;
use zeroize::Zeroizing;

use super::inputs::{Destination, Inputs, with_ending};
use crate::{
    arguments::InputOptions,
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    output::Log,
    printable::printable,
    terminal::error_line,
};

/// Files that are worked on together.
pub(super) const GROUP: usize = 256;

/// The bytes of a result, wiped when they are dropped.
pub(super) type Bytes = Zeroizing<Vec<u8>>;

/// Results of a command.
pub(super) struct Kind {
    /// The word for one, such as `signature`.
    pub(super) noun: &'static str,
    /// The ending of a result's name, next to its file.
    pub(super) ending: &'static str,
    /// The option that names the result of a single file.
    pub(super) option: &'static str,
    pub(super) privacy: Privacy,
    /// More bytes than one has.
    pub(super) most: u64,
}

/// Work of a command on a file.
pub(super) trait PerFile {
    /// The facts of a file once it has been read.
    type Input;

    const KIND: Kind;

    /// Reads a file, or standard input.
    fn read(&self, path: Option<&Path>) -> Result<Self::Input>;

    /// The result of each input, in order. An error of the whole ends the command.
    fn results(&self, inputs: &[&Self::Input]) -> Result<Vec<Result<Bytes>>>;

    /// Returns whether what exists already is a result of the input; none where only a comparison with a new result can
    /// decide.
    fn is_result(&self, _input: &Self::Input, _existing: &Existing) -> Option<bool> {
        None
    }

    /// Returns whether a terminal cannot show a result.
    fn is_binary(&self) -> bool;

    /// The reason why a file that exists already is not taken for a result.
    fn why_not(&self) -> String {
        format!("is no {} of it by this key and scheme", Self::KIND.noun)
    }
}

/// A file in the place of a result.
pub(super) struct Existing {
    pub(super) bytes: Bytes,
}

/// Files to be read, and where the result of a single one goes.
pub(super) struct Files {
    pub(super) inputs: Inputs,
    pub(super) out: Option<PathBuf>,
}

impl Files {
    /// Checks what was typed before the key is read. `usual` is where the result of one file goes if `out` does not
    /// say.
    pub(super) fn of<W: PerFile>(
        input: &InputOptions,
        out: Option<&Path>,
        usual: impl Fn(&Path) -> Option<PathBuf>,
    ) -> Result<Files> {
        let Kind { noun, option, .. } = W::KIND;
        let inputs = Inputs::of(input)?;
        let usual_out = match &inputs {
            Inputs::One(path) => path.as_deref().filter(|path| !files::is_dash(path)).and_then(usual),
            Inputs::Many(_) if out.is_some() => {
                let what = format!("{option} names one file, and there are several {noun}s");
                let ending = W::KIND.ending;
                return Err(Failure::new(Class::Usage, what)
                    .advice(format!("leave it out: FILE{ending} is made for each FILE")));
            }
            Inputs::Many(_) => None,
        };
        let out = out.map(Path::to_owned).or(usual_out);
        Ok(Files { inputs, out })
    }

    /// Returns whether each file gets its result next to it.
    pub(super) fn are_several(&self) -> bool {
        matches!(self.inputs, Inputs::Many(_))
    }

    /// Makes the results.
    pub(super) fn run<W: PerFile>(&self, work: &W, log: Log) -> Result<()> {
        match &self.inputs {
            Inputs::One(from) => {
                let to = Destination::of(self.out.as_deref())?;
                if work.is_binary() {
                    to.check_terminal(&format!("the {}", W::KIND.noun))?;
                }
                let input = work.read(from.as_deref())?;
                let result = work.results(&[&input])?.remove(0)?;
                to.write(&result, W::KIND.privacy)
            }
            Inputs::Many(paths) => {
                let (mut tally, paths) = (Tally::default(), once_each(paths));
                add_many(work, &paths, &mut tally)?;
                tally.end(paths.len(), W::KIND.noun, log)
            }
        }
    }
}

/// Paths without those that were there before.
pub(super) fn once_each(paths: &[PathBuf]) -> Vec<&Path> {
    let mut seen = BTreeSet::new();
    let paths = paths.iter().map(PathBuf::as_path);
    paths.filter(|path| seen.insert(*path)).collect()
}

/// Makes a result for each of many files, next to it.
pub(super) fn add_many<W: PerFile>(work: &W, paths: &[&Path], tally: &mut Tally) -> Result<()> {
    for group in paths.chunks(GROUP) {
        let mut items = Vec::with_capacity(group.len());
        for path in group {
            match Item::open(work, path) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => tally.add(false),
                Err(failure) => tally.fail(path, failure),
            }
        }
        let inputs: Vec<&W::Input> = items.iter().map(|item| &item.input).collect();
        for (item, result) in items.iter().zip(work.results(&inputs)?) {
            match result.and_then(|bytes| item.write(work, &bytes)) {
                Ok(is_made) => tally.add(is_made),
                Err(failure) => tally.fail(item.path, failure),
            }
        }
    }
    Ok(())
}

/// One of several files, whose result is to be made.
struct Item<'a, I> {
    path: &'a Path,
    out: PathBuf,
    input: I,
    existing: Option<Existing>,
}

impl<'a, I> Item<'a, I> {
    /// Reads a file; none if its result exists.
    fn open<W: PerFile<Input = I>>(work: &W, path: &'a Path) -> Result<Option<Self>> {
        let out = with_ending(path, W::KIND.ending);
        let existing = existing(&out, W::KIND.most)?;
        let input = work.read(Some(path))?;
        let is_result = existing.as_ref().and_then(|existing| work.is_result(&input, existing));
        let item = Item {
            path,
            out,
            input,
            existing,
        };
        match is_result {
            Some(true) => Ok(None),
            Some(false) => Err(item.is_other(work)),
            None => Ok(Some(item)),
        }
    }

    /// Writes the result, unless it is there already. Returns whether it was written.
    fn write<W: PerFile>(&self, work: &W, bytes: &Bytes) -> Result<bool> {
        match &self.existing {
            Some(existing) if existing.bytes == *bytes => Ok(false),
            Some(_) => Err(self.is_other(work)),
            None => files::create(&[(&self.out, bytes, W::KIND.privacy)]).map(|()| true),
        }
    }

    fn is_other<W: PerFile>(&self, work: &W) -> Failure {
        let out = self.out.display();
        Failure::about_existing(format!("{out} exists already, and {}", work.why_not()))
    }
}

/// The file that has the name of another file's result.
fn existing(out: &Path, most: u64) -> Result<Option<Existing>> {
    let Ok(found) = out.symlink_metadata() else {
        return files::check_absent(out).map(|()| None);
    };
    if !found.is_file() {
        return Err(files::exists(out));
    }
    Ok(Some(Existing {
        bytes: files::read_start(Some(out), most)?,
    }))
}

const IN_THE_WAY: &str =
    "nothing is overwritten: move away what is in the way, and the same command makes what is missing";

/// Outcomes of several files.
#[derive(Default)]
pub(super) struct Tally {
    made: usize,
    existing: usize,
    failed: usize,
    class: Option<Class>,
    /// `true` if a file of somebody else's has the name of a result.
    is_blocked: bool,
}

impl Tally {
    /// Adds a file whose result was made, or was there already.
    pub(super) fn add(&mut self, is_made: bool) {
        match is_made {
            true => self.made += 1,
            false => self.existing += 1,
        }
    }

    /// Adds a file that failed, and says why.
    pub(super) fn fail(&mut self, path: &Path, failure: Failure) {
        let name = printable(&path.display().to_string());
        error_line(format_args!("{name}: {}", failure.sentence()));
        self.failed += 1;
        // What is wrong with one of several files is not a mistake of the command line.
        let class = match failure.class() {
            Class::Usage => Class::Input,
            class => class,
        };
        self.class = Some(class).max(self.class);
        self.is_blocked |= failure.is_about_existing();
    }

    /// Says how many were made; a failure if one was not.
    pub(super) fn end(self, all: usize, noun: &str, log: Log) -> Result<()> {
        let existing = match self.existing {
            0 => String::new(),
            count => format!(", {count} there already"),
        };
        log.note(format_args!("{} made{existing}", number::counted(self.made, noun)));
        let Some(class) = self.class else {
            return Ok(());
        };
        let (failed, all) = (self.failed, number::counted(all, noun));
        let what = format!("{failed} of {all} not made; the reasons are above");
        Err(Failure::new(class, what).advice(match self.is_blocked {
            true => IN_THE_WAY,
            false => "the same command makes what is missing",
        }))
    }
}

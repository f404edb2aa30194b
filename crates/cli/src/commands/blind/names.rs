//! Where the files of a blind signature are, and how many of them are worked on.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use rsalab_rsa::blind::{InputMessage, Variant};

use crate::{
    arguments::InputOptions,
    commands::{
        inputs::{Inputs, with_ending},
        per_file::{GROUP, Tally},
    },
    exit::{Class, Failure, Result},
    files,
    output::Log,
};

/// Endings of the names of the files.
pub(super) const BLINDED: &str = ".blinded";
pub(super) const STATE: &str = ".state";
pub(super) const SIGNATURE: &str = ".sig";
pub(super) const PREFIX: &str = ".prefix";

/// The message in a file, or on standard input, with its prefix.
pub(super) fn read_message(path: Option<&Path>, variant: Variant, prefix: &[u8]) -> Result<InputMessage> {
    let (source, _) = files::open(path)?;
    InputMessage::read(variant, prefix, source)?
        .map_err(|error| Failure::io(format!("cannot read {}", files::name(path)), error))
}

/// Where something goes, or comes from: as it was typed, or next to the one file that is read.
pub(super) fn beside(typed: Option<&PathBuf>, file: Option<&Path>, ending: &str, option: &str) -> Result<PathBuf> {
    match (typed, file.filter(|file| !files::is_dash(file))) {
        (Some(typed), _) => Ok(typed.clone()),
        (None, Some(file)) => Ok(with_ending(file, ending)),
        (None, None) => {
            let what = "the message is read from standard input, which has no name";
            Err(Failure::new(Class::Usage, what).advice(format!("name a file with {option}")))
        }
    }
}

/// The files that were typed; options that name files of a single one are refused if there are several.
pub(super) fn inputs(options: &InputOptions, of_one: &[(&str, bool)]) -> Result<Inputs> {
    let inputs = Inputs::of(options)?;
    let typed = of_one.iter().find(|(_, is_typed)| *is_typed);
    match (&inputs, typed) {
        (Inputs::Many(_), Some((option, _))) => {
            let what = format!("{option} names one file, and there are several messages");
            Err(Failure::new(Class::Usage, what).advice("leave it out: names are made of each FILE's"))
        }
        _ => Ok(inputs),
    }
}

/// Does something with many files, in groups: each is made, is there already, or has failed.
pub(super) fn each_group(
    paths: &[PathBuf],
    noun: &str,
    log: Log,
    mut group: impl FnMut(&[&PathBuf]) -> Result<Vec<Result<bool>>>,
) -> Result<()> {
    let mut seen = BTreeSet::new();
    let paths: Vec<&PathBuf> = paths.iter().filter(|path| seen.insert(*path)).collect();
    let mut tally = Tally::default();
    for paths in paths.chunks(GROUP) {
        for (path, made) in paths.iter().zip(group(paths)?) {
            match made {
                Ok(is_made) => tally.add(is_made),
                Err(failure) => tally.fail(path, failure),
            }
        }
    }
    tally.end(paths.len(), noun, log)
}

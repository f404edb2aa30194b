//! `rsalab barometer`: entries of many machines.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
};

use rsalab_study::{
    barometer::{self, Check, Entry, EntryError, KnownProgram, Program, Refusal},
    number, part,
    store::Store,
};
use serde::Serialize;

use super::study::note_store;
use crate::{
    arguments::{Barometer, BarometerPack, BarometerPage, BarometerVerify},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    output::{self, Log},
    printable::printable,
};

/// Packs, verifies or lists.
pub(crate) fn run(arguments: &Barometer, log: Log) -> Result<()> {
    match arguments {
        Barometer::Pack(arguments) => pack(arguments, log),
        Barometer::Verify(arguments) => verify(arguments),
        Barometer::Page(arguments) => page(arguments),
    }
}

fn pack(arguments: &BarometerPack, log: Log) -> Result<()> {
    files::check_absent(&arguments.out)?;
    let directory = &arguments.directory;
    let store = Store::view(directory).map_err(rsalab_study::Error::from)?;
    note_store(directory);
    let own = env::current_exe().and_then(|path| part::digest(&path));
    let (_, sha256) = own.map_err(|error| Failure::io("this program's own file cannot be read", error))?;
    let program = Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sha256,
    };
    let entry = Entry::of(&store, program).map_err(|error| failure(directory, error))?;
    // Whoever has no list of programs cannot look this one up.
    let refusals = barometer::verify(&entry, &[]);
    let others: Vec<&Refusal> = refusals.iter().filter(|refusal| !is_unpublished(refusal)).collect();
    if !others.is_empty() {
        return Err(refused(directory, &others));
    }
    files::create_from(&arguments.out, Privacy::Public, |file| {
        let name = printable(&arguments.out.display().to_string());
        entry
            .write(file)
            .map_err(|error| Failure::io(format!("cannot write {name}"), error))
    })?;
    let cells: usize = entry.groups.iter().map(|group| group.cells.len()).sum();
    log.note(format!(
        "an entry of {} on {}",
        number::counted(cells, "cell"),
        printable(&entry.cpu)
    ));
    Ok(())
}

fn is_unpublished(refusal: &Refusal) -> bool {
    refusal.check == Check::Program && refusal.sentence.contains("was not published")
}

/// The outcome of one file, as JSON.
#[derive(Serialize)]
struct Verified {
    file: String,
    cpu: Option<String>,
    refusals: Vec<String>,
}

fn verify(arguments: &BarometerVerify) -> Result<()> {
    let programs = programs(arguments.programs.as_deref())?;
    let mut verified = Vec::new();
    let mut gravest: Option<Failure> = None;
    for path in &arguments.files {
        let (cpu, refusals, failure) = match of_file(path, &programs) {
            Ok(entry) => (Some(printable(&entry.cpu)), Vec::new(), None),
            Err(Unfit { reasons, failure }) => (None, reasons, Some(failure)),
        };
        verified.push(Verified {
            file: printable(&path.display().to_string()),
            cpu,
            refusals,
        });
        let is_graver = |failure: &Failure| gravest.as_ref().is_none_or(|known| known.class() < failure.class());
        if let Some(failure) = failure.filter(is_graver) {
            gravest = Some(failure);
        }
    }
    let printed = output::print(arguments.json.json, &verified, || {
        let line = |one: &Verified| match &one.cpu {
            Some(cpu) => format!("{}: OK, {cpu}\n", one.file),
            None => {
                let reasons = one.refusals.iter().map(|reason| format!("  {reason}\n"));
                format!("{}: REFUSED\n{}", one.file, reasons.collect::<String>())
            }
        };
        verified.iter().map(line).collect()
    });
    match gravest {
        Some(failure) => Err(failure),
        None => printed,
    }
}

fn page(arguments: &BarometerPage) -> Result<()> {
    let directory = &arguments.directory;
    let listed = programs(Some(&directory.join("programs.toml")))?;
    let name = printable(&directory.display().to_string());
    let entries = fs::read_dir(directory).map_err(|error| Failure::io(format!("cannot read {name}"), error))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Failure::io(format!("cannot read {name}"), error))?;
        paths.push(entry.path());
    }
    paths.retain(|path| path.extension() == Some(OsStr::new("gz")));
    paths.sort();
    let mut verified = Vec::new();
    for path in paths {
        let entry = of_file(&path, &listed).map_err(|unfit| unfit.failure)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        verified.push((printable(&name.unwrap_or_default()), entry));
    }
    output::report_lines(&barometer::markdown(&verified))
}

fn programs(path: Option<&Path>) -> Result<Vec<KnownProgram>> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let name = printable(&path.display().to_string());
    let text = fs::read_to_string(path).map_err(|error| Failure::io(format!("cannot read {name}"), error))?;
    barometer::known_programs(&text).map_err(|reason| {
        Failure::new(
            Class::Input,
            format!("{name} is no list of programs: {}", printable(&reason)),
        )
    })
}

/// Why a file is no entry: each reason, and all of them as a failure.
struct Unfit {
    reasons: Vec<String>,
    failure: Failure,
}

/// An entry that nothing is against.
fn of_file(path: &Path, programs: &[KnownProgram]) -> Result<Entry, Unfit> {
    let unread = |error| {
        let failure = failure(path, error);
        Unfit {
            reasons: vec![failure.sentence()],
            failure,
        }
    };
    let file = File::open(path).map_err(|error| unread(EntryError::Io(error)))?;
    let entry = Entry::read(file).map_err(unread)?;
    let refusals = barometer::verify(&entry, programs);
    match refusals.is_empty() {
        true => Ok(entry),
        false => Err(Unfit {
            reasons: refusals.iter().map(|refusal| printable(&refusal.to_string())).collect(),
            failure: refused(path, &refusals.iter().collect::<Vec<_>>()),
        }),
    }
}

/// The most refusals in the sentence of a failure.
const SHOWN: usize = 4;

fn refused(path: &Path, refusals: &[&Refusal]) -> Failure {
    let mut sentences: Vec<String> = refusals
        .iter()
        .take(SHOWN)
        .map(|refusal| printable(&refusal.to_string()))
        .collect();
    if refusals.len() > SHOWN {
        sentences.push(format!("and {} more", refusals.len() - SHOWN));
    }
    let name = printable(&path.display().to_string());
    Failure::new(
        Class::Verification,
        format!("{name} is refused: {}", sentences.join("; ")),
    )
}

fn failure(path: &Path, error: EntryError) -> Failure {
    let name = printable(&path.display().to_string());
    let class = match error {
        EntryError::Store(error) => return rsalab_study::Error::from(error).into(),
        EntryError::Io(error) => return Failure::io(format!("cannot read {name}"), error),
        EntryError::Incomplete | EntryError::Empty => Class::Usage,
        EntryError::Checksum { .. } => Class::Verification,
        _ => Class::Input,
    };
    Failure::new(class, format!("{name}: {}", printable(&error.to_string())))
}

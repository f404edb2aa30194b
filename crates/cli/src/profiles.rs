//! Settings from a machine's profile: taken where the command line says nothing, and the profile is of this CPU.
//!
//! ```text
//! an option  >  the profile that --profile names, or else RSALAB_PROFILE  >  built in
//! ```

use std::{env, path::PathBuf};

use rsalab_rsa::{
    CpuBackend,
    profile::{Choice, MOST_BYTES, Profile, Text},
};
use rsalab_study::number;

use crate::{
    arguments::{KeyOptions, ProfileOption},
    exit::{Failure, Result},
    files, kernels,
    output::Log,
    steps,
};

/// The variable that names a profile for all commands that read one.
const VARIABLE: &str = "RSALAB_PROFILE";

/// The profile of this machine; none if none is named, or it is of another machine, which is said.
pub(crate) fn load(option: &ProfileOption, log: Log) -> Result<Option<Profile>> {
    let named = || env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    match option.profile.clone().or_else(named) {
        Some(path) => read(&path, log),
        None => Ok(None),
    }
}

/// The profile in a file, if it is of this machine.
pub(crate) fn read(path: &std::path::Path, log: Log) -> Result<Option<Profile>> {
    let name = files::name(Some(path));
    let bytes = files::read(Some(path), MOST_BYTES)?;
    let profile = Profile::read(&bytes).map_err(|error| {
        Failure::step(format!("cannot use the profile {name}"), error)
            .advice("make one with: rsalab profile STUDY --out FILE")
    })?;
    match profile.check() {
        Ok(()) => {
            steps::ended(|| format!("{name}: a profile of this machine"));
            Ok(Some(profile))
        }
        Err(error) => {
            log.note(format_args!("{name} is not used: {error}"));
            Ok(None)
        }
    }
}

/// The threads and the back end that a text is worked on with.
pub(crate) struct Settings {
    pub(crate) threads: usize,
    pub(crate) backend: CpuBackend,
}

/// The settings for a text of so many symbols: those that were typed, then the profile's, then the built-in ones.
pub(crate) fn for_text(
    profile: Option<&Profile>,
    text: Text,
    (bits, symbols): (usize, usize),
    threads: Option<usize>,
    key: &KeyOptions,
    built_in: usize,
) -> Result<Settings> {
    let choice = profile.and_then(|profile| profile.text(text, bits, symbols));
    let kernel = key.kernel.name();
    note(choice, threads, kernel);
    Ok(Settings {
        threads: threads.or(choice.map(|choice| choice.threads)).unwrap_or(built_in),
        backend: match choice
            .and_then(|choice| choice.kernel.as_deref())
            .filter(|_| kernel.is_none())
        {
            // A kernel that this program has left out, or does not have, is as if the profile named none.
            Some(name) => CpuBackend::named(name).or_else(|_| kernels::backend(None))?,
            None => kernels::backend(kernel)?,
        },
    })
}

fn note(choice: Option<&Choice>, threads: Option<usize>, kernel: Option<&str>) {
    let Some(choice) = choice else { return };
    steps::ended(|| {
        let of = |is_typed: bool| if is_typed { "as typed, not " } else { "" };
        format!(
            "profile: {}{}, {}kernel {}",
            of(threads.is_some()),
            number::counted(choice.threads, "thread"),
            of(kernel.is_some()),
            choice.kernel.as_deref().unwrap_or("of the program's choice")
        )
    });
}

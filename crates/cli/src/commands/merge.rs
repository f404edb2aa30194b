//! `rsalab merge`: parts of a study or of many keys become a whole.

use std::path::Path;

use super::{keygen::merge_archives, study::merge_parts};
use crate::{
    arguments::Merge,
    exit::{Class, Failure, Result},
    output::Log,
};

/// Merges what is there: directories are of studies, files of keys.
pub(crate) fn run(arguments: &Merge, log: Log) -> Result<()> {
    let kinds: Vec<bool> = arguments.parts.iter().map(|part| part.is_dir()).collect();
    if let Some(missing) = arguments.parts.iter().find(|part| !exists(part)) {
        let what = format!("there is no {}", missing.display());
        return Err(Failure::new(Class::Io, what).advice("name the directories or archives of all parts"));
    }
    match (kinds.contains(&true), kinds.contains(&false)) {
        (true, true) => {
            let what = "directories are parts of a study, and files are archives of keys: here are both";
            Err(Failure::new(Class::Usage, what).advice("merge them by a command each"))
        }
        (true, false) => merge_parts(&arguments.parts, &arguments.out, &arguments.json),
        _ => merge_archives(arguments, log),
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

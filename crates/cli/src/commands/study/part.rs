//! Parts of a study: what says that one is complete, and how all become a whole.

use std::path::{Path, PathBuf};

use rsalab_measure::Machine;
use rsalab_study::{
    Study, articles,
    part::{self, Manifest, Part, Work},
    plan::Plan,
    report,
    store::{self, MergeError, Store},
};

use super::printed::{print, typed};
use crate::{
    arguments::JsonOption,
    commands::parts::Done,
    exit::{self, Class, Failure, Result},
    steps,
};

/// Leaves a manifest beside a part that is complete.
pub(super) fn complete(study: Study, machine: &Machine) -> Result<()> {
    let store = study.store();
    let (Some(part), false) = (
        store.part().map_err(rsalab_study::Error::from)?,
        store.has_open_cells().map_err(rsalab_study::Error::from)?,
    ) else {
        return Ok(());
    };
    let record = store.study().map_err(rsalab_study::Error::from)?;
    let groups = store.own_groups().map_err(rsalab_study::Error::from)?;
    let directory = store.directory().to_owned();
    // The database is one file from now on.
    drop(study);
    let done = Done {
        work: Work::Study,
        part,
        plan_sha256: part::plan_digest(record.plan_toml.as_bytes()),
        insecure_seed: Some(record.seed.to_string()),
        items: groups.iter().map(|group| group.cells.len() as u64).sum(),
    };
    done.write(&directory.join(store::FILE), &directory.join(store::PART_FILE), machine)
}

/// Returns whether a directory has this part of the plan, complete and unchanged.
pub(super) fn is_whole(directory: &Path, part: Part, plan: &Plan) -> bool {
    let (file, path) = (directory.join(store::FILE), directory.join(store::PART_FILE));
    Manifest::read(&file, &path).is_ok_and(|manifest| {
        let plan_sha256 = part::plan_digest(plan.to_toml().as_bytes());
        (manifest.part, manifest.plan_sha256.as_str()) == (part, plan_sha256.as_str())
            && manifest.check(&file, &path).is_ok()
    })
}

/// Opens a part that an earlier run of the same command has begun.
pub(super) fn again(
    directory: &Path,
    plan: &Plan,
    part: Option<Part>,
) -> std::result::Result<Study, rsalab_study::Error> {
    let store = Store::view(directory)?;
    let is_same = store.part()? == part && store.study()?.plan_toml == plan.to_toml();
    drop(store);
    match is_same {
        true => Ok(Study::open(directory)?),
        false => Err(store::StoreError::Exists(directory.to_owned()).into()),
    }
}

/// Prints what the report of a complete part says.
pub(super) fn report_of_part(directory: &Path, json: &JsonOption) -> Result<()> {
    let store = Store::view(directory).map_err(rsalab_study::Error::from)?;
    let report = articles::report(&store).map_err(rsalab_study::Error::from)?;
    let page = report::write(&report, directory)?;
    print(directory, report, &page, json)
}

/// Makes one study of its parts, with a report.
pub(in crate::commands) fn merge_parts(parts: &[PathBuf], into: &Path, json: &JsonOption) -> Result<()> {
    const NOT_MERGED: &str = "nothing was merged";
    Store::merge(parts, into, &typed()).map_err(|error| match error {
        MergeError::Store(error) => Failure::from(rsalab_study::Error::from(error)).among(NOT_MERGED),
        MergeError::Manifest(error) => exit::of_manifest(NOT_MERGED, error),
        MergeError::Exists(_) => Failure::new(Class::Io, NOT_MERGED).because(error),
        _ => Failure::new(Class::Input, NOT_MERGED).because(error),
    })?;
    steps::ended(|| format!("{}: merged", into.display()));
    report_of_part(into, json)
}

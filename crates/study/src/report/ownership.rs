//! The check that a directory may take the files of a report: what somebody else made stays.

use std::{fs, io, path::Path};

use serde::Deserialize;

use super::{PAGE, Report};
use crate::{articles, error::Error};

/// The files that a report writes into its directory itself, `results.json` first: it says which study the files are
/// of.
const NAMES: [&str; 5] = [RESULTS, "results.csv", "report.md", "report.tex", PAGE];

/// The report as data.
const RESULTS: &str = "results.json";

/// The study as `results.json` identifies it; earlier versions did not say when it was made.
#[derive(Deserialize)]
struct Identity {
    insecure_seed: String,
    plan_toml: String,
    #[serde(default)]
    created_unix_ms: Option<i64>,
}

/// Refuses a directory in which a file of the report, or with `batch_files` one of a batch, would replace what no
/// report of the same study made. It is such a report's if its `results.json` is of the study.
///
/// # Errors
/// Something else has the name of a file.
pub fn check_place(report: &Report, directory: &Path, batch_files: bool) -> Result<(), Error> {
    let is_ours = is_report_of(report, directory);
    let figures = report
        .all_figures()
        .flat_map(|figure| ["svg", "png"].map(|ending| format!("figures/{}.{ending}", figure.id)));
    let batches = match batch_files {
        true => articles::batch_files(&report.groups),
        false => Vec::new(),
    };
    let names = NAMES.map(str::to_owned).into_iter().chain(figures);
    for name in names.chain(batches.into_iter().map(|file| file.path)) {
        let path = directory.join(&name);
        // These two repeat the seed, so that even in a report's directory nobody else's are replaced.
        let shows_study = name == PAGE || name == "report.md";
        let is_replaceable = is_ours && (!shows_study || mentions(&path, &report.insecure_seed));
        if path.symlink_metadata().is_ok() && !is_replaceable {
            let refused =
                "it is there already, and no report of this study made it: move it away, or name another directory";
            return Err(Error::io(path)(io::Error::other(refused)));
        }
    }
    Ok(())
}

/// Returns whether a report of the same study lies in a directory.
fn is_report_of(report: &Report, directory: &Path) -> bool {
    let path = directory.join(RESULTS);
    let Some(text) = text(&path) else {
        return false;
    };
    let made_by = serde_json::from_str::<Identity>(&text);
    made_by.is_ok_and(|study| {
        study.insecure_seed == report.insecure_seed
            && study.plan_toml == report.plan_toml
            && study
                .created_unix_ms
                .is_none_or(|created| created == report.created_unix_ms)
    })
}

fn mentions(path: &Path, seed: &str) -> bool {
    text(path).is_some_and(|text| text.contains(seed))
}

/// The text of a regular file: a link leads to somebody else's, and opening a pipe would wait for its other end.
fn text(path: &Path) -> Option<String> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    is_file.then(|| fs::read_to_string(path).ok()).flatten()
}

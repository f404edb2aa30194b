//! The rules of the workspace that no compiler checks.
//!
//! | rule | file |
//! |---|---|
//! | a crate imports only from layers below it; side crates are imported by nobody | [`layers`] |
//! | no import cycle between the files of a crate, or between its folders | [`cycles`] |
//! | `unsafe` only where the design allows it, and forbidden by attribute elsewhere | [`unsafety`] |
//! | bare mode, the feature `hazmat`, is enabled only by those who measure it | [`hazmat`] |
//! | no vague file names; no unfinished marks | [`names`] |
//! | no Rust file of more than 500 lines outside tests | [`length`] |
//! | comments and documents wrap at 120 columns | [`columns`] |
//! | no test where `cargo test` does not look | [`untested`] |
//! | what is skipped is said with the word that `cargo xtask test` counts | [`skips`] |
//! | a script that is stopped leaves no files | [`traps`] |
//! | a crate that others may depend on brings its licences along | [`licences`] |
//! | lock files of other workspaces list what the crates from here depend on | [`locks`] |
//! | the table of engines in the documents is that of `engines.toml` | [`engines`] |
//! | the page on kernels describes those of `arith`'s table | [`kernels`] |
//! | excerpts of files in the documents are what the files have | [`excerpts`] |
//! | relative links in Markdown lead to a file; ARCHITECTURE.md names every crate | [`documents`] |

use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

pub(crate) use finding::Finding;

mod columns;
mod cycles;
mod documents;
mod engines;
mod excerpts;
mod finding;
mod hazmat;
mod imports;
mod kernels;
mod layers;
mod length;
mod licences;
mod locks;
mod names;
mod skips;
mod source;
mod traps;
mod unsafety;
mod untested;

/// Applies every rule to the repository at `root`.
pub(crate) fn run(root: &Path) -> Result<Vec<Finding>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata failed")?;
    let crates = layers::crates(&metadata, root)?;
    let files = source::files(root)?;

    let mut findings = layers::check(&crates);
    findings.extend(cycles::check(&crates, &files));
    findings.extend(unsafety::check(&crates, &files));
    findings.extend(hazmat::check(&files));
    findings.extend(names::check(&files));
    findings.extend(length::check(&files));
    findings.extend(columns::check(&files));
    findings.extend(untested::check(&metadata, root, &files));
    findings.extend(skips::check(&files));
    findings.extend(traps::check(&files));
    findings.extend(licences::check(root, &files));
    findings.extend(locks::check(&metadata, &files)?);
    findings.extend(documents::check(root, &crates, &files));
    findings.extend(engines::check(&files)?);
    findings.extend(kernels::check(&files));
    findings.extend(excerpts::check(&files));
    Ok(findings)
}

/// Writes the table of engines, and excerpts of files, into the documents of the repository at `root`.
pub(crate) fn write_documents(root: &Path) -> Result<()> {
    engines::write(root, &source::files(root)?)?;
    excerpts::write(root, &source::files(root)?)
}

//! The rules of the house that no compiler checks.
//!
//! | rule | file |
//! |---|---|
//! | a crate imports only from floors below it; side crates are imported by nobody | [`floors`] |
//! | `unsafe` only where the design allows it, and forbidden by attribute elsewhere | [`unsafety`] |
//! | bare mode is named by `arith`, `rsa` and `engines` only; no vague file names; no unfinished marks | [`names`] |
//! | no test where `cargo test` does not look | [`untested`] |
//! | relative links in Markdown lead to a file; ARCHITECTURE.md names every crate | [`documents`] |

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

mod documents;
mod floors;
mod names;
mod source;
mod unsafety;
mod untested;

/// One breach of a rule, with the place to mend.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: PathBuf,
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl Finding {
    fn new(
        path: impl Into<PathBuf>,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) -> Self {
        Finding {
            path: path.into(),
            line: line.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Applies every rule to the repository at `root`.
pub(crate) fn run(root: &Path) -> Result<Vec<Finding>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata failed")?;
    let crates = floors::crates(&metadata, root)?;
    let files = source::files(root)?;

    let mut findings = floors::check(&crates);
    findings.extend(unsafety::check(&crates, &files));
    findings.extend(names::check(&files));
    findings.extend(untested::check(&metadata, root, &files));
    findings.extend(documents::check(root, &crates, &files));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let findings = run(root).unwrap();
        let list: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(list.is_empty(), "\n{}", list.join("\n"));
    }
}

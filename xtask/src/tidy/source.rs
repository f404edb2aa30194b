//! The repository's files as the rules read them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use proc_macro2::{TokenStream, TokenTree};

/// A text file of the repository, by its path relative to the root.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|e| e == extension)
    }

    /// Returns whether it holds tests, by its name or its folder's.
    pub(crate) fn is_test(&self) -> bool {
        self.path.iter().any(|part| part == "tests" || part == "tests.rs")
    }

    /// Every identifier and keyword of a Rust file with its line. Comments and strings are not among them.
    pub(crate) fn identifiers(&self) -> Result<Vec<(String, usize)>, String> {
        let tokens: TokenStream = self.text.parse().map_err(|error| format!("not Rust: {error}"))?;
        let mut found = Vec::new();
        collect(tokens, &mut found);
        Ok(found)
    }
}

fn collect(tokens: TokenStream, found: &mut Vec<(String, usize)>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => found.push((ident.to_string(), ident.span().start().line)),
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Every file that git tracks or would track, and that is text.
pub(crate) fn files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = git.current_dir(root).output().context("running git")?;
    ensure!(
        listed.status.success(),
        "git ls-files: {}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let names = String::from_utf8(listed.stdout).context("names of files")?;
    let mut names: Vec<&str> = names.split_terminator('\0').collect();
    names.sort_unstable();
    // In the middle of a merge git lists a file once for each side.
    names.dedup();
    let mut files = Vec::new();
    for name in names {
        let path = root.join(name);
        // A link is its target's; what was removed is listed until that is committed.
        if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(SourceFile {
                path: name.into(),
                text,
            });
        }
    }
    Ok(files)
}

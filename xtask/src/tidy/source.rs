//! The repository's files as the rules read them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
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

    /// Whether it holds tests, by its name or its folder's.
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

/// Every file that git would track and that is text.
pub(crate) fn files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    for entry in ignore::WalkBuilder::new(root)
        .hidden(false)
        .filter_entry(|e| e.file_name() != ".git")
        .build()
    {
        let entry = entry?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let bytes = fs::read(entry.path()).with_context(|| format!("reading {}", entry.path().display()))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(SourceFile {
                path: entry.path().strip_prefix(root)?.to_owned(),
                text,
            });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

//! The manifest of a folder of keys that `rsalab keygen` made: which files there should be, and with which keys.

use std::{fs, path::Path};

use serde::Deserialize;

use super::texts::Texts;
use crate::issue::Issue;

/// The key that a file should hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Promise {
    /// The file, as other documents of the folder are called.
    pub(crate) file: String,
    /// SHA-256 of the SubjectPublicKeyInfo.
    pub(crate) fingerprint: [u8; 32],
}

/// A manifest.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) promises: Vec<Promise>,
    pub(crate) issues: Vec<Issue>,
}

/// The names of members are those of `rsalab keygen`.
#[derive(Deserialize)]
struct Entry {
    file: String,
    public: Option<String>,
    sha256: String,
}

/// Returns whether a file begins as a manifest.
pub(crate) fn is(head: &[u8]) -> bool {
    head.starts_with(b"{\"rsalab_keys\":")
}

impl Manifest {
    /// Reads lines of the manifest with this name. Its first line says what it is.
    pub(crate) fn read(lines: &Texts, name: &str) -> Manifest {
        let mut manifest = Manifest::default();
        let folder = match name.rfind(['/', ':']) {
            Some(end) => &name[..=end],
            None => "",
        };
        let mut damaged = Vec::new();
        for (number, line) in lines.iter().filter(|(number, _)| *number > 1) {
            let entry: Option<Entry> = serde_json::from_slice(line).ok();
            let entry = entry.and_then(|entry| Some((hex::decode(&entry.sha256).ok()?.try_into().ok()?, entry)));
            let Some((fingerprint, entry)) = entry else {
                damaged.push(number);
                continue;
            };
            for file in [Some(entry.file), entry.public].into_iter().flatten() {
                manifest.promises.push(Promise {
                    file: format!("{folder}{file}"),
                    fingerprint,
                });
            }
        }
        // A finding for each of millions would help nobody.
        let what = match damaged[..] {
            [] => return manifest,
            [one] => format!("line {one} of this manifest is damaged"),
            [first, .., last] => format!(
                "{} lines of this manifest are damaged, the first and the last {first} and {last}",
                damaged.len()
            ),
        };
        manifest.issues.push(Issue::new("unreadable", what));
        manifest
    }
}

impl Promise {
    /// Returns whether the file is there, though no key of it was read.
    pub(crate) fn is_there(&self) -> bool {
        fs::symlink_metadata(Path::new(&self.file)).is_ok()
    }
}

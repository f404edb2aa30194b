//! A crate that others may depend on, whose manifest names a page of its documentation, brings the texts of its
//! licences along: both ask for that.

use std::path::Path;

use super::{finding::Finding, source::SourceFile};

/// The texts, in the repository's root, to which links of the crates' folders lead.
const TEXTS: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Applies the rule to every manifest.
pub(crate) fn check(root: &Path, files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in files.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let line = |key: &str| manifest.text.lines().find(|line| line.starts_with(key));
        if line("documentation = ").is_none() {
            continue;
        }
        for text in TEXTS {
            // Without a list Cargo takes every file.
            let is_listed = line("include = ").is_none_or(|list| list.contains(&format!("\"{text}\"")));
            let is_there = manifest
                .path
                .parent()
                .is_some_and(|folder| root.join(folder).join(text).is_file());
            if !is_listed || !is_there {
                let message = format!("is published without {text}: link to it, and include it");
                findings.push(Finding::new(&manifest.path, None, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_crate_without_its_licences_is_found() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join("one")).expect("a folder");
        let count = |text: &str| {
            let file = SourceFile {
                path: "one/Cargo.toml".into(),
                text: text.to_owned(),
            };
            check(root.path(), &[file]).len()
        };
        let both = "documentation = \"x\"\ninclude = [\"src\", \"LICENSE-APACHE\", \"LICENSE-MIT\"]\n";
        assert_eq!(count(both), 2);
        fs::write(root.path().join("one/LICENSE-MIT"), "text").expect("it is written");
        assert_eq!(count(both), 1);
        fs::write(root.path().join("one/LICENSE-APACHE"), "text").expect("it is written");
        assert_eq!(count(both), 0);
        assert_eq!(count("documentation = \"x\"\n"), 0);
        assert_eq!(
            count("documentation = \"x\"\ninclude = [\"src\", \"LICENSE-MIT\"]\n"),
            1
        );
        assert_eq!(count("include = [\"src\"]\n"), 0);
    }
}

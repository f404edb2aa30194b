//! A workspace of its own, such as that of the fuzz targets, has a lock file of its own, and takes crates from here:
//! the file lists what each of them depends on, or `cargo --locked` refuses to build there.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata};
use serde::Deserialize;

use super::{finding::Finding, source::SourceFile};

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    source: Option<String>,
    /// Names, with versions where there are several.
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Applies the rule to every lock file but that of the workspace.
pub(crate) fn check(metadata: &Metadata, files: &[SourceFile]) -> Result<Vec<Finding>> {
    let crates: Vec<(&str, BTreeSet<&str>)> = metadata
        .packages
        .iter()
        .map(|package| {
            // Tests are not built there, and not every feature is enabled.
            let all = package.dependencies.iter();
            let all = all.filter(|one| one.kind != DependencyKind::Development && !one.optional);
            (package.name.as_str(), all.map(|dependency| &*dependency.name).collect())
        })
        .collect();
    let mut findings = Vec::new();
    for file in files {
        if file.path.ends_with("Cargo.lock") && file.path != Path::new("Cargo.lock") {
            findings.extend(lacking(file, &crates)?);
        }
    }
    Ok(findings)
}

fn lacking(file: &SourceFile, crates: &[(&str, BTreeSet<&str>)]) -> Result<Vec<Finding>> {
    let lock: Lock = toml::from_str(&file.text).with_context(|| file.path.display().to_string())?;
    let mut findings = Vec::new();
    for locked in lock.package.iter().filter(|locked| locked.source.is_none()) {
        let Some((name, wanted)) = crates.iter().find(|(name, _)| *name == locked.name) else {
            continue;
        };
        let names = locked.dependencies.iter().filter_map(|name| name.split(' ').next());
        let listed: BTreeSet<&str> = names.collect();
        for missing in wanted.difference(&listed) {
            let message = format!("{name} depends on {missing}: run `cargo metadata` in its folder, and commit it");
            findings.push(Finding::new(&file.path, None, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_that_lacks_a_dependency_is_found() {
        let crates = [("one", BTreeSet::from(["two", "three"]))];
        let count = |text: &str| {
            let file = SourceFile {
                path: "a/Cargo.lock".into(),
                text: text.to_owned(),
            };
            lacking(&file, &crates).expect("a lock file").len()
        };
        let of = |dependencies: &str| format!("[[package]]\nname = \"one\"\nversion = \"1.0.0\"\n{dependencies}");
        assert_eq!(count(&of("dependencies = [\"three\", \"two 1.0.0\"]\n")), 0);
        assert_eq!(count(&of("dependencies = [\"two 1.0.0\"]\n")), 1);
        assert_eq!(count(&of("")), 2);
        // A crate of the same name from elsewhere, and one that is not of this workspace.
        assert_eq!(count(&of("source = \"registry\"\n")), 0);
        assert_eq!(count("[[package]]\nname = \"another\"\nversion = \"1.0.0\"\n"), 0);
    }
}

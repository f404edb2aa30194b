//! The crates that are linked into a package.
//!
//! The list is what `cargo tree` says is linked (no build scripts, macros and tests), the texts of licences are those
//! in the crates' own folders.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::{Metadata, MetadataCommand, Package};
use serde::Deserialize;

use super::{
    component::{APACHE, Component, encoded, licence_text},
    expression,
};

/// Texts of licences of crates that come without one: NAME.txt.
const TEXTS: &str = "packaging/wheel/texts";

/// The crates of the repository's lock file.
pub(super) struct Crates {
    root: PathBuf,
    metadata: Metadata,
    checksums: BTreeMap<(String, String), String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

impl Crates {
    /// Reads the lock file, and what the crates say of themselves.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .other_options(["--locked".to_owned()])
            .exec()
            .context("cargo metadata failed")?;
        let lock: Lock = toml::from_str(&fs::read_to_string(root.join("Cargo.lock"))?).context("Cargo.lock")?;
        let checksums = lock
            .package
            .into_iter()
            .filter_map(|locked| Some(((locked.name, locked.version), locked.checksum?)))
            .collect();
        Ok(Crates {
            root: root.to_owned(),
            metadata,
            checksums,
        })
    }

    /// The software by others that is linked into `package`, built for this machine.
    pub(super) fn linked_into(&self, package: &str) -> Result<Vec<Component>> {
        let mut components = Vec::new();
        for (name, version) in linked_into(&self.root, package)? {
            let found = self.find(&name, &version)?;
            // What has no registry is part of the repository, under its own licence.
            if found.source.is_some() {
                components.push(self.component(found)?);
            }
        }
        Ok(components)
    }

    /// A crate by its name, of which the lock file must have one version.
    pub(super) fn only(&self, name: &str) -> Result<&Package> {
        let mut found = self.metadata.packages.iter().filter(|package| *package.name == name);
        let first = found
            .next()
            .with_context(|| format!("Cargo.lock has no crate {name}"))?;
        ensure!(found.next().is_none(), "Cargo.lock has several versions of {name}");
        Ok(first)
    }

    fn find(&self, name: &str, version: &str) -> Result<&Package> {
        self.metadata
            .packages
            .iter()
            .find(|package| *package.name == name && package.version.to_string() == version)
            .with_context(|| format!("cargo metadata does not know {name} {version}"))
    }

    fn component(&self, package: &Package) -> Result<Component> {
        let (name, version) = (package.name.to_string(), package.version.to_string());
        let licence = package.license.clone();
        let licence = licence.with_context(|| format!("{name} {version} names no licence"))?;
        let mut texts = licence_texts(folder(package)?)?;
        let kept = self.root.join(TEXTS).join(format!("{name}.txt"));
        if texts.is_empty() && kept.is_file() {
            texts.insert(fs::read_to_string(kept)?.trim().to_owned());
        }
        if texts.is_empty() && licence.contains("Apache-2.0") && !licence.contains(" AND ") {
            // One of several at our choice, whose text is known.
            texts.insert(APACHE.to_owned());
        }
        ensure!(
            !texts.is_empty(),
            "{name} {version} has no text of its licence, {licence}: put it into {TEXTS}/{name}.txt"
        );
        Ok(Component {
            purl: format!("pkg:cargo/{name}@{}", encoded(&version)),
            home: package.repository.clone().or(package.homepage.clone()),
            checksum: self.checksums.get(&(name.clone(), version.clone())).cloned(),
            licence: expression::spdx(&licence),
            name,
            version,
            texts,
        })
    }
}

/// The folder of a package.
pub(super) fn folder(package: &Package) -> Result<&Path> {
    Ok(package.manifest_path.parent().context("no folder")?.as_std_path())
}

/// Names and versions of the packages that are linked into `package`.
fn linked_into(root: &Path, package: &str) -> Result<BTreeSet<(String, String)>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["tree", "--locked", "--package", package])
        .args(["--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(["--no-dedupe", "--format", "{p}"])
        .output()
        .context("cargo tree cannot be started")?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        bail!("cargo tree failed: {}", reason.trim_end());
    }
    let list = String::from_utf8(output.stdout)?;
    // A line is `name v1.2.3`, and of a package of the repository also its folder.
    let parsed = list.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let name = words.next()?;
        let version = words.next()?.strip_prefix('v')?;
        Some((name.to_owned(), version.to_owned()))
    });
    Ok(parsed.collect())
}

/// The texts of licences in a crate's folder.
fn licence_texts(folder: &Path) -> Result<BTreeSet<String>> {
    const STARTS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "UNLICENSE"];
    let mut texts = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if STARTS.iter().any(|start| name.starts_with(start)) && entry.file_type()?.is_file() {
            texts.insert(licence_text(&entry.path())?);
        }
    }
    Ok(texts)
}

//! Notices of the third-party crates that are linked into a package's library.
//!
//! Licences such as MIT and BSD ask that their text goes with copies in binary form. The list is what `cargo tree` says
//! is linked for this machine (no build scripts, macros and tests), the texts are those in the crates' own folders. A
//! crate without one is an error.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::{Metadata, MetadataCommand, Package};

/// The notices of everything that is linked into `package` of the repository at `root`, as plain text.
pub(crate) fn of(root: &Path, package: &str) -> Result<String> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .other_options(["--locked".to_owned()])
        .exec()
        .context("cargo metadata failed")?;
    let mut linked = Vec::new();
    for (name, version) in linked_into(root, package)? {
        let found = find(&metadata, &name, &version)?;
        // What has no registry is part of the repository, under its own licence.
        if found.source.is_some() {
            linked.push(found);
        }
    }
    ensure!(!linked.is_empty(), "nothing is linked into {package}");
    text(package, &linked)
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

fn find<'a>(metadata: &'a Metadata, name: &str, version: &str) -> Result<&'a Package> {
    metadata
        .packages
        .iter()
        .find(|package| *package.name == name && package.version.to_string() == version)
        .with_context(|| format!("cargo metadata does not know {name} {version}"))
}

/// The list of crates, then each text of a licence once, with the crates that have it.
fn text(package: &str, linked: &[&Package]) -> Result<String> {
    let mut text = format!("Third-party software that is linked into {package}\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for linked in linked {
        let name = format!("{} {}", linked.name, linked.version);
        let licence = linked.license.as_deref().unwrap_or("see its text");
        text += &format!("{name}: {licence}");
        if let Some(home) = linked.repository.as_ref().or(linked.homepage.as_ref()) {
            text += &format!("; {home}");
        }
        text.push('\n');
        let folder = linked.manifest_path.parent().context("no folder")?;
        let own = licence_texts(folder.as_std_path())?;
        ensure!(!own.is_empty(), "{name} has no text of its licence");
        for own in own {
            texts.entry(own).or_default().push(name.clone());
        }
    }
    text += "\nThe Rust standard library, which is part of every such library, is under MIT or Apache-2.0, at your choice: copyright the Rust \
             Project contributors, https://www.rust-lang.org.\n";
    for (licence, names) in texts {
        text += &format!("\n{}\n{}:\n\n{licence}\n", "-".repeat(80), names.join(", "));
    }
    Ok(text)
}

/// The texts of licences in a crate's folder. Of Apache 2.0 its name is enough, as the text is the same everywhere.
fn licence_texts(folder: &Path) -> Result<BTreeSet<String>> {
    const STARTS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "UNLICENSE"];
    const APACHE: &str = "Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0";
    let mut texts = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if !STARTS.iter().any(|start| name.starts_with(start)) || !entry.file_type()?.is_file() {
            continue;
        }
        let text = fs::read_to_string(entry.path())?;
        let is_apache = text.contains("Apache License") && text.contains("Version 2.0, January 2004");
        texts.insert(match is_apache {
            true => APACHE.to_owned(),
            false => text.trim().replace("\r\n", "\n"),
        });
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_names_what_is_linked_into_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let text = of(root, "rsalab-c").unwrap();
        for part in [
            "\nsubtle ",
            "BSD-3-Clause",
            "Redistribution and use in source and binary forms",
            "Permission is hereby granted",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        // Built with it, and not linked into it; and what is ours.
        for part in ["\ncbindgen ", "\nsyn ", "\nrsalab-"] {
            assert!(!text.contains(part), "{part} is in\n{text}");
        }
    }
}

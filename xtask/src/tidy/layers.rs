//! Crates import downwards only.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::Metadata;

use super::finding::Finding;

/// Where a crate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A layer, counted from the lowest.
    Layer(u8),
    /// A native peer: may use the engine trait, and what peers share.
    Peer,
    /// Repository chores and fuzz targets: use what they like, nobody uses them.
    Chore,
}

/// A crate of the workspace.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Folder, relative to the root.
    pub(crate) folder: PathBuf,
    pub(crate) place: Option<Place>,
    /// Crates of the workspace that it imports, also in tests and build scripts.
    pub(crate) imports: Vec<String>,
}

/// The layers, as ARCHITECTURE.md draws them. A new crate is entered here.
fn place(folder: &Path) -> Option<Place> {
    let folder = folder.to_str()?;
    Some(match folder {
        "crates/arith" | "crates/digests" | "crates/measure" | "crates/product" | "crates/reserve" => Place::Layer(0),
        "crates/rsa" => Place::Layer(1),
        "crates/audit" | "crates/batch" | "crates/gpu" | "crates/sealed" | "crates/text" => Place::Layer(2),
        "crates/engines" => Place::Layer(3),
        "crates/study" => Place::Layer(4),
        "crates/cli" => Place::Layer(5),
        "xtask" | "fuzz" | "fuzz/c" | "fuzz/provider" | "tracking" => Place::Chore,
        _ if folder.starts_with("peers/") => Place::Peer,
        _ if folder.starts_with("bindings/") || folder.starts_with("integrations/") => Place::Layer(3),
        _ => return None,
    })
}

/// The workspace's crates and what they import.
pub(crate) fn crates(metadata: &Metadata, root: &Path) -> Result<Vec<Crate>> {
    let names: Vec<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    metadata
        .packages
        .iter()
        .map(|package| {
            let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
            let folder = folder
                .as_std_path()
                .strip_prefix(root)
                .context("a workspace crate lies outside")?
                .to_owned();
            let mut imports: Vec<String> = package
                .dependencies
                .iter()
                .filter(|dependency| names.contains(&dependency.name.as_str()))
                .map(|dependency| dependency.name.clone())
                .collect();
            imports.sort();
            imports.dedup();
            Ok(Crate {
                name: package.name.to_string(),
                place: place(&folder),
                folder,
                imports,
            })
        })
        .collect()
}

/// Fails on an import upwards or within a layer, and on a crate without a layer.
pub(crate) fn check(crates: &[Crate]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for importer in crates {
        let manifest = importer.folder.join("Cargo.toml");
        let Some(from) = importer.place else {
            findings.push(Finding::new(
                manifest,
                None,
                format!("crate {} has no layer", importer.name),
            ));
            continue;
        };
        for name in &importer.imports {
            let Some(to) = crates.iter().find(|c| &c.name == name).and_then(|c| c.place) else {
                continue;
            };
            if !may_import(from, to) && name != &importer.name {
                let message = format!(
                    "{} ({from:?}) imports {name} ({to:?}): imports go downwards only",
                    importer.name
                );
                findings.push(Finding::new(&manifest, None, message));
            }
        }
    }
    findings
}

fn may_import(from: Place, to: Place) -> bool {
    match (from, to) {
        (Place::Layer(from), Place::Layer(to)) => to < from,
        // Peers stand beside `study`: they know the engine trait and what lies below it.
        (Place::Peer, Place::Layer(to)) => to <= 3,
        (Place::Peer, Place::Peer) | (Place::Chore, _) => true,
        (_, Place::Peer | Place::Chore) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, folder: &str, imports: &[&str]) -> Crate {
        let folder = PathBuf::from(folder);
        let imports = imports.iter().map(|&i| i.to_owned()).collect();
        Crate {
            name: name.to_owned(),
            place: place(&folder),
            folder,
            imports,
        }
    }

    #[test]
    fn imports_downwards_pass() {
        let workspace = [
            member("arith", "crates/arith", &[]),
            member("rsa", "crates/rsa", &["arith"]),
            member("engines", "crates/engines", &["rsa", "arith"]),
            member("openssl", "peers/openssl", &["engines"]),
        ];
        assert_eq!(check(&workspace), []);
    }

    #[test]
    fn an_import_upwards_is_found() {
        let workspace = [
            member("arith", "crates/arith", &["rsa"]),
            member("rsa", "crates/rsa", &[]),
        ];
        assert_eq!(check(&workspace).len(), 1);
    }

    #[test]
    fn an_import_within_one_layer_is_found() {
        let workspace = [
            member("arith", "crates/arith", &["measure"]),
            member("measure", "crates/measure", &[]),
        ];
        assert_eq!(check(&workspace).len(), 1);
    }

    #[test]
    fn nobody_imports_a_peer_and_no_peer_imports_the_study() {
        let workspace = [
            member("cli", "crates/cli", &["openssl"]),
            member("study", "crates/study", &[]),
            member("openssl", "peers/openssl", &["study"]),
        ];
        assert_eq!(check(&workspace).len(), 2);
    }

    #[test]
    fn a_crate_without_a_layer_is_found() {
        assert_eq!(check(&[member("attic", "crates/attic", &[])]).len(), 1);
    }
}

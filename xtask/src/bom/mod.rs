//! Software by others that is part of our programs: the bill of materials of a wheel or a package, and notices of
//! licences.
//!
//! | question | file |
//! |---|---|
//! | what is known of a piece of software | [`component`] |
//! | which crates are linked into a package | [`crates`] |
//! | what else is in a program: libraries in C, a run-time library, classes | [`parts`] |
//! | the texts of their licences | [`mod@notices`] |
//! | the licence of all of them as one SPDX expression | [`expression`] |
//! | the SBOM, in CycloneDX's form | [`cyclonedx`] |

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use component::{Component, Program};

mod component;
mod crates;
mod cyclonedx;
mod expression;
mod notices;
mod parts;

/// The program of the package of the same name, and how the programs of workers begin.
const PROGRAM: &str = "rsalab";
const WORKER: &str = "rsalab-peer-";
const ENGINES: &str = "crates/engines/engines.toml";
/// Of all our packages, as of this one.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const LICENCE: &str = "MIT OR Apache-2.0";

/// The notices of everything that is linked into `package` of the repository at `root`, as plain text.
pub(crate) fn notices(root: &Path, package: &str) -> Result<String> {
    let linked = crates::Crates::read(root)?.linked_into(package)?;
    ensure!(!linked.is_empty(), "nothing is linked into {package}");
    Ok(notices::text(package, &linked))
}

/// The SBOM of `package` of the repository at `root`: the crates that are linked into it, as JSON of CycloneDX.
pub(crate) fn sbom(root: &Path, package: &str) -> Result<String> {
    let mut linked = crates::Crates::read(root)?.linked_into(package)?;
    ensure!(!linked.is_empty(), "nothing is linked into {package}");
    linked.sort();
    let subject = cyclonedx::Subject {
        kind: if package == PROGRAM { "application" } else { "library" },
        origin: "cargo",
        name: package,
        version: VERSION,
        licence: LICENCE,
    };
    cyclonedx::document(&subject, &[], &linked.iter().collect::<Vec<_>>())
}

/// The subject of a bill, and where it goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    /// The folder with the programs: `rsalab`, and workers.
    #[arg(long)]
    programs: PathBuf,
    /// The folder into which `licenses`, `sboms` and `license-expression` are written.
    #[arg(long)]
    out: PathBuf,
    /// Another file that the wheel carries, and the package that it was built from: FILE=PACKAGE.
    #[arg(long)]
    also: Vec<String>,
}

/// Writes the bill of a wheel: the texts of licences, the expression, and the SBOM.
pub(crate) fn write(root: &Path, request: &Request) -> Result<()> {
    let programs = programs(root, request)?;
    // Those that several programs have are one.
    let mut all: BTreeMap<&str, &Component> = BTreeMap::new();
    for component in programs.iter().flat_map(|program| &program.components) {
        all.insert(&component.purl, component);
    }
    let all: Vec<&Component> = all.into_values().collect();

    let licences = request.out.join("licenses");
    let sboms = request.out.join("sboms");
    for folder in [&licences, &sboms] {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    for own in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root.join(own), licences.join(own)).with_context(|| format!("copying {own}"))?;
    }
    let owned: Vec<Component> = all.iter().map(|component| (*component).clone()).collect();
    let notices = parts::NOTICE.to_owned() + &notices::text("the programs of this wheel", &owned);
    fs::write(licences.join("third-party-notices.txt"), notices)?;
    let expression = expression::of(all.iter().map(|component| component.licence.as_str()).chain([LICENCE]));
    fs::write(request.out.join("license-expression"), expression + "\n")?;
    let subject = cyclonedx::Subject {
        kind: "application",
        origin: "pypi",
        name: PROGRAM,
        version: VERSION,
        licence: LICENCE,
    };
    let sbom = cyclonedx::document(&subject, &programs, &all)?;
    fs::write(sboms.join("rsalab.cdx.json"), sbom + "\n")?;
    Ok(())
}

#[derive(Deserialize)]
struct Engines {
    engine: Vec<Engine>,
}

#[derive(Deserialize)]
struct Engine {
    name: String,
    package: Option<String>,
}

/// The programs of the folder, each with what is in it.
fn programs(root: &Path, request: &Request) -> Result<Vec<Program>> {
    let text = fs::read_to_string(root.join(ENGINES)).with_context(|| format!("reading {ENGINES}"))?;
    let engines: Engines = toml::from_str(&text).with_context(|| format!("{ENGINES} cannot be read"))?;
    let crates = crates::Crates::read(root)?;
    let parts = parts::Parts::read(root)?;

    let mut found: Vec<(String, Option<String>)> = Vec::new();
    if request.programs.join(PROGRAM).is_file() {
        found.push((PROGRAM.to_owned(), Some(PROGRAM.to_owned())));
    }
    for engine in &engines.engine {
        let file = format!("{WORKER}{}", engine.name);
        if request.programs.join(&file).is_file() {
            found.push((file, engine.package.clone()));
        }
    }
    for also in &request.also {
        let (file, package) = also.split_once('=').context("--also takes FILE=PACKAGE")?;
        found.push((file.to_owned(), Some(package.to_owned())));
    }
    ensure!(!found.is_empty(), "no program in {}", request.programs.display());
    found
        .into_iter()
        .map(|(file, package)| {
            let mut components = match &package {
                Some(package) => crates.linked_into(package)?,
                None => Vec::new(),
            };
            components.extend(parts.of(&file, &request.programs, package.is_some(), &crates)?);
            components.sort();
            Ok(Program { file, components })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    #[test]
    fn the_sbom_of_the_program_lists_what_is_linked_into_it() {
        let json: serde_json::Value = serde_json::from_str(&sbom(root(), PROGRAM).unwrap()).unwrap();
        assert_eq!(
            json["metadata"]["component"]["bom-ref"],
            format!("pkg:cargo/rsalab@{VERSION}")
        );
        let components = json["components"].as_array().unwrap();
        let of = |name: &str| components.iter().find(|component| component["name"] == name);
        let rusqlite = of("rusqlite").unwrap();
        assert_eq!(rusqlite["hashes"][0]["content"].as_str().unwrap().len(), 64);
        // Built with it, and not linked into it; and what is ours.
        assert_eq!((of("cbindgen"), of("rsalab-arith")), (None, None));
        let on = &json["dependencies"][0]["dependsOn"];
        assert_eq!(on.as_array().unwrap().len(), components.len());
    }

    #[test]
    fn the_c_library_names_what_is_linked_into_it() {
        let text = notices(root(), "rsalab-c").unwrap();
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

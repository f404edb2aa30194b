//! The parts of a program besides crates: `packaging/wheel/parts.toml`, with versions and texts of where this is built.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::{
    component::{Component, encoded, licence_text},
    crates::{Crates, folder},
};

const TABLE: &str = "packaging/wheel/parts.toml";

/// The beginning of the notices of a wheel: what the LGPL asks to be said.
pub(super) const NOTICE: &str = include_str!("../../../packaging/wheel/texts/gmp.txt");

/// The table.
#[derive(Deserialize)]
pub(super) struct Parts {
    #[serde(skip)]
    root: PathBuf,
    part: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    r#in: Vec<String>,
    licence: String,
    purl: String,
    version: Option<String>,
    #[serde(default)]
    texts: Vec<String>,
    // One of these.
    #[serde(rename = "crate")]
    carrier: Option<String>,
    archive: Option<String>,
    file: Option<String>,
    #[serde(default)]
    go: bool,
    #[serde(default)]
    rustc: bool,
    // With `crate`.
    header: Option<String>,
    mark: Option<String>,
}

impl Parts {
    /// Reads the table.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let text = fs::read_to_string(root.join(TABLE)).with_context(|| format!("reading {TABLE}"))?;
        let parts: Parts = toml::from_str(&text).with_context(|| format!("{TABLE} cannot be read"))?;
        Ok(Parts {
            root: root.to_owned(),
            ..parts
        })
    }

    /// The parts of `program`, a file of the folder `programs`, which Cargo built or did not.
    pub(super) fn of(&self, program: &str, programs: &Path, by_cargo: bool, crates: &Crates) -> Result<Vec<Component>> {
        self.part
            .iter()
            .filter(|part| {
                part.r#in
                    .iter()
                    .any(|name| name == program || (by_cargo && name == "cargo"))
            })
            .map(|part| {
                self.component(part, &programs.join(program), crates)
                    .with_context(|| format!("{TABLE}: {}", part.name))
            })
            .collect()
    }

    fn component(&self, part: &Part, program: &Path, crates: &Crates) -> Result<Component> {
        let packaged = match (&part.archive, &part.file) {
            (Some(archive), _) => Some(linked_archive(archive)?),
            (None, Some(file)) => Some(PathBuf::from(file)),
            (None, None) => None,
        };
        let mut texts = BTreeSet::new();
        let mut package = String::new();
        let version;
        if let Some(name) = &part.carrier {
            let carrier = crates.only(name)?;
            let folder = folder(carrier)?;
            version = match (&part.version, &part.header, &part.mark) {
                (Some(version), ..) => version.clone(),
                (None, Some(header), Some(mark)) => quoted(&fs::read_to_string(folder.join(header))?, mark)?,
                _ => carrier.version.build.to_string(),
            };
            for text in &part.texts {
                texts.insert(licence_text(&folder.join(text))?);
            }
        } else if let Some(path) = packaged {
            (package, version) = package_of(&path)?;
            texts.insert(licence_text(
                &Path::new("/usr/share/doc").join(&package).join("copyright"),
            )?);
        } else {
            version = match (part.go, part.rustc) {
                (true, false) => go_version(&fs::read(program)?)?,
                (false, true) => rust_version()?,
                _ => bail!("one of crate, archive, file, go and rustc says where the version is from"),
            };
            for text in &part.texts {
                texts.insert(licence_text(&self.root.join(text))?);
            }
        }
        ensure!(!version.is_empty(), "it has no version");
        Ok(Component {
            name: part.name.clone(),
            licence: part.licence.clone(),
            purl: part
                .purl
                .replace("{package}", &encoded(&package))
                .replace("{version}", &encoded(&version)),
            home: None,
            checksum: None,
            version,
            texts,
        })
    }
}

/// The text in quotation marks in the line that begins with `mark`.
fn quoted(text: &str, mark: &str) -> Result<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(mark));
    let value = line.and_then(|line| line.split('"').nth(1));
    Ok(value.with_context(|| format!("no line '{mark}\"…\"'"))?.to_owned())
}

/// The path of an archive that the C++ compiler links.
fn linked_archive(name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(answer("c++", &[&format!("-print-file-name={name}")])?);
    ensure!(path.is_absolute(), "the compiler has no {name}");
    Ok(fs::canonicalize(path)?)
}

/// Name and version of the package that a file is of, by dpkg.
fn package_of(path: &Path) -> Result<(String, String)> {
    let path = path.to_str().context("a path that is no UTF-8")?;
    let owner = answer("dpkg-query", &["--search", path])?;
    // `libgmp-dev:amd64: /usr/lib/x86_64-linux-gnu/libgmp.a`
    let (owner, _) = owner.split_once(": ").context("dpkg-query names no package")?;
    let version = answer("dpkg-query", &["--show", "--showformat=${Version}", owner])?;
    let name = owner.split(':').next().unwrap_or(owner);
    Ok((name.to_owned(), version))
}

/// The version of the compiler, whose standard library is linked.
fn rust_version() -> Result<String> {
    let version = answer("rustc", &["--version"])?;
    Ok(version.split(' ').nth(1).context("rustc names no version")?.to_owned())
}

fn answer(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("{program} cannot be started"))?;
    ensure!(output.status.success(), "{program} {} failed", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The version of Go that a program was built with: its linker writes a mark, 16 bytes on a string's length and the
/// string (package `debug/buildinfo`, since Go 1.18).
fn go_version(program: &[u8]) -> Result<String> {
    const MARK: &[u8] = b"\xff Go buildinf:";
    const HEADER: usize = 32;
    program
        .windows(MARK.len())
        .enumerate()
        .filter(|(_, window)| *window == MARK)
        .find_map(|(at, _)| {
            let length = usize::from(*program.get(at + HEADER)?);
            let text = program.get(at + HEADER + 1..)?.get(..length)?;
            Some(std::str::from_utf8(text).ok()?.strip_prefix("go")?.to_owned())
        })
        .context("the program has no build information of Go")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_says_once_where_it_is_from() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let parts = Parts::read(root).unwrap();
        assert!(parts.part.len() > 5);
        for part in &parts.part {
            let sources = [
                part.carrier.is_some(),
                part.archive.is_some(),
                part.file.is_some(),
                part.go,
                part.rustc,
            ];
            assert_eq!(sources.iter().filter(|source| **source).count(), 1, "{}", part.name);
            assert!(
                part.purl.starts_with("pkg:") && part.purl.contains("{version}"),
                "{}",
                part.name
            );
        }
    }

    #[test]
    fn versions_of_what_crates_carry_are_those_of_its_source() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let crates = Crates::read(root).unwrap();
        let parts = Parts::read(root).unwrap();
        let of = |program: &str| parts.of(program, Path::new("nowhere"), false, &crates).unwrap();
        let only = |program: &str| {
            let mut found = of(program);
            assert_eq!(found.len(), 1, "{found:?}");
            found.remove(0)
        };
        assert!(only("rsalab-peer-openssl").version.starts_with("4."));
        let gmp = only("rsalab-peer-gmp");
        assert!(
            gmp.texts
                .iter()
                .any(|text| text.contains("GNU LESSER GENERAL PUBLIC LICENSE"))
        );
        assert!(only("rsalab").purl.starts_with("pkg:generic/sqlite@3."));
        assert!(of("rsalab-peer-textbook").is_empty());
    }

    #[test]
    fn the_version_of_go_is_read_from_a_program() {
        let mut program = b"before\xff Go buildinf:\x08\x02".to_vec();
        program.extend([0; 16]);
        program.push(8);
        program.extend(b"go1.27.3 and more");
        assert_eq!(go_version(&program).unwrap(), "1.27.3");
        assert!(go_version(&program[7..]).is_err());
        assert!(go_version(&program[..36]).is_err());
    }
}

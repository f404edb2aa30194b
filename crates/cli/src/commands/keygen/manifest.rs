//! The manifest of many keys: a line that says what they have in common, and a line for each.
//!
//! A line reaches the disk after its key does: what has no line was never made. The file is locked while a process
//! makes keys.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use rsalab_engines::Exponent;
use rsalab_study::part::{self, Part};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{
    arguments::KeyFormat,
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    output::line,
};

/// The first line of a manifest: what all keys of the folder have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version of this format.
    pub(super) rsalab_keys: u32,
    pub(super) bits: usize,
    #[serde(default = "two", skip_serializing_if = "is_two")]
    pub(super) primes: usize,
    pub(super) e: Exponent,
    pub(super) format: String,
    /// `true` if public halves lie next to the private ones.
    pub(super) public: bool,
    /// `true` if a user has named the keys.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) named: bool,
    /// The part that these keys are of a larger number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<PartOfKeys>,
    /// The seed, from which everybody who sees the manifest can make the keys again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) insecure_seed: Option<String>,
}

/// A part of many keys: those of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartOfKeys {
    #[serde(flatten)]
    pub(super) part: Part,
    /// Keys of all parts.
    pub(super) keys: u64,
}

impl Header {
    /// The number of the first key.
    pub(super) fn first(&self) -> u64 {
        self.part.map_or(1, |part| *part.part.range(part.keys).start())
    }

    /// The properties of all parts together, as a digest.
    pub(super) fn plan_sha256(&self) -> String {
        let keys = self.part.map_or(0, |part| part.keys);
        let whole = Header {
            part: None,
            ..self.clone()
        };
        part::plan_digest(format!("{keys} keys: {}", line(&whole)).as_bytes())
    }
}

/// Keys had two primes before there was a choice.
fn two() -> usize {
    2
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_two(primes: &usize) -> bool {
    *primes == two()
}

/// A line of the manifest: nothing that is secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) number: u64,
    /// The name of the private half's file.
    pub(super) file: String,
    /// The name of the public half's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) public: Option<String>,
    /// SHA-256 of the SubjectPublicKeyInfo in DER.
    pub(super) sha256: String,
    /// The digest of this line and of the files that it names; none of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) check: Option<String>,
    /// Where the key ends in an archive or a set that is being made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<u64>,
}

/// A key, ready to be written.
pub(super) struct Item {
    pub(super) entry: Entry,
    pub(super) private: Zeroizing<Vec<u8>>,
    pub(super) public: Option<Vec<u8>>,
}

/// A manifest that no other process writes to.
pub(super) struct Manifest {
    path: PathBuf,
    /// Open for appending, and locked.
    file: File,
    entries: Vec<Entry>,
}

impl Manifest {
    /// Opens the manifest, or makes it. `what` is the folder or file that is in use while the manifest is open.
    pub(super) fn open(path: &Path, what: &Path, header: &Header) -> Result<Self> {
        let is_new = path.symlink_metadata().is_err();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .mode(0o600)
            // A link would lead to somebody's file; opening a pipe would wait for its other end.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(path)
            .map_err(|error| match error.raw_os_error() {
                Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => no_file(path),
                _ => cannot(path, "open", error),
            })?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(no_file(path));
        }
        let busy = || Failure::new(Class::Io, format!("{} is in use by another process", what.display()));
        if let Err(error) = file.try_lock() {
            return Err(busy().because(io::Error::from(error)));
        }
        // Another process that had the lock may have put a new manifest in the place of this one in between.
        let is_there = path.symlink_metadata().and_then(|there| {
            let ours = file.metadata()?;
            Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino()))
        });
        if !is_there.is_ok_and(|is_there| is_there) {
            return Err(busy());
        }
        let mut manifest = Manifest {
            path: path.to_owned(),
            file,
            entries: Vec::new(),
        };
        match read_manifest(&manifest.file, path, what, header)? {
            Some(found) if found.is_torn => manifest.rewrite(header, found.entries)?,
            Some(found) => manifest.entries = found.entries,
            None => {
                if let Err(failure) = manifest.rewrite(header, Vec::new()) {
                    if is_new {
                        // An empty manifest is of no use to anybody.
                        let _ = fs::remove_file(path);
                    }
                    return Err(failure);
                }
            }
        }
        Ok(manifest)
    }

    /// The keys that have a line.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds lines.
    pub(super) fn append(&mut self, entries: Vec<Entry>) -> Result<()> {
        let lines: String = entries.iter().map(line).collect();
        self.file
            .write_all(lines.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|error| cannot(&self.path, "write to", error))?;
        self.entries.extend(entries);
        Ok(())
    }

    /// Puts a manifest of these entries in the place of the one there is.
    pub(super) fn rewrite(&mut self, header: &Header, entries: Vec<Entry>) -> Result<()> {
        let text = text(header, &entries);
        let draft = files::replacement(&self.path, text.as_bytes(), Privacy::Private)
            .map_err(|error| cannot(&self.path, "make", error))?;
        draft
            .as_file()
            .try_lock()
            .map_err(|error| cannot(&self.path, "lock", io::Error::from(error)))?;
        // The lock belongs to the file, and so does the position to write at.
        self.file = draft
            .persist(&self.path)
            .map_err(|refused| cannot(&self.path, "make", refused.error))?;
        self.entries = entries;
        files::sync_names([(self.path.as_path(), &self.file)].into_iter())
    }
}

/// The whole of a manifest.
pub(super) fn text(header: &Header, entries: &[Entry]) -> String {
    let mut text = line(header);
    text.extend(entries.iter().map(line));
    text
}

fn no_file(path: &Path) -> Failure {
    let what = format!("{} is not a file of rsalab", path.display());
    Failure::new(Class::Io, what).advice("remove it, or name another place")
}

/// The contents of a manifest.
struct Found {
    entries: Vec<Entry>,
    /// `true` if its last line was cut.
    is_torn: bool,
}

/// Reads a manifest; none if it has no whole first line yet.
fn read_manifest(file: &File, path: &Path, what: &Path, header: &Header) -> Result<Option<Found>> {
    let damaged = |line: usize| {
        let fault = format!("line {line} of {} cannot be read", path.display());
        Failure::new(Class::Input, fault).advice("name another folder; nothing was changed")
    };
    let mut entries = Vec::new();
    let mut seen = BTreeSet::new();
    let mut reader = BufReader::new(file);
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        reader
            .read_until(b'\n', &mut text)
            .map_err(|error| cannot(path, "read", error))?;
        let is_torn = !text.ends_with(b"\n");
        match (number, is_torn) {
            (1, true) => return Ok(None),
            (1, false) => {
                let found: Header = serde_json::from_slice(&text).map_err(|_| damaged(1))?;
                check_header(&found, header, what)?;
            }
            (_, true) => {
                let is_torn = !text.is_empty();
                return Ok(Some(Found { entries, is_torn }));
            }
            (_, false) => {
                let entry: Entry = serde_json::from_slice(&text).map_err(|_| damaged(number))?;
                let names = [Some(&entry.file), entry.public.as_ref()];
                let is_plain = |name: &String| !name.contains('/') && !name.starts_with('.');
                if !names.into_iter().flatten().all(is_plain) || !seen.insert(entry.number) {
                    return Err(damaged(number));
                }
                entries.push(entry);
            }
        }
    }
    Ok(None)
}

/// Only the same command may continue: for another, the first difference is named.
fn check_header(found: &Header, wanted: &Header, place: &Path) -> Result<()> {
    let properties = |header: &Header| {
        let public = match header.public {
            true => "with --public",
            false => "without --public",
        };
        let origin = match header.named {
            true => "--names",
            false => "their numbers",
        };
        let seed = header.insecure_seed.as_deref().unwrap_or("none");
        let part = header.part.map_or("keys without parts".to_owned(), |part| {
            format!("{} keys as part {}", part.keys, part.part)
        });
        [
            ("a manifest of version", header.rsalab_keys.to_string()),
            ("the size", header.bits.to_string()),
            ("a number of primes of", header.primes.to_string()),
            ("the public exponent", header.e.to_string()),
            ("the format", header.format.clone()),
            ("been made", public.to_owned()),
            ("names from", origin.to_owned()),
            ("the insecure seed", seed.to_owned()),
            ("a place among", part),
        ]
    };
    let both = properties(found).into_iter().zip(properties(wanted));
    match both.into_iter().find(|(found, wanted)| found != wanted) {
        None => Ok(()),
        Some(((property, there), (_, typed))) => {
            let place = place.display();
            // A manifest that somebody else wrote may hold anything in these places.
            let there = match property {
                "the insecure seed" => "another",
                "the format" if KeyFormat::from_str(&there, false).is_err() => "unknown",
                _ => &there,
            };
            let typed = match property {
                "the insecure seed" => "the one of the command line",
                _ => &typed,
            };
            let what = format!("the keys of {place} have {property} {there}, and {typed} was asked for");
            Err(Failure::new(Class::Usage, what).advice("repeat the command that made it, or name another folder"))
        }
    }
}

/// Reading or writing a file of keys failed.
pub(super) fn cannot(path: &Path, verb: &str, error: io::Error) -> Failure {
    Failure::io(format!("cannot {verb} {}", path.display()), error)
}

//! A folder of keys with its manifest, which can be left at any moment and gone on with.
//!
//! ```text
//! drafts      the files of some keys under other names, on the disk
//! manifest    a line for each of these keys, on the disk
//! names       the drafts get their names
//! ```
//!
//! So every key that has its name has its line, and a line without its file was left at that point: it is taken out when
//! the folder is opened again, and its number given to another key.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rsalab_engines::Exponent;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::{
    exit::{Class, Failure},
    files::{self, Privacy},
};

/// The manifest's name.
pub(super) const MANIFEST: &str = "manifest.jsonl";

/// The first line of a manifest: what all keys of the folder have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version of this form.
    pub(super) rsalab_keys: u32,
    pub(super) bits: usize,
    pub(super) e: Exponent,
    pub(super) format: String,
    /// Whether public halves lie beside the private ones.
    pub(super) public: bool,
    /// The seed that everybody who sees the manifest can make the keys from again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) insecure_seed: Option<String>,
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
}

/// A key, ready to be put into the folder.
pub(super) struct Item {
    pub(super) entry: Entry,
    pub(super) private: Zeroizing<Vec<u8>>,
    pub(super) public: Option<Vec<u8>>,
}

/// A folder that no other process writes keys to.
pub(super) struct Folder {
    path: PathBuf,
    /// Open for appending, and locked.
    manifest: File,
    entries: Vec<Entry>,
}

impl Folder {
    /// Opens the folder, or makes it.
    pub(super) fn open(path: &Path, header: &Header) -> Result<Self, Failure> {
        match fs::DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(error) => return Err(cannot(path, "make", error)),
        }
        let manifest = path.join(MANIFEST);
        let is_new = !manifest.exists();
        if is_new && !is_empty(path)? {
            let what = format!("{} is not a folder of keys, and not empty", path.display());
            return Err(Failure::new(Class::Io, what).advice("name another folder"));
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .mode(0o600)
            .open(&manifest)
            .map_err(|error| cannot(&manifest, "open", error))?;
        if let Err(error) = file.try_lock() {
            let what = format!("{} is in use by another process", path.display());
            return Err(Failure::new(Class::Io, what).because(io::Error::from(error)));
        }
        let entries = match read_manifest(&file, &manifest, header)? {
            Some(found) => {
                remove_drafts(path)?;
                let is_there = |entry: &Entry| path.join(&entry.file).is_file();
                let (kept, lost): (Vec<_>, Vec<_>) = found.entries.into_iter().partition(is_there);
                // A public half may have got its name before the process ended: it is of no use without its private one,
                // and would stand in the way of the next key of this number.
                for name in lost.iter().filter_map(|entry| entry.public.as_ref()) {
                    remove(&path.join(name))?;
                }
                if found.is_torn || !lost.is_empty() {
                    file = rewrite(&manifest, header, &kept)?;
                }
                kept
            }
            None => {
                file = rewrite(&manifest, header, &[])?;
                Vec::new()
            }
        };
        Ok(Folder {
            path: path.to_owned(),
            manifest: file,
            entries,
        })
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The keys that are there.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The numbers up to `count` that no key has yet.
    pub(super) fn missing(&self, count: u64) -> Vec<u64> {
        let there: BTreeSet<u64> = self.entries.iter().map(|entry| entry.number).collect();
        (1..=count)
            .filter(|number| !there.contains(number))
            .collect()
    }

    /// Puts keys into the folder, all of them or, if the process ends in the middle, none or some, each whole.
    pub(super) fn append(&mut self, items: Vec<Item>) -> Result<(), Failure> {
        let mut drafts = Vec::with_capacity(2 * items.len());
        let mut lines = String::new();
        for item in &items {
            // The public half gets its name first: what counts as a key has all of its files.
            if let (Some(name), Some(bytes)) = (&item.entry.public, &item.public) {
                drafts.push(self.draft(name, bytes, Privacy::Public)?);
            }
            drafts.push(self.draft(&item.entry.file, &item.private, Privacy::Private)?);
            lines += &line(&item.entry);
        }
        self.manifest
            .write_all(lines.as_bytes())
            .and_then(|()| self.manifest.sync_data())
            .map_err(|error| cannot(&self.path.join(MANIFEST), "write to", error))?;
        for (draft, path) in drafts {
            files::name_draft(draft, &path)?;
        }
        sync(&self.path)?;
        self.entries
            .extend(items.into_iter().map(|item| item.entry));
        Ok(())
    }

    fn draft(
        &self,
        name: &str,
        bytes: &[u8],
        privacy: Privacy,
    ) -> Result<(NamedTempFile, PathBuf), Failure> {
        let path = self.path.join(name);
        let draft = files::draft(&path, bytes, privacy)?;
        Ok((draft, path))
    }
}

/// What a manifest says.
struct Found {
    entries: Vec<Entry>,
    /// Whether its last line was cut.
    is_torn: bool,
}

/// Reads a manifest; none if it has no whole first line yet.
fn read_manifest(file: &File, path: &Path, header: &Header) -> Result<Option<Found>, Failure> {
    let damaged = |line: usize| {
        let what = format!("line {line} of {} cannot be read", path.display());
        Failure::new(Class::Input, what).advice("name another folder; nothing was changed")
    };
    let mut entries = Vec::new();
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
                check_header(&found, header, path)?;
            }
            (_, true) => {
                let is_torn = !text.is_empty();
                return Ok(Some(Found { entries, is_torn }));
            }
            (_, false) => {
                let entry: Entry = serde_json::from_slice(&text).map_err(|_| damaged(number))?;
                let names = [Some(&entry.file), entry.public.as_ref()];
                let is_plain = |name: &String| !name.contains('/') && !name.starts_with('.');
                if !names.into_iter().flatten().all(is_plain) {
                    return Err(damaged(number));
                }
                entries.push(entry);
            }
        }
    }
    Ok(None)
}

/// The same command makes the same folder; another one is told what differs.
fn check_header(found: &Header, wanted: &Header, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(path).display();
    let differs = |what: &str, there: &dyn std::fmt::Display, asked: &dyn std::fmt::Display| {
        let what = format!("the keys of {folder} have {what} {there}, and {asked} was asked for");
        Err(Failure::new(Class::Usage, what)
            .advice("go on with the command that made it, or name another folder"))
    };
    if found.rsalab_keys != wanted.rsalab_keys {
        return differs(
            "a manifest of version",
            &found.rsalab_keys,
            &wanted.rsalab_keys,
        );
    }
    if found.bits != wanted.bits {
        return differs("the size", &found.bits, &wanted.bits);
    }
    if found.e != wanted.e {
        return differs("the public exponent", &found.e, &wanted.e);
    }
    if found.format != wanted.format {
        return differs("the format", &found.format, &wanted.format);
    }
    let word = |is: bool| {
        if is {
            "with --public"
        } else {
            "without --public"
        }
    };
    if found.public != wanted.public {
        return differs("been made", &word(found.public), &word(wanted.public));
    }
    if found.insecure_seed != wanted.insecure_seed {
        let word = |seed: &Option<String>| seed.clone().unwrap_or_else(|| "none".to_owned());
        let (there, asked) = (word(&found.insecure_seed), word(&wanted.insecure_seed));
        return differs("the insecure seed", &there, &asked);
    }
    Ok(())
}

/// Makes a manifest of these entries in the place of the one there is.
fn rewrite(path: &Path, header: &Header, entries: &[Entry]) -> Result<File, Failure> {
    let mut text = line(header);
    entries.iter().for_each(|entry| text += &line(entry));
    let draft = files::draft(path, text.as_bytes(), Privacy::Private)?;
    draft
        .as_file()
        .try_lock()
        .map_err(|error| cannot(path, "lock", io::Error::from(error)))?;
    // The lock goes with the file, and so does the place to go on writing at.
    let file = draft
        .persist(path)
        .map_err(|refused| cannot(path, "make", refused.error))?;
    sync(path.parent().unwrap_or(path))?;
    Ok(file)
}

fn line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("the program's own types are JSON");
    line.push('\n');
    line
}

/// What was written under another name when the process ended. It is ours: the name is, and so is the folder.
fn remove_drafts(folder: &Path) -> Result<(), Failure> {
    let listed = fs::read_dir(folder).map_err(|error| cannot(folder, "list", error))?;
    for file in listed {
        let file = file.map_err(|error| cannot(folder, "list", error))?;
        if files::is_draft(&file.file_name()) {
            remove(&file.path())?;
        }
    }
    Ok(())
}

/// Removes a file of ours, if it is there.
fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot(path, "remove", error)),
        _ => Ok(()),
    }
}

fn is_empty(folder: &Path) -> Result<bool, Failure> {
    let mut listed = fs::read_dir(folder).map_err(|error| cannot(folder, "list", error))?;
    Ok(listed.all(|file| file.is_ok_and(|file| files::is_draft(&file.file_name()))))
}

/// Names reach the disk.
fn sync(folder: &Path) -> Result<(), Failure> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| cannot(folder, "write to", error))
}

fn cannot(path: &Path, verb: &str, error: io::Error) -> Failure {
    Failure::io(format!("cannot {verb} {}", path.display()), error)
}

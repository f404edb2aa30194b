//! A folder of keys with its manifest, which can be left incomplete at any moment and completed later.
//!
//! ```text
//! drafts      the files of some keys without their names, on the disk
//! manifest    a line for each of these keys, on the disk
//! names       the drafts get their names
//! ```
//!
//! So every key with a name has a line. A line without a file was left by a process that ended in between: it is removed when
//! the folder is opened again, and another key gets its number.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use super::manifest::{Entry, Header, Item, Manifest, cannot};
use crate::{
    exit::{Class, Failure, Result},
    files::{self, Draft, Privacy},
};

/// The manifest's name.
pub(super) const MANIFEST: &str = "manifest.jsonl";

/// A folder that no other process writes keys to.
pub(super) struct Folder {
    path: PathBuf,
    manifest: Manifest,
}

impl Folder {
    /// Opens the folder, or makes it.
    pub(super) fn open(path: &Path, header: &Header) -> Result<Self> {
        match fs::DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(error) => return Err(cannot(path, "make", error)),
        }
        let place = path.join(MANIFEST);
        let is_new = place.symlink_metadata().is_err();
        if is_new && !is_empty(path)? {
            let what = format!("{} is not a folder of keys, and not empty", path.display());
            return Err(Failure::new(Class::Io, what).advice("name another folder"));
        }
        let mut manifest = Manifest::open(&place, path, header)?;
        remove_drafts(path)?;
        let is_there = |entry: &&Entry| path.join(&entry.file).is_file();
        let (kept, lost): (Vec<_>, Vec<_>) = manifest.entries().iter().partition(is_there);
        // A public half may have got its name before the process ended: it is of no use without its private one, and the next
        // key of this number needs the name.
        for name in lost.iter().filter_map(|entry| entry.public.as_ref()) {
            remove(&path.join(name))?;
        }
        if !lost.is_empty() {
            let kept = kept.into_iter().cloned().collect();
            manifest.rewrite(header, kept)?;
        }
        Ok(Folder {
            path: path.to_owned(),
            manifest,
        })
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The numbers up to `count` that no key has yet.
    pub(super) fn missing(&self, count: u64) -> Vec<u64> {
        let entries = self.manifest.entries().iter();
        let there: BTreeSet<u64> = entries.map(|entry| entry.number).collect();
        (1..=count)
            .filter(|number| !there.contains(number))
            .collect()
    }

    /// Writes keys into the folder: all of them; or, if the process ends before that, none or some, each complete.
    pub(super) fn append(&mut self, items: Vec<Item>) -> Result<()> {
        let mut drafts = Vec::with_capacity(2 * items.len());
        for item in &items {
            // The public half gets its name first: what counts as a key has all of its files.
            if let (Some(name), Some(bytes)) = (&item.entry.public, &item.public) {
                drafts.push(self.draft(name, bytes, Privacy::Public)?);
            }
            drafts.push(self.draft(&item.entry.file, &item.private, Privacy::Private)?);
        }
        let entries = items.into_iter().map(|item| item.entry).collect();
        self.manifest.append(entries)?;
        let mut named = Vec::with_capacity(drafts.len());
        for (draft, path) in drafts {
            named.push((draft.name(&path)?, path));
        }
        files::sync_names(named.iter().map(|(file, path)| (path.as_path(), file)))
    }

    fn draft(&self, name: &str, bytes: &[u8], privacy: Privacy) -> Result<(Draft, PathBuf)> {
        let path = self.path.join(name);
        let draft = Draft::new(&path, bytes, privacy)?;
        Ok((draft, path))
    }
}

/// Removes the drafts of a process that ended, where a draft needs a name. They are rsalab's: the name says so, and the folder is.
fn remove_drafts(folder: &Path) -> Result<()> {
    let listed = fs::read_dir(folder).map_err(|error| cannot(folder, "list", error))?;
    for file in listed {
        let file = file.map_err(|error| cannot(folder, "list", error))?;
        if files::is_draft(&file.file_name()) {
            remove(&file.path())?;
        }
    }
    Ok(())
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot(path, "remove", error)),
        _ => Ok(()),
    }
}

fn is_empty(folder: &Path) -> Result<bool> {
    let mut listed = fs::read_dir(folder).map_err(|error| cannot(folder, "list", error))?;
    Ok(listed.all(|file| file.is_ok_and(|file| files::is_draft(&file.file_name()))))
}

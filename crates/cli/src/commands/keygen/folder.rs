//! A folder of keys with its manifest, which can be left incomplete at any moment and completed later.
//!
//! ```text
//! drafts      the files of some keys without their names, on the disk
//! manifest    a line for each of these keys, on the disk
//! names       the drafts get their names
//! ```
//!
//! So every key with a name has a line. A line without a file was left by a process that ended in between: it is
//! removed when the folder is opened again, and another key gets its number.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use super::{
    manifest::{Entry, Header, Item, Manifest, cannot},
    proof::MOST,
};
use crate::{
    exit::{Class, Failure, Result},
    files::{self, Draft, Privacy},
    passwords::Password,
};

/// The manifest's name.
pub(super) const MANIFEST: &str = "manifest.jsonl";

/// A folder that no other process writes keys to.
pub(super) struct Folder {
    path: PathBuf,
    manifest: Manifest,
    /// `true` if it was not there before.
    is_new: bool,
}

impl Folder {
    /// Opens the folder, or makes it. The keys that are in it already are looked at.
    pub(super) fn open(path: &Path, header: &Header, password: Option<&Password>) -> Result<Self> {
        let is_new = match fs::DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => false,
            Err(error) => return Err(cannot(path, "make", error)),
        };
        let opened = Folder::open_made(path, header, password, is_new);
        if is_new && opened.is_err() {
            // Only if it is empty.
            let _ = fs::remove_dir(path);
        }
        opened
    }

    fn open_made(path: &Path, header: &Header, password: Option<&Password>, is_new: bool) -> Result<Self> {
        let place = path.join(MANIFEST);
        if place.symlink_metadata().is_err() && !is_empty(path)? {
            let what = format!("{} is not a folder of keys, and not empty", path.display());
            return Err(Failure::new(Class::Io, what).advice("name another folder"));
        }
        let mut manifest = Manifest::open(&place, path, header)?;
        remove_drafts(path)?;
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        for entry in manifest.entries() {
            match is_there(path, entry, password)? {
                true => kept.push(entry),
                false => lost.push(entry),
            }
        }
        // A public half may have got its name before the process ended: it is of no use without its private one, and
        // the next key of this number needs the name.
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
            is_new,
        })
    }

    /// How many keys it has.
    pub(super) fn len(&self) -> u64 {
        self.manifest.entries().len() as u64
    }

    /// The lines of its keys.
    pub(super) fn entries(&self) -> &[Entry] {
        self.manifest.entries()
    }

    /// Removes what was made for keys that then could not be written, if there is none.
    pub(super) fn abandon(&self) {
        if self.is_new && self.len() == 0 {
            let _ = fs::remove_file(self.path.join(MANIFEST));
            // Only if it is empty.
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The numbers up to `count` that no key has yet.
    pub(super) fn missing(&self, count: u64) -> Vec<u64> {
        let entries = self.manifest.entries().iter();
        let there: BTreeSet<u64> = entries.map(|entry| entry.number).collect();
        (1..=count).filter(|number| !there.contains(number)).collect()
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
        let checked = |item: Item| Entry {
            check: Some(item.entry.digest(&item.private, item.public.as_deref())),
            ..item.entry
        };
        let entries = items.into_iter().map(checked).collect();
        self.manifest.append(entries)?;
        let mut named = Vec::with_capacity(drafts.len());
        for (draft, path) in drafts {
            let file = draft.name(&path).map_err(|failure| {
                failure.advice("move away what has the name of a key, and the same command makes the others")
            })?;
            named.push((file, path));
        }
        files::sync_names(named.iter().map(|(file, path)| (path.as_path(), file)))
    }

    fn draft(&self, name: &str, bytes: &[u8], privacy: Privacy) -> Result<(Draft, PathBuf)> {
        let path = self.path.join(name);
        let draft = Draft::new(&path, bytes, privacy)?;
        Ok((draft, path))
    }
}

/// Returns whether the key of a line has its files. What lies in their place and is something else is refused: it is
/// somebody's.
fn is_there(folder: &Path, entry: &Entry, password: Option<&Password>) -> Result<bool> {
    let private = folder.join(&entry.file);
    if !is_taken(&private) {
        return Ok(false);
    }
    let public = entry.public.as_ref().map(|name| folder.join(name));
    if let Some(public) = public.as_ref().filter(|public| !is_taken(public)) {
        let what = format!("{} is missing", public.display());
        let advice = format!("make it of {} with 'rsalab key public'", private.display());
        return Err(Failure::new(Class::Io, what).advice(advice));
    }
    let bytes = content(&private)?;
    let public_bytes = public.as_deref().map(content).transpose()?;
    match entry.is_of(&bytes, public_bytes.as_ref().map(|bytes| &bytes[..]), password) {
        true => Ok(true),
        false => Err(is_other(&private, public.as_deref(), entry)),
    }
}

fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn content(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => files::read_start(Some(path), MOST),
        // Opening a pipe would wait for its other end, and a link leads elsewhere.
        _ => Err(Failure::about_existing(format!("{} is no file", path.display()))
            .advice("remove it, or name another folder")),
    }
}

fn is_other(private: &Path, public: Option<&Path>, entry: &Entry) -> Failure {
    let names = match public {
        Some(public) => format!("{} or {}", private.display(), public.display()),
        None => private.display().to_string(),
    };
    let what = format!(
        "{names} is not what {MANIFEST} says: key {} was changed, or is none",
        entry.number
    );
    Failure::about_existing(what)
        .advice("move it away, and the same command makes another key of this number; or name another folder")
}

/// Removes the drafts of a process that ended, where a draft needs a name. They are rsalab's: the name says so, and the
/// folder is.
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

//! Many keys in one file, a tar archive or a set of JSON Web Keys, which can be left incomplete at any moment and completed later.
//!
//! ```text
//! FILE.part          grows by some keys at a time, in the order of their numbers
//! FILE.part.jsonl    then gets a line for each, with the place where the key ends
//! FILE               what FILE.part is called once it is complete
//! ```
//!
//! What lies in `FILE.part` beyond the last line's key is cut off before more keys are written. When `FILE` has its name there is
//! no other file with a private key in it, whenever the process ends.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use rustix::{
    fs::{CWD, OFlags, RenameFlags, renameat_with},
    process::{getgid, getuid},
};
use zeroize::Zeroizing;

use super::{
    folder::MANIFEST,
    manifest::{self, Entry, Header, Item, Manifest, cannot},
    public_set,
};
use crate::{
    commands::{inputs::with_ending, key_writer::KeyWriter},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
};

/// The kinds of files with many keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tar,
    JwkSet,
}

/// An archive or a set that no other process makes.
pub(super) struct Archive {
    kind: Kind,
    header: Header,
    /// What it will be called.
    path: PathBuf,
    /// What the set of public keys will be called, where there is to be one.
    public: Option<PathBuf>,
    part: PathBuf,
    file: File,
    /// Bytes of the keys that have lines.
    len: u64,
    record: PathBuf,
    manifest: Manifest,
    /// Keys that wait for one with a smaller number.
    waiting: BTreeMap<u64, Item>,
}

impl Archive {
    /// Begins the file, or continues it.
    pub(super) fn open(path: &Path, kind: Kind, header: &Header) -> Result<Self> {
        let part = with_ending(path, ".part");
        let record = with_ending(path, ".part.jsonl");
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        if part.is_dir() {
            let what = format!(
                "{} is a folder, as an earlier version of rsalab left them; its keys are complete",
                part.display()
            );
            return Err(Failure::new(Class::Io, what).advice("move it away, or name another file"));
        }
        if is_there(path) && is_there(&record) && !is_there(&part) {
            // The process ended between the last two steps. No key is in it.
            fs::remove_file(&record).map_err(|error| cannot(&record, "remove", error))?;
        }
        files::check_absent(path)?;
        let has_public_set = kind == Kind::JwkSet && header.public;
        let public = has_public_set.then(|| public_set::name(path));
        // An interrupted command may have made it: then it is looked at in the end.
        if let Some(public) = public.as_deref().filter(|_| !is_there(&record)) {
            files::check_absent(public)?;
        }
        if is_there(&part) && !is_there(&record) {
            return Err(files::exists(&part));
        }
        let mut manifest = Manifest::open(&record, path, header)?;
        if !is_there(&part) && !manifest.entries().is_empty() {
            // The keys were removed.
            manifest.rewrite(header, Vec::new())?;
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            // As of the manifest.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(&part)
            .map_err(|error| cannot(&part, "open", error))?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(files::exists(&part));
        }
        let mut archive = Archive {
            kind,
            header: header.clone(),
            path: path.to_owned(),
            public,
            part,
            file,
            len: 0,
            record,
            manifest,
            waiting: BTreeMap::new(),
        };
        archive.cut()?;
        Ok(archive)
    }

    /// Cuts off what has no line, so that the next key follows the last one that has a line.
    fn cut(&mut self) -> Result<()> {
        use io::Seek;
        self.len = self
            .manifest
            .entries()
            .last()
            .and_then(|entry| entry.end)
            .unwrap_or(0);
        let there = self.file.metadata().map_or(0, |found| found.len());
        if there < self.len {
            let what = format!("{} is shorter than its keys", self.part.display());
            return Err(Failure::new(Class::Input, what).advice(format!(
                "it was changed; remove it and {}, or name another file",
                self.record.display()
            )));
        }
        self.file
            .set_len(self.len)
            .and_then(|()| self.file.seek(io::SeekFrom::End(0)).map(drop))
            .map_err(|error| cannot(&self.part, "write to", error))
    }

    /// The numbers up to `count` that no key has yet.
    pub(super) fn missing(&self, count: u64) -> Result<Vec<u64>> {
        let there = self.manifest.entries().len() as u64;
        if there > count {
            let what = format!("{} has {there} keys already", self.part.display());
            return Err(Failure::new(Class::Usage, what)
                .advice("ask for as many at least, or name another file"));
        }
        Ok((there + 1..=count).collect())
    }

    /// Takes keys in any order, and writes those that no missing key precedes. Returns how many were written.
    pub(super) fn append(&mut self, items: Vec<Item>) -> Result<u64> {
        self.waiting
            .extend(items.into_iter().map(|item| (item.entry.number, item)));
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.capacity()));
        let mut entries = Vec::new();
        let mut next = self.manifest.entries().len() as u64 + 1;
        while let Some(item) = self.waiting.remove(&next) {
            self.encode(&item, &mut bytes);
            entries.push(Entry {
                end: Some(self.len + bytes.len() as u64),
                ..item.entry
            });
            next += 1;
        }
        if entries.is_empty() {
            return Ok(0);
        }
        self.write(&bytes)?;
        self.len += bytes.len() as u64;
        let written = entries.len() as u64;
        self.manifest.append(entries)?;
        Ok(written)
    }

    /// Capacity for all that may be written at once: a reallocation would leave copies of keys in memory.
    fn capacity(&self) -> usize {
        let waiting = self.waiting.values();
        let each =
            |item: &Item| item.private.len() + item.public.as_ref().map_or(0, Vec::len) + 4 * BLOCK;
        waiting.map(each).sum()
    }

    fn encode(&self, item: &Item, bytes: &mut Vec<u8>) {
        match self.kind {
            Kind::JwkSet => {
                let is_first = self.len == 0 && bytes.is_empty();
                bytes.extend_from_slice(match is_first {
                    true => public_set::OPENING,
                    false => public_set::SEPARATOR,
                });
                bytes.extend_from_slice(&item.private);
            }
            Kind::Tar => {
                if let (Some(name), Some(public)) = (&item.entry.public, &item.public) {
                    file_in_tar(name, public, Privacy::Public, bytes);
                }
                file_in_tar(&item.entry.file, &item.private, Privacy::Private, bytes);
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data())
            .map_err(|error| cannot(&self.part, "write to", error))
    }

    /// Ends the file, once all keys are there, and gives it its name. Of a set with public halves the set of these gets its name first, and
    /// its path is the second one.
    pub(super) fn finish(mut self, writer: &KeyWriter) -> Result<(PathBuf, Option<PathBuf>)> {
        let end = match self.kind {
            Kind::JwkSet => public_set::CLOSING.to_vec(),
            Kind::Tar => {
                let mut entries = self.manifest.entries().to_vec();
                entries.iter_mut().for_each(|entry| entry.end = None);
                let manifest = manifest::text(&self.header, &entries);
                let mut end = Vec::new();
                file_in_tar(MANIFEST, manifest.as_bytes(), Privacy::Private, &mut end);
                end.extend([0; 2 * BLOCK]);
                end
            }
        };
        self.write(&end)?;
        if let Some(public) = &self.public {
            public_set::make(public, &self.part, self.manifest.entries(), writer)?;
        }
        renamed(&self.part, &self.path)?;
        files::sync_names([(self.path.as_path(), &self.file)].into_iter())?;
        fs::remove_file(&self.record).map_err(|error| cannot(&self.record, "remove", error))?;
        Ok((self.path, self.public))
    }
}

/// Gives a file another name, which nothing may have yet.
fn renamed(from: &Path, to: &Path) -> Result<()> {
    let renamed = match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system that cannot do it in one step.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            fs::hard_link(from, to).and_then(|()| fs::remove_file(from))
        }
        renamed => renamed.map_err(io::Error::from),
    };
    renamed.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => files::exists(to),
        _ => cannot(to, "make", error),
    })
}

/// Bytes of a block of a tar archive.
const BLOCK: usize = 512;

/// Adds a file to a tar archive.
fn file_in_tar(name: &str, content: &[u8], privacy: Privacy, bytes: &mut Vec<u8>) {
    let mut header = tar::Header::new_gnu();
    header.set_path(name).expect("names of keys are short");
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(content.len() as u64);
    header.set_mode(match privacy {
        Privacy::Private => 0o600,
        Privacy::Public => 0o644,
    });
    header.set_uid(getuid().as_raw().into());
    header.set_gid(getgid().as_raw().into());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    header.set_mtime(now.map_or(0, |now| now.as_secs()));
    header.set_cksum();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
}

//! Many keys in one file, a tar archive or a set of JSON Web Keys, which can be left incomplete at any moment and
//! completed later.
//!
//! ```text
//! FILE.part          grows by some keys at a time, in the order of their numbers
//! FILE.part.jsonl    then gets a line for each, with the place where the key ends
//! FILE               what FILE.part is called once it is complete
//! ```
//!
//! Bytes of `FILE.part` beyond the last line's key are cut off before more keys are written. When `FILE` has its name
//! there is no other file with a private key in it, whenever the process ends.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    ops::RangeInclusive,
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

use rsalab_measure::Machine;
use rsalab_study::part::Work;
use rustix::{
    fs::{CWD, OFlags, RenameFlags, renameat_with},
    process::{geteuid, getgid, getuid},
};
use zeroize::Zeroizing;

use super::{
    folder::MANIFEST,
    manifest::{self, Entry, Header, Item, Manifest, cannot},
    proof, public_set,
};
use crate::{
    commands::{inputs::with_ending, key_writer::KeyWriter, parts::Done},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    passwords::Password,
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
    /// Its name, once it is whole.
    path: PathBuf,
    /// The name of the set of public keys, where there is to be one.
    public: Option<PathBuf>,
    part: PathBuf,
    file: File,
    /// Bytes of the keys that have lines.
    len: u64,
    record: PathBuf,
    manifest: Manifest,
    /// `true` if it was not there before.
    is_new: bool,
    /// Keys that wait for one with a smaller number.
    waiting: BTreeMap<u64, Item>,
}

impl Archive {
    /// Begins the file, or continues it.
    pub(super) fn open(path: &Path, kind: Kind, header: &Header, password: Option<&Password>) -> Result<Self> {
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
        let is_new = !is_there(&part);
        if !is_there(&part) && !manifest.entries().is_empty() {
            // The keys were removed.
            manifest.rewrite(header, Vec::new())?;
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            // As of the manifest.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(&part)
            .map_err(|error| cannot(&part, "open", error))?;
        let found = file.metadata().map_err(|error| cannot(&part, "read", error))?;
        if !found.is_file() {
            return Err(files::exists(&part));
        }
        // One that was there may be somebody else's, or have been copied so that others read it: more keys go into it.
        // A file system without modes keeps what its owner put there.
        if !is_new && found.mode() & 0o077 != 0 {
            let protected = file.set_permissions(fs::Permissions::from_mode(0o600));
            if protected.is_err() && found.uid() != geteuid().as_raw() {
                return Err(files::exists(&part));
            }
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
            is_new,
            waiting: BTreeMap::new(),
        };
        archive.check(password)?;
        archive.cut()?;
        Ok(archive)
    }

    /// The file that the keys are in.
    pub(super) fn place(&self) -> &Path {
        match self.has_its_name() {
            true => &self.path,
            false => &self.part,
        }
    }

    fn has_its_name(&self) -> bool {
        self.part.symlink_metadata().is_err()
    }

    /// How many keys it has.
    pub(super) fn len(&self) -> u64 {
        self.manifest.entries().len() as u64
    }

    /// The lines of its keys.
    pub(super) fn entries(&self) -> &[Entry] {
        self.manifest.entries()
    }

    /// Removes what was made for keys that then could not be written, if there is none; or cuts off what has no line.
    pub(super) fn abandon(&mut self) {
        if self.has_its_name() {
            return;
        }
        if self.is_new && self.len() == 0 {
            let _ = fs::remove_file(&self.part);
            let _ = fs::remove_file(&self.record);
        } else {
            // What cannot be cut off now is when the same command goes on.
            let _ = self.cut();
        }
    }

    /// Refuses to go on after keys that are not those of the lines.
    fn check(&self, password: Option<&Password>) -> Result<()> {
        let mut start = 0;
        for (number, entry) in (self.header.first()..).zip(self.manifest.entries()) {
            let end = entry.end.unwrap_or(0);
            let len = end.saturating_sub(start);
            let mut bytes = Zeroizing::new(vec![0; usize::try_from(len.min(proof::MOST)).unwrap_or(0)]);
            let is_read = self.file.read_exact_at(&mut bytes, start).is_ok();
            let is_key = entry.number == number
                && len == bytes.len() as u64
                && is_read
                && self
                    .decode(entry, start == 0, &bytes)
                    .is_some_and(|(private, public)| entry.is_of(private, public, password));
            if !is_key {
                let (part, record) = (self.part.display(), self.record.display());
                let what = format!("{part} is not what {record} says: key {number} was changed, or is none");
                return Err(Failure::about_existing(what)
                    .advice("move both away, and the same command begins anew; or name another file"));
            }
            start = end;
        }
        Ok(())
    }

    /// Cuts off what has no line, so that the next key follows the last one that has a line.
    fn cut(&mut self) -> Result<()> {
        use io::Seek;
        self.len = self.manifest.entries().last().and_then(|entry| entry.end).unwrap_or(0);
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

    /// Numbers, of these, that no key has yet.
    pub(super) fn missing(&self, numbers: RangeInclusive<u64>) -> Result<Vec<u64>> {
        let there = self.len();
        if there > numbers.end() + 1 - numbers.start() {
            let what = format!("{} has {there} keys already", self.part.display());
            return Err(Failure::new(Class::Usage, what).advice("ask for as many at least, or name another file"));
        }
        Ok((numbers.start() + there..=*numbers.end()).collect())
    }

    /// Takes keys in any order, and writes those that no missing key precedes. Returns how many were written.
    pub(super) fn append(&mut self, items: Vec<Item>) -> Result<u64> {
        self.waiting
            .extend(items.into_iter().map(|item| (item.entry.number, item)));
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.capacity()));
        let mut entries = Vec::new();
        let mut next = self.header.first() + self.len();
        while let Some(item) = self.waiting.remove(&next) {
            self.encode(&item, &mut bytes);
            let public = match self.kind {
                Kind::Tar => item.public.as_deref(),
                // The public halves of a set are in a set of their own.
                Kind::JwkSet => None,
            };
            entries.push(Entry {
                check: Some(item.entry.digest(&item.private, public)),
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
        let each = |item: &Item| item.private.len() + item.public.as_ref().map_or(0, Vec::len) + 4 * BLOCK;
        waiting.map(each).sum()
    }

    fn encode(&self, item: &Item, bytes: &mut Vec<u8>) {
        match self.kind {
            Kind::JwkSet => {
                let is_first = self.len == 0 && bytes.is_empty();
                bytes.extend_from_slice(before_key(is_first));
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

    /// The files that [`encode`](Self::encode) wrote: the private one and, if there is one, the public one.
    fn decode<'a>(&self, entry: &Entry, is_first: bool, bytes: &'a [u8]) -> Option<(&'a [u8], Option<&'a [u8]>)> {
        match self.kind {
            Kind::JwkSet => bytes.strip_prefix(before_key(is_first)).map(|key| (key, None)),
            Kind::Tar => {
                let (public, rest) = match &entry.public {
                    Some(name) => {
                        let (public, rest) = file_of_tar(name, bytes)?;
                        (Some(public), rest)
                    }
                    None => (None, bytes),
                };
                let (private, rest) = file_of_tar(&entry.file, rest)?;
                rest.is_empty().then_some((private, public))
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data())
            .map_err(|error| cannot(&self.part, "write to", error))
    }

    /// Ends the file, once all keys are there, and gives it its name. Of a set with public halves the set of these gets
    /// its name first, and its path is the second one.
    pub(super) fn finish(&mut self, writer: &KeyWriter) -> Result<(PathBuf, Option<PathBuf>)> {
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
        if let Some(part) = self.header.part {
            let done = Done {
                work: Work::Keys,
                part: part.part,
                plan_sha256: self.header.plan_sha256(),
                insecure_seed: self.header.insecure_seed.clone(),
                items: self.len(),
            };
            done.write(&self.part, &part_manifest(&self.path), &Machine::unmeasured())?;
        }
        renamed(&self.part, &self.path)?;
        files::sync_names([(self.path.as_path(), &self.file)].into_iter())?;
        fs::remove_file(&self.record).map_err(|error| cannot(&self.record, "remove", error))?;
        Ok((self.path.clone(), self.public.clone()))
    }
}

/// The name of the manifest of an archive that is a part.
pub(super) fn part_manifest(archive: &Path) -> PathBuf {
    with_ending(archive, ".json")
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

/// The text before a key of a set.
fn before_key(is_first: bool) -> &'static [u8] {
    match is_first {
        true => public_set::OPENING,
        false => public_set::SEPARATOR,
    }
}

/// Bytes of a block of a tar archive.
pub(super) const BLOCK: usize = 512;

/// Adds a file to a tar archive.
fn file_in_tar(name: &str, content: &[u8], privacy: Privacy, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(tar_header(name, content.len() as u64, privacy).as_bytes());
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
}

/// The block that stands before a file of so many bytes.
pub(super) fn tar_header(name: &str, len: u64, privacy: Privacy) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_path(name).expect("names of keys are short");
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(len);
    header.set_mode(match privacy {
        Privacy::Private => 0o600,
        Privacy::Public => 0o644,
    });
    header.set_uid(getuid().as_raw().into());
    header.set_gid(getgid().as_raw().into());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    header.set_mtime(now.map_or(0, |now| now.as_secs()));
    header.set_cksum();
    header
}

/// The file of this name that an archive begins with, and what follows it.
fn file_of_tar<'a>(name: &str, bytes: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (block, rest) = bytes.split_at_checked(BLOCK)?;
    let header = tar::Header::from_byte_slice(block);
    let mut summed = header.clone();
    summed.set_cksum();
    let is_it = summed.as_bytes() == header.as_bytes()
        && header.entry_type() == tar::EntryType::Regular
        && *header.path_bytes() == *name.as_bytes();
    let len = usize::try_from(header.entry_size().ok()?).ok()?;
    let content = rest.get(..len)?;
    let (filled, rest) = rest.split_at_checked(len.checked_next_multiple_of(BLOCK)?)?;
    let is_filled = filled[len..].iter().all(|byte| *byte == 0);
    (is_it && is_filled).then_some((content, rest))
}

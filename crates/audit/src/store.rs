//! Keys of earlier audits, with the products of their moduli: what new keys are compared with, without comparing the
//! old ones again.
//!
//! ```text
//! STORE/store.json      version, files, moduli that share a prime; and a line with its SHA-256
//!       00000001.keys   blocks (`block`) of some thousand keys and the product of their moduli
//!       lock            held by the process that adds keys
//!
//! new keys:   their tree, times all products of the store modulo its root, and down: which of them share a prime
//!             if any does: which blocks it is in, and which keys of these
//! ```
//!
//! Files of keys are never changed. More keys are another file, which is there once store.json, replaced at once, names
//! it. All of it is public.

mod block;
mod manifest;

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

pub(crate) use self::block::Block;
use self::{
    block::{Blocks, Writer},
    manifest::Manifest,
};
use crate::{error::AuditError, record::Saved};

/// Where the process that adds keys is seen.
const LOCK: &str = "lock";

/// A folder of keys that were audited before.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    manifest: Manifest,
}

impl Store {
    /// Opens a store.
    ///
    /// # Errors
    /// It is none, or of another version, or damaged.
    pub fn open(folder: &Path) -> Result<Store, AuditError> {
        let manifest = Manifest::read(folder)?;
        Ok(Store {
            folder: folder.to_owned(),
            manifest,
        })
    }

    /// Keys in it; one that was added again counts again.
    pub fn keys(&self) -> u64 {
        self.manifest.files.iter().map(|file| file.keys).sum()
    }

    /// Different moduli in it.
    pub fn moduli(&self) -> u64 {
        self.manifest.files.iter().map(|file| file.moduli).sum()
    }

    /// Bytes of its files.
    pub fn bytes(&self) -> u64 {
        self.manifest.files.iter().map(|file| file.bytes).sum()
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A digest of all that is in it.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.manifest.digest()
    }

    /// Returns whether a modulus shares a prime with another one in it.
    pub(crate) fn has_shared(&self, digest: &[u8; 32]) -> bool {
        self.manifest.shared.contains(&hex::encode(digest))
    }

    /// All blocks, one after the other; after an error there is none.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Result<Block, AuditError>> {
        self.manifest
            .files
            .iter()
            .flat_map(|file| Blocks::of(self.folder.join(&file.name), file))
    }

    /// Makes a store of keys, where nothing is yet: whole or not at all. `shared` are the moduli that share a prime.
    pub(crate) fn create(
        folder: &Path,
        keys: impl Iterator<Item = Saved>,
        shared: Vec<[u8; 32]>,
        threads: usize,
    ) -> Result<Store, AuditError> {
        if folder.symlink_metadata().is_ok() {
            return Err(AuditError::Exists(folder.to_owned()));
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let draft = folder.with_file_name(format!(".rsalab-{name}-{}", std::process::id()));
        let made = fs::create_dir(&draft).map_err(AuditError::at(folder)).and_then(|()| {
            let mut manifest = Manifest::default();
            manifest.add(&draft, keys, shared, threads)?;
            fs::rename(&draft, folder).map_err(AuditError::at(folder))?;
            Ok(manifest)
        });
        match made {
            Ok(manifest) => {
                let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
                let synced = File::open(folder).and_then(|made| sync_names(parent.unwrap_or(Path::new(".")), &made));
                synced.map_err(AuditError::at(folder))?;
                Ok(Store {
                    folder: folder.to_owned(),
                    manifest,
                })
            }
            Err(error) => {
                let _ = fs::remove_dir_all(&draft);
                Err(error)
            }
        }
    }

    /// Adds keys to it, all of them or none. `shared` are moduli that share a prime, those of the store among them.
    pub(crate) fn add(
        &mut self,
        keys: impl Iterator<Item = Saved>,
        shared: Vec<[u8; 32]>,
        threads: usize,
    ) -> Result<(), AuditError> {
        let path = self.folder.join(LOCK);
        let lock = File::create(&path).map_err(AuditError::at(&path))?;
        match lock.try_lock() {
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Err(AuditError::Busy(self.folder.clone())),
        }
        // Another process may have added keys meanwhile, with which these were not compared.
        if Manifest::read(&self.folder)? != self.manifest {
            return Err(AuditError::Busy(self.folder.clone()));
        }
        self.manifest.add(&self.folder.clone(), keys, shared, threads)
    }
}

impl Manifest {
    /// Writes keys to a new file, and then the manifest that names it.
    fn add(
        &mut self,
        folder: &Path,
        mut keys: impl Iterator<Item = Saved>,
        shared: Vec<[u8; 32]>,
        threads: usize,
    ) -> Result<(), AuditError> {
        let name = format!("{:08}.keys", self.files.len() + 1);
        let path = folder.join(&name);
        let mut writer = Writer::create(&path, threads)?;
        let written = keys.try_for_each(|saved| writer.add(saved));
        let file = written.and_then(|()| writer.finish(name));
        let named = file.and_then(|file| {
            let mut next = self.clone();
            next.files.extend((file.keys > 0).then_some(file));
            next.shared.extend(shared.iter().map(hex::encode));
            next.write(folder).map(|written| (next, written))
        });
        match named {
            Ok((next, written)) => {
                if next.files.len() == self.files.len() {
                    let _ = fs::remove_file(&path);
                }
                *self = next;
                // Whatever comes of this, the manifest names the file.
                sync_names(folder, &written).map_err(AuditError::at(folder))
            }
            Err(error) => {
                // Nothing names it.
                let _ = fs::remove_file(&path);
                Err(error)
            }
        }
    }
}

/// Has the names in a folder reach the disk.
///
/// A folder that may be written to and not read cannot be opened for that. What has got its name is synced once more
/// instead, which carries the name along on the journalling file systems of Linux.
fn sync_names(folder: &Path, named: &File) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => named.sync_all(),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;

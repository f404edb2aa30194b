//! A folder for what a search would otherwise keep in memory or do again after it was killed.
//!
//! ```text
//! DIR/rsalab-audit-…/lock-1          held by the process that does this part
//!                    product-3-of-8  the product of a subset         content, SHA-256
//!                    found-3-of-8    what was found in it            content, SHA-256
//!                    level-3-of-8-1  a level of its tree, until it is gone through
//! ```
//!
//! The name is a digest of all moduli, so that a search finds its own. What is there whole has its checksum; anything
//! else is made again. All of it is public.

use std::{
    fs::{self, File, TryLockError},
    io::{self, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
    process,
};

use rsalab_product::Levels;
use sha2::{Digest, Sha256};

use crate::error::AuditError;

/// The folder of a search.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    /// Held while the process lives.
    lock: (PathBuf, File),
}

const DIGEST: usize = 32;

impl Scratch {
    /// Opens the folder of a search below `base`, for the part of so much a number; makes it if it is not there.
    pub(crate) fn open(base: &Path, name: &[u8; DIGEST], number: u64) -> Result<Self, AuditError> {
        let folder = base.join(format!("rsalab-audit-{}", hex::encode(&name[..8])));
        fs::create_dir_all(&folder).map_err(AuditError::at(&folder))?;
        let path = folder.join(format!("lock-{number}"));
        let lock = File::create(&path).map_err(AuditError::at(&path))?;
        match lock.try_lock() {
            // Where the file system has no locks, nothing is guarded.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Err(AuditError::Busy(folder)),
        }
        Ok(Scratch {
            folder,
            lock: (path, lock),
        })
    }

    /// The content that was written under a name; none if it is not there, or not whole.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.folder.join(name)).ok()?;
        let content = bytes.len().checked_sub(DIGEST)?;
        let is_whole = Sha256::digest(&bytes[..content])[..] == bytes[content..];
        bytes.truncate(content);
        is_whole.then_some(bytes)
    }

    /// Returns whether something is there under a name, whole or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }

    /// Writes something under a name, at once.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), AuditError> {
        let path = self.folder.join(name);
        let draft = self.folder.join(format!("{name}.{}", process::id()));
        let written = File::create(&draft).and_then(|mut file| {
            file.write_all(bytes)?;
            file.write_all(&Sha256::digest(bytes))?;
            fs::rename(&draft, &path)
        });
        written.map_err(|error| {
            // It may be that there is no room even for what is there of it.
            let _ = fs::remove_file(&draft);
            AuditError::at(&path)(error)
        })
    }

    /// Room for the levels of a tree, of which none is there.
    pub(crate) fn levels(&self, subset: &str) -> Spilled {
        Spilled {
            folder: self.folder.clone(),
            prefix: format!("level-{subset}-"),
            lengths: Vec::new(),
        }
    }

    /// Removes what starts with this, and what is left of killed processes' drafts.
    pub(crate) fn remove(&self, prefix: &str) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes())) {
            let _ = fs::remove_file(entry.path());
        }
    }

    /// Removes the folder with all that is in it.
    pub(crate) fn remove_all(self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Leaves the folder to other parts.
    pub(crate) fn leave(self) {
        let _ = fs::remove_file(&self.lock.0);
    }
}

/// Levels of a tree, each in a file: the length of each number in eight bytes, and its limbs.
#[derive(Debug)]
pub(crate) struct Spilled {
    folder: PathBuf,
    prefix: String,
    /// How many numbers each level has.
    lengths: Vec<usize>,
}

/// Bytes that are written or read together.
const BUFFER: usize = 1 << 20;

impl Spilled {
    fn path(&self, level: usize) -> PathBuf {
        self.folder.join(format!("{}{level}", self.prefix))
    }
}

impl Levels for Spilled {
    type Error = AuditError;

    fn push(&mut self, level: Vec<Vec<u64>>) -> Result<(), AuditError> {
        let path = self.path(self.lengths.len());
        let count = level.len();
        write_level(&path, level).map_err(|error| {
            let _ = fs::remove_file(&path);
            AuditError::at(&path)(error)
        })?;
        self.lengths.push(count);
        Ok(())
    }

    fn pop(&mut self) -> Result<Vec<Vec<u64>>, AuditError> {
        let count = self.lengths.pop().unwrap_or(0);
        let path = self.path(self.lengths.len());
        let level = read_level(&path, count).map_err(AuditError::at(&path))?;
        let _ = fs::remove_file(&path);
        Ok(level)
    }
}

impl Drop for Spilled {
    fn drop(&mut self) {
        for level in 0..self.lengths.len() {
            let _ = fs::remove_file(self.path(level));
        }
    }
}

fn write_level(path: &Path, level: Vec<Vec<u64>>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(BUFFER, File::create(path)?);
    let mut bytes = Vec::new();
    for number in level {
        file.write_all(&(number.len() as u64).to_le_bytes())?;
        for limbs in number.chunks(BUFFER / 8) {
            bytes.clear();
            bytes.extend(limbs.iter().flat_map(|limb| limb.to_le_bytes()));
            file.write_all(&bytes)?;
        }
    }
    file.flush()
}

fn read_level(path: &Path, count: usize) -> io::Result<Vec<Vec<u64>>> {
    let file = File::open(path)?;
    let mut left = file.metadata()?.len();
    let mut file = BufReader::with_capacity(BUFFER, file);
    let cut = || io::Error::new(io::ErrorKind::InvalidData, "it is not what was written");
    let mut level = Vec::with_capacity(count);
    let mut bytes = vec![0; BUFFER];
    for _ in 0..count {
        let mut word = [0; 8];
        file.read_exact(&mut word)?;
        let limbs = u64::from_le_bytes(word);
        left = limbs
            .checked_add(1)
            .and_then(|words| left.checked_sub(words.checked_mul(8)?))
            .ok_or_else(cut)?;
        let mut number = Vec::with_capacity(limbs as usize);
        while number.len() < limbs as usize {
            let part = (8 * (limbs as usize - number.len())).min(BUFFER);
            file.read_exact(&mut bytes[..part])?;
            let (words, _) = bytes[..part].as_chunks::<8>();
            number.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
        }
        level.push(number);
    }
    match left {
        0 => Ok(level),
        _ => Err(cut()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_back_as_they_were() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::open(folder.path(), &[7; 32], 1).expect("a folder");
        let mut spilled = scratch.levels("1-of-1");
        let levels = [
            vec![vec![1, 2, 3], vec![], vec![u64::MAX]],
            vec![vec![5; 300_000]],
            vec![],
        ];
        for level in &levels {
            spilled.push(level.clone()).expect("there is room");
        }
        for level in levels.iter().rev() {
            assert_eq!(&spilled.pop().expect("it is there"), level);
        }
        spilled.push(levels[0].clone()).expect("there is room");
        let path = spilled.path(0);
        let bytes = fs::read(&path).expect("it is there");
        for wrong in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0; 8]].concat(), &[0xff; 8]] {
            fs::write(&path, wrong).expect("a file");
            assert!(read_level(&path, 3).is_err());
        }
        drop(spilled);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_not_whole_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::open(folder.path(), &[7; 32], 1).expect("a folder");
        assert_eq!(scratch.read("a"), None);
        scratch.write("a", b"what was found").expect("there is room");
        assert_eq!(scratch.read("a").as_deref(), Some(&b"what was found"[..]));
        let path = scratch.folder.join("a");
        let whole = fs::read(&path).expect("it is there");
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).expect("a file");
            assert_eq!(scratch.read("a"), None);
            let mut flipped = whole.clone();
            flipped[cut] ^= 0x10;
            fs::write(&path, flipped).expect("a file");
            assert_eq!(scratch.read("a"), None);
        }
        assert!(matches!(
            Scratch::open(folder.path(), &[7; 32], 1),
            Err(AuditError::Busy(_))
        ));
        Scratch::open(folder.path(), &[7; 32], 2).expect("another part").leave();
        scratch.remove_all();
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}

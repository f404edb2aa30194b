//! One writer at a time: an advisory lock beside the database.
//!
//! SQLite's own locks last for a transaction; a study is written to for minutes. The lock goes with the process,
//! however it ends.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
};

use super::{
    LOCK_FILE, StoreError,
    files::{self, Names},
};

/// The right to write to the study of a directory, held until dropped.
#[derive(Debug)]
pub(super) struct WriteLock {
    _file: File,
    path: PathBuf,
    /// `true` if there was no lock file before.
    is_new: bool,
}

impl WriteLock {
    pub(super) fn take(directory: &Path, database: &Path) -> Result<WriteLock, StoreError> {
        let path = directory.join(LOCK_FILE);
        let is_new = path.symlink_metadata().is_err();
        let mut file = open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(database, &mut file)),
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path)(error)),
        }
        check_content(&path, &mut file)?;
        // The number is for the message of whoever comes second; the lock itself does not depend on it.
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        let lock = WriteLock {
            _file: file,
            path,
            is_new,
        };
        match written {
            Ok(()) => Ok(lock),
            Err(error) => {
                let path = lock.path.clone();
                lock.withdraw();
                Err(StoreError::io(path)(error))
            }
        }
    }

    /// Gives the lock back and takes its file away, if it was not there before: for a directory without a study of
    /// ours.
    ///
    /// Whoever has opened the file in the meantime waits for nothing, since nobody waits for this lock; at worst two
    /// find that there is no study.
    pub(super) fn withdraw(self) {
        if self.is_new {
            // Whatever cannot be removed does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens the lock file, or makes it. Nothing is followed, waited for or changed.
fn open(path: &Path) -> Result<File, StoreError> {
    files::check(path, Names::One)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // Whatever has come to lie there since the check is not followed, nor waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path).map_err(StoreError::io(path))?;
    let found = file.metadata().map_err(StoreError::io(path))?;
    files::check_found(path, &found, Names::One)?;
    Ok(file)
}

/// The lock holds a process's number or nothing. Whatever else is there is somebody's, and is not written over.
fn check_content(path: &Path, file: &mut File) -> Result<(), StoreError> {
    let mut content = Vec::new();
    file.take(LONGEST_NUMBER + 1)
        .read_to_end(&mut content)
        .map_err(StoreError::io(path))?;
    let is_number = content.iter().all(u8::is_ascii_digit);
    if content.len() as u64 > LONGEST_NUMBER || !is_number {
        return Err(StoreError::io(path)(std::io::Error::other(
            "it holds something else than a process's number, so it is no lock: move it away",
        )));
    }
    Ok(())
}

/// Digits of a process's number, at most.
const LONGEST_NUMBER: u64 = 20;

fn in_use(database: &Path, file: &mut File) -> StoreError {
    let mut pid = String::new();
    // Whatever cannot be read is left out of the message.
    let _ = file.take(LONGEST_NUMBER).read_to_string(&mut pid);
    StoreError::InUse {
        path: PathBuf::from(database),
        pid: pid.trim().parse().ok(),
    }
}

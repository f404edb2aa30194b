//! One writer at a time: an advisory lock beside the database.
//!
//! SQLite's own locks last for a transaction; a study is written to for minutes. The lock goes with the process, however
//! it ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
};

use super::StoreError;

const FILE: &str = "study.lock";

/// The right to write to the study of a directory, held until dropped.
#[derive(Debug)]
pub(super) struct WriteLock {
    _file: File,
}

impl WriteLock {
    pub(super) fn take(directory: &Path, database: &Path) -> Result<WriteLock, StoreError> {
        let path = directory.join(FILE);
        let mut file = open(&path).map_err(StoreError::io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(database, &mut file)),
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path)(error)),
        }
        // The number is for the message of whoever comes second; the lock itself does not depend on it.
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        written.map_err(StoreError::io(&path))?;
        Ok(WriteLock { _file: file })
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn in_use(database: &Path, file: &mut File) -> StoreError {
    let mut pid = String::new();
    // Whatever cannot be read is left out of the message.
    let _ = file.take(20).read_to_string(&mut pid);
    StoreError::InUse {
        path: PathBuf::from(database),
        pid: pid.trim().parse().ok(),
    }
}

//! The files that may lie under the names that a study opens for writing.
//!
//! A study may be unpacked from somebody's archive, or lie where others can write. Nothing outside its directory may be
//! changed through a name inside it: a link is refused rather than followed, and so is whatever is not a file. The
//! check comes before the file is opened, because opening alone can wait for ever (a FIFO) or do something (a device).

use std::{fs::Metadata, io, path::Path};

use super::{FILE, StoreError};

/// The rule on a second name of a file (a hard link), under which a write would change it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    One,
    Any,
}

/// Refuses what is not a file of ours. What is missing passes.
pub(super) fn check(path: &Path, names: Names) -> Result<(), StoreError> {
    match path.symlink_metadata() {
        Ok(found) => check_found(path, &found, names),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::io(path)(error)),
    }
}

/// As [`check`], for what is known of the name, or of the opened file.
pub(super) fn check_found(path: &Path, found: &Metadata, names: Names) -> Result<(), StoreError> {
    let refuse = |what: &str| Err(StoreError::io(path)(io::Error::other(what)));
    if found.is_symlink() {
        return refuse(
            "it is a symbolic link, which is not followed: remove it, or name the directory that the file is in",
        );
    }
    if !found.is_file() {
        return refuse("it is not a regular file: move it away");
    }
    if names == Names::One && has_other_names(found) {
        return refuse(
            "it has another name somewhere (a hard link), and what lies there would be changed too: put a copy in its place",
        );
    }
    Ok(())
}

/// Checks the database and the files that SQLite makes beside it.
///
/// Readers write too: to the file of `-shm` that they share with the writer. A directory under such a name is left to
/// SQLite, which cannot open it and does it no harm.
pub(super) fn check_database(directory: &Path, is_writable: bool) -> Result<(), StoreError> {
    let names = if is_writable { Names::One } else { Names::Any };
    check(&directory.join(FILE), names)?;
    for suffix in ["-wal", "-shm", "-journal"] {
        let path = directory.join(format!("{FILE}{suffix}"));
        if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            check(&path, Names::One)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn has_other_names(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

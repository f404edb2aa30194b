//! Why the system does not let SQLite open or write a database.
//!
//! SQLite says "unable to open database file" whether the file may not be read, the directory may not be written, or
//! this process has too many files open. The files are asked about, and the database itself is not opened: closing it
//! would release the locks that other connections of this process hold (POSIX locks go with any descriptor of the
//! file).

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::FILE;

/// The cause for which SQLite was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// The longest path that SQLite opens on Unix, in bytes (`MAX_PATHNAME` in its `os_unix.c`).
const LONGEST_PATH: usize = 512;

/// The file or directory to blame and what is wrong with it; none if the system has nothing against this process.
pub(super) fn of_refusal(database: &Path, access: Access) -> Option<(PathBuf, io::Error)> {
    let directory = match database.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let blame = |path: &Path, error: io::Error| Some((path.to_owned(), error));

    // A process that has too many files open, or may not look into the directory.
    if let Err(error) = File::open(directory) {
        return blame(directory, error);
    }
    let beside = |suffix: &str| directory.join(format!("{FILE}{suffix}"));
    let files = [
        (database.to_owned(), access),
        (beside("-wal"), access),
        // Readers write to it too.
        (beside("-shm"), Access::Write),
    ];
    for (path, access) in &files {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => return blame(path, io::ErrorKind::IsADirectory.into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return blame(path, error),
        }
        if let Err(error) = allowed(path, *access) {
            return blame(path, error);
        }
    }
    if let Err(error) = allowed(directory, Access::Write) {
        return blame(directory, error);
    }
    let full = std::path::absolute(database).ok()?;
    if full.as_os_str().len() >= LONGEST_PATH {
        return blame(database, io::ErrorKind::InvalidFilename.into());
    }
    None
}

#[cfg(unix)]
fn allowed(path: &Path, access: Access) -> io::Result<()> {
    use rustix::fs::Access as Mode;
    let mode = match access {
        Access::Read => Mode::READ_OK,
        Access::Write => Mode::READ_OK | Mode::WRITE_OK,
    };
    Ok(rustix::fs::access(path, mode)?)
}

#[cfg(not(unix))]
fn allowed(path: &Path, _: Access) -> io::Result<()> {
    fs::metadata(path).map(drop)
}

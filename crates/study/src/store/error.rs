//! Errors of a study's database.

use std::{io, path::PathBuf};

use rusqlite::ErrorCode;

use super::cause::{self, Access};

/// Why a database could not be used, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no database.
    #[error("there is no study in {0}: it has no study.db. Name the directory that 'rsalab study' printed")]
    Missing(PathBuf),
    /// A study would be overwritten.
    #[error("{0} already holds a study: go on with it by 'rsalab resume', or choose another directory")]
    Exists(PathBuf),
    /// The file has no bytes.
    #[error("{0} is empty, so it is not a study: remove it and start the study again")]
    Empty(PathBuf),
    /// Not SQLite, or SQLite but not ours.
    #[error("{0} is not a study's database: {1}. Name the directory that 'rsalab study' printed")]
    Foreign(PathBuf, &'static str),
    /// Written by a later version of the program.
    #[error(
        "{path} was written by a newer rsalab (its schema is {found}, this program knows {known}): use that version"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema it has.
        found: i64,
        /// The schema this program writes.
        known: i64,
    },
    /// The file is cut short or overwritten.
    #[error("{path} is damaged ({detail}): restore it from a copy, or start the study again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The detail that was found.
        detail: String,
    },
    /// Somebody else has it.
    #[error(
        "{path} is in use by another process{}: wait for it to end, or stop it",
        .pid.map(|pid| format!(" ({pid})")).unwrap_or_default()
    )]
    InUse {
        /// The file.
        path: PathBuf,
        /// The process that holds it, where it left its number.
        pid: Option<u32>,
    },
    /// A value of the database has a form that this program cannot read.
    #[error("{path} holds a {what} that cannot be read ({detail}): restore it from a copy, or start the study again")]
    Content {
        /// The file.
        path: PathBuf,
        /// Which value.
        what: &'static str,
        /// Why it cannot be read.
        detail: String,
    },
    /// A step that the state of a cell does not allow, such as finishing it twice.
    #[error("{path}: cell {cell} cannot become '{to}' from its present state")]
    State {
        /// The file.
        path: PathBuf,
        /// The cell's number.
        cell: i64,
        /// The state that was asked for.
        to: &'static str,
    },
    /// The disk is full.
    #[error("{0}: the disk is full")]
    Full(PathBuf),
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// SQLite refused for another reason.
    #[error("{path}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

impl StoreError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull => StoreError::Full(path),
            _ => StoreError::Io { path, source },
        }
    }

    pub(super) fn sqlite(path: impl Into<PathBuf>) -> impl FnOnce(rusqlite::Error) -> StoreError {
        let path = path.into();
        move |source| match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::InUse { path, pid: None },
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged {
                path,
                detail: "a page does not fit".to_owned(),
            },
            Some(ErrorCode::NotADatabase) => StoreError::Foreign(path, "it is not in SQLite's format"),
            Some(ErrorCode::DiskFull) => StoreError::Full(path),
            // The file that readers and the writer share could not be made as long as it must be.
            Some(ErrorCode::SystemIoFailure) if extended_code(&source) == SHARED_FILE_TOO_SHORT => {
                StoreError::Full(path)
            }
            // A table or a column is not there: all the SQL of this program is fixed.
            Some(ErrorCode::Unknown) => StoreError::Damaged {
                path,
                detail: source.to_string(),
            },
            Some(ErrorCode::ReadOnly) => refused(path, Access::Write, source),
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => refused(path, Access::Read, source),
            Some(ErrorCode::SystemIoFailure) => StoreError::Io {
                path,
                source: io::Error::other(source),
            },
            _ => StoreError::Sqlite { path, source },
        }
    }

    /// Returns whether going on with the study can help, once the cause is gone.
    pub fn is_passing(&self) -> bool {
        self.is_io() || matches!(self, StoreError::InUse { .. })
    }

    /// Returns whether the file system, rather than the database, is to blame.
    pub fn is_io(&self) -> bool {
        matches!(self, StoreError::Io { .. } | StoreError::Full(_))
    }
}

/// SQLite has one code for whatever keeps a file from being opened or written: the system is asked what it is.
fn refused(path: PathBuf, access: Access, source: rusqlite::Error) -> StoreError {
    match cause::of_refusal(&path, access) {
        Some((path, source)) => StoreError::io(path)(source),
        None => StoreError::Io {
            path,
            source: io::Error::other(source),
        },
    }
}

const SHARED_FILE_TOO_SHORT: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

fn extended_code(error: &rusqlite::Error) -> i32 {
    error.sqlite_error().map_or(0, |error| error.extended_code)
}

//! Errors that stop a study as a whole. What goes wrong in one cell is that cell's record, not an error.

use std::{io, path::PathBuf};

use crate::{plan::PlanError, store::StoreError};

/// Why a study could not be made, run or reported, in plain sentences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plan was refused.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The database was refused, or refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system's random generator failed.
    #[error("the system gives no random bytes for the seed: {0}")]
    Random(#[from] getrandom::Error),
    /// A file that is said to be the results of a report is something else.
    #[error("{path} is not the results.json of a report: {reason}")]
    Results {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// A Markdown file does not say which table of speeds it wants, or wants one that the report does not have.
    #[error("{path}: {reason}")]
    Markdown {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// A file or directory could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The kind of mistake that an error is: the program's exit codes follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The user asked for something that cannot be asked.
    Usage,
    /// The file system or the system refused.
    InputOutput,
    /// The database is not what it should be.
    Database,
    /// A file that was given is not what it should be.
    Input,
}

impl Error {
    /// The class that the error belongs to.
    pub fn class(&self) -> ErrorClass {
        match self {
            Error::Plan(_) | Error::Store(StoreError::Exists(_)) => ErrorClass::Usage,
            Error::Store(error) if error.is_io() => ErrorClass::InputOutput,
            Error::Store(_) => ErrorClass::Database,
            Error::Results { .. } | Error::Markdown { .. } => ErrorClass::Input,
            Error::Random(_) | Error::Io { .. } => ErrorClass::InputOutput,
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { path, source }
    }
}

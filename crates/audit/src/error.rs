//! Why an audit cannot be done.

use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
};

/// Why an audit cannot be done: nothing that is wrong with a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file system refused.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// Another process works on the same.
    #[error("{} is in use: another process works on the same keys", .0.display())]
    Busy(PathBuf),
    /// A folder is no saved tree.
    #[error("{} is no saved tree of an audit", .0.display())]
    NoStore(PathBuf),
    /// A saved tree is of another version of the format.
    #[error("{} is a saved tree of version {version}, and this program reads version {}", path.display(), crate::record::STORE_VERSION)]
    StoreVersion {
        /// The folder.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// A saved tree is not as it was written.
    #[error("{} is damaged: it is not what was saved", .0.display())]
    DamagedStore(PathBuf),
    /// Something has the name already.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// What every key is examined with is not there: randomness.
    #[error("no key can be examined: {0}")]
    Unavailable(rsalab_rsa::Error),
}

impl AuditError {
    /// The system's words about a path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> AuditError {
        let path = path.to_owned();
        move |source| AuditError::Io { path, source }
    }
}

impl From<Infallible> for AuditError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

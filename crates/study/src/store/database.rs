//! An open database.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::lock::WriteLock;

/// An open study's database.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// Of the file as it is.
    pub(super) schema_version: i64,
    /// Absent in a store that is only read.
    pub(super) lock: Option<WriteLock>,
}

impl Store {
    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The study's directory.
    pub fn directory(&self) -> &Path {
        self.path.parent().expect("the database lies in a directory")
    }

    /// Returns whether this process may write.
    pub fn is_writable(&self) -> bool {
        self.lock.is_some()
    }
}

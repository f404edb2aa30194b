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
    /// Returned by [`lacks_its_log`](Self::lacks_its_log).
    pub(super) lacks_log: bool,
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

    /// Returns whether the file lacks its log: whoever wrote it last did not end in good order, or it was copied
    /// without the file `study.db-wal` beside it. What was measured last may be missing. A writer that ends leaves one
    /// file.
    pub fn lacks_its_log(&self) -> bool {
        self.lacks_log
    }

    /// Returns whether this process may write.
    pub fn is_writable(&self) -> bool {
        self.lock.is_some()
    }
}

impl Drop for Store {
    /// A study that nobody writes to is one file: what is in the log goes into the database, which says from then on
    /// that it has none. Where somebody reads it now it stays as it is, and the next writer does it.
    fn drop(&mut self) {
        if self.is_writable() {
            let _ = self
                .connection
                .pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()));
        }
    }
}

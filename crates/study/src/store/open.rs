//! Making a database, and opening one with every doubt about it removed.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{
    APPLICATION_ID, DRAFT_PREFIX, FILE, NewStudy, SCHEMA_VERSION, Store, StoreError, files,
    layout::OLDEST_SCHEMA_VERSION, lock::WriteLock, write,
};

/// Another process's transaction lasts for milliseconds; a lock that lasts longer is somebody at work.
const PATIENCE: Duration = Duration::from_secs(1);

/// The table that version 3 of the schema has added.
const INTERRUPTED: &str = include_str!("interrupted.sql");
/// The table that version 4 has added.
const SENTINEL: &str = include_str!("sentinel.sql");
/// The table that version 5 has added.
const PART: &str = include_str!("part.sql");

impl Store {
    /// Makes the database of a new study in a directory, which is made too where it is missing, and opens it for
    /// writing.
    ///
    /// The file appears whole or not at all.
    pub fn create(directory: &Path, study: &NewStudy<'_>) -> Result<Store, StoreError> {
        let made = missing_directories(directory);
        let created = fs::create_dir_all(directory)
            .map_err(StoreError::io(directory))
            .and_then(|()| Store::create_inside(directory, study));
        if created.is_err() {
            // Nothing is left of a study that never was; a directory that holds anything is not removed.
            for directory in made {
                let _ = fs::remove_dir(directory);
            }
        }
        created
    }

    fn create_inside(directory: &Path, study: &NewStudy<'_>) -> Result<Store, StoreError> {
        let path = directory.join(FILE);
        let lock = WriteLock::take(directory, &path)?;
        match Store::place(directory, &path, study) {
            Ok(()) => Store::checked(directory, Some(lock)).inspect_err(|_| {
                // As where the file system has not what SQLite's log takes.
                let _ = fs::remove_file(&path);
            }),
            Err(error) => {
                lock.withdraw();
                Err(error)
            }
        }
    }

    /// Makes the file, whole, under a lock.
    fn place(directory: &Path, path: &Path, study: &NewStudy<'_>) -> Result<(), StoreError> {
        if path.symlink_metadata().is_ok() {
            return Err(StoreError::Exists(directory.to_owned()));
        }
        // tempfile makes files with mode 0600, and SQLite gives its log the mode of the database.
        let draft = tempfile::Builder::new()
            .prefix(DRAFT_PREFIX)
            .suffix(".db")
            .tempfile_in(directory)
            .map_err(StoreError::io(directory))?;
        let filled = Connection::open(draft.path()).and_then(|connection| fill(connection, study));
        filled.map_err(StoreError::sqlite(path))?;
        draft.as_file().sync_all().map_err(StoreError::io(path))?;
        draft
            .persist_noclobber(path)
            .map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => StoreError::Exists(directory.to_owned()),
                _ => StoreError::io(path)(error.error),
            })?;
        sync_directory(directory)
    }

    /// Opens a study for writing. One process at a time may.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let path = present(directory)?;
        let lock = WriteLock::take(directory, &path)?;
        Store::checked(directory, Some(lock))
    }

    /// Opens a study for reading only; somebody else may be writing to it.
    pub fn view(directory: &Path) -> Result<Store, StoreError> {
        present(directory)?;
        Store::checked(directory, None)
    }

    /// A directory that is no study of ours is left as it was, without so much as a lock beside it.
    fn checked(directory: &Path, lock: Option<WriteLock>) -> Result<Store, StoreError> {
        let readable = |store: Store| {
            // Whoever is to go on with a study must know all of it. A reader finds out soon enough.
            store.study().and(store.groups()).map(|_| store)
        };
        let connected = match &lock {
            Some(_) => Store::connected(directory, true).and_then(readable),
            None => Store::connected(directory, false),
        };
        match (connected, lock) {
            (Ok(mut store), Some(lock)) => {
                store.begin_writing()?;
                store.lock = Some(lock);
                Ok(store)
            }
            (Ok(store), None) => Ok(store),
            (Err(error), lock) => {
                lock.into_iter().for_each(WriteLock::withdraw);
                Err(error)
            }
        }
    }

    fn connected(directory: &Path, is_writable: bool) -> Result<Store, StoreError> {
        let path = directory.join(FILE);
        files::check_database(directory, is_writable)?;
        let size = fs::metadata(&path).map_err(StoreError::io(&path))?.len();
        if size == 0 {
            return Err(StoreError::Empty(path));
        }
        // Asked before SQLite makes one.
        let has_log = log_of(&path).symlink_metadata().is_ok();
        let connection = match is_writable {
            true => connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE),
            false => connect_for_reading(&path),
        };
        let connection = connection.map_err(StoreError::sqlite(&path))?;
        let mut store = Store {
            connection,
            path,
            schema_version: SCHEMA_VERSION,
            lacks_log: false,
            lock: None,
        };
        store.schema_version = store.identify()?;
        // Earlier versions left a file that expects a log whenever they ended.
        let expects_log = store.schema_version >= 4 && store.pragma::<String>("journal_mode")? == "wal";
        store.lacks_log = expects_log && !has_log;
        store.configure()?;
        store.check_length(size)?;
        store.complaint("quick_check")?;
        store.check_tables()?;
        Ok(store)
    }

    /// Switches to a log and to the newest schema. Until then nothing has been changed.
    fn begin_writing(&mut self) -> Result<(), StoreError> {
        let switch = || {
            self.connection
                .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
            self.connection.pragma_update(None, "synchronous", "full")
        };
        switch().map_err(StoreError::sqlite(&self.path))?;
        self.bring_up_to_date()
    }

    /// Adds what versions of the schema have added since the file was made.
    fn bring_up_to_date(&mut self) -> Result<(), StoreError> {
        let found = self.schema_version;
        if found == SCHEMA_VERSION {
            return Ok(());
        }
        let update = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if found < 2 {
                transaction.execute_batch(
                    "ALTER TABLE block ADD COLUMN cpu_user_ns INTEGER;
                     ALTER TABLE block ADD COLUMN cpu_system_ns INTEGER;",
                )?;
            }
            if found < 3 {
                transaction.execute_batch(INTERRUPTED)?;
            } else if found < 4 {
                transaction.execute_batch("ALTER TABLE interrupted_block ADD COLUMN losses_json TEXT;")?;
            }
            if found < 4 {
                transaction.execute_batch(
                    "ALTER TABLE block ADD COLUMN losses_json TEXT;
                     ALTER TABLE block ADD COLUMN discarded_ns INTEGER;",
                )?;
                transaction.execute_batch(SENTINEL)?;
            }
            if found < 5 {
                transaction.execute_batch(PART)?;
            }
            transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
            transaction.commit()
        };
        update(&mut self.connection).map_err(StoreError::sqlite(&self.path))?;
        self.schema_version = SCHEMA_VERSION;
        Ok(())
    }

    /// Is it a study of a version that we know? Which?
    fn identify(&self) -> Result<i64, StoreError> {
        let application_id: i64 = self.pragma("application_id")?;
        if application_id != APPLICATION_ID {
            return Err(self.foreign("another program made it"));
        }
        let found: i64 = self.pragma("user_version")?;
        if found > SCHEMA_VERSION {
            return Err(StoreError::Newer {
                path: self.path.clone(),
                found,
                known: SCHEMA_VERSION,
            });
        }
        if found < OLDEST_SCHEMA_VERSION {
            return Err(self.foreign("its schema has a version that no rsalab has written"));
        }
        Ok(found)
    }

    fn configure(&self) -> Result<(), StoreError> {
        let configured = || {
            self.connection.busy_timeout(PATIENCE)?;
            self.connection.pragma_update(None, "foreign_keys", true)
        };
        configured().map_err(StoreError::sqlite(&self.path))
    }

    /// Somebody who is handy with SQLite may have been here.
    fn check_tables(&self) -> Result<(), StoreError> {
        let since_3 = (self.schema_version >= 3).then_some("interrupted_block");
        let since_4 = (self.schema_version >= 4).then_some("sentinel");
        let since_5 = (self.schema_version >= 5).then_some("part");
        let tables = ["study", "session", "cell_group", "cell", "block", "sample"];
        for table in tables.into_iter().chain(since_3).chain(since_4).chain(since_5) {
            self.connection
                .prepare(&format!("SELECT 1 FROM {table} LIMIT 1"))
                .map_err(StoreError::sqlite(&self.path))?;
        }
        Ok(())
    }

    /// A last page that is cut reads as one with zeros at its end, which SQLite's checks may find nothing wrong with.
    ///
    /// Where a log lies beside the file, the page may be waiting there, and a checkpoint makes it whole.
    fn check_length(&self, size: u64) -> Result<(), StoreError> {
        let page: u64 = self.pragma("page_size")?;
        let log = log_of(&self.path);
        let has_log = log.metadata().is_ok_and(|log| log.len() > 0);
        if size.is_multiple_of(page) || has_log {
            return Ok(());
        }
        Err(self.damaged("its last page is cut"))
    }

    /// SQLite's full check of the file, page by page and index by index.
    pub fn check_integrity(&self) -> Result<(), StoreError> {
        self.complaint("integrity_check")?;
        let foreign = || {
            let mut check = self.connection.prepare("PRAGMA foreign_key_check")?;
            check.exists([])
        };
        match foreign().map_err(StoreError::sqlite(&self.path))? {
            true => Err(self.damaged("a row has lost its parent")),
            false => Ok(()),
        }
    }

    fn complaint(&self, check: &str) -> Result<(), StoreError> {
        let answer: String = self.pragma(check)?;
        match answer.as_str() {
            "ok" => Ok(()),
            _ => Err(self.damaged(answer.replace('\n', "; "))),
        }
    }

    fn foreign(&self, why: &'static str) -> StoreError {
        StoreError::Foreign(self.path.clone(), why)
    }

    fn damaged(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            detail: detail.into(),
        }
    }

    fn pragma<T: rusqlite::types::FromSql>(&self, name: &str) -> Result<T, StoreError> {
        self.connection
            .pragma_query_value(None, name, |row| row.get(0))
            .map_err(StoreError::sqlite(&self.path))
    }
}

fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Opening reads nothing yet.
    connection.pragma_query_value(None, "schema_version", |_| Ok(()))?;
    Ok(connection)
}

/// Readers of a database with a log need a file beside it, which they cannot make on a read-only medium. Where there is
/// no log either, nobody is writing, and SQLite can be opened so.
fn connect_for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let connected = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let is_refused = connected.as_ref().is_err_and(|error| {
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
        )
    });
    let log = log_of(path);
    if !is_refused || log.symlink_metadata().is_ok() {
        return connected;
    }
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect(Path::new(&immutable_uri(path)), access)
}

fn log_of(database: &Path) -> PathBuf {
    database.with_file_name(format!("{FILE}-wal"))
}

fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri + "?immutable=1"
}

fn present(directory: &Path) -> Result<PathBuf, StoreError> {
    let path = directory.join(FILE);
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => {
            files::check_found(&path, &found, files::Names::Any)?;
            Ok(path)
        }
        Ok(found) if !found.is_file() => Err(StoreError::Foreign(path, "it is not a file")),
        Ok(_) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StoreError::Missing(directory.to_owned())),
        Err(error) => Err(StoreError::io(&path)(error)),
    }
}

/// The directories that making this one would make, the innermost first.
fn missing_directories(directory: &Path) -> Vec<PathBuf> {
    directory
        .ancestors()
        .filter(|path| !path.as_os_str().is_empty())
        .take_while(|path| path.symlink_metadata().is_err())
        .map(Path::to_owned)
        .collect()
}

fn fill(mut connection: Connection, study: &NewStudy<'_>) -> rusqlite::Result<()> {
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.execute_batch(include_str!("schema.sql"))?;
    transaction.execute_batch(INTERRUPTED)?;
    transaction.execute_batch(SENTINEL)?;
    transaction.execute_batch(PART)?;
    write::plan(&transaction, study)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

/// The new name of a file is on the disk only once its directory is.
fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(directory)
            .and_then(|handle| handle.sync_all())
            .map_err(StoreError::io(directory))?;
    }
    Ok(())
}

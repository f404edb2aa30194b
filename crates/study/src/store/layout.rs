//! Names and numbers of a study's files.

/// The database's name in a study's directory.
pub const FILE: &str = "study.db";
/// How the name of a database begins that is still being made; a kill can leave one.
pub const DRAFT_PREFIX: &str = ".study-";
/// The name of the file beside it that a writer holds locked.
pub const LOCK_FILE: &str = "study.lock";
/// The version of the schema that this program writes.
pub const SCHEMA_VERSION: i64 = 5;
/// The oldest schema that this program reads; a study of it is brought up to date when somebody goes on with it.
pub(super) const OLDEST_SCHEMA_VERSION: i64 = 1;
/// `RSAL`: marks the file as ours among SQLite files.
pub const APPLICATION_ID: i64 = 0x5253_414C;

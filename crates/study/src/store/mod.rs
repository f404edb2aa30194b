//! Where a study lives: one SQLite file that survives a kill and a power cut.
//!
//! Every block of samples is stored in one transaction as soon as it is verified. Nothing is ever deleted, and only the
//! state of a cell and the end of a session are ever changed, so a study that was stopped anywhere is resumed by
//! reading what is there. The unique keys of the schema make it impossible to store a cell or a block twice.

mod cause;
mod database;
mod error;
mod files;
mod layout;
mod lock;
mod merge;
mod open;
mod read;
mod records;
mod write;

pub use self::{
    database::Store,
    error::StoreError,
    layout::{APPLICATION_ID, DRAFT_PREFIX, FILE, LOCK_FILE, SCHEMA_VERSION},
    merge::{MergeError, PART_FILE},
    records::{
        Beginning, BlockRecord, CellId, CellRecord, CellState, Ending, GroupId, GroupRecord, InterruptedBlock,
        NewStudy, SentinelRecord, SessionNumber, SessionRecord, SessionStart, StudyRecord, TakenBlock,
    },
};

//! The records of a study's database.

use rsalab_engines::{BlockReport, EngineInfo, Job, Ledger, Readiness};
use rsalab_measure::{Losses, Machine};

use crate::{
    part::Part,
    plan::{Group, Host, Measure, Seed},
};

/// The parts that a database is made of.
#[derive(Clone, Debug)]
pub struct NewStudy<'a> {
    /// The plan, in TOML.
    pub plan_toml: &'a str,
    /// The plan, unfolded.
    pub groups: &'a [Group],
    /// From which all keys and inputs derive.
    pub seed: Seed,
    /// The machine as the plan saw it.
    pub host: &'a Host,
    /// The command that makes the study.
    pub command: &'a str,
    /// The part of the plan that it measures; none if all of it.
    pub part: Option<Part>,
}

/// The record of a session that begins.
#[derive(Clone, Debug)]
pub struct SessionStart<'a> {
    /// The machine it runs on.
    pub machine: &'a Machine,
    /// Warnings about the machine.
    pub warnings: &'a [String],
}

/// A cell's row in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(pub i64);

/// A group's row in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub i64);

/// The number of a session, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionNumber(pub i64);

/// How far a cell has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellState {
    /// Nothing has been done.
    Planned,
    /// Started; its stored blocks count.
    Running,
    /// Measured and verified.
    Done,
    /// Given up, with the reason. Its stored blocks are kept and not used.
    Failed(String),
    /// The engine does not do this, with the reason.
    Unsupported(String),
}

impl CellState {
    /// The word in the database and in the artefacts.
    pub fn name(&self) -> &'static str {
        match self {
            CellState::Planned => "planned",
            CellState::Running => "running",
            CellState::Done => "done",
            CellState::Failed(_) => "failed",
            CellState::Unsupported(_) => "unsupported",
        }
    }

    /// Why there is no figure.
    pub fn reason(&self) -> Option<&str> {
        match self {
            CellState::Failed(reason) | CellState::Unsupported(reason) => Some(reason),
            CellState::Planned | CellState::Running | CellState::Done => None,
        }
    }

    /// Returns whether there is something left to do.
    pub fn is_open(&self) -> bool {
        matches!(self, CellState::Planned | CellState::Running)
    }
}

/// The study as it was planned.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRecord {
    /// The plan, in TOML.
    pub plan_toml: String,
    /// From which all keys and inputs derive.
    pub seed: Seed,
    /// The machine as the plan saw it.
    pub host: Host,
    /// The version of the program that planned it.
    pub program_version: String,
    /// The command that made the study.
    pub command: String,
    /// When, in milliseconds since 1970.
    pub created_unix_ms: i64,
}

/// One start of the program on the study.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// From 1.
    pub number: SessionNumber,
    /// The version of the program.
    pub program_version: String,
    /// The machine it ran on.
    pub machine: Machine,
    /// Warnings about the machine.
    pub warnings: Vec<String>,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// When it ended; a session without an end was killed.
    pub ended_unix_ms: Option<i64>,
    /// How it ended.
    pub ending: Option<Ending>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// No cell was left.
    Complete,
    /// Somebody stopped it.
    Stopped,
    /// An error that was not a cell's, such as a full disk.
    Failed,
}

impl Ending {
    pub(super) const ALL: [Ending; 3] = [Ending::Complete, Ending::Stopped, Ending::Failed];

    /// The word in the database.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Complete => "complete",
            Ending::Stopped => "stopped",
            Ending::Failed => "failed",
        }
    }
}

/// The time that a fixed piece of work took before a group: see [`rsalab_measure::sentinel`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentinelRecord {
    /// The session.
    pub session: SessionNumber,
    /// The group that followed.
    pub group: GroupId,
    /// When, in milliseconds since 1970.
    pub taken_unix_ms: i64,
    /// Nanoseconds that the work took.
    pub elapsed_ns: f64,
}

/// Cells that are measured interleaved.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRecord {
    /// The row.
    pub id: GroupId,
    /// The job of all of them.
    pub job: Job,
    /// How they are measured.
    pub measure: Measure,
    /// In the plan's order of engines.
    pub cells: Vec<CellRecord>,
}

/// One job on one engine.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRecord {
    /// The row.
    pub id: CellId,
    /// The engine's selector.
    pub engine: String,
    /// The job, with the engine's variant.
    pub job: Job,
    /// How far it has come.
    pub state: CellState,
    /// The record of its beginning; none if it has not.
    pub beginning: Option<Beginning>,
}

/// The record of a cell whose measurement begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Beginning {
    /// The engine as it describes itself.
    pub info: EngineInfo,
    /// The conditions of its figures.
    pub ledger: Ledger,
    /// How it was made ready.
    pub readiness: Readiness,
    /// Remarks that its figures need.
    pub notes: Vec<String>,
}

/// A verified block and its place among the others of its group.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenBlock {
    /// Its place in the order in which the group's blocks were measured, over all sessions.
    pub order_index: u64,
    /// The round it was measured in; each engine of the group has one block in a round.
    pub round: usize,
    /// The worker's process.
    pub worker_pid: Option<u32>,
    /// The samples. Outputs are verified and not kept.
    pub report: BlockReport,
    /// The time that was taken from the worker meanwhile, where the system counts it.
    pub losses: Option<Losses>,
}

/// A block during which something outside kept the worker from running, or took a part of its time, and that was
/// measured again for that. It is part of no figure.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptedBlock {
    /// The block, in a round that was measured again.
    pub record: BlockRecord,
    /// The interruption in words.
    pub reason: String,
}

/// A stored block.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRecord {
    /// Its cell.
    pub cell: CellId,
    /// The session that measured it.
    pub session: SessionNumber,
    /// The block.
    pub taken: TakenBlock,
}

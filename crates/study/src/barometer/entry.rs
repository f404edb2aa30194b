//! An entry: a study's cells with all samples, the machine, and the program, in one file.
//!
//! Two lines of JSON, compressed by gzip. The first has the format's name, and the SHA-256 digest and the length of the
//! second, which is the entry.

use std::io::{self, Read, Write};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use rsalab_engines::{BlockReport, EngineInfo, Job, Ledger, Readiness};
use rsalab_measure::{Losses, Machine};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    compare::{self, Measured},
    json, plan, report,
    store::{BlockRecord, CellState, Store, StoreError, TakenBlock},
};

/// The name of the format.
pub const FORMAT: &str = "rsalab-barometer-1";

/// The most bytes that an entry may have without compression.
pub const MAX_BYTES: u64 = 1 << 28;

/// An entry, as somebody sends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The CPU in a few words: its name and its microarchitecture, as the sessions' machines give them.
    pub cpu: String,
    /// The question of the study.
    pub title: String,
    /// The plan.
    pub plan_toml: String,
    /// From which every key and input of the study derives; no secret.
    pub insecure_seed: String,
    /// When the study was made, in milliseconds since 1970.
    pub created_unix_ms: i64,
    /// The program that made the entry.
    pub program: Program,
    /// Each start of the program on the study.
    pub sessions: Vec<Session>,
    /// The cells, by what they have in common.
    pub groups: Vec<Group>,
}

/// A program, by what it is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// The SHA-256 digest of its file.
    pub sha256: String,
}

/// One start of the program on the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// From 1.
    pub number: i64,
    /// The version of the program.
    pub program_version: String,
    /// The machine.
    pub machine: Machine,
    /// Warnings about it.
    pub warnings: Vec<String>,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// When it ended; none if it was killed.
    pub ended_unix_ms: Option<i64>,
}

/// Cells that were measured interleaved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The job of all of them.
    pub job: Job,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// One for each engine that was measured.
    pub cells: Vec<Cell>,
}

/// One engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The engine's selector.
    pub engine: String,
    /// The engine as it describes itself.
    pub info: EngineInfo,
    /// The conditions of its figures.
    pub ledger: Ledger,
    /// How it was made ready.
    pub readiness: Readiness,
    /// The figures; they follow from the blocks.
    pub stated: Stated,
    /// Every block that counts.
    pub blocks: Vec<Taken>,
}

/// The figures of a cell, for readers without statistics of their own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Operations per second, of all threads together: what was done over the time that it took.
    pub ops_per_s: f64,
    /// The ends of its interval.
    pub ops_per_s_low: f64,
    /// The upper one.
    pub ops_per_s_high: f64,
    /// Median nanoseconds per operation.
    pub ns_per_op: f64,
}

/// A block and its place among the others of its group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The session that measured it.
    pub session: i64,
    /// Its place in the order in which the group's blocks were measured.
    pub order: u64,
    /// The round; each engine of a group has one block in a round.
    pub round: usize,
    /// The samples.
    pub report: BlockReport,
    /// The time that was taken from the worker meanwhile, where the system counts it.
    pub losses: Option<Losses>,
}

impl Taken {
    fn of(block: &BlockRecord) -> Taken {
        Taken {
            session: block.session.0,
            order: block.taken.order_index,
            round: block.taken.round,
            report: block.taken.report.clone(),
            losses: block.taken.losses,
        }
    }

    /// As statistics take it.
    fn to_block(&self) -> TakenBlock {
        TakenBlock {
            order_index: self.order,
            round: self.round,
            worker_pid: None,
            report: self.report.clone(),
            losses: self.losses,
        }
    }
}

impl Cell {
    /// The figures that follow from the blocks; none without samples.
    pub(super) fn computed(&self, job: &Job, confidence: f64) -> Option<Stated> {
        let blocks: Vec<_> = self.blocks.iter().map(Taken::to_block).collect();
        let measured = Measured {
            ledger: &self.ledger,
            blocks: blocks.iter().collect(),
        };
        let figures = compare::figures(job.op, &measured, confidence)?;
        Some(Stated {
            ops_per_s: figures.ops_per_s.value,
            ops_per_s_low: figures.ops_per_s.low,
            ops_per_s_high: figures.ops_per_s.high,
            ns_per_op: figures.ns_per_op.value,
        })
    }

    /// The speed that the blocks give, not the one that is stated.
    pub(super) fn speed(&self, job: &Job) -> Option<f64> {
        let speed = self.computed(job, compare::CONFIDENCE)?.ops_per_s;
        (speed.is_finite() && speed > 0.0).then_some(speed)
    }

    /// The engine and the job, in words.
    pub(super) fn title(&self, job: &Job) -> String {
        format!("{:.60}, {}", self.engine, plan::title(job))
    }
}

/// Why a file is no entry, or a study becomes none.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The study has cells that are not done yet.
    #[error("the study is not complete: 'rsalab resume' goes on with it")]
    Incomplete,
    /// No cell was measured.
    #[error("no cell of the study was measured")]
    Empty,
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("it is no entry of the barometer: {0}")]
    Format(String),
    /// The second line is not the one that the first was written for.
    #[error("its checksum is {found}, and {stated} is stated: the file was changed, or damaged")]
    Checksum {
        /// The checksum that the first line states.
        stated: String,
        /// The checksum of the second line.
        found: String,
    },
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    sha256: String,
    bytes: u64,
}

impl Entry {
    /// The entry of a complete study.
    ///
    /// # Errors
    /// The database cannot be read; cells are open; nothing was measured.
    pub fn of(store: &Store, program: Program) -> Result<Entry, EntryError> {
        let study = store.study()?;
        let records = store.own_groups()?;
        let is_open = |state: &CellState| state.is_open();
        if records
            .iter()
            .flat_map(|group| &group.cells)
            .any(|cell| is_open(&cell.state))
        {
            return Err(EntryError::Incomplete);
        }
        let mut groups = Vec::new();
        for record in &records {
            let blocks = store.blocks(record.id)?;
            let mut cells = Vec::new();
            for cell in record.cells.iter().filter(|cell| cell.state == CellState::Done) {
                let Some(beginning) = &cell.beginning else {
                    continue;
                };
                let own = blocks.iter().filter(|block| block.cell == cell.id);
                let mut made = Cell {
                    engine: cell.engine.clone(),
                    info: beginning.info.clone(),
                    ledger: beginning.ledger.clone(),
                    readiness: beginning.readiness.clone(),
                    stated: Stated {
                        ops_per_s: 0.0,
                        ops_per_s_low: 0.0,
                        ops_per_s_high: 0.0,
                        ns_per_op: 0.0,
                    },
                    blocks: own.map(Taken::of).collect(),
                };
                if let Some(stated) = made.computed(&record.job, record.measure.confidence) {
                    made.stated = stated;
                    cells.push(made);
                }
            }
            if !cells.is_empty() {
                groups.push(Group {
                    job: record.job.clone(),
                    confidence: record.measure.confidence,
                    cells,
                });
            }
        }
        let sessions: Vec<Session> = store
            .sessions()?
            .into_iter()
            .map(|session| Session {
                number: session.number.0,
                program_version: session.program_version,
                machine: session.machine,
                warnings: session.warnings,
                started_unix_ms: session.started_unix_ms,
                ended_unix_ms: session.ended_unix_ms,
            })
            .collect();
        let Some(first) = sessions.first().filter(|_| !groups.is_empty()) else {
            return Err(EntryError::Empty);
        };
        Ok(Entry {
            cpu: cpu(&first.machine),
            title: report::title_of(&study.plan_toml),
            plan_toml: study.plan_toml,
            insecure_seed: study.seed.to_string(),
            created_unix_ms: study.created_unix_ms,
            program,
            sessions,
            groups,
        })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        let entry = serde_json::to_vec(self)?;
        let header = Header {
            format: FORMAT.to_owned(),
            sha256: hex::encode(Sha256::digest(&entry)),
            bytes: entry.len() as u64,
        };
        let mut compressed = GzEncoder::new(to, Compression::best());
        serde_json::to_writer(&mut compressed, &header)?;
        compressed.write_all(b"\n")?;
        compressed.write_all(&entry)?;
        compressed.write_all(b"\n")?;
        compressed.finish().map(drop)
    }

    /// Reads a file, and compares its checksum.
    ///
    /// # Errors
    /// It cannot be read, is something else, or does not have the checksum that it states.
    pub fn read(from: impl Read) -> Result<Entry, EntryError> {
        let no = |reason: &str| EntryError::Format(reason.to_owned());
        let mut text = Vec::new();
        let read = MultiGzDecoder::new(from).take(MAX_BYTES + 1).read_to_end(&mut text);
        read.map_err(|error| EntryError::Format(format!("it is not compressed by gzip, or cut short ({error})")))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(no("it is longer than any"));
        }
        let mut lines = text.split(|byte| *byte == b'\n');
        let (Some(header), Some(entry), Some([]), None) = (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            return Err(no("it does not have two lines"));
        };
        let parsed = |error: serde_json::Error| EntryError::Format(json::fault(&error));
        let header: Header = serde_json::from_slice(header).map_err(parsed)?;
        if header.format != FORMAT {
            return Err(no("it has another format, of another version of rsalab"));
        }
        let found = hex::encode(Sha256::digest(entry));
        if (header.sha256.as_str(), header.bytes) != (found.as_str(), entry.len() as u64) {
            return Err(EntryError::Checksum {
                stated: header.sha256.chars().take(64).collect(),
                found,
            });
        }
        serde_json::from_slice(entry).map_err(parsed)
    }
}

/// A CPU in a few words.
pub(super) fn cpu(machine: &Machine) -> String {
    let name = machine.cpu_model.known().map_or("unknown", String::as_str);
    match machine.microarchitecture() {
        Some(kind) => format!("{name}, {kind}"),
        None => name.to_owned(),
    }
}

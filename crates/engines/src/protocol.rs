//! The language of coordinator and worker: one JSON object a line, requests in, answers out.
//!
//! The worker reads requests from its standard input and writes exactly one answer to each on its standard output, in
//! order; standard error is a log for people. Byte strings travel as hexadecimal digits. Keys come with a request and
//! nowhere else: never in arguments, environment or logs. The page `docs/src/reference/worker-protocol.md` shows a
//! transcript, which a test replays.

use std::fmt;

use rsalab_measure::{Block, BlockPlan, CpuTime, Sample};
use serde::{Deserialize, Serialize};

use crate::{
    engine::{EngineError, EngineInfo},
    job::{Job, StudyKey},
    ledger::{Ledger, Reason},
};

/// The version that this program speaks. A worker of another version is refused at its greeting.
pub const VERSION: u32 = 1;

/// The longest line either side accepts, line end included: enough for 512 MiB in hexadecimal digits.
pub const MAX_LINE_BYTES: u64 = (1 << 30) + (1 << 20);

/// A request of the coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Asks who the worker is. Comes first.
    Hello {
        /// The version the coordinator speaks.
        protocol: u32,
    },
    /// Would you do this job, and under which conditions?
    Supports {
        /// The job.
        job: Job,
    },
    /// Make everything ready that is done once and not timed. A job prepared before is released first.
    Prepare {
        /// The job.
        job: Job,
        /// One key of the job's size, or none for operations that take none.
        keys: Vec<StudyKey>,
        /// The inputs of the whole measurement, one after another; for texts, the text or its ciphertext.
        #[serde(with = "hex::serde")]
        inputs: Vec<u8>,
    },
    /// Do every input of the prepared job once, untimed, and show the outputs.
    Outputs,
    /// Measure one block of samples of the prepared job.
    Block {
        /// How long and how many.
        plan: BlockPlan,
    },
    /// Forget the prepared job, its key and its threads.
    Release,
    /// End.
    Quit,
}

impl Request {
    /// The request's name on the wire, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Request::Hello { .. } => "hello",
            Request::Supports { .. } => "supports",
            Request::Prepare { .. } => "prepare",
            Request::Outputs => "outputs",
            Request::Block { .. } => "block",
            Request::Release => "release",
            Request::Quit => "quit",
        }
    }
}

/// An answer of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// To `hello`.
    Hello {
        /// The version the worker speaks.
        protocol: u32,
        /// The worker's process.
        pid: u32,
        /// The engine's description of itself.
        engine: EngineInfo,
    },
    /// To `supports`: yes, and so.
    Supported {
        /// The conditions.
        ledger: Ledger,
    },
    /// To `supports`: no. Not an error.
    Unsupported {
        /// The reason that the table's cell gives.
        reason: Reason,
    },
    /// To `prepare`.
    Prepared(Readiness),
    /// To `outputs`.
    Outputs {
        /// One output for each input, one after another.
        #[serde(with = "hex::serde")]
        outputs: Vec<u8>,
    },
    /// To `block`.
    Block(BlockReport),
    /// To `release`.
    Released,
    /// To `quit`; the last line.
    Bye,
    /// To any request that failed. The worker goes on and takes the next.
    Error(Fault),
}

impl Answer {
    /// The answer's name on the wire, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Answer::Hello { .. } => "hello",
            Answer::Supported { .. } => "supported",
            Answer::Unsupported { .. } => "unsupported",
            Answer::Prepared(_) => "prepared",
            Answer::Outputs { .. } => "outputs",
            Answer::Block(_) => "block",
            Answer::Released => "released",
            Answer::Bye => "bye",
            Answer::Error(_) => "error",
        }
    }
}

/// How a prepared job will run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readiness {
    /// The engine's kernel.
    pub kernel: String,
    /// The logical CPU of each thread, in order; empty where threads are not pinned.
    pub cpus: Vec<usize>,
    /// `true` if there are more threads than logical CPUs.
    pub oversubscribed: bool,
    /// Latency of an operation with inputs: the first call of all, before anything of it is in a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_call: Option<Sample>,
}

/// One measured block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockReport {
    /// The samples. An operation is one item of a batch; for texts it is one whole text.
    pub block: Block,
    /// Primality tests behind each sample, in the samples' order; empty where they are not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<u64>,
    /// Everything an operation without input made in the block, discarded samples included, to be verified.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "hex::serde")]
    pub outputs: Vec<u8>,
    /// Texts: what each thread did in the last sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<PartTrace>,
    /// CPU time of the worker during the block, where the system states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
}

/// One thread's work on its part of a text. Times count from the release of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartTrace {
    /// The part's number, in input order.
    pub id: usize,
    /// Bytes of input.
    pub bytes: usize,
    /// Blocks of input.
    pub blocks: usize,
    /// The logical CPU the thread was pinned to.
    pub cpu: Option<usize>,
    /// When it began.
    pub start_ns: u64,
    /// When it had finished.
    pub end_ns: u64,
}

/// A request that failed, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The sort of failure.
    pub kind: FaultKind,
    /// A description for people.
    pub message: String,
    /// Which input it was, where one is to blame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<usize>,
}

/// Sorts of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The line was no request.
    Malformed,
    /// The request needs another before it.
    Sequence,
    /// The engine does not do this job.
    Unsupported,
    /// A block was not smaller than the modulus.
    InputOutOfRange,
    /// A byte string had the wrong length.
    Length,
    /// The key was refused.
    Key,
    /// The engine's library reported an error.
    Library,
    /// A measured run gave another output than the first run did.
    Mismatch,
    /// Threads could not be started or pinned.
    Threads,
}

impl Fault {
    /// A failure without an item.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Fault {
            kind,
            message: message.into(),
            item: None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        let (kind, item) = match &error {
            EngineError::InputOutOfRange { index } => (FaultKind::InputOutOfRange, Some(*index)),
            EngineError::Length { .. } => (FaultKind::Length, None),
            EngineError::Unsupported(_) => (FaultKind::Unsupported, None),
            EngineError::Library { .. } => (FaultKind::Library, None),
            EngineError::Key(_) => (FaultKind::Key, None),
        };
        Fault {
            kind,
            message: error.to_string(),
            item,
        }
    }
}

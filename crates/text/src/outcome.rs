//! The outcome of a piece of work: its output and trace, or why it has none.

use std::fmt;

use rsalab_measure::pin::PinError;
use serde::Serialize;

/// The trace of one worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartTrace {
    /// The worker's number, which is the place of its part in the input.
    pub id: usize,
    /// Bytes of input in its part.
    pub bytes: usize,
    /// Blocks in its part.
    pub blocks: usize,
    /// The CPU it was pinned to, or else the one it was on when it finished, where the system says.
    pub cpu: Option<usize>,
    /// When it began, in nanoseconds after the release.
    pub start_ns: u64,
    /// When it had finished, in nanoseconds after the release.
    pub end_ns: u64,
}

/// The output and how it came about.
#[derive(Clone)]
pub struct Outcome {
    /// The whole output in input order.
    pub output: Vec<u8>,
    /// One entry for each worker, by number.
    pub trace: Vec<PartTrace>,
    /// From the release to the last finish.
    pub elapsed_ns: u64,
    /// From the call to the collection of the last worker: with starting, pinning and preparation.
    pub wall_ns: u64,
}

impl fmt::Debug for Outcome {
    /// Leaves the output out: it may be somebody's text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome")
            .field("output_len", &self.output.len())
            .field("trace", &self.trace)
            .field("elapsed_ns", &self.elapsed_ns)
            .field("wall_ns", &self.wall_ns)
            .finish()
    }
}

/// Why a piece of work has no output.
#[derive(Debug)]
#[non_exhaustive]
pub enum WorkError<E> {
    /// The work could not be laid out; no thread was started.
    Layout(String),
    /// One or more workers failed. Never empty; ordered by number.
    Workers(Vec<Failure<E>>),
}

/// A worker that failed.
#[derive(Debug)]
pub struct Failure<E> {
    /// The worker's number.
    pub id: usize,
    /// The reason.
    pub reason: Reason<E>,
}

impl<E: fmt::Display> fmt::Display for WorkError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkError::Layout(reason) => f.write_str(reason),
            WorkError::Workers(failures) => f.write_str(&list(failures)),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for WorkError<E> {}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {} failed: {}", self.id, self.reason)
    }
}

/// The reason why a worker failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason<E> {
    /// Its block operation, or the making of it, returned an error.
    #[error("{0}")]
    Failed(E),
    /// It panicked, with this message.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// The system gave no thread.
    #[error("its thread could not be started: {0}")]
    NotStarted(std::io::Error),
    /// The system did not let it run on its CPU.
    #[error("{0}")]
    NotPinned(PinError),
    /// It was ready and did nothing, because another thread could not be started.
    #[error("it was not released, because another thread could not be started")]
    NotReleased,
}

/// Every failure, in one sentence each.
pub(crate) fn list<E: fmt::Display>(failures: &[Failure<E>]) -> String {
    let lines: Vec<String> = failures.iter().map(Failure::to_string).collect();
    lines.join("; ")
}

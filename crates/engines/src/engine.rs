//! The interface of an engine: three small traits, from the shared to the per-thread.

use serde::{Deserialize, Serialize};

use crate::{
    job::{Job, StudyKey},
    ledger::{Ledger, Reason},
    op::Layout,
};

/// An engine's description of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineInfo {
    /// The fixed name.
    pub name: String,
    /// The version of the library, as it states it.
    pub version: String,
    /// Where the library came from: a path, a crate, "this program".
    pub origin: String,
    /// The code path chosen for this CPU, where the engine can tell.
    pub cpu_path: Option<String>,
    /// The variants a job may name, the default first; empty if there is one only.
    pub variants: Vec<String>,
    /// `true` if the engine was built with optimisation.
    pub optimised: bool,
}

/// A library or program that does RSA.
pub trait Engine: Send + Sync {
    /// Describes this engine.
    fn info(&self) -> EngineInfo;

    /// The conditions under which the engine would do this job, or why it cannot.
    fn supports(&self, job: &Job) -> Result<Ledger, Reason>;

    /// Everything that is done once, shared by all threads, and not timed.
    ///
    /// `keys` holds one key of the job's size for operations that take one; it may be empty for the others. The job is
    /// never one on texts: the harness cuts a text into blocks, and the engine is asked for the block operation.
    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError>;
}

/// A job made ready, shared by the threads that will run it.
pub trait Prepared: Send + Sync {
    /// The kernel that will run, for the record.
    fn kernel(&self) -> String;

    /// Makes what one thread needs for itself: scratch and contexts. Called on the thread that will use it.
    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError>;
}

/// The scratch and contexts of one thread.
pub trait Runner {
    /// Does the operation on every item of a batch, laid out as [`Op::layout`](crate::op::Op::layout) says.
    ///
    /// Both buffers hold whole items, any number of them whatever the job's batch; operations without input take an
    /// empty one. Returns what was counted on the way. A runner refuses wrong lengths and blocks that are not smaller
    /// than the modulus: see [`check_items`] and [`check_blocks`].
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError>;

    /// Is shown all the inputs that the job will ever hand over, batch after batch, before anything is timed. For a
    /// variant whose ledger says that inputs lie where the engine works when the clock starts; the others have nothing
    /// to do.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    fn keep(&mut self, _batches: &mut dyn Iterator<Item = &[u8]>) -> Result<(), EngineError> {
        Ok(())
    }

    /// Hands out what the last run on the batch of this number has left where the engine works, after the time was
    /// taken. The others have handed it out already.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    fn collect(&mut self, _batch: usize, _outputs: &mut [u8]) -> Result<(), EngineError> {
        Ok(())
    }

    /// Runs on the batch of this number, which was kept; the inputs are those of [`run`](Self::run).
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    fn run_kept(&mut self, _batch: usize, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        self.run(inputs, outputs)
    }
}

/// Counts of a run, for corrections that the time alone does not allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStats {
    /// Primality tests done (calls of the engine's probable-prime test on candidates), where it can tell.
    pub tests: Option<u64>,
}

impl From<()> for RunStats {
    /// Nothing was counted.
    fn from((): ()) -> Self {
        RunStats::default()
    }
}

impl From<u64> for RunStats {
    /// So many primality tests.
    fn from(tests: u64) -> Self {
        RunStats { tests: Some(tests) }
    }
}

impl From<Option<u64>> for RunStats {
    /// So many primality tests, where they are known.
    fn from(tests: Option<u64>) -> Self {
        RunStats { tests }
    }
}

/// Why an engine failed at a job that it had said it supports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A block was not smaller than the modulus.
    #[error("input {index} of the batch is not smaller than the modulus")]
    InputOutOfRange {
        /// Which item of the batch.
        index: usize,
    },
    /// A buffer had the wrong length.
    #[error("{what} has {got} bytes where {expected} were expected")]
    Length {
        /// Which buffer.
        what: &'static str,
        /// The length it should have.
        expected: usize,
        /// The length it had.
        got: usize,
    },
    /// The job is not one the engine does.
    #[error("{0}")]
    Unsupported(Reason),
    /// The library reported an error.
    #[error("{call} failed: {message}")]
    Library {
        /// The library's function.
        call: &'static str,
        /// The engine's words.
        message: String,
    },
    /// The key was refused.
    #[error("the key was refused: {0}")]
    Key(String),
}

impl EngineError {
    /// The failure of a library's function, in its own words.
    pub fn library(call: &'static str, message: impl ToString) -> Self {
        EngineError::Library {
            call,
            message: message.to_string(),
        }
    }
}

impl From<Reason> for EngineError {
    fn from(reason: Reason) -> Self {
        EngineError::Unsupported(reason)
    }
}

/// The number of items in a pair of buffers.
///
/// # Errors
/// [`EngineError::Length`] if they do not hold equally many whole items.
pub fn check_items(layout: Layout, inputs: &[u8], outputs: &[u8]) -> Result<usize, EngineError> {
    let items = outputs.len() / layout.output;
    for (what, expected, got) in [
        ("the output buffer", items * layout.output, outputs.len()),
        ("the input buffer", items * layout.input, inputs.len()),
    ] {
        if expected != got {
            return Err(EngineError::Length { what, expected, got });
        }
    }
    Ok(items)
}

/// The number of blocks in a pair of buffers of a private or public operation, for a modulus without leading zeros.
///
/// Variable time in the inputs: both ciphertexts and the harness's plaintexts are public.
///
/// # Errors
/// [`EngineError::Length`] if the buffers do not hold equally many whole blocks; [`EngineError::InputOutOfRange`] for
/// the first block that is not smaller than the modulus.
pub fn check_blocks(inputs: &[u8], outputs: &[u8], modulus: &[u8]) -> Result<usize, EngineError> {
    let layout = Layout {
        input: modulus.len(),
        output: modulus.len(),
    };
    let blocks = check_items(layout, inputs, outputs)?;
    // Big-endian strings of one length compare as the integers do.
    match inputs.chunks_exact(modulus.len()).position(|block| block >= modulus) {
        Some(index) => Err(EngineError::InputOutOfRange { index }),
        None => Ok(blocks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_must_be_whole_equally_many_and_smaller_than_the_modulus() {
        let modulus = [0x80, 0x01];
        let check = |inputs: &[u8], outputs: usize| check_blocks(inputs, &vec![0; outputs], &modulus);
        assert_eq!(check(&[], 0), Ok(0));
        assert_eq!(check(&[0, 0, 0x80, 0], 4), Ok(2));
        let out_of_range = |index| Err(EngineError::InputOutOfRange { index });
        assert_eq!(check(&[0, 0, 0x80, 1], 4), out_of_range(1));
        assert_eq!(check(&[0xFF, 0xFF, 0, 0], 4), out_of_range(0));
        for (inputs, outputs) in [(3, 2), (2, 4), (4, 2), (2, 3), (2, 0), (0, 2)] {
            let refused = check(&vec![0; inputs], outputs);
            assert!(matches!(refused, Err(EngineError::Length { .. })), "{inputs} {outputs}");
        }
    }

    #[test]
    fn operations_without_input_take_an_empty_buffer() {
        let layout = Layout { input: 0, output: 3 };
        assert_eq!(check_items(layout, &[], &[0; 9]), Ok(3));
        assert!(check_items(layout, &[1], &[0; 9]).is_err());
        assert!(check_items(layout, &[], &[0; 8]).is_err());
    }
}

//! Errors of texts, in plain sentences.

use crate::outcome::{Failure, Reason, WorkError, list};

/// Why a text was not encrypted or decrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Blocks of a size that the key does not allow.
    #[error("{reason}")]
    Blocks {
        /// The request, and what is possible.
        reason: String,
    },
    /// A file that is not an encrypted text of rsalab, or a damaged one.
    #[error("{reason}")]
    Container {
        /// The fault.
        reason: String,
    },
    /// A block of the text could not be encrypted or decrypted.
    #[error("block {block}: {reason}")]
    Block {
        /// The block, counted from 0 over the whole text.
        block: usize,
        /// The fault.
        reason: BlockFault,
    },
    /// The text, its blocks and the number of threads do not fit each other.
    #[error("{reason}")]
    Layout {
        /// The part that does not fit.
        reason: String,
    },
    /// The system refused a thread, so that nothing was done.
    #[error("a thread could not be started: {reason}")]
    Threads {
        /// The system's error.
        reason: String,
    },
    /// One or more workers failed at their parts of a text.
    #[error("{}", list(.0))]
    Workers(Vec<Failure<Error>>),
    /// The key, or the backend, refused or failed.
    #[error(transparent)]
    Rsa(#[from] rsalab_rsa::Error),
}

/// Why one block could not be encrypted or decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockFault {
    /// The block is not smaller than the modulus, so it is no output of the public operation.
    #[error("it is not smaller than the modulus: the ciphertext is damaged or belongs to another key")]
    OutOfRange,
    /// The result did not pass its check and was withheld.
    #[error("its result failed the check and was withheld")]
    Check,
    /// The bytes in front of the text are not zero.
    #[error(
        "the bytes in front of its text are not zero: the ciphertext is damaged, or the key or the block symbols are not those it was encrypted with"
    )]
    Padding,
}

impl From<WorkError<Error>> for Error {
    /// A block at fault is the fault of the text, not of the worker that found it: the first such block is the error. A
    /// thread that the system refused is nobody's fault, and the other workers' reasons only follow from it.
    fn from(error: WorkError<Error>) -> Self {
        let is_block = |failure: &Failure<Error>| matches!(failure.reason, Reason::Failed(Error::Block { .. }));
        let mut failures = match error {
            WorkError::Layout(reason) => return Error::Layout { reason },
            WorkError::Workers(failures) => failures,
        };
        let refused = failures.iter().find_map(|failure| match &failure.reason {
            Reason::NotStarted(error) => Some(error.to_string()),
            _ => None,
        });
        if let Some(reason) = refused {
            return Error::Threads { reason };
        }
        match failures.iter().all(is_block) {
            false => Error::Workers(failures),
            true => match failures.swap_remove(0).reason {
                Reason::Failed(error) => error,
                _ => unreachable!("only blocks are at fault"),
            },
        }
    }
}

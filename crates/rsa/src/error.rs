//! What can go wrong, in plain sentences.

use crate::text::{Failure, Reason, WorkError, list};

/// Why an operation of this crate was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The numbers do not make an RSA key that this crate works with.
    #[error("this is not a valid RSA key: {reason}")]
    InvalidKey {
        /// What is wrong with it.
        reason: String,
    },
    /// A size of key that is not supported, or is above a limit that was set.
    #[error("a modulus of {bits} bits is not supported: {reason}")]
    KeySize {
        /// Bits asked for.
        bits: usize,
        /// What is supported.
        reason: String,
    },
    /// Bytes that were given as a key could not be read as one.
    #[error("{reason}")]
    Format {
        /// What the bytes are, as far as can be told, and what to do.
        reason: String,
    },
    /// A key, or the form it is written in, that may well be good, and that this crate does not work with: another algorithm,
    /// more than two primes, an encryption of the file that is too old or too costly.
    #[error("{reason}")]
    Unsupported {
        /// What it is, and what would be supported.
        reason: String,
    },
    /// A key is encrypted, and no password was given.
    #[error("this private key is encrypted, and no password was given")]
    PasswordMissing,
    /// A key is encrypted, and the password that was given does not decrypt it.
    #[error("the password does not fit this private key, or the key is damaged")]
    PasswordWrong,
    /// A key that is for something else, as its file says.
    #[error("{reason}")]
    Restricted {
        /// What the file says, and what was to be done.
        reason: String,
    },
    /// A scheme, or its parameters, that the key or the message does not allow.
    #[error("{reason}")]
    Scheme {
        /// What is wrong, and what is possible.
        reason: String,
    },
    /// A buffer has the wrong length.
    #[error("{what} must take {expected} bytes, but take {got}")]
    Length {
        /// Which buffer.
        what: &'static str,
        /// Bytes that it must have.
        expected: usize,
        /// Bytes that it has.
        got: usize,
    },
    /// A result did not pass its check and was withheld.
    #[error(
        "the result of item {item} failed its check and was withheld: the machine computes wrongly, or the key is damaged"
    )]
    Fault {
        /// The item, counted from 0.
        item: usize,
    },
    /// A key could not be generated.
    #[error("no key was generated: {reason}")]
    Generation {
        /// Which step gave up.
        reason: String,
    },
    /// A search that somebody had stopped.
    #[error("stopped before a key was found")]
    Stopped,
    /// The random number generator failed.
    #[error("the random number generator failed: {reason}")]
    Randomness {
        /// What it said.
        reason: String,
    },
    /// The backend refused a call or failed at it.
    #[error("the backend {backend} failed: {reason}")]
    Backend {
        /// The backend's name.
        backend: &'static str,
        /// What it said.
        reason: String,
    },
    /// A way of cutting text into blocks that the key does not allow.
    #[error("{reason}")]
    Blocks {
        /// What was asked for and what is possible.
        reason: String,
    },
    /// A file that is not an encrypted text of rsalab, or a damaged one.
    #[error("{reason}")]
    Container {
        /// What is wrong with it.
        reason: String,
    },
    /// A block of the text could not be encrypted or decrypted.
    #[error("block {block}: {reason}")]
    Block {
        /// The block, counted from 0 over the whole text.
        block: usize,
        /// What is wrong with it.
        reason: BlockFault,
    },
    /// The text and the crew do not fit each other.
    #[error("{reason}")]
    Layout {
        /// What does not fit.
        reason: String,
    },
    /// The system refused a thread, so that nothing was done.
    #[error("a thread could not be started: {reason}")]
    Threads {
        /// What the system said.
        reason: String,
    },
    /// One or more workers failed at their parts of a text.
    #[error("{}", list(.0))]
    Workers(Vec<Failure<Error>>),
}

/// Why one block could not be encrypted or decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockFault {
    /// The block is not smaller than the modulus, so it is no output of the public operation.
    #[error(
        "it is not smaller than the modulus: the ciphertext is damaged or belongs to another key"
    )]
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
        let is_block = |failure: &Failure<Error>| {
            matches!(failure.reason, Reason::Failed(Error::Block { .. }))
        };
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

/// Refuses a buffer, or a list, of the wrong length.
///
/// # Errors
///
/// [`Error::Length`].
pub fn check_len(what: &'static str, got: usize, expected: usize) -> Result<(), Error> {
    match got == expected {
        true => Ok(()),
        false => Err(Error::Length {
            what,
            expected,
            got,
        }),
    }
}

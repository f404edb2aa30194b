//! Errors of one request.

/// Why a request was not done.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no key of this number.
    #[error("there is no key {key} among the {keys} of the batcher")]
    UnknownKey {
        /// The number that was asked for.
        key: usize,
        /// How many there are. The first has the number 0, each that is added the next one; a number is given once.
        keys: usize,
    },
    /// A block that is not as long as its key's modulus.
    #[error("the block must take {expected} bytes, but takes {got}")]
    Length {
        /// Bytes of the modulus.
        expected: usize,
        /// Bytes of the block.
        got: usize,
    },
    /// A block that is no number below the modulus.
    #[error("the block is not below the key's modulus")]
    OutOfRange,
    /// A result did not pass its check and was withheld.
    #[error("the result failed its check and was withheld: the machine computes wrongly, or the key is damaged")]
    Fault,
    /// As many requests wait as may.
    #[error("{waiting} requests wait already, as many as may")]
    Full {
        /// How many.
        waiting: usize,
    },
    /// The batcher was made by another process, of which this one is a fork.
    #[error("this batcher belongs to the process that made it: after a fork, make another")]
    Forked,
    /// The digest or the scheme does not suit the key; or there is no randomness.
    #[error("{reason}")]
    Refused {
        /// A sentence.
        reason: String,
    },
    /// The back end failed as a whole.
    #[error("the pass failed: {reason}")]
    Failed {
        /// Its sentence.
        reason: String,
    },
}

impl Error {
    pub(crate) fn failed(error: rsalab_rsa::Error) -> Error {
        Error::Failed {
            reason: error.to_string(),
        }
    }
}

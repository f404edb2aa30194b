//! Errors, in plain sentences.

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation of this crate was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The numbers do not make an RSA key that this crate works with.
    #[error("this is not a valid RSA key: {reason}")]
    InvalidKey {
        /// The fault.
        reason: String,
    },
    /// A size of key that is not supported, or is above a limit that was set.
    #[error("a modulus of {bits} bits is not supported: {reason}")]
    KeySize {
        /// Bits asked for.
        bits: usize,
        /// The sizes that are supported.
        reason: String,
    },
    /// Bytes that were given as a key could not be read as one.
    #[error("{reason}")]
    Format {
        /// The contents of the bytes, as far as they can be recognised, and what to do.
        reason: String,
    },
    /// A key, or its format, that may well be good, and that this crate does not work with: another algorithm,
    /// more than two primes, an encryption of the file that is too old or too costly.
    #[error("{reason}")]
    Unsupported {
        /// Its kind, and what would be supported.
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
        /// The words of the file, and what was to be done.
        reason: String,
    },
    /// A file of several keys, of which one is needed.
    #[error("this file holds {keys} keys that may be meant, and one is needed")]
    Several {
        /// How many.
        keys: usize,
    },
    /// A scheme, or its parameters, that the key or the message does not allow.
    #[error("{reason}")]
    Scheme {
        /// The fault, and what is possible.
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
        /// The generator's words.
        reason: String,
    },
    /// The backend refused a call or failed at it.
    #[error("the backend {backend} failed: {reason}")]
    Backend {
        /// The backend's name.
        backend: &'static str,
        /// The backend's words.
        reason: String,
    },
}

impl Error {
    pub(crate) fn invalid_key(reason: impl ToString) -> Error {
        let reason = reason.to_string();
        Error::InvalidKey { reason }
    }

    pub(crate) fn generation(reason: impl ToString) -> Error {
        let reason = reason.to_string();
        Error::Generation { reason }
    }

    pub(crate) fn randomness(reason: impl ToString) -> Error {
        let reason = reason.to_string();
        Error::Randomness { reason }
    }
}

/// Refuses a buffer, or a list, of the wrong length.
///
/// # Errors
///
/// [`Error::Length`].
pub fn check_len(what: &'static str, got: usize, expected: usize) -> Result<()> {
    match got == expected {
        true => Ok(()),
        false => Err(Error::Length { what, expected, got }),
    }
}

//! Errors of sealed files, in plain sentences. None repeats what a file holds.

use std::io;

/// Why a file was not made or not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// The result cannot be written.
    #[error("the result cannot be written")]
    Write(#[source] io::Error),
    /// It is no file in age's format, of a later version, or its header is damaged.
    #[error("its header is not one of age's format: {reason}")]
    Header {
        /// The fault.
        reason: &'static str,
    },
    /// Text that should be a sealed file and is not.
    #[error("its ASCII armor is damaged: {reason}")]
    Armor {
        /// The fault.
        reason: &'static str,
    },
    /// No recipient of the file has this key.
    #[error("it is not encrypted for this key")]
    NoMatch,
    /// The file's key cannot be opened, or the header is not the one that was made with it. Which of both is not said.
    #[error("its header was changed, or it is not encrypted for this key")]
    Key,
    /// The payload was changed or cut.
    #[error("it was changed or cut after it had been encrypted")]
    Payload,
    /// There is nobody to encrypt for, or there are more recipients than a header takes.
    #[error("{reason}")]
    Recipients {
        /// The fault.
        reason: &'static str,
    },
    /// An error of the key's, or of the operating system's random numbers.
    #[error(transparent)]
    Rsa(#[from] rsalab_rsa::Error),
}

/// The result of an operation on sealed files.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The error of a reader: armor reports its faults by way of [`io::Error`].
    pub(crate) fn read(error: io::Error) -> Error {
        match error.downcast::<Error>() {
            Ok(own) => own,
            Err(other) => Error::Read(other),
        }
    }
}

//! The outline of a file: what can be known of it without a private key.

use std::io::BufRead;

use crate::{
    Error, Recipient, Result,
    file::opened,
    header::Header,
    keys::is_of,
    payload::{CHUNK, NONCE, TAG},
};

/// The outline of a file that is not armored.
pub struct Outline(Header);

impl Outline {
    /// Reads a header.
    ///
    /// # Errors
    ///
    /// [`Error::Read`], and [`Error::Header`] if it is none, or the file is armored.
    pub fn read(source: impl BufRead) -> Result<Outline> {
        let mut source = opened(source)?;
        match source.is_armored() {
            true => Err(Error::Header {
                reason: "it is armored",
            }),
            false => Header::read(&mut source).map(Outline),
        }
    }

    /// Returns whether it names these recipients, in this order, and nobody else.
    pub fn is_for(&self, recipients: &[Recipient]) -> bool {
        let stanzas = &self.0.stanzas;
        let mut pairs = stanzas.iter().zip(recipients);
        stanzas.len() == recipients.len() && pairs.all(|(stanza, recipient)| is_of(stanza, recipient.tag()))
    }

    /// Bytes of a file with this header and a message of so many bytes.
    pub fn file_len(&self, message: u64) -> u64 {
        let chunks = message.div_ceil(CHUNK as u64).max(1);
        (self.0.len() + NONCE) as u64 + message + chunks * TAG as u64
    }
}

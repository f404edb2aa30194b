//! The outline of a file: what can be known of it without a private key.

use std::io::BufRead;

use crate::{
    Recipient, Result, armor,
    file::opened,
    header::Header,
    keys::is_of,
    payload::{CHUNK, NONCE, TAG},
};

/// The outline of a file, armored or not.
pub struct Outline {
    header: Header,
    is_armored: bool,
}

impl Outline {
    /// Reads a header.
    ///
    /// # Errors
    ///
    /// [`Error::Read`](crate::Error::Read); [`Error::Header`](crate::Error::Header) and
    /// [`Error::Armor`](crate::Error::Armor) if it is none.
    pub fn read(source: impl BufRead) -> Result<Outline> {
        let mut source = opened(source)?;
        Ok(Outline {
            header: Header::read(&mut source)?,
            is_armored: source.is_armored(),
        })
    }

    /// Returns whether the file is text.
    pub fn is_armored(&self) -> bool {
        self.is_armored
    }

    /// Returns whether it names these recipients, in this order, and nobody else.
    pub fn is_for(&self, recipients: &[Recipient]) -> bool {
        let stanzas = &self.header.stanzas;
        let mut pairs = stanzas.iter().zip(recipients);
        stanzas.len() == recipients.len() && pairs.all(|(stanza, recipient)| is_of(stanza, recipient.tag()))
    }

    /// Bytes of a file with this header and a message of so many bytes; of one that is armored, as
    /// [`Writer`](armor::Writer) writes it.
    pub fn file_len(&self, message: u64) -> u64 {
        let chunks = message.div_ceil(CHUNK as u64).max(1);
        let len = (self.header.len() + NONCE) as u64 + message + chunks * TAG as u64;
        match self.is_armored {
            true => armor::text_len(len),
            false => len,
        }
    }
}

//! Files as a whole: made, recognised, opened.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::{
    Error, Identity, Recipient, Result, armor,
    derive::{FileKey, payload_key},
    header::{Header, fill, new_file_key},
    payload::{Cipher, Direction, NONCE},
    pipeline,
};

/// Returns whether a file begins as a sealed one, armored or not. So many bytes decide: 64 and white space before them.
pub fn begins(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    bytes.starts_with(b"age-encryption.org/") || text.starts_with(armor::BEGIN.as_bytes())
}

/// Encrypts a message for all recipients, on so many threads.
///
/// Threads that the system does not give are done without. Memory does not depend on the length.
///
/// # Errors
///
/// [`Error::Recipients`] if there is none, or too many; [`Error::Read`] and [`Error::Write`]; [`Error::Rsa`] if there
/// is no randomness. What was written before is of no use.
pub fn encrypt(
    recipients: &[Recipient],
    source: impl Read + Send,
    mut sink: impl Write + Send,
    threads: usize,
) -> Result<()> {
    if recipients.is_empty() {
        let reason = "there is nobody to encrypt for";
        return Err(Error::Recipients { reason });
    }
    let key = new_file_key()?;
    let stanzas = recipients.iter().map(|recipient| recipient.wrap(&key));
    let header = Header::new(stanzas.collect::<Result<_>>()?, &key)?;
    let mut nonce = [0; NONCE];
    fill(&mut nonce)?;
    let begin = [header.written(), nonce.to_vec()].concat();
    sink.write_all(&begin).map_err(Error::Write)?;
    let cipher = Cipher::new(&payload_key(&key, &nonce), Direction::Encrypt);
    pipeline::run(&cipher, source, sink, threads)
}

/// Decrypts a file, armored or not, on so many threads.
///
/// Every byte that is written was verified. If the result is an error, they are a beginning of the message at most.
///
/// # Errors
///
/// [`Error::NoMatch`] if it is for other keys; [`Error::Header`], [`Error::Armor`], [`Error::Key`] and
/// [`Error::Payload`] if it is damaged; [`Error::Read`] and [`Error::Write`]; [`Error::Rsa`] if there is no randomness
/// for blinding.
pub fn decrypt(identity: &Identity, source: impl Read + Send, sink: impl Write + Send, threads: usize) -> Result<()> {
    decrypt_with(|header| identity.unwrap(header), source, sink, threads)
}

/// Decrypts a file whose key somebody finds by its header.
pub(crate) fn decrypt_with(
    unwrap: impl FnOnce(&Header) -> Result<FileKey>,
    source: impl Read + Send,
    sink: impl Write + Send,
    threads: usize,
) -> Result<()> {
    let mut source = opened(BufReader::new(source))?;
    let header = Header::read(&mut source)?;
    let key = unwrap(&header)?;
    let mut nonce = [0; NONCE];
    source.read_exact(&mut nonce).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::Header { reason: "it is cut" },
        _ => Error::read(error),
    })?;
    let cipher = Cipher::new(&payload_key(&key, &nonce), Direction::Decrypt);
    pipeline::run(&cipher, source, sink, threads)
}

/// A source that is armored or not.
pub(crate) enum Opened<R> {
    Binary(R),
    Armored(BufReader<armor::Reader<R>>),
}

/// Finds out by the first byte that is no white space: a file that is not armored begins with a letter.
pub(crate) fn opened<R: BufRead>(mut source: R) -> Result<Opened<R>> {
    let first = armor::peek(&mut source, |bytes| bytes.first().copied()).map_err(Error::Read)?;
    Ok(match first {
        Some(b'-') => Opened::Armored(BufReader::new(armor::Reader::new(source))),
        Some(byte) if byte.is_ascii_whitespace() => Opened::Armored(BufReader::new(armor::Reader::new(source))),
        _ => Opened::Binary(source),
    })
}

impl<R: BufRead> Opened<R> {
    pub(crate) fn is_armored(&self) -> bool {
        matches!(self, Opened::Armored(_))
    }
}

impl<R: BufRead> Read for Opened<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Opened::Binary(source) => source.read(bytes),
            Opened::Armored(source) => source.read(bytes),
        }
    }
}

impl<R: BufRead> BufRead for Opened<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Opened::Binary(source) => source.fill_buf(),
            Opened::Armored(source) => source.fill_buf(),
        }
    }

    fn consume(&mut self, len: usize) {
        match self {
            Opened::Binary(source) => source.consume(len),
            Opened::Armored(source) => source.consume(len),
        }
    }
}

//! How an encrypted text is kept in a file: a header that says what decryption must know, then the blocks.
//!
//! | offset | bytes | field, big-endian |
//! |---|---|---|
//! | 0 | 8 | `rsalab`, 1A, 0A |
//! | 8 | 4 | version, 1 |
//! | 12 | 4 | bits of the modulus |
//! | 16 | 4 | bytes of text in a full block |
//! | 20 | 8 | bytes of the whole text |
//! | 28 | 32 | [`fingerprint`] of the public key |
//! | 60 | – | blocks of the modulus's length each |
//!
//! **Nothing authenticates the header or the blocks.** Whoever can write the file can shorten the text, swap blocks, or
//! replace them by others that are encrypted for the same key. The fingerprint is there to distinguish a wrong key from
//! a damaged file, not to prove anything. As [raw blocks](crate::blocks) themselves, this is for study only.

use rsalab_rsa::{Backend, PrivateKey, PublicKey, format::fingerprint};

use crate::{
    Error,
    blocks::{self, Blocks},
    outcome::Outcome,
    work::Threads,
};

/// The first bytes of a file. The last two of them do not survive a transfer as text.
const MAGIC: [u8; 8] = *b"rsalab\x1a\n";

const VERSION: u32 = 1;

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bits of the modulus.
    pub modulus_bits: usize,
    /// Bytes of text in a full block.
    pub symbols: usize,
    /// Bytes of the whole text.
    pub text_len: usize,
    /// The fingerprint of the key that it is encrypted for.
    pub fingerprint: [u8; 32],
}

impl Header {
    /// Bytes of a header.
    pub const LEN: usize = 60;

    /// Returns whether a file that begins so may be an encrypted text. No ciphertext of a random key does by chance.
    pub fn begins(start: &[u8]) -> bool {
        start.starts_with(&MAGIC)
    }

    /// Reads the header of a file of which `start` holds the first bytes: [`Header::LEN`] of them are enough.
    ///
    /// # Errors
    ///
    /// [`Error::Container`] if this is no such file, one of a newer version, or one whose header contradicts itself.
    pub fn read(start: &[u8]) -> Result<Self, Error> {
        let refused = |reason: String| Err(Error::Container { reason });
        if !Header::begins(start) {
            return refused("this is not a file that rsalab encrypted: it does not begin as those do".to_owned());
        }
        let Some((header, _)) = start.split_at_checked(Self::LEN) else {
            return refused(format!(
                "this encrypted file is cut: its {} bytes do not even hold its header",
                start.len()
            ));
        };
        let mut fields = Fields(&header[MAGIC.len()..]);
        let version = u32::from_be_bytes(fields.take());
        if version != VERSION {
            return refused(format!(
                "this encrypted file has version {version}; this rsalab reads version {VERSION}"
            ));
        }
        let modulus_bits = u32::from_be_bytes(fields.take());
        let symbols = u32::from_be_bytes(fields.take());
        let text_len = u64::from_be_bytes(fields.take());
        let fingerprint = fields.take();

        let block = u64::from(modulus_bits.div_ceil(8));
        if symbols == 0 || u64::from(symbols) >= block {
            return refused(format!(
                "the header of this encrypted file is damaged: blocks of {symbols} symbols do not fit a modulus of \
                 {modulus_bits} bits"
            ));
        }
        let Ok(text_len) = usize::try_from(text_len) else {
            return refused(format!(
                "the header of this encrypted file is damaged: no text has {text_len} bytes"
            ));
        };
        Ok(Header {
            modulus_bits: modulus_bits as usize,
            symbols: symbols as usize,
            text_len,
            fingerprint,
        })
    }

    /// Splits a file into its header and its blocks.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), and if the length of the file does not fit what its header says.
    pub fn parse(file: &[u8]) -> Result<(Self, &[u8]), Error> {
        let header = Header::read(file)?;
        header.check_len(file.len() as u64)?;
        Ok((header, &file[Self::LEN..]))
    }

    /// Bytes of all blocks; none if they are more than 64 bits count.
    pub fn blocks_len(&self) -> Option<u64> {
        let block = self.modulus_bits.div_ceil(8) as u64;
        let blocks = self.text_len.div_ceil(self.symbols) as u64;
        blocks.checked_mul(block)
    }

    /// Refuses a length of the whole file that does not fit what its header says.
    ///
    /// # Errors
    ///
    /// [`Error::Container`].
    pub fn check_len(&self, file_len: u64) -> Result<(), Error> {
        let expected = self.blocks_len();
        let there = file_len.saturating_sub(Self::LEN as u64);
        match expected == Some(there) {
            true => Ok(()),
            false => Err(Error::Container {
                reason: format!(
                    "this encrypted file is cut or damaged: a text of {} bytes takes {} bytes of blocks, but {there} are there",
                    self.text_len,
                    expected.map_or("too many".to_owned(), |expected| expected.to_string()),
                ),
            }),
        }
    }

    /// Refuses a key that the file is not encrypted for.
    ///
    /// # Errors
    ///
    /// [`Error::Container`].
    pub fn check_key(&self, key: &PublicKey) -> Result<(), Error> {
        let own = fingerprint(key);
        if self.fingerprint != own {
            return Err(Error::Container {
                reason: format!(
                    "this file is encrypted for the key {} of {} bits, but the key given is {} of {} bits",
                    hexadecimal(&self.fingerprint),
                    self.modulus_bits,
                    hexadecimal(&own),
                    key.bits()
                ),
            });
        }
        if self.modulus_bits != key.bits() {
            return Err(Error::Container {
                reason: format!(
                    "the header of this encrypted file is damaged: it says {} bits of a key that has {}",
                    self.modulus_bits,
                    key.bits()
                ),
            });
        }
        Ok(())
    }

    /// The bytes of the header.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_be_bytes());
        bytes[12..16].copy_from_slice(&(self.modulus_bits as u32).to_be_bytes());
        bytes[16..20].copy_from_slice(&(self.symbols as u32).to_be_bytes());
        bytes[20..28].copy_from_slice(&(self.text_len as u64).to_be_bytes());
        bytes[28..].copy_from_slice(&self.fingerprint);
        bytes
    }
}

/// Encrypts a text into a file, with blocks of `symbols` bytes or as many as the key allows. The outcome's output is
/// the whole file.
///
/// # Errors
///
/// Those of [`Blocks::new`], [`blocks::encrypt`] and the backend.
pub fn encrypt(
    backend: &dyn Backend,
    key: &PublicKey,
    symbols: Option<usize>,
    text: &[u8],
    threads: Threads<'_>,
) -> Result<Outcome, Error> {
    let blocks = Blocks::new(key.modulus_len(), symbols)?;
    let prepared = backend.prepare_public(key)?;
    let mut outcome = blocks::encrypt(&*prepared, blocks, text, threads)?;
    let header = Header {
        modulus_bits: key.bits(),
        symbols: blocks.symbols(),
        text_len: text.len(),
        fingerprint: fingerprint(key),
    };
    outcome.output.splice(..0, header.to_bytes());
    Ok(outcome)
}

/// Decrypts a file. The outcome's output is the text.
///
/// # Errors
///
/// [`Error::Container`] as from [`Header::parse`], or if the file is for another key; those of [`blocks::decrypt`] and
/// the backend.
pub fn decrypt(backend: &dyn Backend, key: &PrivateKey, file: &[u8], threads: Threads<'_>) -> Result<Outcome, Error> {
    let (header, body) = Header::parse(file)?;
    header.check_key(key.public())?;
    let blocks = Blocks::new(key.modulus_len(), Some(header.symbols))?;
    let prepared = backend.prepare_private(key)?;
    blocks::decrypt(&*prepared, blocks, body, header.text_len, threads)
}

/// The unread rest of a header.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().expect("a header holds all its fields");
        self.0 = rest;
        *field
    }
}

/// The whole of a fingerprint: the beginning of one could be the beginning of another.
fn hexadecimal(fingerprint: &[u8; 32]) -> String {
    fingerprint.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! Formats and limits: what readers and writers share.

use std::io::Read;

use zeroize::Zeroizing;

use crate::{Error, PrivateKey, PublicKey, Result, keys::MAX_BITS};

/// The most bytes that are taken for a key. The longest RSA key takes about 18 KB.
pub const MAX_FILE_LEN: usize = 1 << 20;

/// The structure a private key is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrivateFormat {
    /// `RSAPrivateKey`; PEM label `RSA PRIVATE KEY`.
    Pkcs1,
    /// `PrivateKeyInfo`; PEM label `PRIVATE KEY`.
    Pkcs8,
}

/// The structure a public key is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublicFormat {
    /// `RSAPublicKey`; PEM label `RSA PUBLIC KEY`.
    Pkcs1,
    /// `SubjectPublicKeyInfo`; PEM label `PUBLIC KEY`.
    Spki,
}

/// How the structure becomes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Text between `BEGIN` and `END` lines.
    Pem,
    /// Binary.
    Der,
}

/// A key of either kind.
pub(super) enum Key {
    Private(Box<PrivateKey>),
    Public(PublicKey),
}

/// Reads what may be a key from a file or a pipe, and no more of it than tells that it is too large to be one.
pub fn read(source: impl Read) -> std::io::Result<Zeroizing<Vec<u8>>> {
    // The capacity is taken at once: growing would leave copies of the key behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE_LEN + 1));
    source
        .take(MAX_FILE_LEN as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What is read of what somebody else may have supplied.
///
/// Work grows with the cube of a key's length. Up to [`Limits::QUICK`] every step that reads a key or uses it once takes less
/// than a second of one CPU; a key of [`MAX_BITS`] takes half a minute to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest modulus, in bits; at most [`MAX_BITS`] matter.
    pub most_bits: usize,
}

impl Limits {
    /// At most 8192 bits.
    pub const QUICK: Limits = Limits { most_bits: 8192 };
    /// Every key that this crate works with.
    pub const NONE: Limits = Limits {
        most_bits: MAX_BITS,
    };

    /// Refuses a modulus that is too long, before anything is computed with it.
    pub(super) fn check(self, modulus: &[u8]) -> Result<()> {
        let bits = rsalab_arith::integer::bits_vartime(modulus);
        match bits > self.most_bits {
            // What is longer than any key is refused by the constructors, which name the longest.
            true if bits <= MAX_BITS => Err(Error::KeySize {
                bits,
                reason: format!("at most {} are taken here", self.most_bits),
            }),
            _ => Ok(()),
        }
    }
}

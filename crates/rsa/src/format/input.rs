//! Formats and limits: what readers and writers share.

use crate::{Error, PrivateKey, PublicKey, Result, keys::MAX_BITS};

/// The most bytes that are taken for a key. The longest RSA key takes about 18 KB.
pub const MAX_FILE_LEN: usize = 1 << 20;

/// The most bytes that are taken for several keys, as text: some ten thousand private ones.
pub const MAX_SET_LEN: usize = 64 << 20;

/// Why encoding cannot fail: DER lengths reach 256 MiB.
pub(super) const FITS: &str = "a key of at most 16384 bits fits in DER";

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
#[derive(Clone, Debug)]
pub enum Key {
    /// A private key.
    Private(Box<PrivateKey>),
    /// A public key, alone.
    Public(PublicKey),
}

impl Key {
    /// The public half.
    pub fn public(&self) -> &PublicKey {
        match self {
            Key::Private(key) => key.public(),
            Key::Public(key) => key,
        }
    }
}

/// Where in a file a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// It is the only one.
    Whole,
    /// The number of a key of a set or a list, from 1.
    Key(usize),
    /// The number of its line, from 1.
    Line(usize),
    /// The number of its PEM block, from 1.
    Block(usize),
    /// The number of its row of a table, from 1.
    Row(usize),
}

/// How a file is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'a> {
    /// The password of an encrypted key.
    pub password: Option<&'a [u8]>,
    /// Limits on what somebody else may have supplied.
    pub limits: Limits,
    /// Of several keys, which one: the `kid` of a JSON Web Key, or one of the names of its public half: its thumbprint
    /// ([`jwk::thumbprint`](super::jwk::thumbprint)), OpenSSH's
    /// ([`openssh::fingerprint`](super::openssh::fingerprint)), or [`fingerprint`](super::fingerprint) in hexadecimal.
    pub name: Option<&'a str>,
}

/// Limits on what somebody else may have supplied.
///
/// Work grows with the cube of a key's length. Up to [`Limits::QUICK`] every step that reads a key or uses it once
/// takes less than a second of one CPU; a key of [`MAX_BITS`] takes half a minute to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest modulus, in bits; at most [`MAX_BITS`] matter.
    pub most_bits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits::NONE
    }
}

impl Limits {
    /// At most 8192 bits.
    pub const QUICK: Limits = Limits { most_bits: 8192 };
    /// Every key that this crate works with.
    pub const NONE: Limits = Limits { most_bits: MAX_BITS };

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

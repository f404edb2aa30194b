//! The parameters of RSASSA-PSS and RSAES-OAEP, and the randomness that encodings take.

use rand_core::TryCryptoRng;

use crate::{Error, Result, hash::Hash};

/// The parameters of RSASSA-PSS; its trailer is always 0xbc.
///
/// With SHAKE128 or SHAKE256 RFC 8702, section 3.2.1, leaves no choice: the same function hashes the message and makes
/// the mask, and the salt is as long as the digest, 32 or 64 bytes. [`Pss::new`] gives these. Everything else is
/// refused with [`Error::Scheme`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pss {
    /// The hash of the message.
    pub hash: Hash,
    /// The hash of the mask, in most uses the same.
    pub mgf_hash: Hash,
    /// Bytes of the salt.
    pub salt_len: SaltLen,
}

/// How long the salt of RSASSA-PSS is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SaltLen {
    /// As long as the digest, which is what most standards ask for.
    Digest,
    /// As long as the key allows.
    Max,
    /// So many bytes.
    Bytes(usize),
    /// Whatever the signature has: for verification only, where nothing says how long it is.
    Any,
    /// So many bytes or more: for verification only, with a key that names the least (RFC 4055, section 3.3).
    AtLeast(usize),
}

impl SaltLen {
    /// Bytes that a salt has at least, whatever the key.
    pub(crate) fn least(self, hash: Hash) -> usize {
        match self {
            SaltLen::Digest => hash.digest_len(),
            SaltLen::Bytes(bytes) | SaltLen::AtLeast(bytes) => bytes,
            SaltLen::Max | SaltLen::Any => 0,
        }
    }

    /// Returns whether it says how long the salt of a new signature is.
    pub(crate) fn is_for_signing(self) -> bool {
        !matches!(self, SaltLen::Any | SaltLen::AtLeast(_))
    }
}

/// The parameters of RSAES-OAEP.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Oaep {
    /// The hash of the label.
    pub hash: Hash,
    /// The hash of the mask, in most uses the same.
    pub mgf_hash: Hash,
    /// A text that both sides must know; in most uses empty.
    pub label: Vec<u8>,
}

impl Pss {
    /// One hash for message and mask, and a salt of its length.
    pub fn new(hash: Hash) -> Self {
        Pss {
            hash,
            mgf_hash: hash,
            salt_len: SaltLen::Digest,
        }
    }
}

impl Oaep {
    /// One hash for label and mask, and no label.
    pub fn new(hash: Hash) -> Self {
        Oaep {
            hash,
            mgf_hash: hash,
            label: Vec::new(),
        }
    }
}

/// Fills bytes with randomness.
pub(crate) fn fill<R: TryCryptoRng + ?Sized>(rng: &mut R, bytes: &mut [u8]) -> Result<()> {
    rng.try_fill_bytes(bytes).map_err(Error::randomness)
}

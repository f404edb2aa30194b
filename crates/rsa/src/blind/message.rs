//! A message made ready to be signed (RFC 9474, section 4.1): a prefix, if the variant has one, and the digest of both.

use std::io::{self, Read};

use rand_core::TryRng;
use zeroize::Zeroizing;

use super::{HASH, Result, Variant};
use crate::{Error, error::check_len, hash::Digest, random::SystemRng};

/// Bytes of the random prefix of a randomized variant.
pub const PREFIX_LEN: usize = 32;

/// A message with its prefix: what the RFC calls `input_msg`, of which the digest is kept.
#[derive(Clone)]
pub struct InputMessage {
    variant: Variant,
    prefix: Option<Zeroizing<[u8; PREFIX_LEN]>>,
    digest: Digest,
}

impl InputMessage {
    /// Prepares a message: with a new random prefix, where the variant has one. Whoever verifies the signature needs
    /// [the prefix](Self::prefix) too.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none.
    pub fn prepare(variant: Variant, message: &[u8]) -> Result<Self> {
        let prefix = Zeroizing::new(Self::new_prefix(variant)?);
        Self::with_prefix(variant, &prefix, message)
    }

    /// A message whose prefix is known: to verify a signature, to finalize in another process, or where a protocol has
    /// its own.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] for a prefix of another length than [`PREFIX_LEN`], or, if the variant is deterministic, for
    /// one that is not empty.
    pub fn with_prefix(variant: Variant, prefix: &[u8], message: &[u8]) -> Result<Self> {
        Ok(InputMessage {
            variant,
            prefix: fixed(variant, prefix)?,
            digest: HASH.digest_parts(&[prefix, message]),
        })
    }

    /// As [`with_prefix`](Self::with_prefix), of all that a reader brings.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] as there; of the reader, inside the `Ok`.
    pub fn read(variant: Variant, prefix: &[u8], message: impl Read) -> Result<io::Result<Self>> {
        let fixed = fixed(variant, prefix)?;
        let digest = HASH.digest_reader(prefix.chain(message));
        Ok(digest.map(|digest| InputMessage {
            variant,
            prefix: fixed,
            digest,
        }))
    }

    /// A new prefix for a message; empty if the variant is deterministic.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none.
    pub fn new_prefix(variant: Variant) -> Result<Vec<u8>> {
        let mut prefix = vec![0; if variant.is_randomized() { PREFIX_LEN } else { 0 }];
        SystemRng.try_fill_bytes(&mut prefix).map_err(Error::randomness)?;
        Ok(prefix)
    }

    /// The bytes before the message; empty if the variant is deterministic.
    pub fn prefix(&self) -> &[u8] {
        self.prefix.as_ref().map_or(&[], |prefix| &prefix[..])
    }

    /// The variant.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The SHA-384 digest of prefix and message.
    pub fn digest(&self) -> &[u8] {
        &self.digest
    }
}

fn fixed(variant: Variant, prefix: &[u8]) -> Result<Option<Zeroizing<[u8; PREFIX_LEN]>>> {
    let (what, expected) = match variant.is_randomized() {
        true => ("the prefix of the message", PREFIX_LEN),
        false => ("the prefix of a message of a deterministic variant", 0),
    };
    check_len(what, prefix.len(), expected)?;
    Ok(<[u8; PREFIX_LEN]>::try_from(prefix).ok().map(Zeroizing::new))
}

//! State of a client between its request and the issuer's answer.

use std::fmt;

use zeroize::Zeroizing;

use super::{BlindError, HASH, PREFIX_LEN, Result, Variant};
use crate::{PublicKey, hash::Hash};

/// State of a request until the answer comes: the inverse of its blinding factor, and the message's prefix.
///
/// It is secret: with the request and the signature, it tells that they belong together. It serves one request. Wiped
/// on drop.
#[derive(Clone)]
pub struct Pending {
    pub(super) variant: Variant,
    pub(super) prefix: Zeroizing<Vec<u8>>,
    /// The SHA-384 digest of the modulus and the public exponent.
    pub(super) key: [u8; KEY_LEN],
    /// r^-1 mod n, as long as n.
    pub(super) inverse: Zeroizing<Vec<u8>>,
}

const KEY_LEN: usize = 48;

/// The first bytes of an encoded state.
const MAGIC: &[u8] = b"rsalab blind state 1\n";

impl Pending {
    /// The variant of the request.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The bytes before the message; empty if the variant is deterministic.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The state as bytes, to be kept where nobody else reads them.
    ///
    /// ```text
    /// "rsalab blind state 1\n" | name of the variant, '\n' | SHA-384 of the key, 48 | prefix, 32 or 0 | r^-1, as long as the modulus
    /// ```
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        // Made in one piece: a vector that grows leaves copies behind.
        let name = self.variant.name().as_bytes();
        let parts = [MAGIC, name, b"\n", &self.key, &self.prefix, &self.inverse];
        let mut bytes = Zeroizing::new(Vec::with_capacity(parts.iter().map(|part| part.len()).sum()));
        for part in parts {
            bytes.extend_from_slice(part);
        }
        bytes
    }

    /// Bytes of the longest encoded state of a key whose modulus has so many bytes.
    pub fn max_encoded_len(modulus_len: usize) -> usize {
        let name = Variant::ALL.map(|variant| variant.name().len());
        MAGIC.len() + name.into_iter().max().unwrap_or(0) + 1 + KEY_LEN + PREFIX_LEN + modulus_len
    }

    /// Reads what [`encode`](Self::encode) made, for the key it was made with.
    ///
    /// # Errors
    ///
    /// [`BlindError::State`] with what is wrong.
    pub fn decode(bytes: &[u8], key: &PublicKey) -> Result<Self> {
        let wrong = |reason: &str| BlindError::State {
            reason: reason.to_owned(),
        };
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or_else(|| wrong("this is no state of a blind signature"))?;
        let damaged = || wrong("this state of a blind signature is damaged");
        let variant = Variant::ALL
            .into_iter()
            .find(|variant| {
                rest.strip_prefix(variant.name().as_bytes())
                    .is_some_and(|rest| rest.starts_with(b"\n"))
            })
            .ok_or_else(damaged)?;
        let rest = &rest[variant.name().len() + 1..];
        let prefix_len = if variant.is_randomized() { PREFIX_LEN } else { 0 };
        let (of, rest) = rest.split_at_checked(KEY_LEN).ok_or_else(damaged)?;
        if *of != identity(key) {
            return Err(wrong("this state of a blind signature is of another key"));
        }
        let (prefix, inverse) = rest.split_at_checked(prefix_len).ok_or_else(damaged)?;
        if inverse.len() != key.modulus_len() || !rsalab_arith::integer::is_less(inverse, key.n()) {
            return Err(damaged());
        }
        Ok(Pending {
            variant,
            prefix: Zeroizing::new(prefix.to_vec()),
            key: identity(key),
            inverse: Zeroizing::new(inverse.to_vec()),
        })
    }
}

/// The digest that a state knows its key by.
pub(super) fn identity(key: &PublicKey) -> [u8; KEY_LEN] {
    const { assert!(matches!(HASH, Hash::Sha384)) };
    let len = (key.modulus_len() as u64).to_be_bytes();
    let digest = HASH.digest_parts(&[&len, key.n(), key.e()]);
    (*digest).try_into().expect("SHA-384 gives 48 bytes")
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("variant", &self.variant)
            .finish_non_exhaustive()
    }
}

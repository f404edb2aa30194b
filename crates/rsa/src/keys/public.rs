//! The public half of a key.

use std::fmt;

use rsalab_arith::{CheckedPublicKey, integer};

use super::{MAX_BITS, MIN_BITS, xz};
use crate::{Error, Result};

/// A modulus and a public exponent.
///
/// Nothing about it is secret, and its operations take variable time.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PublicKey(CheckedPublicKey);

impl PublicKey {
    /// A key of modulus `n` and public exponent `e`; leading zeros are allowed in both.
    ///
    /// # Errors
    ///
    /// Refuses a modulus that is even or not of [`MIN_BITS`] to [`MAX_BITS`] bits, and an exponent that is even, below
    /// 3 or not below the modulus.
    pub fn new(n: &[u8], e: &[u8]) -> Result<Self> {
        CheckedPublicKey::new(n, e).map(PublicKey).map_err(|error| {
            let start = n.iter().take_while(|&&byte| byte == 0).count();
            match error {
                // No key, but worse than none: half of such messages are even numbers.
                rsalab_arith::Error::EvenModulus | rsalab_arith::Error::Exponent if xz::is_message(&n[start..]) => {
                    Error::invalid_key(xz::SENTENCE)
                }
                error => refusal(&error, e),
            }
        })
    }

    /// The key as the arithmetic takes it.
    pub(crate) fn checked(&self) -> &CheckedPublicKey {
        &self.0
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> usize {
        self.0.modulus_bits()
    }

    /// Bytes of the modulus, and of each block.
    pub fn modulus_len(&self) -> usize {
        self.0.modulus_len()
    }

    /// The modulus, [`modulus_len`](Self::modulus_len) bytes.
    pub fn n(&self) -> &[u8] {
        self.0.n()
    }

    /// The public exponent, without leading zeros.
    pub fn e(&self) -> &[u8] {
        self.0.e()
    }
}

impl From<&CheckedPublicKey> for PublicKey {
    fn from(key: &CheckedPublicKey) -> Self {
        PublicKey(key.clone())
    }
}

/// The fault of a public key of exponent `e`, in words.
pub(super) fn refusal(error: &rsalab_arith::Error, e: &[u8]) -> Error {
    let reason = match error {
        rsalab_arith::Error::ModulusSize { bits } => {
            return Error::KeySize {
                bits: *bits,
                reason: format!("keys of {MIN_BITS} to {MAX_BITS} bits are"),
            };
        }
        rsalab_arith::Error::EvenModulus => "its modulus is even".to_owned(),
        rsalab_arith::Error::Exponent => match integer::bits_vartime(e) {
            0 => "its public exponent is 0",
            1 => "its public exponent is 1, which encrypts nothing",
            _ if !integer::is_odd(e) => "its public exponent is even",
            _ => "its public exponent is not smaller than its modulus",
        }
        .to_owned(),
        rsalab_arith::Error::InconsistentKey(relation) => (*relation).to_owned(),
        other => other.to_string(),
    };
    Error::InvalidKey { reason }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("bits", &self.bits())
            .finish_non_exhaustive()
    }
}

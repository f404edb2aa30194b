//! The public half of a key.

use std::fmt;

use rsalab_arith::integer;

use super::{MAX_BITS, MIN_BITS, modulus_len, without_leading_zeros};
use crate::Error;

/// A modulus and a public exponent.
///
/// Nothing about it is secret, and its operations take variable time.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PublicKey {
    bits: usize,
    n: Vec<u8>,
    e: Vec<u8>,
}

impl PublicKey {
    /// A key of modulus `n` and public exponent `e`; leading zeros are allowed in both.
    ///
    /// # Errors
    ///
    /// Refuses a modulus that is even or not of [`MIN_BITS`] to [`MAX_BITS`] bits, and an exponent that is even, below 3
    /// or not below the modulus.
    pub fn new(n: &[u8], e: &[u8]) -> Result<Self, Error> {
        let invalid = |reason: &str| Error::InvalidKey {
            reason: reason.to_owned(),
        };
        let (n, e) = (without_leading_zeros(n), without_leading_zeros(e));
        let bits = integer::bits_vartime(n);
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(Error::KeySize {
                bits,
                reason: format!("keys of {MIN_BITS} to {MAX_BITS} bits are"),
            });
        }
        if n[n.len() - 1] & 1 == 0 {
            return Err(invalid("its modulus is even"));
        }
        match e {
            [] => return Err(invalid("its public exponent is 0")),
            [1] => return Err(invalid("its public exponent is 1, which encrypts nothing")),
            [.., last] if last & 1 == 0 => return Err(invalid("its public exponent is even")),
            _ => {}
        }
        if (e.len(), e) >= (n.len(), n) {
            return Err(invalid(
                "its public exponent is not smaller than its modulus",
            ));
        }
        Ok(PublicKey {
            bits,
            n: n.to_vec(),
            e: e.to_vec(),
        })
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Bytes of the modulus, and of each block.
    pub fn modulus_len(&self) -> usize {
        modulus_len(self.bits)
    }

    /// The modulus, [`modulus_len`](Self::modulus_len) bytes.
    pub fn n(&self) -> &[u8] {
        &self.n
    }

    /// The public exponent, without leading zeros.
    pub fn e(&self) -> &[u8] {
        &self.e
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("bits", &self.bits)
            .finish_non_exhaustive()
    }
}

//! What a key can be beside well formed: wrong in a way that takes work to find out, or weak.

use std::fmt;

use rand_core::TryCryptoRng;
use rsalab_arith::{candidate::has_small_factor, integer};

use super::{PrivateKey, PublicKey};
use crate::{Backend, Error, primality::is_probable_prime};

/// Why a key that is well formed protects less than its length promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weakness {
    /// Fewer than 2048 bits.
    ShortModulus {
        /// Its bits.
        bits: usize,
    },
    /// A public exponent below 2^16.
    SmallExponent,
    /// A public exponent of more than 256 bits, the most that FIPS 186-5 allows.
    LargeExponent {
        /// Its bits.
        bits: usize,
    },
    /// A private exponent of at most half the bits of the modulus.
    ShortPrivateExponent {
        /// Its bits.
        bits: usize,
    },
    /// Primes whose upper 100 bits are the same.
    ClosePrimes,
}

impl Weakness {
    /// A word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Weakness::ShortModulus { .. } => "short-modulus",
            Weakness::SmallExponent => "small-exponent",
            Weakness::LargeExponent { .. } => "large-exponent",
            Weakness::ShortPrivateExponent { .. } => "short-private-exponent",
            Weakness::ClosePrimes => "close-primes",
        }
    }
}

impl fmt::Display for Weakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weakness::ShortModulus { bits } => write!(
                f,
                "its modulus has {bits} bits; fewer than {LEAST_BITS} protect nothing for long"
            ),
            Weakness::SmallExponent => f.write_str(
                "its public exponent is below 65537, so that mistakes in padding become forgeries and broken messages",
            ),
            Weakness::LargeExponent { bits } => write!(
                f,
                "its public exponent has {bits} bits; more than 256 slow everybody down, and many programs refuse them"
            ),
            Weakness::ShortPrivateExponent { bits } => write!(
                f,
                "its private exponent has only {bits} bits, and may be computed from the public key (Wiener 1990)"
            ),
            Weakness::ClosePrimes => f.write_str(
                "its primes lie close to each other, so that the modulus is factored at once (Fermat)",
            ),
        }
    }
}

/// The fewest bits of a modulus that is not weak (NIST SP 800-131A).
const LEAST_BITS: usize = 2048;

impl PublicKey {
    /// What makes the key weak, as far as its public half shows it.
    pub fn weaknesses(&self) -> Vec<Weakness> {
        let e_bits = integer::bits_vartime(self.e());
        let mut found = Vec::new();
        if self.bits() < LEAST_BITS {
            found.push(Weakness::ShortModulus { bits: self.bits() });
        }
        if e_bits <= 16 {
            found.push(Weakness::SmallExponent);
        }
        if e_bits > 256 {
            found.push(Weakness::LargeExponent { bits: e_bits });
        }
        found
    }

    /// Refuses a modulus that can be seen to be none: one that a small prime divides, or that is a prime itself.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`], and [`Error::Randomness`] if there is none.
    pub fn check_modulus<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        backend: &dyn Backend,
    ) -> Result<(), Error> {
        if has_small_factor(self.n()) {
            return invalid("a small prime divides its modulus");
        }
        // It is public and composite: one round tells.
        match is_probable_prime(self.n(), 1, rng, backend)? {
            true => invalid("its modulus is a prime, and no product of two"),
            false => Ok(()),
        }
    }
}

impl PrivateKey {
    /// What makes the key weak.
    pub fn weaknesses(&self) -> Vec<Weakness> {
        let mut found = self.public().weaknesses();
        let d_bits = integer::bits_vartime(self.d());
        if d_bits <= self.bits() / 2 {
            found.push(Weakness::ShortPrivateExponent { bits: d_bits });
        }
        if !integer::differ_enough(self.p(), self.q(), self.bits()) {
            found.push(Weakness::ClosePrimes);
        }
        found
    }

    /// Refuses a key whose primes are composite: each stands trial division and so many rounds with random bases, of which a
    /// composite passes one in four at most. [`ROUNDS`] are beyond doubt; [`ROUNDS_AT_THE_DOOR`] are quick, and for a key whose
    /// results will be checked.
    ///
    /// [`ROUNDS`]: crate::primality::ROUNDS
    /// [`ROUNDS_AT_THE_DOOR`]: crate::primality::ROUNDS_AT_THE_DOOR
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] names the one that is not prime; [`Error::Randomness`] if there is none.
    pub fn check_primes<R: TryCryptoRng + ?Sized>(
        &self,
        rounds: usize,
        rng: &mut R,
        backend: &dyn Backend,
    ) -> Result<(), Error> {
        for (reason, prime) in [
            ("its p is not a prime", self.p()),
            ("its q is not a prime", self.q()),
        ] {
            if !is_probable_prime(prime, rounds, rng, backend)? {
                return invalid(reason);
            }
        }
        Ok(())
    }
}

fn invalid(reason: &str) -> Result<(), Error> {
    Err(Error::InvalidKey {
        reason: reason.to_owned(),
    })
}

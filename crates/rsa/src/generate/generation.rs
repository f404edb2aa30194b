//! What all threads that generate keys of one size have in common.

use super::parameters::{DEFAULT_EXPONENT, PublicExponent, check_parameters};
use crate::{
    CpuBackend, Result,
    backend::{Backend, Sieve},
    draw::Size,
};

/// Searches that are interleaved, unless more are asked for. The number does not depend on the kernel, so that the same
/// randomness gives the same keys on each.
const SEARCHES: usize = 16;
/// Exponents with a prime factor below this rule out so many candidates that these are asked first.
const SMALL_FACTOR: u64 = 1000;

/// Preparations for keys of one size and exponent, made once for all threads.
pub struct Generation {
    pub(super) backend: Box<dyn Backend>,
    pub(super) sieve: Sieve,
    pub(super) size: Size,
    pub(super) e: PublicExponent,
    /// Candidates that are tested at once, and so searches that are worth interleaving.
    pub(super) searches: usize,
    /// `true` if so many candidates do not suit `e` that it pays to ask before they are tested.
    pub(super) asks_early: bool,
}

impl Generation {
    /// For keys of `bits` bits with the public exponent `e`, on this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::KeySize`](crate::Error::KeySize) unless `bits` is even and from [`MIN_BITS`](crate::keys::MIN_BITS) to
    /// [`MAX_BITS`](crate::keys::MAX_BITS); [`Error::Generation`](crate::Error::Generation) for an exponent that is
    /// even or below 3.
    pub fn new(bits: usize, e: PublicExponent) -> Result<Self> {
        Generation::with_backend(bits, e, Box::new(CpuBackend::auto()))
    }

    /// As [`new`](Self::new), on a backend.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_backend(bits: usize, e: PublicExponent, backend: Box<dyn Backend>) -> Result<Self> {
        let fixed = match e {
            PublicExponent::Fixed(e) => e,
            PublicExponent::Random => DEFAULT_EXPONENT,
        };
        let size = Size {
            modulus: bits,
            primes: 2,
        };
        check_parameters(size, fixed)?;
        Ok(Generation {
            sieve: backend.sieve(size.prime()),
            backend,
            size,
            e,
            searches: SEARCHES,
            asks_early: e != PublicExponent::Random
                && (3..SMALL_FACTOR).step_by(2).any(|factor| fixed.is_multiple_of(factor)),
        })
    }

    /// With so many searches interleaved, at least one: for a backend that tests many candidates at once. The same
    /// randomness gives other keys then.
    pub fn with_searches(self, searches: usize) -> Self {
        Generation {
            searches: searches.max(1),
            ..self
        }
    }

    /// For keys of so many primes, which all have the same length: private operations take less time the more there
    /// are. FIPS 186-5 has keys of two alone.
    ///
    /// # Errors
    ///
    /// [`Error::Generation`](crate::Error::Generation) for fewer than two, or more than
    /// [`most_primes`](super::most_primes) of the size.
    pub fn with_primes(mut self, primes: usize) -> Result<Self> {
        self.size.primes = primes;
        check_parameters(self.size, DEFAULT_EXPONENT)?;
        self.sieve = self.backend.sieve(self.size.prime());
        Ok(self)
    }
}

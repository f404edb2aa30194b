//! Tests of numbers that come from elsewhere for being prime.

use rand_core::TryCryptoRng;
use rsalab_arith::{candidate::has_small_factor, integer};

use crate::{CpuBackend, Error, Result, backend::Backend, draw, keys::MAX_BITS};

/// Rounds after which a composite passes with a probability below 2^-128, whoever chose it: each lets at most one in
/// four through (Rabin 1980).
pub const ROUNDS: usize = 64;

/// Rounds for the primes of a key of `bits` bits that somebody else supplied, so that all of them take less than a
/// second of one CPU up to 8192 bits, on the portable kernel too: [`ROUNDS`] up to 4096 bits; 32 (an error below 2^-64)
/// up to 6144; 8 (2^-16) above. These are errors for composites that somebody chose well; a random one hardly passes
/// the first round.
pub const fn rounds_in_a_second(bits: usize) -> usize {
    match bits {
        0..=4096 => ROUNDS,
        4097..=6144 => 32,
        _ => 8,
    }
}

/// Rounds for the primes of a key that is about to be used: as many as fill the lanes of a kernel once. Of a composite
/// that somebody chose one in 65536 passes, and then gives results that fail their check.
pub const ROUNDS_BEFORE_USE: usize = 8;

/// Returns whether a number, big-endian, passes trial division and `rounds` rounds of the Miller–Rabin test with random
/// bases.
///
/// That it is composite shows in the time; of a prime only the length does.
///
/// # Errors
///
/// [`Error::Randomness`] if there is none, and [`Error::KeySize`] for numbers of more than [`MAX_BITS`] bits.
pub fn is_probable_prime<R: TryCryptoRng + ?Sized>(number: &[u8], rounds: usize, rng: &mut R) -> Result<bool> {
    is_probable_prime_on(number, rounds, rng, &CpuBackend::auto())
}

/// As [`is_probable_prime`], on a backend.
///
/// # Errors
///
/// As for [`is_probable_prime`], and those of the backend.
pub fn is_probable_prime_on<R: TryCryptoRng + ?Sized>(
    number: &[u8],
    rounds: usize,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<bool> {
    let bits = integer::bits_vartime(number);
    if bits > MAX_BITS {
        return Err(Error::KeySize {
            bits,
            reason: format!("numbers of at most {MAX_BITS} bits are tested"),
        });
    }
    let number = &number[number.len() - bits.div_ceil(8)..];
    match number {
        [] | [1] => return Ok(false),
        [2 | 3] => return Ok(true),
        _ if !integer::is_odd(number) || has_small_factor(number) => return Ok(false),
        _ => {}
    }
    let lanes = backend.lanes().max(1);
    let mut tester = backend.tester(8 * number.len())?;
    let mut left = rounds.max(1);
    while left > 0 {
        let now = left.min(lanes);
        let mut bases = Vec::with_capacity(now * number.len());
        for _ in 0..now {
            bases.extend_from_slice(&draw::base(rng, number, bits)?);
        }
        let mut passed = vec![false; now];
        tester.round(&number.repeat(now), &bases, &mut passed)?;
        if passed.contains(&false) {
            return Ok(false);
        }
        left -= now;
    }
    Ok(true)
}

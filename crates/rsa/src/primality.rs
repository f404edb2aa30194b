//! Tests of numbers that come from elsewhere for being prime.

use std::{collections::BTreeMap, iter};

use rand_core::TryCryptoRng;
use rsalab_arith::{candidate::has_small_factor, integer};
use zeroize::Zeroizing;

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
/// that somebody chose one in 65536 passes, and then gives results that fail their check. Bindings that load keys do as
/// many unless asked for more.
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
    let verdicts = are_probable_primes_on(&[number], rounds, rng, backend)?;
    Ok(verdicts == [true])
}

/// As [`is_probable_prime_on`], of each of many numbers, whose rounds are done together: pairs of a number and a base
/// fill the lanes of the kernel, whatever the number of rounds. A number that failed gets no more of them.
///
/// Which numbers are composite shows in the time; of the primes only the lengths do.
///
/// # Errors
///
/// As for [`is_probable_prime_on`], of any of them; there are no verdicts then.
pub fn are_probable_primes_on<R: TryCryptoRng + ?Sized>(
    numbers: &[&[u8]],
    rounds: usize,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<Vec<bool>> {
    let mut verdicts = Vec::with_capacity(numbers.len());
    // A tester takes numbers of one length.
    let mut by_len: BTreeMap<usize, Vec<Candidate<'_>>> = BTreeMap::new();
    for (place, number) in numbers.iter().enumerate() {
        let bits = integer::bits_vartime(number);
        check_size(bits)?;
        let value = &number[number.len() - bits.div_ceil(8)..];
        verdicts.push(match value {
            [] | [1] => false,
            [2 | 3] => true,
            _ if !integer::is_odd(value) || has_small_factor(value) => false,
            _ => {
                let candidate = Candidate { place, value, bits };
                by_len.entry(value.len()).or_default().push(candidate);
                true
            }
        });
    }
    for (len, candidates) in by_len {
        do_rounds(len, &candidates, rounds.max(1), &mut verdicts, rng, backend)?;
    }
    Ok(verdicts)
}

/// Refuses a number of so many bits that nothing is computed with it: what a test takes grows with the cube of them.
///
/// # Errors
///
/// [`Error::KeySize`].
pub(crate) fn check_size(bits: usize) -> Result<()> {
    match bits > MAX_BITS {
        false => Ok(()),
        true => Err(Error::KeySize {
            bits,
            reason: format!("numbers of at most {MAX_BITS} bits are tested"),
        }),
    }
}

/// An odd number above 4 without small factors.
struct Candidate<'a> {
    /// Its place among the verdicts.
    place: usize,
    value: &'a [u8],
    bits: usize,
}

/// Does the rounds of candidates of `len` bytes each, and puts down the verdicts of those that fail.
fn do_rounds<R: TryCryptoRng + ?Sized>(
    len: usize,
    candidates: &[Candidate<'_>],
    rounds: usize,
    verdicts: &mut [bool],
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<()> {
    let lanes = backend.lanes().max(1);
    let mut tester = backend.tester(8 * len)?;
    // One candidate's rounds, then those of the next.
    let mut left = candidates
        .iter()
        .flat_map(|candidate| iter::repeat_n(candidate, rounds));
    loop {
        let now = left.by_ref().filter(|candidate| verdicts[candidate.place]);
        let now: Vec<&Candidate<'_>> = now.take(lanes).collect();
        if now.is_empty() {
            return Ok(());
        }
        // The room is taken at once: growing would leave copies of primes behind.
        let mut values = Zeroizing::new(Vec::with_capacity(now.len() * len));
        let mut bases = Zeroizing::new(Vec::with_capacity(now.len() * len));
        for Candidate { value, bits, .. } in &now {
            values.extend_from_slice(value);
            bases.extend_from_slice(&draw::base(rng, value, *bits)?);
        }
        let mut passed = vec![false; now.len()];
        tester.round(&values, &bases, &mut passed)?;
        for (candidate, passed) in now.iter().zip(passed) {
            verdicts[candidate.place] &= passed;
        }
    }
}

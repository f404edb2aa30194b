//! Parameters of a generator, and what it returns.

use std::sync::atomic::{AtomicBool, Ordering};

use rsalab_arith::integer;
use zeroize::Zeroizing;

use crate::{
    Error, PrivateKey, Result,
    draw::Size,
    keys::{MAX_BITS, MIN_BITS, most_primes},
};

/// The public exponent that nearly every key has.
pub const DEFAULT_EXPONENT: u64 = 65537;

/// The public exponent of keys that are generated in bulk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicExponent {
    /// This one: odd, from 3.
    Fixed(u64),
    /// One drawn for each key: odd, below the modulus, and prime to p − 1 and q − 1; so nearly as long as the modulus.
    Random,
}

/// A key with the work that it took.
#[derive(Debug)]
pub struct Generated {
    /// The key, with `p > q`.
    pub key: PrivateKey,
    /// The work.
    pub counts: Counts,
}

/// Two primes fit for a key, big-endian, of half its length each, with the work that they took.
pub struct PrimePair {
    /// The larger prime; of a given sequence, the first.
    pub p: Zeroizing<Vec<u8>>,
    /// The smaller prime; of a given sequence, the second.
    pub q: Zeroizing<Vec<u8>>,
    /// The work.
    pub counts: Counts,
}

/// The work of a search for primes. Chance dominates its time; these numbers allow to adjust for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Candidates counted by steps 4.6 and 5.7, and those that turned out prime: odd numbers of the right size.
    pub candidates: u64,
    /// Candidates that were tested for being prime, by any test, after their small factors.
    pub tests: u64,
    /// Miller–Rabin rounds in all.
    pub rounds: u64,
}

/// Miller–Rabin rounds with random bases after which a random number of `prime_bits` bits is composite with a
/// probability below `2^-128`.
///
/// FIPS 186-5 table B.1 has 4 rounds for primes of 1536 bits (its row for `2^-128`) and of 2048 bits (its row for
/// `2^-144`). The other sizes, for which the table has no such row, come from the formula behind the table in appendix
/// C.1 (Damgård, Landrock and Pomerance 1993): at 1024 bits the table's 5 rounds are for `2^-112`, and `2^-128`
/// takes 6. The formula is for numbers with the top bit set; that candidates here are those above `√2·2^(k−1)`, no
/// fewer than half of them, at most doubles the probability, which the figures bear.
pub const fn miller_rabin_rounds(prime_bits: usize) -> usize {
    match prime_bits {
        0..160 => 48,
        160..192 => 43,
        192..224 => 38,
        224..256 => 33,
        256..384 => 27,
        384..512 => 16,
        512..768 => 12,
        768..1024 => 8,
        1024..1536 => 6,
        _ => 4,
    }
}

impl Counts {
    pub(super) fn add(&mut self, more: Counts) {
        self.candidates += more.candidates;
        self.tests += more.tests;
        self.rounds += more.rounds;
    }
}

/// Steps 1 and 2, with the wider ranges of this laboratory.
pub(super) fn check_parameters(Size { modulus: bits, primes }: Size, e: u64) -> Result<()> {
    if !(MIN_BITS..=MAX_BITS).contains(&bits) || !bits.is_multiple_of(2) {
        return Err(Error::KeySize {
            bits,
            reason: format!("keys are generated with an even number of bits from {MIN_BITS} to {MAX_BITS}"),
        });
    }
    if e < 3 || e.is_multiple_of(2) {
        return Err(Error::generation(format!(
            "the public exponent must be odd and at least 3, not {e}"
        )));
    }
    if !(2..=most_primes(bits)).contains(&primes) {
        return Err(Error::generation(match most_primes(bits) {
            2 => format!("a key of {bits} bits has two primes, not {primes}"),
            most => format!(
                "a key of {bits} bits has 2 to {most} primes, not {primes}: a prime must not be so short that it is found for its length"
            ),
        }));
    }
    Ok(())
}

/// Ends a search if the flag is raised.
pub(super) fn check_stop(stop: Option<&AtomicBool>) -> Result<()> {
    match stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        true => Err(Error::Stopped),
        false => Ok(()),
    }
}

/// The key of primes; none if its private exponent is too small, which is extremely rare (A.1.1, criterion 3), or its
/// modulus too long, which takes primes at the very end of their range.
pub(super) fn key_of(primes: &[&[u8]], bits: usize, e: u64) -> Result<Option<PrivateKey>> {
    let key = PrivateKey::multi_prime(primes, &e.to_be_bytes())?;
    Ok((integer::bits_vartime(key.d()) > bits / 2 && key.bits() == bits).then_some(key))
}

impl PrimePair {
    /// Two primes in the order that some implementations of CRT expect: the larger is called `p`.
    pub(super) fn ordered(one: Zeroizing<Vec<u8>>, other: Zeroizing<Vec<u8>>, counts: Counts) -> Self {
        let (p, q) = match integer::is_less(&other, &one) {
            true => (one, other),
            false => (other, one),
        };
        PrimePair { p, q, counts }
    }
}

//! The primes of a key of which only n, e and d are known, so that it need not be used without the CRT.
//!
//! e d - 1 is a multiple of the order of every g, and even. g raised to its odd part, and squared as often as it has a
//! factor of two, is 1 in the end; for at least half of all g the value before the first 1 is a square root of 1 other
//! than -1, which shares a prime with n, and not all (Miller 1976; NIST SP 800-56B rev. 2, appendix C.2). All lanes of
//! a kernel try their own g at once. Of more primes than two the composite factors are split in the same way, each by
//! roots of its own.

use crate::candidate::Tester;
use crate::declassify::declassify;
use crate::integer::{Bytes, bits_vartime, compare_vartime, gcd, quotient, shift_right, trailing_zeros};
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, Nat, limbs_for_bits, words};
use crate::power::Exponentiation;
use crate::{CheckedPublicKey, Error, Kernel, random};
use zeroize::Zeroizing;

/// Batches of bases before a factor is taken for no product of different odd primes. Each base of a key fails with a
/// probability of a half at most.
const BATCHES: usize = 16;
/// Squares that are computed in one call.
const STRIDE: u64 = 64;

const NO_PRIMES: Error = Error::InconsistentKey("n is not a product of different odd primes");
const NOT_OF_N: Error = Error::InconsistentKey("e d is not 1 modulo the order of n");

/// The primes of n, the largest first, each as long as it is. For a key without its primes, once, when it is read.
///
/// If there are more than `most`, the search ends when that is known: then more than `most` factors are returned, which
/// need not be prime.
///
/// The time depends on how many twos divide e d - 1, on how many bases were tried, and on the number of primes and
/// their lengths, and on nothing else of d.
///
/// # Errors
/// [`Error::InconsistentKey`] if e and d do not belong to n or n is no product of different odd primes;
/// [`Error::Randomness`].
pub fn recover_primes(public: &CheckedPublicKey, d: &[u8], most: usize, kernel: Kernel) -> Result<Vec<Bytes>, Error> {
    let (modulus, exponent) = (public.modulus(), public.exponent());
    let d = Nat::from_be(d);
    if declassify(words::is_zero(&d)) || words::bits_vartime(&d) > modulus.bits() {
        return Err(Error::InconsistentKey("d is not below n"));
    }
    let d = d.resized(modulus.limbs());
    let mut multiple = Nat::zero(exponent.len() + d.len());
    words::mul(&mut multiple, &exponent, &d);
    if multiple[0] & 1 == 0 {
        return Err(NOT_OF_N);
    }
    // Odd, so that nothing is borrowed.
    multiple[0] -= 1;
    if declassify(words::is_zero(&multiple)) {
        return Err(NOT_OF_N);
    }
    let twos = trailing_zeros(&multiple);
    let mut odd_part = multiple;
    shift_right(&mut odd_part, twos);
    let mut primes: Vec<Bytes> = Vec::new();
    let mut composite = vec![Zeroizing::new(public.n().to_vec())];
    let bits = modulus.bits() + words::bits_vartime(&exponent);
    // e d - 1 is a multiple of every order modulo a factor too. Roots modulo n would not do for all: most of them are
    // -1 modulo the primes whose predecessors have the most twos, and 1 modulo all others.
    while let Some(factor) = composite.pop() {
        let modulus = modulus_of(&factor);
        let mut root = None;
        for _ in 0..BATCHES {
            root = root_of_one(&modulus, &odd_part, bits, twos, kernel)?;
            if root.is_some() {
                break;
            }
        }
        for part in split(&factor, root.ok_or(NO_PRIMES)?)? {
            match is_prime(&part, kernel)? {
                true => primes.push(part),
                false => composite.push(part),
            }
        }
        if primes.len() + composite.len() > most {
            primes.append(&mut composite);
        }
    }
    // Which of them is the largest is a convention, and no secret once they are known.
    primes.sort_by(|a, b| compare_vartime(b, a));
    Ok(primes)
}

fn modulus_of(factor: &[u8]) -> Modulus {
    let bits = bits_vartime(factor);
    Modulus::new(&Nat::from_be(factor), bits, limbs_for_bits(bits))
}

/// A square root of 1 that is neither 1 nor -1, if one of a batch of bases leads to it.
///
/// One power per base, to the odd part of e d - 1; then its `twos` squares, of which the last is 1. Whoever makes a key
/// chooses how many there are, and a call for one square costs several products. So [`STRIDE`] squares are one call,
/// and only a stride in which a base comes to 1 is gone through square by square: all of it takes about as long as one
/// power to e d - 1.
fn root_of_one(
    modulus: &Modulus,
    odd_part: &Nat,
    bits: usize,
    twos: u64,
    kernel: Kernel,
) -> Result<Option<Nat>, Error> {
    let limbs = modulus.limbs();
    let units = Units::new(modulus);
    let power = kernel.plain(modulus, odd_part, bits);
    let mut values = Aligned::zero(power.items() * limbs);
    values.copy_from_slice(&random_bases(modulus, power.items())?);
    raise(&*power, &mut values);
    // A base that has come to 1 or -1 stays there, or goes to 1: it says nothing.
    let mut is_spent: Vec<bool> = values
        .chunks_exact(limbs)
        .map(|value| units.is_one(value) || units.is_minus_one(value))
        .collect();
    let mut ahead = Aligned::zero(values.len());
    let mut left = twos;
    while left > 0 && !is_spent.iter().all(|&spent| spent) {
        let squares = left.min(STRIDE);
        ahead.copy_from_slice(&values);
        raise(
            &*kernel.plain(modulus, &power_of_two(squares), 1 + squares as usize),
            &mut ahead,
        );
        let comes_to_one = |value: &[u64]| units.is_one(value);
        let arrives: Vec<bool> = ahead.chunks_exact(limbs).map(comes_to_one).collect();
        let is_new = |(arrives, spent): (&bool, &bool)| *arrives && !spent;
        if arrives.iter().zip(&is_spent).any(is_new)
            && let Some(root) = last_before_one(&units, &values, &is_spent, squares, modulus, kernel)
        {
            return Ok(Some(root));
        }
        for ((value, arrives), is_spent) in ahead.chunks_exact(limbs).zip(arrives).zip(&mut is_spent) {
            *is_spent |= arrives || units.is_minus_one(value);
        }
        values.copy_from_slice(&ahead);
        left -= squares;
    }
    // The last squares are 1, if e d - 1 is a multiple of every order.
    match is_spent.iter().all(|&spent| spent) {
        true => Ok(None),
        false => Err(NOT_OF_N),
    }
}

/// A value other than -1 whose square is 1, among so many squares of each value that is not spent.
fn last_before_one(
    units: &Units,
    values: &[u64],
    is_spent: &[bool],
    squares: u64,
    modulus: &Modulus,
    kernel: Kernel,
) -> Option<Nat> {
    let square = kernel.plain(modulus, &[2], 2);
    let mut roots = Aligned::zero(values.len());
    roots.copy_from_slice(values);
    let mut next = Aligned::zero(values.len());
    let mut is_spent = is_spent.to_vec();
    for _ in 0..squares {
        next.copy_from_slice(&roots);
        raise(&*square, &mut next);
        let limbs = modulus.limbs();
        let items = next.chunks_exact(limbs).zip(roots.chunks_exact(limbs));
        for ((square, root), is_spent) in items.zip(&mut is_spent) {
            if *is_spent {
                continue;
            }
            if units.is_one(square) {
                return Some(Nat::from_limbs(root));
            }
            *is_spent = units.is_minus_one(square);
        }
        roots.copy_from_slice(&next);
    }
    None
}

fn raise(power: &dyn Exponentiation, values: &mut [u64]) {
    #[cfg(test)]
    tests::CALLS.set(tests::CALLS.get() + 1);
    power.raise(values, &mut Aligned::zero(power.working_words()));
}

/// 2^bits.
fn power_of_two(bits: u64) -> Nat {
    let mut power = Nat::zero(bits as usize / 64 + 1);
    power[bits as usize / 64] = 1 << (bits % 64);
    power
}

/// 1 and -1 modulo n, which every square root of 1 is compared with.
struct Units {
    one: Nat,
    minus_one: Nat,
}

impl Units {
    fn new(modulus: &Modulus) -> Units {
        let one = Nat::from_word(1, modulus.limbs());
        let mut minus_one = Nat::from_limbs(modulus.n());
        words::sub_assign(&mut minus_one, &one);
        Units { one, minus_one }
    }

    fn is_one(&self, value: &[u64]) -> bool {
        declassify(words::is_equal(value, &self.one))
    }

    fn is_minus_one(&self, value: &[u64]) -> bool {
        declassify(words::is_equal(value, &self.minus_one))
    }
}

/// Numbers below 2^(bits - 1), and so below n.
fn random_bases(modulus: &Modulus, items: usize) -> Result<Zeroizing<Vec<u64>>, Error> {
    let limbs = modulus.limbs();
    let mut bytes = Zeroizing::new(vec![0; 8 * limbs * items]);
    random::fill(&mut bytes)?;
    let mut bases: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect();
    for base in bases.chunks_exact_mut(limbs) {
        let kept = modulus.bits() - 1;
        for (place, limb) in base.iter_mut().enumerate() {
            *limb &= match kept.saturating_sub(64 * place) {
                0 => 0,
                low @ 1..64 => (1 << low) - 1,
                _ => u64::MAX,
            };
        }
        // 0 is no base.
        base[0] |= 2;
    }
    Ok(Zeroizing::new(bases))
}

/// Rounds of the Miller-Rabin test for each factor. What they take for a prime by chance gives parameters that
/// contradict d.
const ROUNDS: usize = 4;

/// The two factors that a root r of 1 gives: gcd(r - 1, f), which is neither 1 nor f as r is neither 1 nor -1, and what
/// is left.
fn split(factor: &[u8], root: Nat) -> Result<[Bytes; 2], Error> {
    let mut less = root;
    let limbs = less.len();
    words::sub_assign(&mut less, &Nat::from_word(1, limbs));
    let divisor = significant(&gcd(&less.to_be(8 * limbs), factor));
    let other = significant(&quotient(factor, &divisor));
    // A key whose primes have a byte is none; the bases below take two.
    match divisor.len() > 1 && other.len() > 1 {
        true => Ok([divisor, other]),
        false => Err(NO_PRIMES),
    }
}

/// The number without leading zeros: how long a prime is is no secret.
fn significant(number: &[u8]) -> Bytes {
    let zeros = number.len() - bits_vartime(number).div_ceil(8);
    Zeroizing::new(number[zeros..].to_vec())
}

fn is_prime(factor: &[u8], kernel: Kernel) -> Result<bool, Error> {
    let mut tester = Tester::new(kernel, factor.len());
    let mut bases = Zeroizing::new(vec![0; ROUNDS * factor.len()]);
    random::fill(&mut bases)?;
    for base in bases.chunks_exact_mut(factor.len()) {
        // Below the factor, and neither 0 nor 1.
        base[0] &= factor[0] >> 1;
        if let Some(last) = base.last_mut() {
            *last |= 2;
        }
    }
    let candidates = Zeroizing::new(factor.repeat(ROUNDS));
    let mut passed = [false; ROUNDS];
    tester.round(&candidates, &bases, &mut passed)?;
    Ok(passed == [true; ROUNDS])
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use std::cell::Cell;

    thread_local! {
        /// Calls of kernels.
        pub(super) static CALLS: Cell<usize> = const { Cell::new(0) };
    }

    fn is_prime(n: &BigUint) -> bool {
        let one = BigUint::from(1_u8);
        [2_u8, 3, 5, 7, 11]
            .iter()
            .all(|&base| BigUint::from(base).modpow(&(n - &one), n) == one)
    }

    /// Whoever makes a key chooses how many twos divide e d - 1: that must not choose the work.
    #[test]
    fn many_twos_take_few_calls() {
        // 2^256 - 189 and 2^255 - 19.
        let p = (BigUint::from(1_u8) << 256) - BigUint::from(189_u8);
        let q = (BigUint::from(1_u8) << 255) - BigUint::from(19_u8);
        let modulus: BigUint = BigUint::from(1_u8) << 500;
        let d = (&modulus / BigUint::from(3_u8)) | BigUint::from(1_u8);
        let e = d.modinv(&modulus).expect("odd");
        let [n, e, d] = [&p * &q, e, d].map(|number| number.to_bytes_be());
        let public = CheckedPublicKey::new(&n, &e).expect("it is one");
        CALLS.set(0);
        recover_primes(&public, &d, 5, Kernel::auto()).expect_err("no base comes to 1");
        assert!(CALLS.get() <= 10, "{}", CALLS.get());

        // Keys whose primes have as many, all in one and in both.
        let of_twos = |twos: u64, from: u64| {
            let step = BigUint::from(1_u8) << twos;
            let mut prime = (BigUint::from(from) << 240) + BigUint::from(1_u8);
            while !is_prime(&prime) {
                prime += &step;
            }
            prime
        };
        let (many, as_many, fewer) = (of_twos(200, 0xd001), of_twos(200, 0xe001), of_twos(130, 0xf001));
        let one = BigUint::from(1_u8);
        let e = BigUint::from(65537_u32);
        for (p, q) in [(&many, &q), (&many, &as_many), (&many, &fewer)] {
            let phi = (p - &one) * (q - &one);
            let d = e.modinv(&phi).expect("coprime");
            let [n, e, d] = [&(p * q), &e, &d].map(BigUint::to_bytes_be);
            let public = CheckedPublicKey::new(&n, &e).expect("it is one");
            CALLS.set(0);
            let found = recover_primes(&public, &d, 5, Kernel::auto()).expect("a key");
            assert_eq!(BigUint::from_bytes_be(&found[0]), *p.max(q));
            // A few batches, of which each goes through strides square by square for each of its bases at most.
            assert!(CALLS.get() < 200, "{}", CALLS.get());
        }
    }
}

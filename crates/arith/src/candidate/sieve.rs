//! Candidates from a random start on: a interval of odd numbers, less those that have a small factor, taken in random
//! order.
//!
//! The start is as secret as the prime that will be found. A sieve in a table of memory would betray it, for every mark
//! goes where a residue of the start says; and the marks themselves reveal its residues. So the marks are kept in
//! registers: each prime's bit is offered to all words of them, and taken by the one it belongs to. And survivors are
//! not listed, but picked by their rank, which reads all marks alike.

use super::crossing::{Crossing, Primes};
use crate::declassify::declassify;
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use crate::limbs::{LIMB_BITS, Nat, words};
use crate::{Error, Kernel};
use std::hint::black_box;
use subtle::Choice;
use zeroize::Zeroizing;

/// A sieve for starts of one length; shared by all threads.
pub struct Sieve {
    kernel: Kernel,
    bits: usize,
    primes: Primes,
}

/// Odd numbers from a start on that have no small factor, from which one after the other is picked.
pub struct Interval {
    start: Nat,
    len: usize,
    /// A bit for each odd number, set once it is known to be composite or has been picked.
    marks: Zeroizing<Vec<u64>>,
    left: u64,
}

impl Sieve {
    /// For starts of exactly `bits` bits, at least 64. How far the primes go and how long the interval is depends on
    /// the length alone: so do the survivors, whatever the kernel.
    pub fn new(kernel: Kernel, bits: usize) -> Self {
        Self {
            kernel,
            bits,
            primes: Primes::new(bits),
        }
    }

    /// Odd numbers in the interval from each start on.
    pub fn span(&self) -> usize {
        self.primes.span()
    }

    /// The odd numbers from `start`, big-endian, that have no small factor. In constant time.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the start is odd and every number of the interval has the sieve's length in bits.
    pub fn interval(&self, start: &[u8]) -> Result<Interval, Error> {
        let start = Nat::from_be(start);
        let mut last = start.clone();
        let is_odd = Choice::from(start[0] as u8 & 1);
        let carry = add_small(&mut last, 2 * (self.span() as u64 - 1));
        let has_length = |number: &[u64]| {
            // The top bit is set, and none above it.
            let above = (self.bits..LIMB_BITS * number.len()).fold(0, |above, index| above | words::bit(number, index));
            words::is_zero(&[above << 1 | words::bit(number, self.bits - 1) ^ 1])
        };
        if !declassify(is_odd & !carry & has_length(&start) & has_length(&last)) {
            return Err(Error::OutOfRange {
                what: "the start of a sieve, which must be odd and not at the end of its length,",
            });
        }
        let mut digits = Zeroizing::new(vec![0; self.bits.div_ceil(DIGIT_BITS)]);
        for (i, digit) in digits.iter_mut().enumerate() {
            let at = |bit: usize| start.get(bit / LIMB_BITS).copied().unwrap_or(0);
            let (low, shift) = (DIGIT_BITS * i, DIGIT_BITS * i % LIMB_BITS);
            let pair = u128::from(at(low)) | u128::from(at(low + LIMB_BITS)) << LIMB_BITS;
            *digit = (pair >> shift) as u64 & DIGIT_MASK;
        }
        let mut marks = Zeroizing::new(vec![0; 8 * self.primes.vectors()]);
        self.kernel.cross(Crossing {
            primes: &self.primes,
            digits: &digits,
            marks: marks.as_chunks_mut().0,
        });
        let left = marks.iter().map(|word| u64::from(word.count_zeros())).sum();
        Ok(Interval {
            start,
            len: self.bits.div_ceil(8),
            marks,
            left,
        })
    }
}

impl Interval {
    /// Picks one of the survivors that are left, each as likely as the others if `random` is, and writes it to
    /// `candidate`, big-endian. Returns false, and writes nothing, when none is left. In constant time.
    ///
    /// # Errors
    /// [`Error::Length`] unless `candidate` has the sieve's length in bytes.
    pub fn pick(&mut self, random: u64, candidate: &mut [u8]) -> Result<bool, Error> {
        if candidate.len() != self.len {
            return Err(Error::Length {
                what: "the candidate",
                expected: self.len,
                got: candidate.len(),
            });
        }
        if declassify(words::is_zero(&[self.left])) {
            return Ok(false);
        }
        // Off from uniform by less than one in 2^53.
        let (_, rank) = words::mac(random, self.left, 0, 0);
        self.left -= 1;
        let place = take(&mut self.marks, rank);
        let mut number = self.start.clone();
        add_small(&mut number, 2 * place);
        words::write_be(&number, candidate);
        Ok(true)
    }
}

/// number += small; returns the carry out.
fn add_small(number: &mut [u64], small: u64) -> Choice {
    let (sum, carry) = words::adc(number[0], small, false);
    number[0] = sum;
    words::add_carry(&mut number[1..], Choice::from(u8::from(carry)))
}

/// Finds the zero of this rank among all bits, and sets it. There must be one.
fn take(marks: &mut [u64], mut rank: u64) -> u64 {
    // The word it is in, without deciding anything.
    let (mut index, mut word, mut searched) = (0, 0, u64::MAX);
    for (i, mark) in (0u64..).zip(marks.iter()) {
        let zeros = u64::from(mark.count_zeros());
        let is_here = less(rank, zeros) & searched;
        index |= i & is_here;
        word |= !mark & is_here;
        searched &= !is_here;
        rank = rank.wrapping_sub(zeros & searched);
    }
    // The bit in that word: by halves.
    let mut bit = 0;
    for width in [32u64, 16, 8, 4, 2, 1] {
        // Of four bits that it knows to be no more the compiler takes the count from a constant, shifted by a secret.
        let ones = u64::from(black_box(word & ((1 << width) - 1)).count_ones());
        let is_above = !less(rank, ones);
        word ^= is_above & (word ^ word >> width);
        rank = rank.wrapping_sub(ones & is_above);
        bit += width & is_above;
    }
    let place = words::power_of_two(bit);
    for (i, mark) in (0u64..).zip(marks.iter_mut()) {
        *mark |= words::mask(words::is_zero(&[i ^ index])) & place;
    }
    LIMB_BITS as u64 * index + bit
}

/// All ones if a < b.
fn less(a: u64, b: u64) -> u64 {
    words::mask(Choice::from(u8::from(words::sbb(a, b, false).1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::crossing::bound;
    use crate::candidate::odd_primes::odd_primes;
    use crate::kernels;
    use crate::model::any_modulus;
    use num_bigint::BigUint;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    /// Starts that leave room for the interval.
    fn any_start(bits: usize) -> impl Strategy<Value = BigUint> {
        let room = BigUint::from(8192u32);
        any_modulus(bits).prop_map(move |start| match (&start + &room).bits() as usize > bits {
            true => start - &room,
            false => start,
        })
    }

    #[test]
    fn survivors_are_those_that_no_small_prime_divides() {
        for kernel in kernels().iter().filter(|k| k.available.is_ok()) {
            for bits in [64, 100, 256, 384, 512, 513, 768, 1024, 1030, 2048] {
                let sieve = Sieve::new(Kernel::named(kernel.name).unwrap(), bits);
                let primes: Vec<u64> = odd_primes(bound(bits)).collect();
                let mut runner = TestRunner::new(Config {
                    cases: 3,
                    failure_persistence: None,
                    ..Config::default()
                });
                runner
                    .run(&any_start(bits), |start| {
                        let interval = sieve.interval(&start.to_bytes_be()).unwrap();
                        let mut marks = vec![false; sieve.span()];
                        for &prime in &primes {
                            let rest = (&start % prime).to_u64_digits().first().copied();
                            // x + 2 i = 0, so i = -x / 2.
                            let negative = prime - rest.unwrap_or(0);
                            let half = match negative % 2 {
                                0 => negative / 2,
                                _ => (negative + prime) / 2,
                            };
                            let first = (half % prime) as usize;
                            let multiples = (first..marks.len()).step_by(prime as usize);
                            multiples.for_each(|at| marks[at] = true);
                        }
                        for (at, &mark) in marks.iter().enumerate() {
                            let bit = interval.marks[at / 64] >> (at % 64) & 1 == 1;
                            prop_assert_eq!(bit, mark, "{} + 2 · {}", start, at);
                        }
                        let left = marks.iter().filter(|mark| !**mark).count();
                        prop_assert_eq!(interval.left, left as u64);
                        Ok(())
                    })
                    .unwrap();
            }
        }
    }

    #[test]
    fn every_survivor_is_picked_once() {
        let bits = 512;
        let sieve = Sieve::new(Kernel::auto(), bits);
        let start = (BigUint::from(3u8) << (bits - 2)) + 12345u32;
        let start = start | BigUint::from(1u8);
        let mut random = 1u64;
        for _ in 0..5 {
            let mut interval = sieve.interval(&start.to_bytes_be()).unwrap();
            let survivors: Vec<usize> = (0..sieve.span())
                .filter(|at| interval.marks[at / 64] >> (at % 64) & 1 == 0)
                .collect();
            let mut picked = Vec::new();
            let mut candidate = vec![0; bits / 8];
            loop {
                random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(99);
                if !interval.pick(random, &mut candidate).unwrap() {
                    break;
                }
                let place = (BigUint::from_bytes_be(&candidate) - &start) / 2u8;
                picked.push(place.to_u64_digits().first().map_or(0, |&at| at as usize));
            }
            assert_ne!(picked, survivors, "they are in order");
            picked.sort_unstable();
            assert_eq!(picked, survivors);
            assert!(interval.pick(0, &mut candidate[1..]).is_err());
        }
    }

    #[test]
    fn each_survivor_is_as_likely_as_the_others() {
        // All ranks, evenly: every zero is found, and the ends are.
        let marks = [u64::MAX, !0b1010_0001, 0, u64::MAX >> 1];
        let zeros = 3 + 64 + 1;
        let mut found: Vec<u64> = (0..zeros).map(|rank| take(&mut marks.to_vec(), rank)).collect();
        found.dedup();
        let expected = [64, 69, 71].into_iter().chain(128..192).chain([255]);
        assert_eq!(found, expected.collect::<Vec<_>>());
    }

    #[test]
    fn starts_out_of_range_are_refused() {
        let sieve = Sieve::new(Kernel::auto(), 128);
        let last = 2 * (sieve.span() - 1) as u128;
        for (start, fits) in [
            (u128::MAX - last, true),
            (u128::MAX - last + 2, false),
            (u128::MAX, false),
            (1 << 127 | 1, true),
            (1 << 127, false),
            ((1 << 127) - 1, false),
            (1, false),
        ] {
            let found = sieve.interval(&start.to_be_bytes());
            assert_eq!(found.is_ok(), fits, "{start:x}");
        }
        let sieve = Sieve::new(Kernel::auto(), 100);
        for (start, fits) in [
            (1u128 << 99 | 1, true),
            (1 << 100 | 1, false),
            (1 << 101 | 1 << 99 | 1, false),
        ] {
            assert_eq!(sieve.interval(&start.to_be_bytes()).is_ok(), fits);
        }
    }
}

//! Candidates from a random start on: a stretch of odd numbers, less those that have a small factor, taken in random order.
//!
//! The start is as secret as the prime that will be found. A sieve in a table of memory would betray it, for every mark
//! goes where a residue of the start says; and the marks themselves tell its residues. So the marks are kept in registers:
//! each prime's bit is offered to all words of them, and taken by the one it belongs to. And survivors are not listed, but
//! picked by their rank, which reads all marks alike.

use super::odd_primes::odd_primes;
use crate::kernel::lanes::{Cell, DIGIT_BITS, DIGIT_MASK, Lanes, Work};
use crate::limbs::aligned::Aligned;
use crate::limbs::modulus::inverse_word;
use crate::limbs::{LIMB_BITS, Nat, words};
use crate::{Error, Kernel};
use subtle::Choice;
use zeroize::Zeroizing;

/// What is needed to sieve starts of one length; shared by all threads.
pub struct Sieve {
    kernel: Kernel,
    bits: usize,
    cells: usize,
    small: Vec<SmallPrime>,
    /// [`GROUP_CELLS`] cells for each group of 16 primes, in ascending order.
    groups: Aligned,
    /// The groups after the first, in blocks.
    runs: Vec<Run>,
}

/// Blocks of groups one after the other, whose primes may have as many multiples in the stretch.
struct Run {
    blocks: usize,
    hits: usize,
}

/// A prime so small that it has a multiple among any 64 odd numbers.
struct SmallPrime {
    value: u64,
    /// A bit for each multiple of the prime below 64.
    pattern: u64,
    /// For word w of the marks, -64 w mod the prime.
    phases: [Cell; MAX_CELLS],
}

/// Odd numbers from a start on that have no small factor, from which one after the other is picked.
pub struct Interval {
    start: Nat,
    len: usize,
    /// A bit for each odd number, set once it is known to be composite or has been picked.
    marks: Zeroizing<Vec<u64>>,
    left: u64,
}

/// Cells of marks at most, and so vectors that they are held in.
const MAX_CELLS: usize = 4;
/// Odd numbers that a cell has marks for.
const CELL_SPAN: usize = 8 * LIMB_BITS;
/// Small primes: all below 61, two for each lane.
const SMALL: usize = 16;
/// Primes of a group, two for each lane.
const GROUP: usize = 16;
/// Cells of a group: for the product of each lane's two primes, itself and -1 / itself mod 2^52; for each of the primes
/// that, and what takes a residue of the start to the place of the first multiple.
const GROUP_CELLS: usize = 8;
/// Groups whose residues are taken side by side, so that none waits.
const BLOCK: usize = 8;

/// Primes below this are sieved with, for candidates of `bits` bits: the more a test costs, the more it pays to save one.
fn bound(bits: usize) -> u64 {
    match bits {
        0..=384 => 1 << 14,
        385..=512 => 1 << 16,
        513..=768 => 1 << 17,
        769..=1024 => 1 << 19,
        _ => 1 << 20,
    }
}

impl Sieve {
    /// For starts of exactly `bits` bits, at least 64. How far the primes go and how long the stretch is depends on the
    /// length alone: so do the survivors, whatever the kernel.
    pub fn new(kernel: Kernel, bits: usize) -> Self {
        let cells = if bits <= 1024 { 2 } else { MAX_CELLS };
        let steps = bits.div_ceil(DIGIT_BITS) + 1;
        let mut primes: Vec<u64> = odd_primes(bound(bits)).collect();
        // The last ones are taken again where a block is not full.
        let rest = primes[SMALL..].len().next_multiple_of(BLOCK * GROUP) - primes[SMALL..].len();
        primes.extend_from_within(primes.len() - rest..);
        let (small, large) = primes.split_at(SMALL);
        let mut groups = Aligned::zero(8 * GROUP_CELLS * (large.len() / GROUP + 1));
        let memory = groups.as_chunks_mut::<8>().0.chunks_mut(GROUP_CELLS);
        let all = std::iter::once(small).chain(large.chunks(GROUP));
        for (cells, primes) in memory.zip(all) {
            set_group(cells, primes, steps);
        }
        Self {
            kernel,
            bits,
            cells,
            small: small.iter().map(|&value| SmallPrime::new(value)).collect(),
            groups,
            runs: large
                .chunks(BLOCK * GROUP)
                .map(|block| (cells * CELL_SPAN).div_ceil(block[0] as usize))
                .collect::<Vec<_>>()
                .chunk_by(|one, next| one == next)
                .map(|run| Run {
                    blocks: run.len(),
                    hits: run[0],
                })
                .collect(),
        }
    }

    /// Odd numbers in the stretch that starts with each start.
    pub fn span(&self) -> usize {
        self.cells * CELL_SPAN
    }

    /// The odd numbers from `start`, big-endian, that have no small factor. In constant time.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the start is odd and every number of the stretch has the sieve's length in bits.
    pub fn interval(&self, start: &[u8]) -> Result<Interval, Error> {
        let start = Nat::from_be(start);
        let mut last = start.clone();
        let is_odd = Choice::from(start[0] as u8 & 1);
        let carry = add_small(&mut last, 2 * (self.span() as u64 - 1));
        let has_length = |number: &[u64]| {
            // The top bit is set, and none above it.
            let above = (self.bits..LIMB_BITS * number.len())
                .fold(0, |above, index| above | words::bit(number, index));
            words::is_zero(&[above << 1 | words::bit(number, self.bits - 1) ^ 1])
        };
        if !bool::from(is_odd & !carry & has_length(&start) & has_length(&last)) {
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
        let mut marks = Zeroizing::new(vec![0; 8 * self.cells]);
        self.kernel.cross(Crossing {
            sieve: self,
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
    /// Picks one of the survivors that are left, each as likely as the others if `random` is, and writes it to `candidate`,
    /// big-endian. Returns false, and writes nothing, when none is left. In constant time.
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
        if self.left == 0 {
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
        let ones = u64::from((word & ((1 << width) - 1)).count_ones());
        let is_above = !less(rank, ones);
        word >>= width & is_above;
        rank = rank.wrapping_sub(ones & is_above);
        bit += width & is_above;
    }
    for (i, mark) in (0u64..).zip(marks.iter_mut()) {
        *mark |= words::mask(words::is_zero(&[i ^ index])) & 1 << bit;
    }
    LIMB_BITS as u64 * index + bit
}

/// All ones if a < b.
fn less(a: u64, b: u64) -> u64 {
    words::mask(Choice::from(u8::from(words::sbb(a, b, false).1)))
}

impl SmallPrime {
    fn new(value: u64) -> Self {
        let phase = |word: u64| (value - 64 * word % value) % value;
        Self {
            value,
            pattern: (0..64)
                .step_by(value as usize)
                .fold(0, |bits, at| bits | 1 << at),
            phases: std::array::from_fn(|cell| {
                std::array::from_fn(|lane| phase((8 * cell + lane) as u64))
            }),
        }
    }
}

/// Writes what is known about 16 primes, of which each lane has two, for starts that are reduced in `steps` - 1 digits.
fn set_group(cells: &mut [Cell], primes: &[u64], steps: usize) {
    let inverse = |odd: u64| inverse_word(odd).wrapping_neg() & DIGIT_MASK;
    let (first, second) = primes.split_at(8);
    for lane in 0..8 {
        let product = first[lane] * second[lane];
        cells[0][lane] = product;
        cells[1][lane] = inverse(product);
        for (which, prime) in [first[lane], second[lane]].into_iter().enumerate() {
            // The residue comes out over 2^52 for each step: x + 2 i = 0 for i = -x / 2.
            let half = power_of_two(DIGIT_BITS * steps - 1, prime);
            cells[2 + 3 * which][lane] = prime;
            cells[3 + 3 * which][lane] = inverse(prime);
            cells[4 + 3 * which][lane] = prime - half;
        }
    }
}

/// 2^exponent mod a small prime.
fn power_of_two(exponent: usize, prime: u64) -> u64 {
    (0..usize::BITS - exponent.leading_zeros())
        .rev()
        .fold(1, |power, bit| {
            let square = power * power % prime;
            (square << (exponent >> bit & 1)) % prime
        })
}

/// A start to be sieved.
pub(crate) struct Crossing<'a> {
    sieve: &'a Sieve,
    /// The start, in digits of 52 bits.
    digits: &'a [u64],
    /// All zero.
    marks: &'a mut [Cell],
}

/// Marks the odd numbers that have a small factor.
pub(crate) fn cross<V: Lanes>(token: V::Token, crossing: Crossing<'_>) {
    match crossing.marks.len() {
        2 => V::run(token, Cross::<2>(crossing)),
        _ => V::run(token, Cross::<MAX_CELLS>(crossing)),
    }
}

/// [`cross`] with CELLS vectors of marks.
struct Cross<'a, const CELLS: usize>(Crossing<'a>);

impl<const CELLS: usize> Work for Cross<'_, CELLS> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Crossing {
            sieve,
            digits,
            marks,
        } = self.0;
        let groups: &[Cell] = sieve.groups.as_chunks().0;
        let (first, groups) = groups.split_at(GROUP_CELLS);
        let mut map = [V::splat(token, 0); CELLS];
        // The place of each word among all.
        let mut words = map;
        for (cell, words) in words.iter_mut().enumerate() {
            let places = std::array::from_fn(|lane| (8 * cell + lane) as u64);
            *words = V::load(token, &places);
        }
        let [residue] = residues::<V, 1>(token, first, digits);
        let mut offsets = [[0; 8]; 2];
        for (which, offsets) in offsets.iter_mut().enumerate() {
            offset(token, residue, first, which).store(offsets);
        }
        for (small, &offset) in sieve.small.iter().zip(offsets.as_flattened()) {
            let (offset, prime) = (V::splat(token, offset), V::splat(token, small.value));
            let pattern = V::splat(token, small.pattern);
            for (map, phase) in map.iter_mut().zip(&small.phases) {
                let shift = offset.add(V::load(token, phase));
                let shift = shift.min(shift.sub(prime));
                *map = map.or(pattern.shift_left(shift));
            }
        }
        let mut rest = groups;
        for run in &sieve.runs {
            let blocks;
            (blocks, rest) = rest.split_at(run.blocks * BLOCK * GROUP_CELLS);
            for block in blocks.chunks_exact(BLOCK * GROUP_CELLS) {
                match run.hits {
                    1 => mark::<V, CELLS>(token, &mut map, &words, block, digits, 1),
                    hits => mark::<V, CELLS>(token, &mut map, &words, block, digits, hits),
                }
            }
        }
        for (map, marks) in map.into_iter().zip(marks) {
            map.store(marks);
        }
    }
}

/// Marks what the primes of a block divide, each of which has at most `hits` multiples in the stretch.
#[inline(always)]
fn mark<V: Lanes, const CELLS: usize>(
    token: V::Token,
    map: &mut [V; CELLS],
    words: &[V; CELLS],
    block: &[Cell],
    digits: &[u64],
    hits: usize,
) {
    let one = V::splat(token, 1);
    let within = V::splat(token, LIMB_BITS as u64 - 1);
    let residues = residues::<V, BLOCK>(token, block, digits);
    for (group, &residue) in residues.iter().enumerate() {
        let cells = &block[group * GROUP_CELLS..][..GROUP_CELLS];
        for which in 0..2 {
            let mut place = offset(token, residue, cells, which);
            for hit in 0..hits {
                if hit > 0 {
                    place = place.add(V::load(token, &cells[2 + 3 * which]));
                }
                // For each of eight primes the word that its multiple is in, and its bit there ...
                let (mut word, mut bit) = ([0; 8], [0; 8]);
                place
                    .shift_right::<{ LIMB_BITS.ilog2() }>()
                    .store(&mut word);
                one.shift_left(place.and(within)).store(&mut bit);
                // ... which goes into all words that are this one.
                for (&word, &bit) in word.iter().zip(&bit) {
                    let (word, bit) = (V::splat(token, word), V::splat(token, bit));
                    for (map, &here) in map.iter_mut().zip(words) {
                        *map = map.merge(map.or(bit), here.equal(word));
                    }
                }
            }
        }
    }
}

/// The start over 2^52 for each of its digits, modulo the products of GROUPS groups, less than two above them: digits are
/// cleared from the low end (Jebelean, "An algorithm for exact division", 1993), all products beside each other.
#[inline(always)]
fn residues<V: Lanes, const GROUPS: usize>(
    token: V::Token,
    cells: &[Cell],
    digits: &[u64],
) -> [V; GROUPS] {
    let zero = V::splat(token, 0);
    let mask = V::splat(token, DIGIT_MASK);
    let mut products = [zero; GROUPS];
    let mut inverses = [zero; GROUPS];
    for group in 0..GROUPS {
        products[group] = V::load(token, &cells[group * GROUP_CELLS]);
        inverses[group] = V::load(token, &cells[group * GROUP_CELLS + 1]);
    }
    let mut rests = [zero; GROUPS];
    for &digit in digits {
        let digit = V::splat(token, digit);
        for group in 0..GROUPS {
            let sum = rests[group].add(digit);
            let q = zero.add_low(sum, inverses[group]);
            // What q times the product makes zero carries 1 unless it was zero before.
            rests[group] = sum
                .add(mask)
                .shift_right_digit()
                .add_high(q, products[group]);
        }
    }
    rests
}

/// The place of the first multiple of each lane's first or second prime.
#[inline(always)]
fn offset<V: Lanes>(token: V::Token, residue: V, cells: &[Cell], which: usize) -> V {
    let zero = V::splat(token, 0);
    let cell = |index: usize| V::load(token, &cells[2 + 3 * which + index]);
    let (prime, inverse, factor) = (cell(0), cell(1), cell(2));
    let (low, high) = (
        zero.add_low(residue, factor),
        zero.add_high(residue, factor),
    );
    let q = zero.add_low(low, inverse);
    let place = low
        .add(V::splat(token, DIGIT_MASK))
        .shift_right_digit()
        .add(high)
        .add_high(q, prime);
    // Below twice the prime.
    place.min(place.sub(prime))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use crate::model::any_modulus;
    use num_bigint::BigUint;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    /// Starts that leave room for the stretch.
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
        let mut found: Vec<u64> = (0..zeros)
            .map(|rank| take(&mut marks.to_vec(), rank))
            .collect();
        found.dedup();
        let expected = [64, 69, 71].into_iter().chain(128..192).chain([255]);
        assert_eq!(found, expected.collect::<Vec<_>>());
    }

    #[test]
    fn powers_of_two() {
        for (exponent, prime) in [(0, 3), (1, 3), (10, 1009), (1091, 524_287), (52, 61)] {
            let expected = BigUint::from(2u8).modpow(&exponent.into(), &prime.into());
            let found = power_of_two(exponent, prime);
            assert_eq!(BigUint::from(found), expected, "{exponent} {prime}");
        }
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

//! The marks of a sieve: which odd numbers from a start on have a small factor, found in registers.
//!
//! ```text
//! residue of the start    modulo the products of two primes, from its 52-bit digits        16 primes a group, 8 groups a block
//! place of each prime     residue * factor mod prime: where its first multiple is
//! mark                    the bit of each place goes into all words; the word it belongs to takes it
//! ```

use super::odd_primes::odd_primes;
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK, Lanes, Vec8, Work};
use crate::limbs::LIMB_BITS;
use crate::limbs::aligned::Aligned;
use crate::limbs::modulus::inverse_word;

/// The primes to sieve with, for starts of one length, as the marking takes them.
pub(crate) struct Primes {
    vecs: usize,
    small: Vec<SmallPrime>,
    /// [`GROUP_VECS`] vecs for each group of 16 primes, in ascending order.
    groups: Aligned,
    /// The groups after the first, in blocks.
    runs: Vec<Run>,
}

/// Blocks of groups one after the other, whose primes may have as many multiples in the interval.
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
    phases: [Vec8; MAX_VECS],
}

/// Vectors of marks at most, and so vectors that they are held in.
const MAX_VECS: usize = 4;
/// Odd numbers that a vec has marks for.
const VEC_SPAN: usize = 8 * LIMB_BITS;
/// Small primes: all below 61, two for each lane.
const SMALL: usize = 16;
/// Primes of a group, two for each lane.
const GROUP: usize = 16;
/// Vectors of a group: for the product of each lane's two primes, itself and -1 / itself mod 2^52; for each of the
/// primes that, and what takes a residue of the start to the place of the first multiple.
const GROUP_VECS: usize = 8;
/// Groups whose residues are taken interleaved, so that none waits.
const BLOCK: usize = 8;

/// Primes below this are sieved with, for candidates of `bits` bits: the more a test costs, the more it pays to save
/// one.
pub(super) fn bound(bits: usize) -> u64 {
    match bits {
        0..=384 => 1 << 14,
        385..=512 => 1 << 16,
        513..=768 => 1 << 17,
        769..=1024 => 1 << 19,
        _ => 1 << 20,
    }
}

impl Primes {
    /// For starts of exactly `bits` bits.
    pub(super) fn new(bits: usize) -> Self {
        let vecs = if bits <= 1024 { 2 } else { MAX_VECS };
        let steps = bits.div_ceil(DIGIT_BITS) + 1;
        let mut primes: Vec<u64> = odd_primes(bound(bits)).collect();
        // The last ones are taken again where a block is not full.
        let rest = primes[SMALL..].len().next_multiple_of(BLOCK * GROUP) - primes[SMALL..].len();
        primes.extend_from_within(primes.len() - rest..);
        let (small, large) = primes.split_at(SMALL);
        let mut groups = Aligned::zero(8 * GROUP_VECS * (large.len() / GROUP + 1));
        let memory = groups.as_chunks_mut::<8>().0.chunks_mut(GROUP_VECS);
        let all = std::iter::once(small).chain(large.chunks(GROUP));
        for (vecs, primes) in memory.zip(all) {
            set_group(vecs, primes, steps);
        }
        Self {
            vecs,
            small: small.iter().map(|&value| SmallPrime::new(value)).collect(),
            groups,
            runs: large
                .chunks(BLOCK * GROUP)
                .map(|block| (vecs * VEC_SPAN).div_ceil(block[0] as usize))
                .collect::<Vec<_>>()
                .chunk_by(|one, next| one == next)
                .map(|run| Run {
                    blocks: run.len(),
                    hits: run[0],
                })
                .collect(),
        }
    }

    /// Vectors of marks.
    pub(super) fn vectors(&self) -> usize {
        self.vecs
    }

    /// Odd numbers that are marked from each start on.
    pub(super) fn span(&self) -> usize {
        self.vecs * VEC_SPAN
    }
}

impl SmallPrime {
    fn new(value: u64) -> Self {
        let phase = |word: u64| (value - 64 * word % value) % value;
        Self {
            value,
            pattern: (0..64).step_by(value as usize).fold(0, |bits, at| bits | 1 << at),
            phases: std::array::from_fn(|vec| std::array::from_fn(|lane| phase((8 * vec + lane) as u64))),
        }
    }
}

/// Writes what is known about 16 primes, of which each lane has two, for starts that are reduced in `steps` - 1 digits.
fn set_group(vecs: &mut [Vec8], primes: &[u64], steps: usize) {
    let inverse = |odd: u64| inverse_word(odd).wrapping_neg() & DIGIT_MASK;
    let (first, second) = primes.split_at(8);
    for lane in 0..8 {
        let product = first[lane] * second[lane];
        vecs[0][lane] = product;
        vecs[1][lane] = inverse(product);
        for (which, prime) in [first[lane], second[lane]].into_iter().enumerate() {
            // The residue comes out over 2^52 for each step: x + 2 i = 0 for i = -x / 2.
            let half = power_of_two(DIGIT_BITS * steps - 1, prime);
            vecs[2 + 3 * which][lane] = prime;
            vecs[3 + 3 * which][lane] = inverse(prime);
            vecs[4 + 3 * which][lane] = prime - half;
        }
    }
}

/// 2^exponent mod a small prime.
fn power_of_two(exponent: usize, prime: u64) -> u64 {
    (0..usize::BITS - exponent.leading_zeros()).rev().fold(1, |power, bit| {
        let square = power * power % prime;
        (square << (exponent >> bit & 1)) % prime
    })
}

/// A start to be sieved.
pub(crate) struct Crossing<'a> {
    pub(super) primes: &'a Primes,
    /// The start, in digits of 52 bits.
    pub(super) digits: &'a [u64],
    /// All zero.
    pub(super) marks: &'a mut [Vec8],
}

/// Marks the odd numbers that have a small factor.
pub(crate) fn cross<V: Lanes>(token: V::Token, crossing: Crossing<'_>) {
    match crossing.marks.len() {
        2 => V::run(token, Cross::<2>(crossing)),
        _ => V::run(token, Cross::<MAX_VECS>(crossing)),
    }
}

/// [`cross`] with VECS vectors of marks.
struct Cross<'a, const VECS: usize>(Crossing<'a>);

impl<const VECS: usize> Work for Cross<'_, VECS> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Crossing { primes, digits, marks } = self.0;
        let groups: &[Vec8] = primes.groups.as_chunks().0;
        let (first, groups) = groups.split_at(GROUP_VECS);
        let mut map = [V::splat(token, 0); VECS];
        // The place of each word among all.
        let mut words = map;
        for (vec, words) in words.iter_mut().enumerate() {
            let places = std::array::from_fn(|lane| (8 * vec + lane) as u64);
            *words = V::load(token, &places);
        }
        let [residue] = residues::<V, 1>(token, first, digits);
        let mut offsets = [[0; 8]; 2];
        for (which, offsets) in offsets.iter_mut().enumerate() {
            offset(token, residue, first, which).store(offsets);
        }
        for (small, &offset) in primes.small.iter().zip(offsets.as_flattened()) {
            let (offset, prime) = (V::splat(token, offset), V::splat(token, small.value));
            let pattern = V::splat(token, small.pattern);
            for (map, phase) in map.iter_mut().zip(&small.phases) {
                let shift = offset.add(V::load(token, phase));
                let shift = shift.min(shift.sub(prime));
                *map = map.or(pattern.shift_left(shift));
            }
        }
        let mut rest = groups;
        for run in &primes.runs {
            let blocks;
            (blocks, rest) = rest.split_at(run.blocks * BLOCK * GROUP_VECS);
            for block in blocks.chunks_exact(BLOCK * GROUP_VECS) {
                match run.hits {
                    1 => mark::<V, VECS>(token, &mut map, &words, block, digits, 1),
                    hits => mark::<V, VECS>(token, &mut map, &words, block, digits, hits),
                }
            }
        }
        for (map, marks) in map.into_iter().zip(marks) {
            map.store(marks);
        }
    }
}

/// Marks what the primes of a block divide, each of which has at most `hits` multiples in the interval.
#[inline(always)]
fn mark<V: Lanes, const VECS: usize>(
    token: V::Token,
    map: &mut [V; VECS],
    words: &[V; VECS],
    block: &[Vec8],
    digits: &[u64],
    hits: usize,
) {
    let one = V::splat(token, 1);
    let within = V::splat(token, LIMB_BITS as u64 - 1);
    let residues = residues::<V, BLOCK>(token, block, digits);
    for (group, &residue) in residues.iter().enumerate() {
        let vecs = &block[group * GROUP_VECS..][..GROUP_VECS];
        for which in 0..2 {
            let mut place = offset(token, residue, vecs, which);
            for hit in 0..hits {
                if hit > 0 {
                    place = place.add(V::load(token, &vecs[2 + 3 * which]));
                }
                // For each of eight primes the word that its multiple is in, and its bit there ...
                let (mut word, mut bit) = ([0; 8], [0; 8]);
                place.shift_right::<{ LIMB_BITS.ilog2() }>().store(&mut word);
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

/// The start over 2^52 for each of its digits, modulo the products of GROUPS groups, less than two above them: digits
/// are cleared from the low end (Jebelean, "An algorithm for exact division", 1993), all products interleaved.
#[inline(always)]
fn residues<V: Lanes, const GROUPS: usize>(token: V::Token, vecs: &[Vec8], digits: &[u64]) -> [V; GROUPS] {
    let zero = V::splat(token, 0);
    let mask = V::splat(token, DIGIT_MASK);
    let mut products = [zero; GROUPS];
    let mut inverses = [zero; GROUPS];
    for group in 0..GROUPS {
        products[group] = V::load(token, &vecs[group * GROUP_VECS]);
        inverses[group] = V::load(token, &vecs[group * GROUP_VECS + 1]);
    }
    let mut rests = [zero; GROUPS];
    for &digit in digits {
        let digit = V::splat(token, digit);
        for group in 0..GROUPS {
            let sum = rests[group].add(digit);
            let q = zero.add_low(sum, inverses[group]);
            // What q times the product makes zero carries 1 unless it was zero before.
            rests[group] = sum.add(mask).shift_right_digit().add_high(q, products[group]);
        }
    }
    rests
}

/// The place of the first multiple of each lane's first or second prime.
#[inline(always)]
fn offset<V: Lanes>(token: V::Token, residue: V, vecs: &[Vec8], which: usize) -> V {
    let zero = V::splat(token, 0);
    let vec = |index: usize| V::load(token, &vecs[2 + 3 * which + index]);
    let (prime, inverse, factor) = (vec(0), vec(1), vec(2));
    let (low, high) = (zero.add_low(residue, factor), zero.add_high(residue, factor));
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
    use num_bigint::BigUint;

    #[test]
    fn powers_of_two() {
        for (exponent, prime) in [(0, 3), (1, 3), (10, 1009), (1091, 524_287), (52, 61)] {
            let expected = BigUint::from(2u8).modpow(&exponent.into(), &prime.into());
            let found = power_of_two(exponent, prime);
            assert_eq!(BigUint::from(found), expected, "{exponent} {prime}");
        }
    }
}

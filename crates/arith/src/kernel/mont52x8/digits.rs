//! The digits of one lane.

use crate::kernel::digits52;
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK, Vec8};

/// Puts a number into one lane.
pub(super) fn put(vecs: &mut [Vec8], lane: usize, limbs: &[u64]) {
    digits52::put(vecs.iter_mut().map(|vec| &mut vec[lane]), limbs);
}

/// Bytes of two digits.
const PAIR: usize = 2 * DIGIT_BITS / 8;

/// Puts a big-endian number into one lane: two digits are 13 bytes, each of them within eight.
pub(super) fn put_bytes(vecs: &mut [Vec8], lane: usize, bytes: &[u8]) {
    let (first, pairs) = bytes.as_rchunks::<PAIR>();
    let (low, high) = vecs.split_at_mut(2 * pairs.len());
    put_pairs(low, lane, pairs);
    let mut digits = first_digits(bytes, first.len()).into_iter();
    for vec in high {
        vec[lane] = digits.next().unwrap_or(0);
    }
}

/// [`put_bytes`] where all but the last `changed` bytes are in the lane already.
pub(super) fn put_ending(vecs: &mut [Vec8], lane: usize, bytes: &[u8], changed: usize) {
    let (_, pairs) = bytes.as_rchunks::<PAIR>();
    match pairs.len().checked_sub(changed.div_ceil(PAIR)) {
        Some(unchanged) => put_pairs(vecs, lane, &pairs[unchanged..]),
        None => put_bytes(vecs, lane, bytes),
    }
}

/// Puts pairs of digits, the highest first, into the lowest digits.
#[inline]
fn put_pairs(vecs: &mut [Vec8], lane: usize, pairs: &[[u8; PAIR]]) {
    let (vecs, _) = vecs.as_chunks_mut::<2>();
    for (vecs, pair) in vecs.iter_mut().zip(pairs.iter().rev()) {
        let digits = digits_of(pair);
        (vecs[0][lane], vecs[1][lane]) = (digits[0], digits[1]);
    }
}

/// The digits of the first `len` bytes, fewer than a pair has, the lowest first.
#[inline]
fn first_digits(bytes: &[u8], len: usize) -> [u64; 2] {
    let bits = 8 * len;
    // Eight bytes; of fewer, as if zeros followed.
    let word = |bytes: &[u8]| match bytes.first_chunk() {
        Some(word) => u64::from_be_bytes(*word),
        None => (0..8).fold(0, |word, at| word << 8 | u64::from(*bytes.get(at).unwrap_or(&0))),
    };
    let beginning = |bits: usize| word(bytes).checked_shr(64 - bits as u32).unwrap_or(0);
    let low = match len.checked_sub(8) {
        Some(before) => word(&bytes[before..]),
        None => beginning(bits),
    };
    [low & DIGIT_MASK, beginning(bits.saturating_sub(DIGIT_BITS))]
}

/// The digits of a pair, the lowest first.
#[inline]
fn digits_of(pair: &[u8; PAIR]) -> [u64; 2] {
    let word = |bytes: Option<&[u8; 8]>| u64::from_be_bytes(*bytes.expect("a pair has more"));
    [
        word(pair.last_chunk()) & DIGIT_MASK,
        word(pair.first_chunk()) >> (u64::BITS as usize - DIGIT_BITS),
    ]
}

/// Takes a number of one lane out, big-endian: the opposite of [`put_bytes`]. Returns what lies above the bytes,
/// up to 2^64.
pub(super) fn take_bytes(vecs: &[Vec8], lane: usize, bytes: &mut [u8]) -> u64 {
    let (first, pairs) = bytes.as_rchunks_mut::<PAIR>();
    let (low, high) = vecs.split_at(2 * pairs.len());
    let (low, _) = low.as_chunks::<2>();
    for (vecs, pair) in low.iter().zip(pairs.iter_mut().rev()) {
        *pair = pair_of([vecs[0][lane], vecs[1][lane]]);
    }
    let mut high = high.iter().map(|vec| vec[lane]);
    let rest = pair_of([high.next().unwrap_or(0), high.next().unwrap_or(0)]);
    let (above, rest) = rest.split_at(PAIR - first.len());
    first.copy_from_slice(rest);
    let bits = 8 * above.len() as u32;
    let above = above.iter().fold(0, |above, &byte| above << 8 | u64::from(byte));
    above | high.next().unwrap_or(0).checked_shl(bits).unwrap_or(0)
}

/// Two digits, the lowest first, as the bytes of a pair: each of these is in eight bytes.
#[inline]
fn pair_of([low, high]: [u64; 2]) -> [u8; PAIR] {
    /// Bits below the first eight bytes.
    const BELOW: usize = 8 * PAIR - 64;
    let mut pair = [0; PAIR];
    pair[..8].copy_from_slice(&(high << (DIGIT_BITS - BELOW) | low >> BELOW).to_be_bytes());
    pair[PAIR - 8..].copy_from_slice(&(high << DIGIT_BITS | low).to_be_bytes());
    pair
}

/// Takes the number of one lane out; returns what lies above the limbs, up to 2^64.
pub(super) fn take(vecs: &[Vec8], lane: usize, limbs: &mut [u64]) -> u64 {
    digits52::take(vecs.iter().map(|vec| vec[lane]), limbs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs::words;

    /// Numbers without a zero byte, so that a digit that takes too much or too little differs.
    #[test]
    fn bytes_of_every_length_are_the_digits_of_their_limbs() {
        for len in 0..=5 * PAIR {
            let bytes: Vec<u8> = (0..len).map(|place| (place * 37 % 255 + 1) as u8).collect();
            let mut limbs = vec![0; len.div_ceil(8)];
            words::read_be(&mut limbs, &bytes);
            let (mut expected, mut vecs) = (vec![[7; 8]; 12], vec![[7; 8]; 12]);
            put(&mut expected, 3, &limbs);
            put_bytes(&mut vecs, 3, &bytes);
            assert_eq!(vecs, expected, "{len} bytes");
            for changed in 0..=len {
                let mut other = bytes.clone();
                other[len - changed..].iter_mut().for_each(|byte| *byte ^= 0xff);
                put_bytes(&mut vecs, 3, &other);
                put_ending(&mut vecs, 3, &bytes, changed);
                assert_eq!(vecs, expected, "{changed} of {len} bytes");
            }
            let mut back = vec![0xa5; len];
            assert_eq!(take_bytes(&vecs, 3, &mut back), 0);
            assert_eq!(back, bytes);
        }
    }
}

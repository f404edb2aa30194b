//! Between 64-bit limbs, one number after another, and 52-bit digits, eight numbers at once.

use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK, Vec8};
use crate::limbs::LIMB_BITS;

/// Puts a number into one lane.
pub(super) fn put(vecs: &mut [Vec8], lane: usize, limbs: &[u64]) {
    let mut limbs = limbs.iter();
    let mut pending: u128 = 0;
    let mut bits = 0;
    for vec in vecs {
        if bits < DIGIT_BITS {
            pending |= u128::from(limbs.next().copied().unwrap_or(0)) << bits;
            bits += LIMB_BITS;
        }
        vec[lane] = pending as u64 & DIGIT_MASK;
        pending >>= DIGIT_BITS;
        bits -= DIGIT_BITS;
    }
}

/// Takes the number of one lane out; returns what lies above the limbs, up to 2^64.
pub(super) fn take(vecs: &[Vec8], lane: usize, limbs: &mut [u64]) -> u64 {
    let mut digits = vecs.iter().map(|vec| vec[lane]);
    let mut pending: u128 = 0;
    let mut bits = 0;
    for limb in limbs {
        while bits < LIMB_BITS {
            pending |= u128::from(digits.next().unwrap_or(0)) << bits;
            bits += DIGIT_BITS;
        }
        *limb = pending as u64;
        pending >>= LIMB_BITS;
        bits -= LIMB_BITS;
    }
    pending |= u128::from(digits.next().unwrap_or(0)) << bits;
    pending as u64
}

//! Between 64-bit limbs and 52-bit digits of one number, wherever its digits lie.

use super::lanes::{DIGIT_BITS, DIGIT_MASK};
use crate::limbs::LIMB_BITS;

/// Puts a number into digits, the lowest first; what is left of them becomes zero.
#[inline]
pub(super) fn put<'a>(digits: impl Iterator<Item = &'a mut u64>, limbs: &[u64]) {
    let mut limbs = limbs.iter();
    let mut pending: u128 = 0;
    let mut bits = 0;
    for digit in digits {
        if bits < DIGIT_BITS {
            pending |= u128::from(limbs.next().copied().unwrap_or(0)) << bits;
            bits += LIMB_BITS;
        }
        *digit = pending as u64 & DIGIT_MASK;
        pending >>= DIGIT_BITS;
        bits -= DIGIT_BITS;
    }
}

/// Takes the number of digits out; returns what lies above the limbs, up to 2^64.
#[inline]
pub(super) fn take(mut digits: impl Iterator<Item = u64>, limbs: &mut [u64]) -> u64 {
    let mut next = || u128::from(digits.next().unwrap_or(0));
    let mut pending: u128 = 0;
    let mut bits = 0;
    for limb in limbs {
        while bits < LIMB_BITS {
            pending |= next() << bits;
            bits += DIGIT_BITS;
        }
        *limb = pending as u64;
        pending >>= LIMB_BITS;
        bits -= LIMB_BITS;
    }
    (pending | next() << bits) as u64
}

//! Between 64-bit limbs, one number after another, and 52-bit digits, eight numbers side by side.

use crate::kernel::lanes::{Cell, DIGIT_BITS, DIGIT_MASK};
use crate::limbs::LIMB_BITS;

/// Puts a number into one lane.
pub(super) fn put(cells: &mut [Cell], lane: usize, limbs: &[u64]) {
    for (j, cell) in cells.iter_mut().enumerate() {
        let bit = j * DIGIT_BITS;
        let limb = |i: usize| limbs.get(i).copied().unwrap_or(0);
        let pair =
            u128::from(limb(bit / LIMB_BITS)) | u128::from(limb(bit / LIMB_BITS + 1)) << LIMB_BITS;
        cell[lane] = (pair >> (bit % LIMB_BITS)) as u64 & DIGIT_MASK;
    }
}

/// Takes the number of one lane out; returns what lies above the limbs, up to 2^64.
pub(super) fn take(cells: &[Cell], lane: usize, limbs: &mut [u64]) -> u64 {
    let mut digits = cells.iter().map(|cell| cell[lane]);
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

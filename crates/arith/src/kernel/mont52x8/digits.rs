//! The digits of one lane.

use crate::kernel::digits52;
use crate::kernel::lanes::Vec8;

/// Puts a number into one lane.
pub(super) fn put(vecs: &mut [Vec8], lane: usize, limbs: &[u64]) {
    digits52::put(vecs.iter_mut().map(|vec| &mut vec[lane]), limbs);
}

/// Takes the number of one lane out; returns what lies above the limbs, up to 2^64.
pub(super) fn take(vecs: &[Vec8], lane: usize, limbs: &mut [u64]) -> u64 {
    digits52::take(vecs.iter().map(|vec| vec[lane]), limbs)
}

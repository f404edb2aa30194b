//! Numbers in memory: quads of four digits, those of N numbers side by side.

use crate::kernel::lanes::DIGIT_BITS;
use crate::limbs::LIMB_BITS;

/// Digits of a quad.
pub(crate) const DIGITS: usize = 4;

/// A quad of each number, in memory.
pub(crate) type Words<const N: usize> = [[u64; DIGITS]; N];

/// A quad of a factor as it lies against the columns for each of four digits of the other factor: moved up by 0, 1, 2
/// and 3 digits, and filled from the quad below.
pub(crate) type Shifted<const N: usize> = [Words<N>; DIGITS];

/// Bits of a quad.
pub(super) const QUAD_BITS: usize = DIGITS * DIGIT_BITS;

/// Quads of a number that has `limbs` limbs: R is at least 16 n.
pub(super) fn quads(limbs: usize) -> usize {
    (limbs * LIMB_BITS + 4).div_ceil(QUAD_BITS)
}

#[inline(always)]
pub(super) fn quads_of<const N: usize>(words: &[u64]) -> &[Words<N>] {
    words.as_chunks().0.as_chunks().0
}

#[inline(always)]
pub(super) fn quads_mut<const N: usize>(words: &mut [u64]) -> &mut [Words<N>] {
    words.as_chunks_mut().0.as_chunks_mut().0
}

#[inline(always)]
pub(super) fn shifted_of<const N: usize>(words: &[u64]) -> &[Shifted<N>] {
    quads_of(words).as_chunks().0
}

/// The digits of one number, the lowest first.
pub(super) fn digits_of<const N: usize>(words: &[u64], lane: usize) -> impl Iterator<Item = u64> {
    quads_of::<N>(words).iter().flat_map(move |quad| quad[lane])
}

/// The digits of one number, the lowest first.
pub(super) fn digits_mut<const N: usize>(words: &mut [u64], lane: usize) -> impl Iterator<Item = &mut u64> {
    let quads = quads_mut::<N>(words).iter_mut();
    quads.flat_map(move |quad| quad[lane].iter_mut())
}

pub(super) fn copy_digits<const N: usize>(to: &mut [u64], lane: usize, other: &[u64], from: usize) {
    for (to, other) in quads_mut::<N>(to).iter_mut().zip(quads_of::<N>(other)) {
        to[lane] = other[from];
    }
}

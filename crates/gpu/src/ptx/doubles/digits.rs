//! Digits of 52 bits, and the exponents that doubles have.

/// Bits of a digit.
pub(super) const DIGIT: usize = 52;

/// 2⁵², and the exponent that it shares with all doubles below 2⁵³ that are not below it.
pub(super) const LOW: u64 = 0x4330_0000_0000_0000;
/// 2¹⁰⁴.
pub(super) const HIGH: u64 = 0x4670_0000_0000_0000;
/// 2¹⁰⁴ + 2⁵².
pub(super) const BOTH: u64 = HIGH + 1;

/// Digits of a number of so many limbs.
pub(super) fn digits_for(limbs: usize) -> usize {
    (32 * limbs).div_ceil(DIGIT)
}

//! Reduction, exact division, and shifts by secret amounts, in constant time.

use crate::limbs::modulus::inverse_word;
use crate::limbs::{Nat, words};
use subtle::Choice;

/// a mod m, in as many limbs as m, for any m > 0.
///
/// Long division (Knuth, volume 2, algorithm D) of a 2^s by m 2^s, where s brings the highest bit of m to the top; s is
/// secret too. A quotient digit is estimated from the highest limb, at most two too large, and put right under masks.
pub(super) fn modulo(a: &[u64], m: &[u64]) -> Nat {
    let limbs = m.len();
    let shift = leading_zeros(m);
    let mut divisor = Nat::from_limbs(m);
    shift_left(&mut divisor, shift);
    let mut dividend = Nat::zero(a.len() + limbs);
    dividend[..a.len()].copy_from_slice(a);
    shift_left(&mut dividend, shift);
    let top = Reciprocal::new(divisor[limbs - 1]);
    // The remainder so far, with room for the next limb.
    let mut rest = Nat::zero(limbs + 1);
    for &limb in dividend.iter().rev() {
        rest.copy_within(..limbs, 1);
        rest[0] = limb;
        let digit = top.quotient(rest[limbs], rest[limbs - 1]);
        let mut borrow = 0;
        for (rest, &divisor) in rest.iter_mut().zip(divisor.iter().chain([&0])) {
            let (low, high) = words::mac(digit, divisor, borrow, 0);
            let (difference, under) = words::sbb(*rest, low, false);
            *rest = difference;
            borrow = high + u64::from(under);
        }
        for _ in 0..2 {
            // Negative: its highest limb is all ones.
            let negative = Choice::from((rest[limbs] >> 63) as u8);
            let (low, high) = rest.split_at_mut(limbs);
            let carry = words::add_if(low, &divisor, negative);
            words::add_carry(high, carry);
        }
    }
    let mut remainder = rest.resized(limbs);
    shift_right(&mut remainder, shift);
    remainder
}

/// Zero bits above the highest one; all bits for zero.
fn leading_zeros(a: &[u64]) -> u64 {
    let (mut zeros, mut counting) = (0, u64::MAX);
    for &limb in a.iter().rev() {
        zeros += u64::from(limb.leading_zeros()) & counting;
        counting &= words::mask(words::is_zero(&[limb]));
    }
    zeros
}

/// Divides two limbs by one whose highest bit is set: the reciprocal is found once (Möller and Granlund, "Improved
/// division by invariant integers", 2011, algorithm 4).
struct Reciprocal {
    divisor: u64,
    /// (2^128 - 1) / divisor - 2^64.
    value: u64,
}

impl Reciprocal {
    fn new(divisor: u64) -> Self {
        // 2^128 - 1 - 2^64 divisor, whose high limb is below the divisor, by it, bit by bit.
        let (mut high, mut low) = (!divisor, u64::MAX);
        let mut value = 0;
        for _ in 0..64 {
            let out = words::mask(Choice::from((high >> 63) as u8));
            high = high << 1 | low >> 63;
            low <<= 1;
            let (difference, under) = words::sbb(high, divisor, false);
            let fits = out | !words::mask(Choice::from(u8::from(under)));
            high ^= fits & (high ^ difference);
            value = value << 1 | fits & 1;
        }
        Self { divisor, value }
    }

    /// The quotient of `high` 2^64 + `low`, or all ones where it does not fit, for `high` up to the divisor.
    fn quotient(&self, high: u64, low: u64) -> u64 {
        let less = |a: u64, b: u64| words::mask(Choice::from(u8::from(words::sbb(a, b, false).1)));
        let fits = less(high, self.divisor);
        let (fraction, quotient) = words::mac(self.value, high, low, 0);
        let mut quotient = quotient.wrapping_add(high).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.divisor));
        let is_large = less(fraction, rest);
        quotient = quotient.wrapping_add(is_large);
        rest = rest.wrapping_add(self.divisor & is_large);
        quotient = quotient.wrapping_sub(!less(rest, self.divisor));
        quotient | !fits
    }
}

/// a / b for an odd b that divides a, limb by limb from the bottom (Jebelean 1993).
pub(super) fn divide_exact(a: &[u64], b: &[u64]) -> Nat {
    let inverse = inverse_word(b[0]);
    let mut rest = Nat::from_limbs(a);
    let mut quotient = Nat::zero(a.len());
    for i in 0..a.len() {
        let digit = rest[i].wrapping_mul(inverse);
        quotient[i] = digit;
        let mut borrow = 0;
        for (j, rest) in rest[i..].iter_mut().enumerate() {
            let (low, high) = words::mac(digit, b.get(j).copied().unwrap_or(0), borrow, 0);
            let (difference, under) = words::sbb(*rest, low, false);
            *rest = difference;
            borrow = high + u64::from(under);
        }
    }
    debug_assert!(bool::from(words::is_zero(&rest)));
    quotient
}

/// Number of low zero bits; all of them for zero.
pub(crate) fn trailing_zeros(a: &[u64]) -> u64 {
    let (mut zeros, mut counting) = (0, 1);
    for i in 0..64 * a.len() {
        counting &= !words::bit(a, i) & 1;
        zeros += counting;
    }
    zeros
}

/// a = a / 2^shift, for a secret shift of at most 64 times the limbs: one masked shift for each of its bits.
pub(crate) fn shift_right(a: &mut [u64], shift: u64) {
    for bit in 0..=(64 * a.len()).ilog2() {
        shift_right_if(a, 1 << bit, Choice::from((shift >> bit & 1) as u8));
    }
}

/// a = a / 2^by if `choice`, for a public `by`.
pub(super) fn shift_right_if(a: &mut [u64], by: usize, choice: Choice) {
    let mask = words::mask(choice);
    for i in 0..a.len() {
        let limb = |j: usize| a.get(j).copied().unwrap_or(0);
        let pair = u128::from(limb(i + by / 64)) | u128::from(limb(i + by / 64 + 1)) << 64;
        a[i] ^= mask & (a[i] ^ (pair >> (by % 64)) as u64);
    }
}

/// a = a 2^shift, for a secret shift of at most 64 times the limbs; bits beyond the top are lost.
pub(super) fn shift_left(a: &mut [u64], shift: u64) {
    for bit in 0..=(64 * a.len()).ilog2() {
        let by = 1usize << bit;
        let mask = words::mask(Choice::from((shift >> bit & 1) as u8));
        for i in (0..a.len()).rev() {
            let limb = |below: usize| i.checked_sub(below).map_or(0, |j| a[j]);
            let pair = u128::from(limb(by / 64)) << 64 | u128::from(limb(by / 64 + 1));
            a[i] ^= mask & (a[i] ^ ((pair << (by % 64)) >> 64) as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{any_limbs, limbs, number, power_of_two};
    use num_bigint::BigUint;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn remainders((a, m) in (1usize..9, 1usize..5).prop_flat_map(|(a, m)| (any_limbs(a), any_limbs(m)))) {
            prop_assume!(number(&m) != BigUint::ZERO);
            let remainder = modulo(&a, &m);
            prop_assert_eq!((number(&remainder), remainder.len()), (number(&a) % number(&m), m.len()));
        }

        #[test]
        fn quotients((q, mut b) in (1usize..6, 1usize..6).prop_flat_map(|(q, b)| (any_limbs(q), any_limbs(b)))) {
            b[0] |= 1;
            let a = limbs(&(number(&q) * number(&b)), q.len() + b.len());
            prop_assert_eq!(number(&divide_exact(&a, &b)), number(&q));
        }

        #[test]
        fn shifts((a, shift) in (1usize..6).prop_flat_map(|len| (any_limbs(len), 0..=64 * len))) {
            let mut right = a.clone();
            shift_right(&mut right, shift as u64);
            prop_assert_eq!(number(&right), number(&a) >> shift);
            let mut left = a.clone();
            shift_left(&mut left, shift as u64);
            prop_assert_eq!(number(&left), (number(&a) << shift) % power_of_two(64 * a.len()));
        }

        #[test]
        fn zeros(a in (1usize..6).prop_flat_map(any_limbs)) {
            let expected = number(&a).trailing_zeros().unwrap_or(64 * a.len() as u64);
            prop_assert_eq!(trailing_zeros(&a), expected);
        }
    }
}

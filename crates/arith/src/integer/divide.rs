//! Reduction, exact division, and shifts by secret amounts, in constant time.

use crate::limbs::modulus::inverse_word;
use crate::limbs::{Nat, words};
use subtle::Choice;

/// a mod m, in as many limbs as m, for any m > 0: bits are shifted in from the top, one by one, subtracting m where it
/// fits. Slow, and plainly right; keys are made rarely.
pub(super) fn modulo(a: &[u64], m: &[u64]) -> Nat {
    let mut remainder = Nat::zero(m.len());
    for i in (0..64 * a.len()).rev() {
        words::shift_in_mod(&mut remainder, words::bit(a, i), m);
    }
    remainder
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

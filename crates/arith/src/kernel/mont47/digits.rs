//! Between 64-bit limbs and signed digits held as doubles, one number after another.

use super::form::Form;
use crate::limbs::{LIMB_BITS, words};
use subtle::Choice;

/// 1.5 · 2^52. A double between 2^52 and 2^53 has an integer in its low bits.
const INTEGER: f64 = 1.5 * (1u64 << 52) as f64;

/// The double of an integer below 2^51. No conversion is asked for, so that none can take a time that depends on the
/// number.
#[inline(always)]
fn to_double(integer: i64) -> f64 {
    f64::from_bits(INTEGER.to_bits().wrapping_add_signed(integer)) - INTEGER
}

/// The integer of a double below 2^51.
#[inline(always)]
fn to_integer(double: f64) -> i64 {
    (double + INTEGER)
        .to_bits()
        .wrapping_sub(INTEGER.to_bits())
        .cast_signed()
}

/// Puts a number mod R into digits, the lowest one first: they are between -2^(W - 1) and 2^(W - 1), so that the number
/// is at least -R/2 and below R/2.
pub(in crate::kernel) fn put<'a>(form: Form, digits: impl Iterator<Item = &'a mut u64>, limbs: &[u64]) {
    let width = form.width;
    let (mask, half) = ((1 << width) - 1, 1 << (width - 1));
    let mut limbs = limbs.iter();
    let mut pending: u128 = 0;
    let mut bits = 0;
    let mut carry = 0;
    for to in digits {
        if bits < width {
            pending |= u128::from(limbs.next().copied().unwrap_or(0)) << bits;
            bits += LIMB_BITS;
        }
        let digit = (pending as u64 & mask).cast_signed() + carry;
        carry = (digit + half) >> width;
        *to = to_double(digit - (carry << width)).to_bits();
        pending >>= width;
        bits -= width;
    }
}

/// Takes the number of these digits out, the lowest one first, in two's complement; returns what lies above the limbs,
/// with its sign.
fn take<'a>(form: Form, mut digits: impl Iterator<Item = &'a u64>, limbs: &mut [u64]) -> i64 {
    let width = form.width;
    let mask = (1 << width) - 1;
    let mut pending: u128 = 0;
    let mut bits = 0;
    let mut carry = 0;
    let mut next = || {
        let digit = digits.next().copied().unwrap_or(0);
        let sum = to_integer(f64::from_bits(digit)) + carry;
        carry = sum >> width;
        sum.cast_unsigned() & mask
    };
    for limb in limbs {
        while bits < LIMB_BITS {
            pending |= u128::from(next()) << bits;
            bits += width;
        }
        *limb = pending as u64;
        pending >>= LIMB_BITS;
        bits -= LIMB_BITS;
    }
    // Fewer than W + 5 bits of R are above the limbs, and some of them may be pending: with what is left of the digits
    // and a digit of nothing but sign there are 64.
    while bits < LIMB_BITS {
        pending |= u128::from(next()) << bits;
        bits += width;
    }
    (pending as u64).cast_signed()
}

/// [`take`] for a number above -2 n and below 2 n, reduced.
pub(in crate::kernel) fn take_reduced<'a>(
    form: Form,
    digits: impl Iterator<Item = &'a u64>,
    n: &[u64],
    limbs: &mut [u64],
) {
    let mut above = take(form, digits, limbs);
    for _ in 0..2 {
        let is_negative = Choice::from((above.cast_unsigned() >> 63) as u8);
        let carry = words::add_if(limbs, n, is_negative);
        above = above.wrapping_add(carry.unwrap_u8().into());
    }
    let over = !words::is_zero(&[above.cast_unsigned()]) | !words::is_less(limbs, n);
    words::sub_if(limbs, n, over);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_doubles_and_back() {
        for integer in [0, 1, -1, 1 << 46, -(1 << 46), (1 << 51) - 1, -(1 << 51)] {
            assert_eq!(to_double(integer), integer as f64);
            assert_eq!(to_integer(to_double(integer)), integer);
        }
    }

    #[test]
    fn numbers_of_either_sign_come_back() {
        for limbs in [1, 2, 8, 13, 16, 24, 48, 64, 128] {
            let form = Form::new(limbs);
            let mut digits = vec![0; form.digits];
            for number in [
                vec![0; limbs],
                vec![u64::MAX; limbs],
                vec![0x8000_0000_0000_0000; limbs],
                (0..limbs as u64).collect(),
            ]
            .iter()
            {
                put(form, digits.iter_mut(), number);
                let mut back = vec![7; limbs];
                assert_eq!(take(form, digits.iter(), &mut back), 0);
                assert_eq!(back, *number);
                // Its negative has the negative digits.
                for digit in &mut digits {
                    *digit = (-f64::from_bits(*digit)).to_bits();
                }
                let above = take(form, digits.iter(), &mut back);
                let is_zero = number.iter().all(|&limb| limb == 0);
                assert_eq!(above, if is_zero { 0 } else { -1 });
                let mut carry = true;
                for (back, &limb) in back.iter().zip(number) {
                    let (negated, over) = (!limb).overflowing_add(u64::from(carry));
                    carry = over;
                    assert_eq!(*back, negated);
                }
            }
        }
    }
}

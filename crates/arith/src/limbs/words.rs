//! Constant-time primitives on slices of limbs. Lengths are public and must agree; values decide no branch and no
//! address.

use subtle::{Choice, ConstantTimeEq};

/// `choice` as a word: all ones for true, zero for false.
#[inline(always)]
pub(crate) fn mask(choice: Choice) -> u64 {
    u64::from(choice.unwrap_u8()).wrapping_neg()
}

/// 2^at, for a secret `at` below 64. CPUs may take longer for some counts of a shift: Zen 4 does for zero.
pub(crate) fn power_of_two(at: u64) -> u64 {
    (0..6).fold(1, |power, bit| {
        let mask = mask(Choice::from((at >> bit & 1) as u8));
        power ^ mask & (power ^ power << (1 << bit))
    })
}

/// `a + b + carry`: the sum and the carry out.
#[inline(always)]
pub(crate) fn adc(a: u64, b: u64, carry: bool) -> (u64, bool) {
    // LLVM knows this shape as the instruction.
    let (sum, over) = a.overflowing_add(b);
    let (sum, over_again) = sum.overflowing_add(u64::from(carry));
    (sum, over | over_again)
}

/// `a - b - borrow`: the difference and the borrow out.
#[inline(always)]
pub(crate) fn sbb(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, under) = a.overflowing_sub(b);
    let (difference, under_again) = difference.overflowing_sub(u64::from(borrow));
    (difference, under | under_again)
}

/// `a * b + c + d`, which never exceeds 2^128 - 1: the low and the high word.
#[inline(always)]
pub(crate) fn mac(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let sum = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(d);
    (sum as u64, (sum >> 64) as u64)
}

/// `a += b`; returns the carry out.
pub(crate) fn add_assign(a: &mut [u64], b: &[u64]) -> Choice {
    add_if(a, b, Choice::from(1))
}

/// `a += b` if `choice`; returns the carry out.
pub(crate) fn add_if(a: &mut [u64], b: &[u64], choice: Choice) -> Choice {
    assert_eq!(a.len(), b.len());
    let (mask, mut carry) = (mask(choice), false);
    for (a, &b) in a.iter_mut().zip(b) {
        (*a, carry) = adc(*a, b & mask, carry);
    }
    Choice::from(u8::from(carry))
}

/// `a += carry`; returns the carry out.
pub(crate) fn add_carry(a: &mut [u64], carry: Choice) -> Choice {
    let mut carry = carry.unwrap_u8() == 1;
    for a in a {
        (*a, carry) = adc(*a, 0, carry);
    }
    Choice::from(u8::from(carry))
}

/// `a -= b`; returns the borrow out.
pub(crate) fn sub_assign(a: &mut [u64], b: &[u64]) -> Choice {
    sub_if(a, b, Choice::from(1))
}

/// `a -= b` if `choice`; returns the borrow out.
pub(crate) fn sub_if(a: &mut [u64], b: &[u64], choice: Choice) -> Choice {
    assert_eq!(a.len(), b.len());
    let (mask, mut borrow) = (mask(choice), false);
    for (a, &b) in a.iter_mut().zip(b) {
        (*a, borrow) = sbb(*a, b & mask, borrow);
    }
    Choice::from(u8::from(borrow))
}

/// `a = t`, or `a = t - b` if `choice`; what is borrowed is lost.
pub(crate) fn sub_if_into(a: &mut [u64], t: &[u64], b: &[u64], choice: Choice) {
    assert_eq!(a.len(), t.len());
    assert_eq!(a.len(), b.len());
    let (mask, mut borrow) = (mask(choice), false);
    // By eights, so that the borrow stays in its flag.
    let (a, a_rest) = a.as_chunks_mut::<8>();
    let (t, t_rest) = t.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    for ((a, t), b) in a.iter_mut().zip(t).zip(b) {
        for i in 0..8 {
            (a[i], borrow) = sbb(t[i], b[i] & mask, borrow);
        }
    }
    for ((a, &t), &b) in a_rest.iter_mut().zip(t_rest).zip(b_rest) {
        (*a, borrow) = sbb(t, b & mask, borrow);
    }
}

/// `a = b` if `choice`.
pub(crate) fn assign_if(a: &mut [u64], b: &[u64], choice: Choice) {
    assert_eq!(a.len(), b.len());
    let mask = mask(choice);
    for (a, &b) in a.iter_mut().zip(b) {
        *a ^= mask & (*a ^ b);
    }
}

/// `true` if `a < b`.
pub(crate) fn is_less(a: &[u64], b: &[u64]) -> Choice {
    assert_eq!(a.len(), b.len());
    let mut borrow = false;
    for (&a, &b) in a.iter().zip(b) {
        (_, borrow) = sbb(a, b, borrow);
    }
    Choice::from(u8::from(borrow))
}

/// `true` if `a == b`.
pub(crate) fn is_equal(a: &[u64], b: &[u64]) -> Choice {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0, |differ, (&a, &b)| differ | (a ^ b)).ct_eq(&0)
}

/// `true` if every limb is zero.
pub(crate) fn is_zero(a: &[u64]) -> Choice {
    a.iter().fold(0, |any, &a| any | a).ct_eq(&0)
}

/// `true` if `a` is the number `value`.
pub(crate) fn is_word(a: &[u64], value: u64) -> Choice {
    match a {
        [] => value.ct_eq(&0),
        [low, high @ ..] => low.ct_eq(&value) & is_zero(high),
    }
}

/// With `a < 2 n`, `a mod n`.
pub(crate) fn reduce_once(a: &mut [u64], n: &[u64]) {
    let over = !is_less(a, n);
    sub_if(a, n, over);
}

/// `a = 2 a`; returns the bit shifted out.
pub(crate) fn double(a: &mut [u64]) -> Choice {
    let mut carry = 0;
    for a in a {
        let out = *a >> 63;
        *a = *a << 1 | carry;
        carry = out;
    }
    Choice::from(carry as u8)
}

/// `a = 2 a + bit mod n`, with `a < n`.
pub(crate) fn shift_in_mod(a: &mut [u64], bit: u64, n: &[u64]) {
    let carry = double(a);
    a[0] |= bit;
    let over = carry | !is_less(a, n);
    sub_if(a, n, over);
}

/// `t += a * b`, where `t` has as many limbs as `a`; returns the limb carried out.
#[inline]
pub(crate) fn add_mul_word(t: &mut [u64], a: &[u64], b: u64) -> u64 {
    assert_eq!(t.len(), a.len());
    let mut carry = 0;
    let (t, t_rest) = t.as_chunks_mut::<8>();
    let (a, a_rest) = a.as_chunks::<8>();
    for (t, a) in t.iter_mut().zip(a) {
        for i in 0..8 {
            (t[i], carry) = mac(a[i], b, t[i], carry);
        }
    }
    for (t, &a) in t_rest.iter_mut().zip(a_rest) {
        (*t, carry) = mac(a, b, *t, carry);
    }
    carry
}

/// `t = a * b`; `t` has as many limbs as both together.
pub(crate) fn mul(t: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(t.len(), a.len() + b.len());
    t.fill(0);
    for (i, &b) in b.iter().enumerate() {
        t[i + a.len()] = add_mul_word(&mut t[i..i + a.len()], a, b);
    }
}

/// Bit `index` of `a`; the index is public, limbs beyond the end are zero.
pub(crate) fn bit(a: &[u64], index: usize) -> u64 {
    a.get(index / 64).map_or(0, |limb| limb >> (index % 64) & 1)
}

/// The `width` (at most 8) bits of `a` from bit `index` up; index and width are public, limbs beyond the end are zero.
pub(crate) fn bits_at(a: &[u64], index: usize, width: usize) -> u8 {
    let limb = |i: usize| a.get(i).copied().unwrap_or(0);
    let pair = u128::from(limb(index / 64)) | u128::from(limb(index / 64 + 1)) << 64;
    ((pair >> (index % 64)) as u64 & ((1 << width) - 1)) as u8
}

/// Length of `a` in bits, in variable time.
pub(crate) fn bits_vartime(a: &[u64]) -> usize {
    a.iter()
        .rposition(|&limb| limb != 0)
        .map_or(0, |i| 64 * i + 64 - a[i].leading_zeros() as usize)
}

/// Reads big-endian bytes; missing high bytes are zero. Panics if the bytes do not fit by their length.
pub(crate) fn read_be(limbs: &mut [u64], bytes: &[u8]) {
    assert!(bytes.len() <= 8 * limbs.len());
    limbs.fill(0);
    for (limb, chunk) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
}

/// Returns whether a big-endian number, which has no more limbs than `n`, is below `n`: mostly its first limb tells.
#[inline]
pub(crate) fn is_less_be_vartime(bytes: &[u8], n: &[u64]) -> bool {
    if let (Some(first), Some(&last)) = (bytes.first_chunk(), n.last())
        && bytes.len() == 8 * n.len()
    {
        let first = u64::from_be_bytes(*first);
        if first != last {
            return first < last;
        }
    }
    is_less_by_limbs(bytes, n)
}

/// [`is_less_be_vartime`] of any numbers.
fn is_less_by_limbs(bytes: &[u8], n: &[u64]) -> bool {
    let count = bytes.len().div_ceil(8);
    assert!(count <= n.len());
    let (low, above) = n.split_at(count);
    if above.iter().any(|&limb| limb != 0) {
        return true;
    }
    let word = |chunk: &[u8]| match chunk.first_chunk() {
        Some(word) => u64::from_be_bytes(*word),
        None => chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    let mut limbs = bytes.rchunks(8).map(word).zip(low).rev();
    limbs.find(|(a, n)| a != *n).is_some_and(|(a, n)| a < *n)
}

/// `bytes -= n` for a big-endian number, and n that has no more limbs but zeros; returns the borrow out.
pub(crate) fn sub_be(bytes: &mut [u8], n: &[u64]) -> bool {
    let count = bytes.len().div_ceil(8);
    assert!(count <= n.len());
    let n = &n[..count];
    let mut borrow = false;
    let (first, whole) = bytes.as_rchunks_mut::<8>();
    for (chunk, &n) in whole.iter_mut().rev().zip(n) {
        let (difference, under) = sbb(u64::from_be_bytes(*chunk), n, borrow);
        (*chunk, borrow) = (difference.to_be_bytes(), under);
    }
    if let (Some(&n), false) = (n.last(), first.is_empty()) {
        let word = first.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let (difference, under) = sbb(word, n, borrow);
        let low = 8 - first.len();
        first.copy_from_slice(&difference.to_be_bytes()[low..]);
        borrow = under;
    }
    borrow
}

/// Writes the low `bytes.len()` bytes, big-endian.
pub(crate) fn write_be(limbs: &[u64], bytes: &mut [u8]) {
    for (i, chunk) in bytes.rchunks_mut(8).enumerate() {
        let word = limbs.get(i).copied().unwrap_or(0).to_be_bytes();
        chunk.copy_from_slice(&word[8 - chunk.len()..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{any_limbs, limbs, number, power_of_two};
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn pair() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        (1usize..20).prop_flat_map(|len| (any_limbs(len), any_limbs(len)))
    }

    fn bit(choice: Choice) -> BigUint {
        choice.unwrap_u8().into()
    }

    #[test]
    fn powers_of_two_of_a_word() {
        for at in 0..64 {
            assert_eq!(super::power_of_two(at), 1 << at);
        }
    }

    proptest! {
        #[test]
        fn sums_and_differences((a, b) in pair(), choice: bool) {
            let choice = Choice::from(u8::from(choice));
            let r = power_of_two(64 * a.len());
            let added = number(&b) * bit(choice);
            let mut sum = a.clone();
            let carry = add_if(&mut sum, &b, choice);
            prop_assert_eq!(number(&sum) + bit(carry) * &r, number(&a) + &added);
            let mut difference = a.clone();
            let borrow = sub_if(&mut difference, &b, choice);
            prop_assert_eq!(number(&difference) + &added, number(&a) + bit(borrow) * &r);
            let mut into = vec![7; a.len()];
            sub_if_into(&mut into, &a, &b, choice);
            prop_assert_eq!(into, difference);
            let mut carried = a.clone();
            let carry = add_carry(&mut carried, choice);
            prop_assert_eq!(number(&carried) + bit(carry) * &r, number(&a) + bit(choice));
            let mut doubled = a.clone();
            let carry = double(&mut doubled);
            prop_assert_eq!(number(&doubled) + bit(carry) * &r, number(&a) * 2u8);
        }

        #[test]
        fn products((a, b) in (any_limbs(19), any_limbs(7)), word: u64) {
            let mut t = vec![5; 26];
            mul(&mut t, &a, &b);
            prop_assert_eq!(number(&t), number(&a) * number(&b));
            let mut t = a.clone();
            let carry = add_mul_word(&mut t, &a, word);
            prop_assert_eq!(
                number(&t) + (BigUint::from(carry) << (64 * t.len())),
                number(&a) + number(&a) * word
            );
        }

        #[test]
        fn comparisons((a, b) in pair(), same: bool) {
            let b = if same { a.clone() } else { b };
            let (x, y) = (number(&a), number(&b));
            prop_assert_eq!(bool::from(is_less(&a, &b)), x < y);
            prop_assert_eq!(bool::from(is_equal(&a, &b)), x == y);
            prop_assert_eq!(bool::from(is_zero(&a)), x == BigUint::ZERO);
            prop_assert_eq!(bool::from(is_word(&a, 1)), x == BigUint::from(1u8));
            prop_assert_eq!(bits_vartime(&a), x.bits() as usize);
            let mut assigned = a.clone();
            assign_if(&mut assigned, &b, Choice::from(1));
            prop_assert_eq!(&assigned, &b);
            assign_if(&mut assigned, &a, Choice::from(0));
            prop_assert_eq!(assigned, b);
        }

        #[test]
        fn bits((a, index, width) in (any_limbs(3), 0usize..260, 1usize..=8)) {
            let shifted = number(&a) >> index;
            prop_assert_eq!(BigUint::from(super::bit(&a, index)), &shifted & BigUint::from(1u8));
            prop_assert_eq!(BigUint::from(bits_at(&a, index, width)), shifted & (power_of_two(width) - 1u8));
        }

        #[test]
        fn reductions((n, a) in (any_limbs(4), any_limbs(4)), bit in 0u64..2) {
            prop_assume!(number(&n) > BigUint::ZERO);
            let reduced = limbs(&(number(&a) % number(&n)), 4);
            let mut once = reduced.clone();
            shift_in_mod(&mut once, bit, &n);
            prop_assert_eq!(number(&once), (number(&reduced) * 2u8 + bit) % number(&n));
            let mut over = reduced.clone();
            if bool::from(!add_assign(&mut over, &n)) {
                reduce_once(&mut over, &n);
                prop_assert_eq!(over, reduced);
            }
        }

        #[test]
        fn big_endian_differences((a, b) in pair(), short in 0usize..8) {
            // The last limb may have fewer bytes than others.
            let len = 8 * a.len() - short;
            let r = power_of_two(8 * len);
            let (x, y) = (number(&a) % &r, number(&b) % &r);
            let mut bytes = vec![0; len];
            write_be(&a, &mut bytes);
            let borrow = sub_be(&mut bytes, &limbs(&y, a.len()));
            prop_assert_eq!(borrow, x < y);
            let expected = if borrow { x + r - y } else { x - y };
            prop_assert_eq!(BigUint::from_bytes_be(&bytes), expected);
        }

        #[test]
        fn big_endian_comparisons((a, b) in pair(), len in 0usize..160, same: bool) {
            let mut bytes = vec![0; len.min(8 * a.len())];
            write_be(if same { &b } else { &a }, &mut bytes);
            let less = BigUint::from_bytes_be(&bytes) < number(&b);
            prop_assert_eq!(is_less_be_vartime(&bytes, &b), less);
        }

        #[test]
        fn byte_strings(bytes in prop::collection::vec(any::<u8>(), 0..40), spare in 0usize..3) {
            let mut limbs = vec![9; bytes.len().div_ceil(8) + spare];
            read_be(&mut limbs, &bytes);
            prop_assert_eq!(number(&limbs), BigUint::from_bytes_be(&bytes));
            let mut back = vec![1; bytes.len() + 8 * spare];
            write_be(&limbs, &mut back);
            prop_assert_eq!(BigUint::from_bytes_be(&back), BigUint::from_bytes_be(&bytes));
        }
    }
}

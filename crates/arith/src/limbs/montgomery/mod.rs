//! Montgomery multiplication of 64-bit limbs: the product, then the reduction, in blocks of limbs or row by row.
//!
//! ```text
//! formula a b / R mod n, below R = 2^(64 N) for a, b < R
//! mul     t = a b; m = -t / n mod R, block by block; a = (t + m n) / R, less n if it carries
//! ```
//!
//! # Bounds
//!
//! R = 2^(64 N), N the number of limbs.
//!
//! - A value inside a kernel is any number below R; several may stand for one residue.
//! - The reduction of any t < R² is (t + m n)/R < R + n. If it carries out of N limbs, n is subtracted, under a mask:
//!   below R again. If t < n R the result is below 2 n, before and after that.
//! - So a product of which one factor is below n is below 2 n, and one more masked subtraction reduces it
//!   (`Modulus::mul_reduced`, `LaneKernel::store`). Leaving Montgomery form multiplies by 1 and gives at most n.
//! - p and q share N, the longer one's. A shorter prime only has zero limbs on top. x < n = p q < R² always splits into
//!   two halves below R.
//! - Recombination: lanes of p leave Montgomery form by a multiplication with q⁻¹, those of q with 1: m₁ q⁻¹ mod p and
//!   m₂. A second one gives m₂ q⁻¹ mod p, where m₂ may exceed p: with q⁻¹R mod p < p it need only be below R. With h
//!   their difference mod p, m = m₂ + q h ≤ q − 1 + q (p − 1) < n.

mod blocks;
mod rows;

use super::words;
use std::hint::black_box;
use subtle::Choice;

/// An odd modulus n and -1 / n mod 2^64.
pub(crate) type Odd<'a> = (&'a [u64], u64);

/// Products and reductions of limbs.
pub(crate) trait Products: Copy + Send + Sync + 'static {
    /// t = a b. a and b have N limbs, t has 2 N.
    fn mul(self, t: &mut [u64], a: &[u64], b: &[u64]);
    /// t = a^2. a has N limbs, t has 2 N.
    fn sqr(self, t: &mut [u64], a: &[u64]);
    /// Adds the multiple of n to t that makes its low half zero; only the high half is right then. Returns what is
    /// carried out of t. n has N limbs, t has 2 N.
    fn redc(self, t: &mut [u64], n: &[u64], n0: u64) -> u64;

    /// a = a b / R mod n, below R, for a, b < R. `t` holds 2 N limbs or more.
    fn montgomery_mul(self, n: Odd<'_>, a: &mut [u64], b: &[u64], t: &mut [u64]) {
        mul_then_reduce(self, n, a, b, t);
    }

    /// a = a^2 / R mod n, below R, for a < R; so many times. `t` holds 2 N limbs or more.
    fn montgomery_sqr(self, n: Odd<'_>, a: &mut [u64], times: usize, t: &mut [u64]) {
        sqr_then_reduce(self, n, a, times, t);
    }

    /// value = the entry of the table that the digit names. Reads the whole table, of at most [`MAX_ENTRIES`] entries.
    fn select(self, table: &[u64], digit: u8, value: &mut [u64]) {
        select_by_masks(table, digit, value);
    }
}

/// Entries of the largest table that [`Products::select`] is asked about.
const MAX_ENTRIES: usize = 64;

/// Portable Rust, for every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

/// Does `$blocked` with `$b` the block that numbers of `$limbs` limbs are cut into, or `$rows` where none fits well.
macro_rules! with_blocks {
    ($limbs:expr, $b:ident => $blocked:expr, $rows:expr) => {
        with_blocks!($limbs, $b => $blocked, $rows;
            16: |limbs: usize| limbs % 16 == 0,
            12: |limbs: usize| limbs % 12 == 0,
            8: |limbs: usize| limbs % 8 == 0,
            6: |limbs: usize| limbs == 6,
            4: |limbs: usize| limbs == 4)
    };
    ($limbs:expr, $b:ident => $blocked:expr, $rows:expr; $($block:literal: $fits:expr),*) => {
        $(if $fits($limbs) {
            const $b: usize = $block;
            $blocked
        } else)* {
            $rows
        }
    };
}

impl Products for Portable {
    fn mul(self, t: &mut [u64], a: &[u64], b: &[u64]) {
        with_blocks!(a.len(), B => mul_blocks::<B>(t, a, b), rows::mul(t, a, b));
    }

    fn sqr(self, t: &mut [u64], a: &[u64]) {
        with_blocks!(a.len(), B => sqr_blocks::<B>(t, a), rows::sqr(t, a));
    }

    fn redc(self, t: &mut [u64], n: &[u64], n0: u64) -> u64 {
        with_blocks!(n.len(), B => redc_blocks::<B>(t, n, n0), rows::redc(t, n, n0))
    }
}

/// [`Products::montgomery_mul`] in two parts.
pub(crate) fn mul_then_reduce(with: impl Products, n: Odd<'_>, a: &mut [u64], b: &[u64], t: &mut [u64]) {
    let t = &mut t[..2 * a.len()];
    with.mul(t, a, b);
    redc(with, n, a, t);
}

/// [`Products::montgomery_sqr`] in two parts.
pub(crate) fn sqr_then_reduce(with: impl Products, n: Odd<'_>, a: &mut [u64], times: usize, t: &mut [u64]) {
    let t = &mut t[..2 * a.len()];
    for _ in 0..times {
        with.sqr(t, a);
        redc(with, n, a, t);
    }
}

/// [`Products::select`], compiled anew for the instructions of each function it is called from.
#[inline(always)]
pub(crate) fn select_by_masks(table: &[u64], digit: u8, value: &mut [u64]) {
    let words = value.len();
    let mut masks = [0; MAX_ENTRIES];
    let entries = table.len() / words;
    for (mask, index) in masks[..entries].iter_mut().zip(0u64..) {
        // Of numbers below 2^63 less one, only zero's sign is set.
        *mask = 0_u64.wrapping_sub((index ^ u64::from(digit)).wrapping_sub(1) >> 63);
    }
    // Past this point the compiler cannot know that a mask is all or nothing.
    let masks = black_box(&masks);
    let (strips, rest) = value.as_chunks_mut::<8>();
    let mut at = 0;
    for strip in strips {
        select_strip(table, words, at, masks, strip);
        at += strip.len();
    }
    // Strips of lengths that the compiler knows, as above: of a loop over what is left it makes loads and stores under
    // masks.
    let (strips, rest) = rest.as_chunks_mut::<4>();
    for strip in strips {
        select_strip(table, words, at, masks, strip);
        at += strip.len();
    }
    let (strips, rest) = rest.as_chunks_mut::<2>();
    for strip in strips {
        select_strip(table, words, at, masks, strip);
        at += strip.len();
    }
    let (strips, _) = rest.as_chunks_mut::<1>();
    for strip in strips {
        select_strip(table, words, at, masks, strip);
    }
}

/// Selects W words, from word `at` of each entry of `words` words on. They stay in registers while all entries pass by.
#[inline(always)]
fn select_strip<const W: usize>(
    table: &[u64],
    words: usize,
    at: usize,
    masks: &[u64; MAX_ENTRIES],
    strip: &mut [u64; W],
) {
    *strip = [0; W];
    for (entry, mask) in table.chunks_exact(words).zip(masks) {
        let entry: &[u64; W] = entry[at..].first_chunk().expect("a whole strip");
        for (value, entry) in strip.iter_mut().zip(entry) {
            *value |= entry & mask;
        }
    }
}

/// out = t / R mod n for any t of 2 N limbs; below R, and below 2 n when t < n R.
pub(crate) fn redc(with: impl Products, (n, n0): Odd<'_>, out: &mut [u64], t: &mut [u64]) {
    let top = with.redc(t, n, n0);
    words::sub_if_into(out, &t[n.len()..], n, Choice::from(top as u8));
}

/// The blocks of a number.
fn blocks<const B: usize>(a: &[u64]) -> impl Iterator<Item = (usize, &[u64; B])> {
    a.as_chunks::<B>().0.iter().enumerate()
}

fn mul_blocks<const B: usize>(t: &mut [u64], a: &[u64], b: &[u64]) {
    if let (Ok(a), Ok(b)) = (a.try_into(), b.try_into()) {
        return blocks::mul::<B>(t, a, b);
    }
    t.fill(0);
    for (i, b) in blocks(b) {
        let mut carry = 0;
        for (j, a) in blocks(a) {
            carry = blocks::mul_add::<B>(&mut t[(i + j) * B..], a, b, carry);
        }
    }
}

fn sqr_blocks<const B: usize>(t: &mut [u64], a: &[u64]) {
    if let Ok(a) = a.try_into() {
        blocks::sqr::<B, false>(t, a, 0);
        return;
    }
    t.fill(0);
    for (i, left) in blocks(a) {
        let mut carry = 0;
        for (j, right) in blocks(a).skip(i + 1) {
            carry = blocks::mul_add::<B>(&mut t[(i + j) * B..], left, right, carry);
        }
    }
    let mut carry = 0;
    for (i, a) in blocks(a) {
        carry = blocks::sqr::<B, true>(&mut t[2 * i * B..], a, carry);
    }
}

/// Returns what is carried out of t.
fn redc_blocks<const B: usize>(t: &mut [u64], n: &[u64], n0: u64) -> u64 {
    let lowest = n.first_chunk().expect("at least one block");
    let count = n.len() / B;
    let mut top = 0;
    for i in 0..count {
        let mut carry = blocks::redc::<B>(&mut t[i * B..], lowest, n0);
        let (m, t) = t[i * B..].split_at_mut(B);
        let m = m.as_ref().try_into().expect("a block");
        for (j, n) in blocks(n).skip(1) {
            if j == count - 1 {
                carry += top;
            }
            carry = blocks::mul_add::<B>(&mut t[(j - 1) * B..], m, n, carry);
        }
        top = carry;
    }
    top
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::limbs::Nat;
    use crate::limbs::modulus::inverse_word;
    use crate::model::{any_limbs, any_modulus, limbs, number, over_r, power_of_two};
    use proptest::prelude::*;

    proptest! {
        /// The two promises about bounds, and a reduction of any double-length number.
        #[test]
        fn reduction_keeps_its_bounds(
            (n, t, len) in prop::sample::select(vec![1usize, 4, 6, 8, 11, 12, 16, 24, 32]).prop_flat_map(|len| {
                (((64 * len - 63).max(2)..=64 * len).prop_flat_map(any_modulus), any_limbs(2 * len), Just(len))
            }),
        ) {
            let n_limbs = limbs(&n, len);
            let modulus = (&n_limbs[..], inverse_word(n_limbs[0]).wrapping_neg());
            let value = number(&t);
            let mut out = vec![0; len];
            redc(Portable, modulus, &mut out, &mut t.clone());
            prop_assert_eq!(number(&out) % &n, over_r(&value, &n, len));
            let below = value % (&n * power_of_two(64 * len));
            redc(Portable, modulus, &mut out, &mut limbs(&below, 2 * len));
            prop_assert!(number(&out) < &n * 2u8);
            prop_assert_eq!(number(&out) % &n, over_r(&below, &n, len));
        }
    }

    /// Of 1 to 69 limbs, of ones, of patterns, and of both.
    pub(crate) fn agree_with_rows(with: impl Products) {
        for limbs in 1..70 {
            for fill in [u64::MAX, 0x9e37_79b9_7f4a_7c15] {
                let a: Vec<u64> = (1..=limbs as u64).map(|i| fill.wrapping_mul(i | 1)).collect();
                let ones = vec![u64::MAX; limbs];
                let b: Vec<u64> = a.iter().map(|a| !a.rotate_left(7)).collect();
                let n: Vec<u64> = a.iter().map(|a| a | 1 << 63 | 1).collect();
                for (a, b, n) in [(&a, &b, &n), (&ones, &a, &n), (&ones, &ones, &ones)] {
                    let n0 = inverse_word(n[0]).wrapping_neg();
                    let (mut t, mut expected) = (Nat::zero(2 * limbs), Nat::zero(2 * limbs));
                    t.fill(7);
                    with.mul(&mut t, a, b);
                    rows::mul(&mut expected, a, b);
                    assert_eq!(t[..], expected[..], "product of {limbs} limbs");
                    t.fill(7);
                    with.sqr(&mut t, a);
                    rows::mul(&mut expected, a, a);
                    assert_eq!(t[..], expected[..], "square of {limbs} limbs");
                    let top = with.redc(&mut t, n, n0);
                    let expected_top = rows::redc(&mut expected, n, n0);
                    assert_eq!(top, expected_top, "carry of {limbs} limbs");
                    assert_eq!(t[limbs..], expected[limbs..], "reduction of {limbs} limbs");
                }
            }
        }
    }

    #[test]
    fn blocks_agree_with_rows() {
        agree_with_rows(Portable);
    }
}

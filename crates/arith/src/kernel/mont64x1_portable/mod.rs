//! Montgomery arithmetic on 64-bit digits, one lane, in portable Rust.
//!
//! # Bounds
//!
//! R = 2^(64 N), N the number of limbs.
//!
//! - A value inside a kernel is any number below R; several may stand for one residue.
//! - The reduction of any t < R² is (t + m n)/R < R + n. If it carries out of N limbs, n is subtracted, under a mask: below R
//!   again. If t < n R the result is below 2 n, before and after that.
//! - So a product of which one factor is below n is below 2 n, and one more masked subtraction reduces it
//!   (`Modulus::mul_reduced`, `LaneKernel::store`). Leaving Montgomery form multiplies by 1 and gives at most n.
//! - p and q share N, the longer one's. A shorter prime only has zero limbs on top. x < n = p q < R² always splits into two
//!   halves below R.
//! - Recombination: lanes of p leave Montgomery form by a multiplication with q⁻¹, those of q with 1: m₁ q⁻¹ mod p and m₂. A second one
//!   gives m₂ q⁻¹ mod p, where m₂ may exceed p: with q⁻¹R mod p < p it need only be below R. With h their difference mod p,
//!   m = m₂ + q h ≤ q − 1 + q (p − 1) < n.

mod blocks;
mod rows;

use super::{Doublings, LaneKernel};
use crate::limbs::{LIMB_BITS, Modulus, Nat, words};
use std::hint::black_box;
use subtle::Choice;

/// Entries of the largest table that [`LaneKernel::select`] is asked about.
const MAX_ENTRIES: usize = 64;

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

/// The kernel every machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mont64x1Portable;

impl LaneKernel for Mont64x1Portable {
    const NAME: &'static str = "mont64x1_portable";
    const LANES: usize = 1;
    type Moduli = Modulus;

    fn words(limbs: usize) -> usize {
        limbs
    }

    fn working_words(limbs: usize) -> usize {
        2 * limbs
    }

    fn moduli(self, limbs: usize) -> Modulus {
        Modulus::zero(limbs)
    }

    fn set_modulus(self, moduli: &mut Modulus, _lane: usize, modulus: &Modulus) {
        moduli.copy_from(modulus);
    }

    fn copy_modulus(self, to: &mut Modulus, _lane: usize, from: &Modulus, _from_lane: usize) {
        to.copy_from(from);
    }

    fn load(self, _: &Modulus, _lane: usize, limbs: &[u64], value: &mut [u64]) {
        let (low, above) = value.split_at_mut(limbs.len());
        low.copy_from_slice(limbs);
        above.fill(0);
    }

    fn store(self, modulus: &Modulus, _lane: usize, value: &[u64], limbs: &mut [u64]) {
        limbs.copy_from_slice(value);
        words::reduce_once(limbs, modulus.n());
    }

    fn one(self, modulus: &Modulus, value: &mut [u64]) {
        value.copy_from_slice(modulus.one());
    }

    fn enter(self, modulus: &Modulus, a: &mut [u64], t: &mut [u64]) {
        mul(modulus, a, modulus.rr(), t);
    }

    fn enter_wide(self, modulus: &Modulus, low: &mut [u64], high: &mut [u64], t: &mut [u64]) {
        // R high mod n, and what is carried out of the sum is worth R mod n < n.
        mul(modulus, high, modulus.rr(), t);
        words::reduce_once(high, modulus.n());
        let carry = words::add_assign(low, high);
        words::sub_if(low, modulus.n(), carry);
        mul(modulus, low, modulus.rr(), t);
    }

    fn leave(self, modulus: &Modulus, a: &mut [u64], t: &mut [u64]) {
        let t = &mut t[..2 * a.len()];
        let (low, high) = t.split_at_mut(a.len());
        low.copy_from_slice(a);
        high.fill(0);
        redc(modulus, a, t);
    }

    fn mul(self, modulus: &Modulus, a: &mut [u64], b: &[u64], t: &mut [u64]) {
        mul(modulus, a, b, t);
    }

    fn sqr(self, modulus: &Modulus, a: &mut [u64], times: usize, t: &mut [u64]) {
        for _ in 0..times {
            sqr(modulus, a, t);
        }
    }

    fn r_bits(limbs: usize) -> usize {
        LIMB_BITS * limbs
    }

    fn can_double(limbs: usize, bits: usize) -> bool {
        // A value below R is below 2 n then.
        bits == LIMB_BITS * limbs
    }

    fn set_moduli_to_square(self, modulus: &mut Modulus, n: &[Nat], bits: usize, _t: &mut [u64]) {
        modulus.set_to_reduce(&n[0], bits);
    }

    fn set_moduli_for_powers(self, modulus: &mut Modulus, n: &[Nat], bits: usize, t: &mut [u64]) {
        modulus.set(&n[0], bits, t);
    }

    fn square_and_double<const STREAMS: usize>(self, powers: [Doublings<'_, Modulus>; STREAMS]) {
        for power in powers {
            let Doublings {
                moduli,
                value,
                bits,
                working,
            } = power;
            for &bit in bits {
                sqr(moduli, value, working);
                words::reduce_once(value, moduli.n());
                let doubled = &mut working[..value.len()];
                doubled.copy_from_slice(value);
                words::shift_in_mod(doubled, 0, moduli.n());
                words::assign_if(value, doubled, Choice::from(bit));
            }
        }
    }

    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]) {
        let words = value.len();
        let mut masks = [0; MAX_ENTRIES];
        for (mask, index) in masks.iter_mut().zip(0u64..) {
            *mask = (index ^ u64::from(digits[0])).wrapping_sub(1).cast_signed() >> 63;
        }
        // Past this point the compiler cannot know that a mask is all or nothing.
        let masks = black_box(&masks);
        // A strip of eight words stays in registers while all entries pass by.
        let (strips, rest) = value.as_chunks_mut::<8>();
        let rest_at = 8 * strips.len();
        for (at, strip) in (0..).step_by(8).zip(strips) {
            *strip = [0; 8];
            for (entry, mask) in table.chunks_exact(words).zip(masks) {
                let entry: &[u64; 8] = entry[at..].first_chunk().expect("a whole strip");
                for (value, entry) in strip.iter_mut().zip(entry) {
                    *value |= entry & mask.cast_unsigned();
                }
            }
        }
        rest.fill(0);
        for (entry, mask) in table.chunks_exact(words).zip(masks) {
            for (value, entry) in rest.iter_mut().zip(&entry[rest_at..]) {
                *value |= entry & mask.cast_unsigned();
            }
        }
    }
}

/// a = a b / R mod n, below R, for a, b < R. `t` holds 2 N limbs or more.
pub(crate) fn mul(modulus: &Modulus, a: &mut [u64], b: &[u64], t: &mut [u64]) {
    let t = &mut t[..2 * a.len()];
    with_blocks!(a.len(), B => mul_blocks::<B>(t, a, b), rows::mul(t, a, b));
    redc(modulus, a, t);
}

/// a = a^2 / R mod n, below R, for a < R. `t` holds 2 N limbs or more.
pub(crate) fn sqr(modulus: &Modulus, a: &mut [u64], t: &mut [u64]) {
    let t = &mut t[..2 * a.len()];
    with_blocks!(a.len(), B => sqr_blocks::<B>(t, a), rows::sqr(t, a));
    redc(modulus, a, t);
}

/// out = t / R mod n for any t of 2 N limbs; below R, and below 2 n when t < n R.
fn redc(modulus: &Modulus, out: &mut [u64], t: &mut [u64]) {
    let (n, n0) = (modulus.n(), modulus.n0());
    let top = with_blocks!(n.len(), B => redc_blocks::<B>(t, n, n0), rows::redc(t, n, n0));
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
mod tests {
    use super::*;
    use crate::kernel::tests::{agrees_with_the_model, selects};
    use crate::limbs::Nat;
    use crate::model::{any_limbs, any_modulus, limbs, number, over_r, power_of_two};
    use proptest::prelude::*;

    #[test]
    fn it_agrees_with_the_model() {
        // Every block, alone and repeated, and rows; full limbs, one bit short, a bit into the top limb, limbs to spare.
        for len in [1, 2, 4, 5, 6, 7, 8, 12, 16, 17, 24, 32, 36, 48] {
            for bits in [64 * len, 64 * len - 1, 64 * len - 63, 32 * len] {
                agrees_with_the_model(Mont64x1Portable, bits.max(2), len, 8);
            }
        }
        agrees_with_the_model(Mont64x1Portable, 16384, 256, 2);
    }

    #[test]
    fn it_selects() {
        for len in [1, 4, 8, 13, 16] {
            selects(Mont64x1Portable, len);
        }
    }

    proptest! {
        /// The two promises about bounds, and a reduction of any double-length number.
        #[test]
        fn reduction_keeps_its_bounds(
            (n, t, len) in prop::sample::select(vec![1usize, 4, 6, 8, 11, 12, 16, 24, 32]).prop_flat_map(|len| {
                (((64 * len - 63).max(2)..=64 * len).prop_flat_map(any_modulus), any_limbs(2 * len), Just(len))
            }),
        ) {
            let modulus = Modulus::new(&limbs(&n, len), n.bits() as usize, len);
            let value = number(&t);
            let mut out = vec![0; len];
            redc(&modulus, &mut out, &mut t.clone());
            prop_assert_eq!(number(&out) % &n, over_r(&value, &n, len));
            let below = value % (&n * power_of_two(64 * len));
            redc(&modulus, &mut out, &mut limbs(&below, 2 * len));
            prop_assert!(number(&out) < &n * 2u8);
            prop_assert_eq!(number(&out) % &n, over_r(&below, &n, len));
        }
    }

    #[test]
    fn blocks_agree_with_rows() {
        for limbs in 1..70 {
            for fill in [u64::MAX, 0x9e37_79b9_7f4a_7c15] {
                let a: Vec<u64> = (1..=limbs as u64)
                    .map(|i| fill.wrapping_mul(i | 1))
                    .collect();
                let b: Vec<u64> = a.iter().map(|a| !a.rotate_left(7)).collect();
                let n: Vec<u64> = a.iter().map(|a| a | 1 << 63 | 1).collect();
                let n0 = crate::limbs::modulus::inverse_word(n[0]).wrapping_neg();
                let (mut t, mut expected) = (Nat::zero(2 * limbs), Nat::zero(2 * limbs));
                with_blocks!(limbs, B => mul_blocks::<B>(&mut t, &a, &b), rows::mul(&mut t, &a, &b));
                rows::mul(&mut expected, &a, &b);
                assert_eq!(t[..], expected[..], "product of {limbs} limbs");
                with_blocks!(limbs, B => sqr_blocks::<B>(&mut t, &a), rows::sqr(&mut t, &a));
                rows::mul(&mut expected, &a, &a);
                assert_eq!(t[..], expected[..], "square of {limbs} limbs");
                let top = with_blocks!(limbs, B => redc_blocks::<B>(&mut t, &n, n0), rows::redc(&mut t, &n, n0));
                let expected_top = rows::redc(&mut expected, &n, n0);
                assert_eq!(top, expected_top, "carry of {limbs} limbs");
                assert_eq!(t[limbs..], expected[limbs..], "reduction of {limbs} limbs");
            }
        }
    }
}

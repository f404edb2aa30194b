//! What is prepared for the moduli of all lanes, and numbers between limbs and digits.

use super::quad::{DIGITS, Shifted, Words};
use crate::kernel::digits52;
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use crate::limbs::aligned::Aligned;
use crate::limbs::{LIMB_BITS, Modulus, Nat};
use zeroize::Zeroizing;

/// Bits of a quad.
pub(super) const QUAD_BITS: usize = DIGITS * DIGIT_BITS;

/// Quads of a number that has `limbs` limbs: R is at least 16 n.
pub(super) fn quads(limbs: usize) -> usize {
    (limbs * LIMB_BITS + 4).div_ceil(QUAD_BITS)
}

/// The moduli of N lanes, prepared.
#[derive(Clone)]
pub(crate) struct Moduli<const N: usize> {
    pub(super) lanes: [Lane; N],
    /// R mod n.
    pub(super) one: Aligned,
    /// R^2 mod n.
    pub(super) rr: Aligned,
    /// 2^(64 limbs) R^2 mod n.
    pub(super) high_rr: Aligned,
    /// 1, not in Montgomery form.
    pub(super) unit: Aligned,
}

/// What a reduction takes of one modulus.
#[derive(Clone)]
pub(super) struct Lane {
    pub(super) plain: Nat,
    /// n, against the columns.
    n: Aligned,
    /// 1 / 2^208 mod n, against the columns.
    inverse: Aligned,
    /// -1 / n mod 2^52.
    pub(super) n0: Zeroizing<u64>,
}

impl<const N: usize> Moduli<N> {
    /// Room for moduli of `limbs` limbs.
    pub(super) fn new(limbs: usize) -> Self {
        let width = quads(limbs);
        let value = || Aligned::zero(N * DIGITS * width);
        let mut unit = value();
        unit.iter_mut()
            .step_by(DIGITS * width)
            .for_each(|word| *word = 1);
        let shifted = || Aligned::zero(DIGITS * DIGITS * (width + 1));
        Self {
            lanes: std::array::from_fn(|_| Lane {
                plain: Nat::zero(limbs),
                n: shifted(),
                inverse: shifted(),
                n0: Zeroizing::new(0),
            }),
            one: value(),
            rr: value(),
            high_rr: value(),
            unit,
        }
    }
}

impl Lane {
    /// Puts in what reduces by a modulus.
    pub(super) fn set_to_reduce(&mut self, modulus: &Modulus) {
        let limbs = modulus.limbs();
        self.plain.copy_from_slice(modulus.n());
        put_shifted(&mut self.n, modulus.n());
        *self.n0 = modulus.n0() & DIGIT_MASK;
        // Only numbers of more than one quad are reduced in parts.
        if let Some(above) = (limbs * LIMB_BITS).checked_sub(QUAD_BITS) {
            // R' / 2^208, and without R', which is 2^(64 limbs).
            let (mut inverse, mut one) = (Nat::zero(limbs), Nat::zero(limbs));
            inverse[above / LIMB_BITS] = 1 << (above % LIMB_BITS);
            one[0] = 1;
            modulus.mul_reduced(&mut inverse, &one, &mut Nat::zero(2 * limbs));
            put_shifted(&mut self.inverse, &inverse);
        }
    }

    /// Copies what another one of as many limbs holds.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.plain.copy_from_slice(&other.plain);
        self.n.copy_from_slice(&other.n);
        self.inverse.copy_from_slice(&other.inverse);
        *self.n0 = *other.n0;
    }

    #[inline(always)]
    pub(super) fn n(&self) -> &[Shifted] {
        shifted_of(&self.n)
    }

    #[inline(always)]
    pub(super) fn inverse(&self) -> &[Shifted] {
        shifted_of(&self.inverse)
    }
}

#[inline(always)]
pub(super) fn quads_of(words: &[u64]) -> &[Words] {
    words.as_chunks().0
}

pub(super) fn quads_mut(words: &mut [u64]) -> &mut [Words] {
    words.as_chunks_mut().0
}

#[inline(always)]
fn shifted_of(words: &[u64]) -> &[Shifted] {
    quads_of(words).as_chunks().0
}

/// A number's digits, against the columns.
fn put_shifted(words: &mut [u64], limbs: &[u64]) {
    let width = words.len() / (DIGITS * DIGITS) - 1;
    let mut digits = Zeroizing::new(vec![0; DIGITS * width]);
    digits52::put(digits.iter_mut(), limbs);
    for (i, word) in words.iter_mut().enumerate() {
        let (quad, by, place) = (i / (DIGITS * DIGITS), i / DIGITS % DIGITS, i % DIGITS);
        let digit = (DIGITS * quad + place).checked_sub(by);
        *word = digit
            .and_then(|digit| digits.get(digit))
            .copied()
            .unwrap_or(0);
    }
}

//! The prepared moduli of all numbers, and numbers between limbs and digits.

use super::layout::{DIGITS, QUAD_BITS, Shifted, copy_digits, digits_mut, quads, shifted_of};
use super::rows;
use crate::kernel::digits52;
use crate::kernel::lanes::DIGIT_BITS;
use crate::limbs::aligned::Aligned;
use crate::limbs::{LIMB_BITS, Modulus, Nat, negated_inverse};
use zeroize::Zeroizing;

/// The moduli of N numbers, prepared.
#[derive(Clone)]
pub(crate) struct Moduli<const N: usize> {
    /// The numbers, the first ones, of which results are wanted.
    pub(super) active: usize,
    pub(super) plain: Vec<Nat>,
    /// Constants that reduce row by row, number by number, where that is done; then those against the columns are not
    /// there.
    pub(super) rows: Aligned,
    /// n, against the columns.
    n: Aligned,
    /// 1 / 2^208 mod n, against the columns.
    inverse: Aligned,
    /// -1 / n mod 2^208, against the columns.
    quotient: Aligned,
    /// R mod n.
    pub(super) one: Aligned,
    /// R^2 mod n.
    pub(super) rr: Aligned,
    /// 2^(64 limbs) R^2 mod n.
    pub(super) high_rr: Aligned,
    /// 1, not in Montgomery form.
    pub(super) unit: Aligned,
}

impl<const N: usize> Moduli<N> {
    /// Visits the constants as they lie in memory.
    #[cfg(feature = "faults")]
    pub(super) fn for_each_constant(&mut self, visit: &mut dyn FnMut(&mut [u64])) {
        for number in &mut self.plain {
            visit(number);
        }
        for constant in [
            &mut self.rows,
            &mut self.n,
            &mut self.inverse,
            &mut self.quotient,
            &mut self.one,
            &mut self.rr,
            &mut self.high_rr,
            &mut self.unit,
        ] {
            visit(constant);
        }
    }

    /// Room for moduli of `limbs` limbs, by which rows of so many digits reduce, if any do.
    pub(super) fn new(limbs: usize, digits: Option<usize>) -> Self {
        let width = quads(limbs);
        let value = || Aligned::zero(N * DIGITS * width);
        let shifted = |width| match digits {
            Some(_) => Aligned::zero(0),
            None => Aligned::zero(N * DIGITS * DIGITS * width),
        };
        let mut unit = value();
        for lane in 0..N {
            digits52::put(digits_mut::<N>(&mut unit, lane), &[1]);
        }
        Self {
            active: N,
            plain: vec![Nat::zero(limbs); N],
            rows: Aligned::zero(digits.map_or(0, |digits| N * rows::modulus_words(digits))),
            n: shifted(width + 1),
            inverse: shifted(width + 1),
            quotient: shifted(1),
            one: value(),
            rr: value(),
            high_rr: value(),
            unit,
        }
    }

    /// Puts in what reduces by a modulus.
    pub(super) fn set_to_reduce(&mut self, lane: usize, modulus: &Modulus) {
        let limbs = modulus.limbs();
        self.plain[lane].copy_from_slice(modulus.n());
        if let Some(rows) = self.rows_of(lane) {
            return rows::put_modulus(rows, modulus);
        }
        put_shifted::<N>(&mut self.n, lane, modulus.n());
        let inverse = negated_inverse(modulus.n(), QUAD_BITS.div_ceil(LIMB_BITS));
        put_shifted::<N>(&mut self.quotient, lane, &inverse);
        // Only numbers of more than one quad are reduced in parts.
        if let Some(above) = (limbs * LIMB_BITS).checked_sub(QUAD_BITS) {
            // R' / 2^208, and without R', which is 2^(64 limbs).
            let (mut inverse, mut one) = (Nat::zero(limbs), Nat::zero(limbs));
            inverse[above / LIMB_BITS] = 1 << (above % LIMB_BITS);
            one[0] = 1;
            modulus.mul_reduced(&mut inverse, &one, &mut Nat::zero(2 * limbs));
            put_shifted::<N>(&mut self.inverse, lane, &inverse);
        }
    }

    /// Limbs of each modulus.
    pub(super) fn limbs(&self) -> usize {
        self.plain[0].len()
    }

    /// The constants that reduce one number row by row, where that is done.
    fn rows_of(&mut self, lane: usize) -> Option<&mut [u64]> {
        let words = self.rows.len() / N;
        (words > 0).then(|| &mut self.rows[lane * words..][..words])
    }

    /// Copies what another one of as many limbs holds in a lane.
    pub(super) fn copy_from(&mut self, lane: usize, other: &Self, from: usize) {
        self.plain[lane].copy_from_slice(&other.plain[from]);
        if let Some(rows) = self.rows_of(lane) {
            rows.copy_from_slice(&other.rows[from * rows.len()..][..rows.len()]);
        }
        for (to, other) in [
            (&mut self.n, &other.n),
            (&mut self.inverse, &other.inverse),
            (&mut self.quotient, &other.quotient),
            (&mut self.one, &other.one),
            (&mut self.rr, &other.rr),
            (&mut self.high_rr, &other.high_rr),
        ] {
            copy_digits::<N>(to, lane, other, from);
        }
    }

    #[inline(always)]
    pub(super) fn n(&self) -> &[Shifted<N>] {
        shifted_of(&self.n)
    }

    #[inline(always)]
    pub(super) fn inverse(&self) -> &[Shifted<N>] {
        shifted_of(&self.inverse)
    }

    #[inline(always)]
    pub(super) fn quotient(&self) -> &Shifted<N> {
        &shifted_of(&self.quotient)[0]
    }
}

/// A number's digits, against the columns.
fn put_shifted<const N: usize>(words: &mut [u64], lane: usize, limbs: &[u64]) {
    let width = (limbs.len() * LIMB_BITS).div_ceil(DIGIT_BITS);
    let mut digits = Zeroizing::new(vec![0; width]);
    digits52::put(digits.iter_mut(), limbs);
    for (quad, quads) in words.as_chunks_mut::<DIGITS>().0.chunks_mut(N).enumerate() {
        let by = quad % DIGITS;
        for (place, word) in quads[lane].iter_mut().enumerate() {
            let digit = (DIGITS * (quad / DIGITS) + place).checked_sub(by);
            let digit = digit.and_then(|digit| digits.get(digit));
            *word = digit.copied().unwrap_or(0);
        }
    }
}

//! The prepared moduli of all numbers, and numbers in memory.

use super::operand::{Modulus, Operand, Pair, operand_vectors};
use super::pairs::Pairs;
use crate::kernel::doubles::Vector;
use crate::kernel::mont47::digits;
use crate::kernel::mont47::form::Form;
use crate::limbs::aligned::Aligned;
use crate::limbs::{LIMB_BITS, Nat, negated_inverse};
use zeroize::Zeroizing;

/// The moduli of N numbers, prepared; P is the plan by which their products are done.
#[derive(Clone)]
pub(crate) struct Moduli<P, const N: usize> {
    pub(super) form: Form,
    pub(super) plan: P,
    /// Every number's modulus in plain limbs.
    pub(super) plain: [Nat; N],
    /// n, against the columns.
    n: Aligned,
    /// -1 / n mod R, against the columns.
    inverse: Aligned,
    /// R mod n.
    pub(super) one: Aligned,
    /// R^2 mod n.
    pub(super) rr: Aligned,
    /// 2^(64 limbs) R^2 mod n.
    pub(super) high_rr: Aligned,
    /// 1, not in Montgomery form.
    pub(super) unit: Aligned,
}

impl<P, const N: usize> Moduli<P, N> {
    /// Visits the constants as they lie in memory.
    #[cfg(feature = "faults")]
    pub(super) fn for_each_constant(&mut self, visit: &mut dyn FnMut(&mut [u64])) {
        for number in &mut self.plain {
            visit(number);
        }
        for constant in [
            &mut self.n,
            &mut self.inverse,
            &mut self.one,
            &mut self.rr,
            &mut self.high_rr,
            &mut self.unit,
        ] {
            visit(constant);
        }
    }

    /// Room for moduli of `limbs` limbs.
    pub(super) fn new<V: Pairs<N, Plan = P>>(limbs: usize) -> Self {
        let form = Form::even(limbs);
        let value = || Aligned::zero(N * form.digits);
        let operand = || Aligned::zero(4 * operand_vectors(N, form.digits / 2));
        let mut unit = value();
        for lane in 0..N {
            put::<N>(form, &mut unit, lane, &[1]);
        }
        Self {
            form,
            plan: V::plan(form),
            plain: std::array::from_fn(|_| Nat::zero(limbs)),
            n: operand(),
            inverse: operand(),
            one: value(),
            rr: value(),
            high_rr: value(),
            unit,
        }
    }

    /// Puts in what reduces by n.
    pub(super) fn set_to_reduce(&mut self, lane: usize, n: &[u64]) {
        self.plain[lane].copy_from_slice(n);
        let inverse = negated_inverse(n, self.form.r_bits().div_ceil(LIMB_BITS));
        for (operand, limbs) in [(&mut self.n, n), (&mut self.inverse, &inverse)] {
            let mut digits = Zeroizing::new(vec![0; self.form.digits]);
            digits::put(self.form, digits.iter_mut(), limbs);
            put_operand::<N>(operand, lane, &digits);
        }
    }

    /// Copies what another one of as many limbs holds of a number.
    pub(super) fn copy_from(&mut self, lane: usize, other: &Self, from: usize) {
        self.plain[lane].copy_from_slice(&other.plain[from]);
        copy_operand::<N>(&mut self.n, lane, &other.n, from);
        copy_operand::<N>(&mut self.inverse, lane, &other.inverse, from);
        for (to, other) in [
            (&mut self.one, &other.one),
            (&mut self.rr, &other.rr),
            (&mut self.high_rr, &other.high_rr),
        ] {
            copy_digits::<N>(to, lane, other, from);
        }
    }

    /// The parts that a reduction takes.
    #[inline(always)]
    pub(super) fn modulus(&self) -> Modulus<'_> {
        let operand = |words| Operand::new::<N>(vectors(words), self.form.digits / 2);
        Modulus {
            form: self.form,
            n: operand(&self.n),
            inverse: operand(&self.inverse),
        }
    }
}

/// Puts a number of plain limbs into the digits of one number.
pub(super) fn put<const N: usize>(form: Form, value: &mut [u64], lane: usize, limbs: &[u64]) {
    let pairs = pairs_mut::<N>(value).iter_mut();
    digits::put(form, pairs.flat_map(|pair| &mut pair[lane]), limbs);
}

/// Takes a number above -2 n and below 2 n out, reduced.
pub(super) fn take_reduced<const N: usize>(form: Form, value: &[u64], lane: usize, n: &[u64], limbs: &mut [u64]) {
    let pairs = pairs_of::<N>(value).iter();
    digits::take_reduced(form, pairs.flat_map(|pair| &pair[lane]), n, limbs);
}

/// Copies a number.
pub(super) fn copy_digits<const N: usize>(to: &mut [u64], lane: usize, from: &[u64], from_lane: usize) {
    for (to, from) in pairs_mut::<N>(to).iter_mut().zip(pairs_of::<N>(from)) {
        to[lane] = from[from_lane];
    }
}

/// Puts a number's digits against the columns.
fn put_operand<const N: usize>(operand: &mut [u64], lane: usize, digits: &[u64]) {
    let halves = operand.as_chunks_mut::<2>().0;
    // Two halves to a vector; pairs moved up come after all pairs, or after each.
    let (step, moved) = match N {
        1 => (2, 1),
        _ => (2, 2 * (digits.len() / 2 + 1)),
    };
    let digit = |j: Option<usize>| j.and_then(|j| digits.get(j)).copied().unwrap_or(0);
    for j in 0..=digits.len() / 2 {
        let low = 2 * j;
        halves[step * j + lane] = [digit(Some(low)), digit(Some(low + 1))];
        halves[step * j + moved + lane] = [digit(low.checked_sub(1)), digit(Some(low))];
    }
}

/// Copies a number that is against the columns. Of one number everything is its own.
fn copy_operand<const N: usize>(to: &mut [u64], lane: usize, from: &[u64], from_lane: usize) {
    match N {
        1 => to.copy_from_slice(from),
        _ => copy_digits::<N>(to, lane, from, from_lane),
    }
}

fn vectors(words: &[u64]) -> &[Vector<4>] {
    words.as_chunks().0
}

pub(super) fn pairs_of<const N: usize>(words: &[u64]) -> &[Pair<N>] {
    words.as_chunks().0.as_chunks().0
}

pub(super) fn pairs_mut<const N: usize>(words: &mut [u64]) -> &mut [Pair<N>] {
    words.as_chunks_mut().0.as_chunks_mut().0
}

//! The prepared moduli of all lanes.

use super::form::Form;
use super::reduction::Modulus;
use crate::limbs::aligned::Aligned;
use crate::limbs::{LIMB_BITS, Nat};

use crate::kernel::doubles::Vector;

/// The moduli of N lanes, prepared.
#[derive(Clone)]
pub(crate) struct Moduli<const N: usize> {
    pub(super) form: Form,
    /// Every lane's modulus in plain limbs.
    pub(super) plain: [Nat; N],
    pub(super) n: Aligned,
    /// -1 / n mod R.
    pub(super) inverse: Aligned,
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
    pub(super) fn new(limbs: usize) -> Self {
        let form = Form::new(limbs);
        let zero = || Aligned::zero(N * form.digits);
        let mut unit = zero();
        unit[..N].fill(1f64.to_bits());
        Self {
            form,
            plain: std::array::from_fn(|_| Nat::zero(limbs)),
            n: zero(),
            inverse: zero(),
            one: zero(),
            rr: zero(),
            high_rr: zero(),
            unit,
        }
    }

    /// The parts that a reduction takes.
    pub(super) fn modulus(&self) -> Modulus<'_, N> {
        Modulus {
            form: self.form,
            n: vectors(&self.n),
            inverse: vectors(&self.inverse),
        }
    }
}

pub(super) fn vectors<const N: usize>(words: &[u64]) -> &[Vector<N>] {
    words.as_chunks().0
}

pub(super) fn vectors_mut<const N: usize>(words: &mut [u64]) -> &mut [Vector<N>] {
    words.as_chunks_mut().0
}

/// The digits of a lane's number.
pub(super) fn lane_of<const N: usize>(words: &[u64], lane: usize) -> impl Iterator<Item = &u64> {
    words.iter().skip(lane).step_by(N)
}

pub(super) fn lane_mut<const N: usize>(words: &mut [u64], lane: usize) -> impl Iterator<Item = &mut u64> {
    words.iter_mut().skip(lane).step_by(N)
}

/// Limbs that R needs.
pub(in crate::kernel) fn limbs_of_r(form: Form) -> usize {
    form.r_bits().div_ceil(LIMB_BITS)
}

//! Montgomery arithmetic on 64-bit digits, one lane: in portable Rust, or with the carry chains of x86-64.
//!
//! ```text
//! formula     a b / R mod n, below R = 2^(64 N) for a, b < R
//! a, b, n     N limbs of 64 bits, the value as it is
//! multiply    t = a b; m = -t / n mod R; a = (t + m n) / R, less n if that carries
//! square      the same, with half the products
//! ```
//!
//! # Bounds
//!
//! A value is below R; those of products and reductions stand in `limbs::montgomery`. `store` takes n away once.
//!
//! # Schedule
//!
//! That of the products it is made of: `limbs::montgomery` in blocks or rows of portable Rust, `x86_64::adx` on two
//! chains of carries. A look-up reads its table under masks, word by word.

use super::{Doublings, LaneKernel};
use crate::limbs::montgomery::Products;
use crate::limbs::{LIMB_BITS, Modulus, Nat, montgomery, words};
use subtle::Choice;

/// The kernel, made of these products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mont64x1<P>(P);

impl<P> Mont64x1<P> {
    /// The kernel, for who can prove that the CPU has the instructions.
    pub(crate) fn new(products: P) -> Self {
        Self(products)
    }
}

impl<P: Products> LaneKernel for Mont64x1<P> {
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

    #[cfg(feature = "faults")]
    fn for_each_constant(self, moduli: &mut Modulus, visit: &mut dyn FnMut(&mut [u64])) {
        moduli.for_each_number(visit);
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
        self.0.montgomery_mul(modulus.odd(), a, modulus.rr(), t);
    }

    fn enter_wide(self, modulus: &Modulus, low: &mut [u64], high: &mut [u64], t: &mut [u64]) {
        // R high mod n, and what is carried out of the sum is worth R mod n < n.
        self.0.montgomery_mul(modulus.odd(), high, modulus.rr(), t);
        words::reduce_once(high, modulus.n());
        let carry = words::add_assign(low, high);
        words::sub_if(low, modulus.n(), carry);
        self.0.montgomery_mul(modulus.odd(), low, modulus.rr(), t);
    }

    fn leave(self, modulus: &Modulus, a: &mut [u64], t: &mut [u64]) {
        let t = &mut t[..2 * a.len()];
        let (low, high) = t.split_at_mut(a.len());
        low.copy_from_slice(a);
        high.fill(0);
        montgomery::redc(self.0, modulus.odd(), a, t);
    }

    fn mul(self, modulus: &Modulus, a: &mut [u64], b: &[u64], t: &mut [u64]) {
        self.0.montgomery_mul(modulus.odd(), a, b, t);
    }

    fn sqr(self, modulus: &Modulus, a: &mut [u64], times: usize, t: &mut [u64]) {
        self.0.montgomery_sqr(modulus.odd(), a, times, t);
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
                self.0.montgomery_sqr(moduli.odd(), value, 1, working);
                words::reduce_once(value, moduli.n());
                let doubled = &mut working[..value.len()];
                doubled.copy_from_slice(value);
                words::shift_in_mod(doubled, 0, moduli.n());
                words::assign_if(value, doubled, Choice::from(bit));
            }
        }
    }

    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]) {
        self.0.select(table, digits[0], value);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    /// Every block, alone and repeated, and rows: eight limbs alone and in blocks, and all that may be left over.
    pub(crate) const LIMBS: &[usize] = &[
        1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 31, 32, 36, 41, 48,
    ];
}

//! Montgomery arithmetic on one number or two at once, in signed digits held as doubles, two neighbouring digits of
//! each number in one vector: for a single operation, whose two halves lie side by side in it, on CPUs that have fused
//! multiply-add on doubles and no AVX-512 IFMA.
//!
//! ```text
//! formula     a b / R mod n, |result| < 0.54 n for |a|, |b| < 1.1 n
//! a, b, n     M pairs of digits of W = 47 bits or less; R = 2^(2 M W)
//! vector      of two numbers x and y                     x[2 j], x[2 j + 1], y[2 j], y[2 j + 1]
//! a           against the columns, twice: as it is, and moved up by a digit, x[2 j - 1], x[2 j], ...
//! row         digit 2 m of b in both places of its half, times pairs of a; digit 2 m + 1, times pairs that have moved up
//! columns     a pair in a vector, high and low parts as in `mont47`; six pairs are a tile, which stays in registers
//! digits      one step for a pair; what goes to the next column moves by one place, within a half of the register
//! ```
//!
//! # Bounds
//!
//! [`mont47`](super::mont47)'s: the same products are summed in the same columns, and digits are made of them in the
//! same way, two at a time; neither the order of a sum nor what shares a register changes a bound.
//!
//! # Schedule
//!
//! Columns, digits and quotient are those of [`mont47`](super::mont47), whose columns lie side by side instead
//! of one to a vector: two numbers then fill a register of which they would leave half empty. What that costs is a
//! second copy of a, moved up, and half a row of nothing where a triangle of products has its edge: M (M + 1) products
//! of vectors where M² + M / 2 have something in them.
//!
//! Of one number, the upper half has the pairs that have moved up and multiplies them with digit 2 m + 1, so that a row
//! takes both digits of b; the two halves are summed in the end.
//!
//! A square takes the products above the diagonal once, with digits of 2 a, and those on it with the factors 1 and 2,
//! or 1 and 0, in the two places of a pair.
//!
//! Counted in products of vectors, two fma and two additions each: a square M (M + 1) / 2 below R and as many above,
//! the quotient M (M + 1), its product with n M² above R and 2 M for the pair of columns below; a product M² more. Of
//! 22 digits 407 and 528.
//!
//! The sums are assembly for AVX2 and FMA (`x86_64/avx2_tiles.rs`). Elsewhere they are done digit by digit
//! (`digit_by_digit.rs`), for tests.

mod digit_by_digit;
mod moduli;
pub(crate) mod operand;
mod operations;
pub(crate) mod pairs;
mod portable;

use super::{Doublings, LaneKernel, window_width};
use crate::kernel::mont47::form::Form;
use crate::kernel::mont47::operations::Select;
use crate::limbs::{Modulus, Nat};
use moduli::{Moduli, copy_digits, put, take_reduced};
use operations::{Add, SquareAndDouble, SquareAndMultiply, working_words};
use pairs::{Pairs, Work};

/// The kernel over one form, for N numbers at once, 1 or 2.
#[derive(Clone, Copy)]
pub(crate) struct Mont47x2<V: Pairs<N>, const N: usize> {
    token: V::Token,
}

impl<V: Pairs<N>, const N: usize> Mont47x2<V, N> {
    /// The kernel, for who can prove that the CPU has the instructions.
    pub(crate) fn new(token: V::Token) -> Self {
        Self { token }
    }

    fn run(self, work: impl Work<V, N>) {
        V::run_pairs(self.token, work);
    }
}

impl<V: Pairs<N>, const N: usize> LaneKernel for Mont47x2<V, N> {
    const LANES: usize = N;
    type Moduli = Moduli<V::Plan, N>;

    fn words(limbs: usize) -> usize {
        // A table is read in vectors.
        (N * Form::even(limbs).digits).next_multiple_of(4)
    }

    fn window_width(limbs: usize, bits: usize) -> usize {
        // As in `mont47`, for the shortest tables; and none that leaves the first-level cache.
        match Form::even(limbs).digits {
            ..=12 => window_width(bits).min(4),
            _ => window_width(bits).min(5),
        }
    }

    fn working_words(limbs: usize) -> usize {
        working_words(N, Form::even(limbs).digits / 2)
    }

    fn moduli(self, limbs: usize) -> Moduli<V::Plan, N> {
        Moduli::new::<V>(limbs)
    }

    fn set_modulus(self, moduli: &mut Moduli<V::Plan, N>, lane: usize, modulus: &Modulus) {
        moduli.set_to_reduce(lane, modulus.n());
        let form = moduli.form;
        let [one, rr, high_rr] = modulus.powers_of(form.r_bits());
        for (constant, limbs) in [
            (&mut moduli.one, one),
            (&mut moduli.rr, rr),
            (&mut moduli.high_rr, high_rr),
        ] {
            put::<N>(form, constant, lane, &limbs);
        }
    }

    #[cfg(feature = "faults")]
    fn for_each_constant(self, moduli: &mut Moduli<V::Plan, N>, visit: &mut dyn FnMut(&mut [u64])) {
        moduli.for_each_constant(visit);
    }

    fn copy_modulus(self, to: &mut Moduli<V::Plan, N>, lane: usize, from: &Moduli<V::Plan, N>, from_lane: usize) {
        to.copy_from(lane, from, from_lane);
    }

    fn copy_lane(self, to: &mut [u64], lane: usize, from: &[u64], from_lane: usize) {
        copy_digits::<N>(to, lane, from, from_lane);
    }

    fn load(self, moduli: &Moduli<V::Plan, N>, lane: usize, limbs: &[u64], value: &mut [u64]) {
        put::<N>(moduli.form, &mut value[..N * moduli.form.digits], lane, limbs);
    }

    fn store(self, moduli: &Moduli<V::Plan, N>, lane: usize, value: &[u64], limbs: &mut [u64]) {
        let n = &moduli.plain[lane];
        take_reduced::<N>(moduli.form, &value[..N * moduli.form.digits], lane, n, limbs);
    }

    fn one(self, moduli: &Moduli<V::Plan, N>, value: &mut [u64]) {
        value[..moduli.one.len()].copy_from_slice(&moduli.one);
    }

    fn enter(self, moduli: &Moduli<V::Plan, N>, a: &mut [u64], working: &mut [u64]) {
        self.mul(moduli, a, &moduli.rr, working);
    }

    fn enter_wide(self, moduli: &Moduli<V::Plan, N>, low: &mut [u64], high: &mut [u64], working: &mut [u64]) {
        self.mul(moduli, low, &moduli.rr, working);
        self.mul(moduli, high, &moduli.high_rr, working);
        self.run(Add { moduli, low, high });
    }

    fn leave(self, moduli: &Moduli<V::Plan, N>, a: &mut [u64], working: &mut [u64]) {
        self.mul(moduli, a, &moduli.unit, working);
    }

    fn mul(self, moduli: &Moduli<V::Plan, N>, a: &mut [u64], b: &[u64], working: &mut [u64]) {
        self.run(SquareAndMultiply {
            moduli,
            a,
            times: 0,
            b: Some(b),
            working,
        });
    }

    fn sqr(self, moduli: &Moduli<V::Plan, N>, a: &mut [u64], times: usize, working: &mut [u64]) {
        self.run(SquareAndMultiply {
            moduli,
            a,
            times,
            b: None,
            working,
        });
    }

    fn sqr_mul(self, moduli: &Moduli<V::Plan, N>, a: &mut [u64], times: usize, b: &[u64], working: &mut [u64]) {
        self.run(SquareAndMultiply {
            moduli,
            a,
            times,
            b: Some(b),
            working,
        });
    }

    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]) {
        // A number has two places of each vector, or all four.
        let (lower, upper) = (digits[0], digits[N - 1]);
        let select = Select::<4> {
            table,
            digits: &[lower, lower, upper, upper],
            value,
        };
        V::run(self.token, select);
    }

    fn r_bits(limbs: usize) -> usize {
        Form::even(limbs).r_bits()
    }

    fn can_double(limbs: usize, bits: usize) -> bool {
        bits + 5 <= Self::r_bits(limbs)
    }

    fn set_moduli_to_square(self, moduli: &mut Moduli<V::Plan, N>, n: &[Nat], _bits: usize, _working: &mut [u64]) {
        for (lane, n) in n.iter().enumerate() {
            moduli.set_to_reduce(lane, n);
        }
    }

    fn set_moduli_for_powers(
        self,
        moduli: &mut Moduli<V::Plan, N>,
        n: &[Nat],
        least_bits: usize,
        _working: &mut [u64],
    ) {
        let limbs = n[0].len();
        let (mut modulus, mut t) = (Modulus::zero(limbs), Nat::zero(2 * limbs));
        for (lane, n) in n.iter().enumerate() {
            modulus.set(n, least_bits, &mut t);
            self.set_modulus(moduli, lane, &modulus);
        }
    }

    fn square_and_double<const STREAMS: usize>(self, powers: [Doublings<'_, Moduli<V::Plan, N>>; STREAMS]) {
        for Doublings {
            moduli,
            value,
            bits,
            working,
        } in powers
        {
            for bits in bits.as_chunks::<N>().0 {
                // 1 where the bit is set.
                let factor = bits.map(|bit| [u64::from(bit).wrapping_neg() & 1f64.to_bits(); 2]);
                self.run(SquareAndDouble {
                    moduli,
                    value,
                    factor: &factor,
                    working,
                });
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    /// Tiles of every size, alone and with others, and a form of each width.
    pub(crate) const LIMBS: &[usize] = &crate::kernel::tests::up_to_38_limbs([46, 47, 48]);
}

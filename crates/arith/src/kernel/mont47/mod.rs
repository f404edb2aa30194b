//! Montgomery arithmetic on several numbers at once, in signed digits held as doubles, one number a lane. For CPUs that
//! have fused multiply-add on doubles and no AVX-512 IFMA.
//!
//! ```text
//! formula     a b / R mod n, |result| < 0.54 n for |a|, |b| < 1.1 n
//! a, b, n     L digits of W = 47 bits, digit j of all lanes in one vector; R = 2^(W L) >= 2^5 2^(64 N)
//! column      high + low - origin; one product a b:                              Columns::add_product
//!             high' = fma(a, b, high); low' = low + fma(a, b, high - high'); high = high'
//! multiply    tau = the digits of a b mod R                                      reduction::low_half
//!             q = tau (-1 / n) mod R, all digits at once                         reduction::low_half
//!             result = (a b + q n) / R: only columns L and above, and a carry    reduction::high_tile
//!             |result| < 0.54 n, digits just above 2^(W - 1) at most
//! power       for each window: square, look up, multiply
//! ```
//!
//! The product of two doubles as a sum of two comes from Dekker (1971), in the form that takes a fused multiply-add and
//! a constant as origin from Emmart, Zheng and Weems ("Faster modular exponentiation using double precision floating
//! point arithmetic on the GPU", 2018). They turn both parts into integers. Here columns stay doubles, and the high
//! part is its own origin for the next product. The quotient is Montgomery's (1985), taken whole.
//!
//! # Bounds
//!
//! Let h = 2^(W - 1). Digits are at most h + 2^7 in absolute value: below h after rounding, and what the column below
//! carries. All statements hold for W = 44..=47 and columns of P <= 2^(53 - W) - 1 products. `bounds.rs` proves them by
//! running this code on intervals.
//!
//! - The high part starts from the origin 1.5 · 2^(W + 52). While P products change it by less than 2^(W + 51) it stays
//!   between 2^(W + 52) and 2^(W + 53), where doubles are the multiples of 2^W: P (h + 2^7)² + P h < 2^(W + 51). So
//!   `high - high'` is exact, and the second fma, which is what rounding took from the first, is exact and at most h.
//! - The low part is an integer of at most P h < 2^52.
//! - A column takes the high part below it: low + high / 2^W. |low| <= P h, |high / 2^W| <= P (h + 2^7)² / 2^W + 1:
//!   together below 2^52.6, so exact. What it carries is at most 2^(53 - W) <= 2^9, and 2^6 for W = 47.
//! - Every lane has L <= P: that chooses W. W = 47 serves numbers of up to 46 limbs, 46 up to 91, 45 up to 179, 44 more
//!   than 256.
//! - Columns of a b and of q n share one sum where 2 L <= P (up to 22 limbs). Elsewhere a b is carried first, and
//!   enters as a digit: then |low| <= P h + h + 2^7.
//! - |q| <= R / 2 (1 + 2^-36). With |a|, |b| < 1.1 n: |result| < 1.21 n² / R + n / 2 (1 + 2^-36) < 0.54 n. A number
//!   that enters is below 2^(64 N) <= R / 32, and need not be reduced; two halves of a long one come to 1.08 n. Doubled
//!   squares (`square_and_double`) stay below 1.1 n, from anything below 5 n in at most four steps; doubling multiplies
//!   a column before it is rounded, and a double doubled is exact.
//! - The lower half tau + (q n mod R) is a multiple of R. Which one, digit L - 1 of tau and columns L - 1 and L - 2 of
//!   q n say: what is left out is below 2^10 units of column L - 1, and would have to reach half of 2^W to change what
//!   is rounded. Column L - 2 is summed with errors below 2^4 of those units.
//! - The top digit takes what is left, and a value below 5 n leaves it below h.
//! - Nothing overflows, and nothing is ever subnormal: every double is an integer.
//!
//! # Schedule
//!
//! A *tile* is K columns in registers (`tiles.rs`): K = 6 of 16 registers, K = 8 of 32. A row multiplies one digit of a
//! with K digits of b, onto all columns of the tile. So a product costs two fma and two additions, and columns are
//! stored once, as digits. From one row to the next each high part waits for its fma, 4 cycles: with K = 6, two of six
//! are to spare.
//!
//! All sums have one shape. Columns below L are sums of a\[i\] b\[c - i\] from i = 0; columns from L - 1 on are the
//! same sums of the digits taken from the top. So products, squares, the quotient and the upper half run through the
//! same few loops, forwards or backwards.
//!
//! No carry waits for the one below: a column is rounded, and what it carries is added to the digit above, which is not
//! rounded again.

#[cfg(test)]
mod bounds;
pub(super) mod digits;
pub(super) mod form;
mod lookup;
pub(super) mod moduli;
pub(super) mod operations;
mod reduction;
pub(super) mod tiles;

use super::doubles::{Doubles, Work};
use super::{Doublings, LaneKernel, window_width};
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, Nat, negated_inverse, words};
use form::Form;
use moduli::{Moduli, lane_mut, lane_of, limbs_of_r, vectors, vectors_mut};
use operations::{Add, Multiply, Select, Square, SquareAndDouble};

/// The kernel over one form of N doubles, in tiles of K columns.
#[derive(Clone, Copy)]
pub(crate) struct Mont47<V: Doubles<N>, const N: usize, const K: usize> {
    token: V::Token,
}

impl<V: Doubles<N>, const N: usize, const K: usize> Mont47<V, N, K> {
    /// The kernel, for who can prove that the CPU has the instructions.
    pub(crate) fn new(token: V::Token) -> Self {
        Self { token }
    }

    fn run<W: Work<N>>(self, work: W) {
        V::run(self.token, work);
    }

    /// `true` if there is code for the length of these alone.
    fn is_short(moduli: &Moduli<N>) -> bool {
        V::HAS_SHORT && moduli.form == Form::SHORT
    }

    /// Puts n and what reduces by it into a lane.
    fn set_to_reduce(moduli: &mut Moduli<N>, lane: usize, n: &[u64]) {
        let form = moduli.form;
        digits::put(form, lane_mut::<N>(&mut moduli.n, lane), n);
        let inverse = negated_inverse(n, limbs_of_r(form));
        digits::put(form, lane_mut::<N>(&mut moduli.inverse, lane), &inverse);
        moduli.plain[lane].copy_from_slice(n);
    }
}

impl<V: Doubles<N>, const N: usize, const K: usize> LaneKernel for Mont47<V, N, K> {
    const LANES: usize = N;
    type Moduli = Moduli<N>;

    fn words(limbs: usize) -> usize {
        N * Form::new(limbs).digits
    }

    fn window_width(limbs: usize, bits: usize) -> usize {
        // A table of 32 short entries costs more to make and to read than the multiplications that it saves.
        match Form::new(limbs).digits {
            ..=11 => window_width(bits).min(4),
            _ => window_width(bits),
        }
    }

    fn working_words(limbs: usize) -> usize {
        3 * Self::words(limbs)
    }

    fn moduli(self, limbs: usize) -> Moduli<N> {
        Moduli::new(limbs)
    }

    fn set_modulus(self, moduli: &mut Moduli<N>, lane: usize, modulus: &Modulus) {
        let form = moduli.form;
        Self::set_to_reduce(moduli, lane, modulus.n());
        let [one, rr, high_rr] = modulus.powers_of(form.r_bits());
        for (constant, limbs) in [
            (&mut moduli.one, one),
            (&mut moduli.rr, rr),
            (&mut moduli.high_rr, high_rr),
        ] {
            digits::put(form, lane_mut::<N>(constant, lane), &limbs);
        }
    }

    #[cfg(feature = "faults")]
    fn for_each_constant(self, moduli: &mut Moduli<N>, visit: &mut dyn FnMut(&mut [u64])) {
        moduli.for_each_constant(visit);
    }

    fn copy_modulus(self, to: &mut Moduli<N>, lane: usize, from: &Moduli<N>, from_lane: usize) {
        for (to, from) in [
            (&mut to.n, &from.n),
            (&mut to.inverse, &from.inverse),
            (&mut to.one, &from.one),
            (&mut to.rr, &from.rr),
            (&mut to.high_rr, &from.high_rr),
        ] {
            self.copy_lane(to, lane, from, from_lane);
        }
        to.plain[lane].copy_from_slice(&from.plain[from_lane]);
    }

    fn load(self, moduli: &Moduli<N>, lane: usize, limbs: &[u64], value: &mut [u64]) {
        digits::put(moduli.form, lane_mut::<N>(value, lane), limbs);
    }

    fn store(self, moduli: &Moduli<N>, lane: usize, value: &[u64], limbs: &mut [u64]) {
        let n = &moduli.plain[lane];
        digits::take_reduced(moduli.form, lane_of::<N>(value, lane), n, limbs);
    }

    fn one(self, moduli: &Moduli<N>, value: &mut [u64]) {
        value.copy_from_slice(&moduli.one);
    }

    fn enter(self, moduli: &Moduli<N>, a: &mut [u64], working: &mut [u64]) {
        self.mul(moduli, a, &moduli.rr, working);
    }

    fn enter_wide(self, moduli: &Moduli<N>, low: &mut [u64], high: &mut [u64], working: &mut [u64]) {
        self.mul(moduli, low, &moduli.rr, working);
        self.mul(moduli, high, &moduli.high_rr, working);
        self.run(Add {
            moduli,
            low: vectors_mut(low),
            high: vectors(high),
        });
    }

    fn leave(self, moduli: &Moduli<N>, a: &mut [u64], working: &mut [u64]) {
        self.mul(moduli, a, &moduli.unit, working);
    }

    fn mul(self, moduli: &Moduli<N>, a: &mut [u64], b: &[u64], working: &mut [u64]) {
        let (a, b, working) = (vectors_mut(a), vectors(b), vectors_mut(working));
        match Self::is_short(moduli) {
            false => self.run(Multiply::<N, K, false> { moduli, a, b, working }),
            true => self.run(Multiply::<N, K, true> { moduli, a, b, working }),
        }
    }

    fn sqr(self, moduli: &Moduli<N>, a: &mut [u64], times: usize, working: &mut [u64]) {
        let (a, working) = (vectors_mut(a), vectors_mut(working));
        match Self::is_short(moduli) {
            false => self.run(Square::<N, K, false> {
                moduli,
                a,
                times,
                working,
            }),
            true => self.run(Square::<N, K, true> {
                moduli,
                a,
                times,
                working,
            }),
        }
    }

    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]) {
        self.run(Select { table, digits, value });
    }

    fn r_bits(limbs: usize) -> usize {
        Form::new(limbs).r_bits()
    }

    fn can_double(limbs: usize, bits: usize) -> bool {
        bits + 5 <= Self::r_bits(limbs)
    }

    fn set_moduli_to_square(self, moduli: &mut Moduli<N>, n: &[Nat], _bits: usize, _working: &mut [u64]) {
        for (lane, n) in n.iter().enumerate() {
            Self::set_to_reduce(moduli, lane, n);
        }
    }

    fn set_moduli_for_powers(self, moduli: &mut Moduli<N>, n: &[Nat], least_bits: usize, working: &mut [u64]) {
        self.set_moduli_to_square(moduli, n, least_bits, working);
        let form = moduli.form;
        let r = form.r_bits();
        let mut rr = std::mem::replace(&mut moduli.rr, Aligned::zero(0));
        let mut x = Nat::zero(n[0].len());
        let top = least_bits - 1;
        for (lane, n) in n.iter().enumerate() {
            x.fill(0);
            x[top / 64] = 1 << (top % 64);
            for _ in top..r {
                words::shift_in_mod(&mut x, 0, n);
            }
            digits::put(form, lane_mut::<N>(&mut moduli.one, lane), &x);
            words::shift_in_mod(&mut x, 0, n);
            digits::put(form, lane_mut::<N>(&mut rr, lane), &x);
        }
        // 2^e R becomes 2^(2 e + bit) R, along the bits of r from the top.
        let bits = (0..r.ilog2()).rev().flat_map(|i| [(r >> i & 1) as u8; N]);
        self.square_and_double([Doublings {
            moduli,
            value: &mut rr,
            bits: &bits.collect::<Vec<_>>(),
            working,
        }]);
        moduli.rr = rr;
    }

    fn square_and_double<const STREAMS: usize>(self, powers: [Doublings<'_, Moduli<N>>; STREAMS]) {
        for power in powers {
            self.run(SquareAndDouble::<N, K>(power));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    /// Tiles of every size, alone and with others, and a form of each width.
    pub(crate) const LIMBS: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 24, 32, 41, 46, 48];
}

//! Montgomery arithmetic on one number or two at once, in 52-bit digits, four neighbouring digits of each number in one
//! vector: for a single operation, whose two halves lie side by side in it.
//!
//! ```text
//! formula     a b / R mod n, below 5 n for a, b < 5 n
//! a, b, n     W quads of four digits; R = 2^(208 W) >= 16 n
//! multiply    t = a b, four rows at a time: a quad of b times all of a            Quad::add_rows
//!             for each quad of t but the last of the lower half:
//!                 carried into digits, taken away, and t += it / 2^208 mod n        reduced partially: no quotient
//!             the last one: q = its digits times -1 / n mod 2^208, and t += q n
//!             result = the upper half of t, carried into digits, below 3 n
//! square      rows take only what lies above the diagonal; doubled, and the squares added, quad by quad
//! ```
//!
//! A product of digits i and j belongs to column i + j. So that four columns of one vector take the products of one
//! digit of b, a is kept in four copies, moved up by 0 to 3 digits (`quad::Shifted`); the high digits of products are
//! those of the copy one digit further up. Partial reduction is that of `mont52x8`, with 1 / 2^208. Spreading one
//! number's digits over a vector, two numbers side by side, is what Gueron and Krasnov do ("Software implementation of
//! modular exponentiation, using advanced vector instructions architectures", 2012; with IFMA in OpenSSL); they shift
//! the columns down a digit at a time, and make one quotient digit after the other.
//!
//! # Bounds
//!
//! - R >= 16 · 2^(64 N) > 16 n for numbers of N limbs. Partial reduction of any t leaves t / B plus less than B n,
//!   where B = 2^208: after all of them t / (R / B) + B n (1 + 2^-200), and after the last quad less than t / R + n
//!   (2 + 2^-200).
//! - A value is below 5 n, and a product's result below 25 n² / R + 2 n < 3.6 n. What enters is below 2^(64 N) <= R /
//!   16, so below n / 16 + (2 + 2^-200) n; two such are added where a long number enters, which is below 5 n.
//! - Leaving multiplies by a plain number below n: below 5 n / 16 + (2 + 2^-200) n < 3 n. `store` takes n away twice,
//!   under masks.
//! - A column takes at most 8 W low and high products of the factors, doubled or not, as many of digits and inverses,
//!   and carries: below 2^(52 + 4 + log2 W + 1) < 2^64 for W <= 80, which 16,384 bits need.
//! - Powers of two want R >= 64 n, as in `mont52x8`: twice what a square leaves is below 5 n for values below 5 n.
//!
//! # Schedule
//!
//! For W quads a product takes W (16 W + 8) + 8 (W - 1) + 14 multiplications of vectors, a square W (12 W + 12) or so;
//! a CPU does two of 256 bits in a cycle, or one or two of 512 bits. Between one quad and the next there is a chain of
//! some 30 cycles, which the rows of the products fill, and some 200 from the last quotient to the first rows of the
//! next operation, which nothing does.
//!
//! That tail is a third of an operation on short numbers. So there is another way for them where the CPU has AVX-512
//! IFMA, a whole number a row and a digit of the quotient after each ([`rows`]); what is above is for longer ones, and
//! for arrays.

mod carries;
pub(crate) mod layout;
mod moduli;
mod operations;
pub(crate) mod quad;
pub(crate) mod rows;
mod stream;

use super::{Doublings, LaneKernel, digits52, window_width};
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use crate::limbs::{Modulus, Nat, words};
use layout::{DIGITS, Words, copy_digits, digits_mut, digits_of, quads, quads_mut, quads_of};
use moduli::Moduli;
use operations::{Add, Multiply, Select, Square};
use quad::{Quads, Work};
use rows::{Rows, SquareAndMultiply};
use stream::working_quads;
use subtle::Choice;

/// The first-level cache of every CPU that this runs on, less what else is in use.
const TABLE_BYTES: usize = 24 << 10;

/// The kernel over one form, for N numbers at once, 1 or 2.
#[derive(Clone, Copy)]
pub(crate) struct Mont52x2<V: Quads<N>, const N: usize> {
    token: V::Token,
}

impl<V: Quads<N>, const N: usize> Mont52x2<V, N> {
    /// The kernel, for who can prove that the CPU has the instructions.
    pub(crate) fn new(token: V::Token) -> Self {
        Self { token }
    }

    fn run(self, work: impl Work<N>) {
        V::run(self.token, work);
    }

    /// a = a^2 / R mod n, `times` times over, and then a = a b / R mod n if there is a b; with
    /// one active lane in the form for that.
    fn square_and_multiply(
        self,
        moduli: &Moduli<N>,
        a: &mut [u64],
        times: usize,
        b: Option<&[u64]>,
        working: &mut [u64],
    ) {
        if times == 0 && b.is_none() {
            // The code of rows leaves nothing as it was.
            return;
        }
        let (a, b, working) = (quads_mut(a), b.map(quads_of), quads_mut(working));
        match moduli.active {
            1 => self.square_and_multiply_in::<V::First>(moduli, a, times, b, working),
            _ => self.square_and_multiply_in::<V>(moduli, a, times, b, working),
        }
    }

    fn square_and_multiply_in<F: Quads<N, Token = V::Token>>(
        self,
        moduli: &Moduli<N>,
        a: &mut [Words<N>],
        times: usize,
        b: Option<&[Words<N>]>,
        working: &mut [Words<N>],
    ) {
        if let Some(rows) = F::Rows::of(moduli.limbs()) {
            return rows.square_and_multiply(
                self.token,
                SquareAndMultiply {
                    moduli: &moduli.rows,
                    a,
                    times,
                    b,
                    working,
                },
            );
        }
        if times > 0 {
            let (a, working) = (&mut *a, &mut *working);
            F::run(
                self.token,
                Square {
                    moduli,
                    a,
                    times,
                    working,
                },
            );
        }
        if let Some(b) = b {
            F::run(self.token, Multiply { moduli, a, b, working });
        }
    }
}

impl<V: Quads<N>, const N: usize> LaneKernel for Mont52x2<V, N> {
    const LANES: usize = N;
    type Moduli = Moduli<N>;

    fn words(limbs: usize) -> usize {
        N * DIGITS * quads(limbs)
    }

    fn window_width(limbs: usize, bits: usize) -> usize {
        let width = window_width(bits);
        // A table that is read as a whole for each digit belongs into the first-level cache.
        let bytes = (8 * Self::words(limbs)) << width;
        if bytes > TABLE_BYTES { width.min(5) } else { width }
    }

    fn working_words(limbs: usize) -> usize {
        N * DIGITS * working_quads(quads(limbs))
    }

    fn moduli(self, limbs: usize) -> Moduli<N> {
        Moduli::new(limbs, V::Rows::of(limbs).map(Rows::digits))
    }

    fn set_modulus(self, moduli: &mut Moduli<N>, lane: usize, modulus: &Modulus) {
        moduli.set_to_reduce(lane, modulus);
        let [one, rr, high_rr] = modulus.powers_of(Self::r_bits(modulus.limbs()));
        for (constant, limbs) in [
            (&mut moduli.one, one),
            (&mut moduli.rr, rr),
            (&mut moduli.high_rr, high_rr),
        ] {
            digits52::put(digits_mut::<N>(constant, lane), &limbs);
        }
    }

    fn set_active_lanes(self, moduli: &mut Moduli<N>, lanes: usize) {
        moduli.active = lanes;
    }

    #[cfg(feature = "faults")]
    fn for_each_constant(self, moduli: &mut Moduli<N>, visit: &mut dyn FnMut(&mut [u64])) {
        moduli.for_each_constant(visit);
    }

    fn copy_modulus(self, to: &mut Moduli<N>, lane: usize, from: &Moduli<N>, from_lane: usize) {
        to.copy_from(lane, from, from_lane);
    }

    fn copy_lane(self, to: &mut [u64], lane: usize, from: &[u64], from_lane: usize) {
        copy_digits::<N>(to, lane, from, from_lane);
    }

    fn load(self, _: &Moduli<N>, lane: usize, limbs: &[u64], value: &mut [u64]) {
        digits52::put(digits_mut::<N>(value, lane), limbs);
    }

    fn store(self, moduli: &Moduli<N>, lane: usize, value: &[u64], limbs: &mut [u64]) {
        let mut above = digits52::take(digits_of::<N>(value, lane), limbs);
        let n = &moduli.plain[lane];
        for _ in 0..2 {
            let over = !words::is_zero(&[above]) | !words::is_less(limbs, n);
            let borrow = words::sub_if(limbs, n, over);
            above = above.wrapping_sub(u64::from(borrow.unwrap_u8()));
        }
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
            a: quads_mut(low),
            b: quads_of(high),
        });
    }

    fn leave(self, moduli: &Moduli<N>, a: &mut [u64], working: &mut [u64]) {
        self.mul(moduli, a, &moduli.unit, working);
    }

    fn mul(self, moduli: &Moduli<N>, a: &mut [u64], b: &[u64], working: &mut [u64]) {
        self.square_and_multiply(moduli, a, 0, Some(b), working);
    }

    fn sqr(self, moduli: &Moduli<N>, a: &mut [u64], times: usize, working: &mut [u64]) {
        self.square_and_multiply(moduli, a, times, None, working);
    }

    fn sqr_mul(self, moduli: &Moduli<N>, a: &mut [u64], times: usize, b: &[u64], working: &mut [u64]) {
        self.square_and_multiply(moduli, a, times, Some(b), working);
    }

    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]) {
        self.run(Select {
            table: quads_of(table),
            digits,
            value: quads_mut(value),
        });
    }

    fn r_bits(limbs: usize) -> usize {
        let digits = V::Rows::of(limbs).map(Rows::digits);
        DIGIT_BITS * digits.unwrap_or(DIGITS * quads(limbs))
    }

    fn can_double(limbs: usize, bits: usize) -> bool {
        bits + 6 <= Self::r_bits(limbs)
    }

    fn set_moduli_to_square(self, moduli: &mut Moduli<N>, n: &[Nat], bits: usize, _working: &mut [u64]) {
        let mut modulus = Modulus::zero(n[0].len());
        for (lane, n) in n.iter().enumerate() {
            modulus.set_to_reduce(n, bits);
            moduli.set_to_reduce(lane, &modulus);
        }
    }

    fn set_moduli_for_powers(self, moduli: &mut Moduli<N>, n: &[Nat], least_bits: usize, _working: &mut [u64]) {
        let limbs = n[0].len();
        let (mut modulus, mut t) = (Modulus::zero(limbs), Nat::zero(2 * limbs));
        for (lane, n) in n.iter().enumerate() {
            modulus.set(n, least_bits, &mut t);
            self.set_modulus(moduli, lane, &modulus);
        }
    }

    fn square_and_double<const STREAMS: usize>(self, powers: [Doublings<'_, Moduli<N>>; STREAMS]) {
        for power in powers {
            let Doublings {
                moduli,
                value,
                bits,
                working,
            } = power;
            for bits in bits.as_chunks::<N>().0 {
                self.sqr(moduli, value, 1, working);
                for (lane, &bit) in bits.iter().enumerate() {
                    double(digits_mut::<N>(value, lane), bit);
                }
            }
        }
    }
}

/// a = 2^bit a, which is below R. A shift by a secret count would take a cycle longer for some.
fn double<'a>(a: impl Iterator<Item = &'a mut u64>, bit: u8) {
    let mask = words::mask(Choice::from(bit));
    let mut carry = 0;
    for digit in a {
        let doubled = (*digit + (*digit & mask)) | carry;
        *digit = doubled & DIGIT_MASK;
        carry = doubled >> DIGIT_BITS;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One quad and many, and every length that has rows of its own.
    pub(crate) const LIMBS: &[usize] = &crate::kernel::tests::up_to_38_limbs([41, 47, 48]);

    /// Of two numbers the first is what it is when both are wanted.
    fn does_the_first_alone<V: Quads<2>>(token: V::Token) {
        let kernel = Mont52x2::<V, 2>::new(token);
        for len in 1..=38 {
            let modulus = |first| {
                let mut n = vec![u64::MAX; len];
                n[0] = first;
                Modulus::new(&n, 64 * len, len)
            };
            let mut moduli = kernel.prepare(&[&modulus(u64::MAX), &modulus(0x1234_5671)]);
            let mut a = vec![0; Mont52x2::<V, 2>::words(len)];
            for (lane, limb) in [u64::MAX, 3].into_iter().enumerate() {
                kernel.load(&moduli, lane, &vec![limb; len], &mut a);
            }
            let mut working = vec![0; Mont52x2::<V, 2>::working_words(len)];
            let mut result = |active| {
                kernel.set_active_lanes(&mut moduli, active);
                let (mut x, mut stored) = (a.clone(), Nat::zero(len));
                kernel.sqr_mul(&moduli, &mut x, 3, &a, &mut working);
                kernel.store(&moduli, 0, &x, &mut stored);
                stored
            };
            assert_eq!(result(1)[..], result(2)[..]);
        }
    }

    #[test]
    fn the_first_alone_is_right_on_arrays() {
        does_the_first_alone::<quad::Portable<2>>(());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_first_alone_is_right_in_registers() {
        use crate::kernel::x86_64::{have_ifma::HaveIfma, ifma_quads::TwoQuads};
        match HaveIfma::check() {
            Some(token) => does_the_first_alone::<TwoQuads>(token),
            None => eprintln!("SKIPPED: this CPU has no AVX-512 IFMA"),
        }
    }
}

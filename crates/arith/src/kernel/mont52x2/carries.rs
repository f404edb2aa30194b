//! From columns to digits.

use super::layout::{DIGITS, Words};
use super::quad::Quads;
use crate::kernel::lanes::DIGIT_MASK;

/// Carries of N numbers that fit into one word, in quads.
const fn word_quads<const N: usize>() -> usize {
    u64::BITS as usize / (DIGITS * N)
}

/// The bits of a word that belong to one of N numbers: four, then four of the next number, and so on.
const fn bits_of<const N: usize>(lane: usize) -> u64 {
    let mut bits = 0;
    let mut at = DIGITS * lane;
    while at < u64::BITS as usize {
        bits |= 0b1111 << at;
        at += DIGITS * N;
    }
    bits
}

/// Columns that are to be carried into digits, and where these go.
pub(super) trait Columns<V: Quads<N>, const N: usize> {
    /// The number of quads.
    fn width(&self) -> usize;
    /// The columns of a quad, from the lowest quad to the highest, before anything is kept of it.
    fn columns(&self, token: V::Token, quad: usize) -> V;
    /// Room for a quad, until its digits are put.
    fn room(&mut self, quad: usize) -> &mut Words<N>;
    /// Takes the digits of a quad, from the lowest one to the highest.
    fn put(&mut self, quad: usize, digits: V);
}

/// Columns whose digits take their place.
impl<V: Quads<N>, const N: usize> Columns<V, N> for &mut [Words<N>] {
    #[inline(always)]
    fn width(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn columns(&self, token: V::Token, quad: usize) -> V {
        V::load(token, &self[quad])
    }

    #[inline(always)]
    fn room(&mut self, quad: usize) -> &mut Words<N> {
        &mut self[quad]
    }

    #[inline(always)]
    fn put(&mut self, quad: usize, digits: V) {
        digits.store(&mut self[quad]);
    }
}

/// Carries columns into digits; each number is worth less than R.
///
/// Each column gives what exceeds its digit to the next, all at once. A column then carries 1 at most, and all of these
/// carries come out of one addition of words that hold a bit for each column: whether it carries, and whether it would
/// if 1 came in. Bits of other numbers in between let every carry pass.
#[inline(always)]
pub(super) fn carry_all<V: Quads<N>, const N: usize>(token: V::Token, mut columns: impl Columns<V, N>) {
    let mask = V::splat(token, DIGIT_MASK);
    let mut below = V::splat(token, 0);
    let mut carried = [(0, false); N];
    let width = columns.width();
    for first in (0..width).step_by(word_quads::<N>()) {
        let end = width.min(first + word_quads::<N>());
        let (mut carries, mut passes) = (0, 0);
        for i in first..end {
            let sum = columns.columns(token, i);
            let above = sum.shift_right_digit();
            let sum = sum.and(mask).add(above.move_up::<1>(below));
            below = above;
            carries |= u64::from(sum.exceeds(mask)) << (DIGITS * N * (i - first));
            passes |= u64::from(sum.equals(mask)) << (DIGITS * N * (i - first));
            sum.store(columns.room(i));
        }
        let count = DIGITS * N * (end - first);
        let mut takes = 0;
        for (lane, (carries_below, carry)) in carried.iter_mut().enumerate() {
            let own = bits_of::<N>(lane);
            let (carries, passes) = (carries & own, passes | !own);
            let (sum, over) = (carries << 1 | *carries_below).overflowing_add(passes);
            let (sum, over_again) = sum.overflowing_add((*carry).into());
            (*carries_below, *carry) = (carries >> (count - 1), over | over_again);
            takes |= (sum ^ passes) & own;
        }
        for i in first..end {
            let places = (takes >> (DIGITS * N * (i - first))) as u8;
            let digits = V::load(token, columns.room(i)).add_one_at(places).and(mask);
            columns.put(i, digits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lanes::DIGIT_BITS;
    use crate::kernel::mont52x2::quad::{Portable, Work};
    use num_bigint::BigUint;

    struct CarryAll<'a, const N: usize>(&'a mut [Words<N>]);

    impl<const N: usize> Work<N> for CarryAll<'_, N> {
        #[inline(always)]
        fn run<V: Quads<N>>(self, token: V::Token) {
            carry_all::<V, N>(token, &mut *self.0);
        }
    }

    fn worth<const N: usize>(columns: &[Words<N>], lane: usize) -> BigUint {
        let columns = columns.iter().flat_map(|quad| &quad[lane]).rev();
        columns.fold(BigUint::ZERO, |sum, &column| (sum << DIGIT_BITS) + column)
    }

    /// Carries that begin nowhere, anywhere and in the lowest column, and pass through any number of full digits, over
    /// the words that hold them; beside another number, in which they are elsewhere.
    fn carries_go_as_far_as_they_must<V: Quads<N>, const N: usize>(token: V::Token) {
        for quads in [1, 2, 5, 7, 8, 9, 15, 16, 17, 32, 33, 40] {
            let digits = DIGITS * quads;
            let number = |from: usize, to: usize, start: u64, lane: usize, columns: &mut [Words<N>]| {
                let words = columns.iter_mut().flat_map(|quad| &mut quad[lane]);
                for (at, word) in words.enumerate() {
                    *word = match at {
                        _ if at == from.min(digits - 1) && from < digits - 1 => start,
                        _ if at == from.min(digits - 1) => 1,
                        _ if (from..to.min(digits - 1)).contains(&at) => DIGIT_MASK,
                        _ => 0,
                    };
                }
            };
            for from in [0, 1, 3, 4, 31, 32, 62, 63, 64, 65, digits - 1] {
                for to in [1, 4, 31, 33, 63, 64, 65, 128, digits - 1] {
                    for start in [0, DIGIT_MASK, DIGIT_MASK + 1, u64::MAX] {
                        let mut columns = vec![[[0; DIGITS]; N]; quads];
                        for lane in 0..N {
                            number(from + 3 * lane, to, start, lane, &mut columns);
                        }
                        let expected: Vec<_> = (0..N).map(|lane| worth(&columns, lane)).collect();
                        V::run(token, CarryAll(&mut columns));
                        for (lane, expected) in expected.iter().enumerate() {
                            assert_eq!(
                                worth(&columns, lane),
                                *expected,
                                "{quads} quads, {from} to {to}, {start:x}"
                            );
                        }
                        let digits = columns.iter().flatten().flatten();
                        assert!(digits.into_iter().all(|&digit| digit <= DIGIT_MASK));
                    }
                }
            }
        }
    }

    #[test]
    fn carries_of_arrays_go_as_far_as_they_must() {
        carries_go_as_far_as_they_must::<Portable<1>, 1>(());
        carries_go_as_far_as_they_must::<Portable<2>, 2>(());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn carries_of_registers_go_as_far_as_they_must() {
        use crate::kernel::x86_64::{
            have_ifma::HaveIfma,
            ifma_quads::{OneQuad, TwoQuads},
        };
        match HaveIfma::check() {
            Some(token) => {
                carries_go_as_far_as_they_must::<OneQuad, 1>(token);
                carries_go_as_far_as_they_must::<TwoQuads, 2>(token);
            }
            None => eprintln!("SKIPPED: this CPU has no AVX-512 IFMA"),
        }
    }
}

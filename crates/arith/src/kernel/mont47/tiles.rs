//! Sums of products, a few columns at a time. What a column is, and the bounds, stand in the [module above](super).
//!
//! A *tile* is C neighbouring columns, in registers. Column c of a product is the sum of a\[i\] b\[c - i\]. With i go
//! the tile's columns through the same digit of a, and through a window of C digits of b that moves down by one: two
//! loads for C products, and no store until the columns are complete.
//!
//! Only columns whose sums begin with i = 0 are computed here. The others are the same sums of the digits taken from
//! the top: with REVERSED, digit i is digit L - 1 - i, and column c is column 2 L - 2 - c.

use super::form::Constants;
use crate::kernel::doubles::{Columns, Doubles, Vector, unroll};

/// `count` digits of `x` from `at` on, in ascending order; from the top, those below L - `at` in descending order.
#[inline(always)]
fn part<const N: usize, const REVERSED: bool>(x: &[Vector<N>], at: usize, count: usize) -> &[Vector<N>] {
    if REVERSED {
        &x[x.len() - at - count..][..count]
    } else {
        &x[at..][..count]
    }
}

/// Digit `i` of a part.
#[inline(always)]
fn digit<V: Doubles<N>, const N: usize, const REVERSED: bool>(token: V::Token, part: &[Vector<N>], i: usize) -> V {
    V::load(token, &part[if REVERSED { part.len() - 1 - i } else { i }])
}

/// Columns c..c + C += the digits 0..`steps` of `a` times those of `b` that lead there.
#[inline(always)]
fn add_steps<V: Doubles<N>, const N: usize, const C: usize, const REVERSED: bool>(
    token: V::Token,
    columns: &mut Columns<V, C>,
    a: &[Vector<N>],
    b: &[Vector<N>],
    c: usize,
    steps: usize,
) {
    let a = part::<N, REVERSED>(a, 0, steps);
    // Of b, C digits for each step, which begin one lower each time.
    let b = part::<N, REVERSED>(b, c + 1 - steps, steps + C - 1);
    for i in 0..steps {
        let x = digit::<V, N, REVERSED>(token, a, i);
        let b = if REVERSED { &b[i..] } else { &b[steps - 1 - i..] };
        V::add_row::<C, REVERSED>(token, columns, 0, x, &b[..C]);
    }
}

/// Columns c..c + C of a product.
#[inline(always)]
pub(super) fn add_products<V: Doubles<N>, const N: usize, const C: usize, const REVERSED: bool>(
    token: V::Token,
    columns: &mut Columns<V, C>,
    a: &[Vector<N>],
    b: &[Vector<N>],
    c: usize,
) {
    add_steps::<V, N, C, REVERSED>(token, columns, a, b, c, c);
    // Each further digit of a has a product in one column less.
    let a = part::<N, REVERSED>(a, c, C);
    let b = part::<N, REVERSED>(b, 0, C);
    unroll!(step < C => {
        let x = digit::<V, N, REVERSED>(token, a, step);
        V::add_row::<C, REVERSED>(token, columns, step, x, part::<N, REVERSED>(b, 0, C - step));
    });
}

/// Columns c..c + C of a square, for an even `c`, where `twice` is 2 a: products of unequal digits are taken once.
#[inline(always)]
pub(super) fn add_squares<V: Doubles<N>, const N: usize, const C: usize, const REVERSED: bool>(
    token: V::Token,
    columns: &mut Columns<V, C>,
    a: &[Vector<N>],
    twice: &[Vector<N>],
    c: usize,
) {
    let half = c / 2;
    add_steps::<V, N, C, REVERSED>(token, columns, twice, a, c, half);
    let a = part::<N, REVERSED>(a, half, C);
    let twice = part::<N, REVERSED>(twice, half, C.div_ceil(2));
    unroll!(step < C => {
        if 2 * step + 1 < C {
            let x = digit::<V, N, REVERSED>(token, twice, step);
            let y = part::<N, REVERSED>(a, step + 1, C - 1 - 2 * step);
            V::add_row::<C, REVERSED>(token, columns, 2 * step + 1, x, y);
        }
        if 2 * step < C {
            let x = digit::<V, N, REVERSED>(token, a, step);
            columns.add_product(2 * step, x, x);
        }
    });
}

/// Digits out of columns, in ascending order: what is above 2^(W - 1) in one goes into the next digit, which may be a
/// little longer for it.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Carry<V> {
    /// The high part of the column below, a multiple of 2^W.
    pub(in crate::kernel) high: V,
    /// The carry out of the column below.
    pub(in crate::kernel) carry: V,
}

impl<V: Copy> Carry<V> {
    #[inline(always)]
    pub(in crate::kernel) fn none(constants: &Constants<V>) -> Self {
        Self {
            high: constants.zero,
            carry: constants.zero,
        }
    }

    /// The digit of the next column, which is multiplied with `factor` first, if there is one.
    #[inline(always)]
    pub(in crate::kernel) fn digit<const N: usize>(
        &mut self,
        constants: &Constants<V>,
        (high, low): (V, V),
        factor: Option<V>,
    ) -> V
    where
        V: Doubles<N>,
    {
        let sum = self.high.mul_add(constants.inverse_radix, low);
        let sum = factor.map_or(sum, |factor| sum.mul(factor));
        let above = round(constants, sum);
        let digit = above.mul_add(constants.minus_radix, sum).add(self.carry);
        self.high = high.sub(constants.origin);
        self.carry = above;
        digit
    }
}

/// x / 2^W, rounded to an integer.
#[inline(always)]
pub(in crate::kernel) fn round<V: Doubles<N>, const N: usize>(constants: &Constants<V>, x: V) -> V {
    x.mul_add(constants.inverse_radix, constants.integer)
        .sub(constants.integer)
}

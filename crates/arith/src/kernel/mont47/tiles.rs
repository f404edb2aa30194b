//! Sums of products, a few columns at a time. What a column is, and the bounds, stand in the [module above](super).
//!
//! A *tile* is C neighbouring columns, in registers. Column c of a product is the sum of a\[i\] b\[c - i\]. With i go the tile's
//! columns through the same digit of a, and through a window of C digits of b that moves down by one: two loads for C products,
//! and no store until the columns are complete.
//!
//! Only columns whose sums begin with i = 0 are computed here. The others are the same sums of the digits taken from the top: with
//! REVERSED, digit i is digit L - 1 - i, and column c is column 2 L - 2 - c.

use super::form::Constants;
use crate::kernel::doubles::{Doubles, Vector};

/// Expands a block once for each number 0..8 below the bound, with the number a constant: an array of registers must be indexed by
/// constants only.
macro_rules! unroll {
    ($i:ident < $bound:expr => $body:block) => {
        unroll!(@ $i, $bound, $body, 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident, $bound:expr, $body:block, $($number:literal)*) => {
        $(if $number < $bound {
            let $i: usize = $number;
            $body
        })*
    };
}
pub(super) use unroll;

/// C columns: each is the sum of its two parts less the origin.
#[derive(Clone, Copy)]
pub(super) struct Columns<V, const C: usize> {
    /// Multiples of 2^W, on top of the origin.
    pub(super) high: [V; C],
    /// What is left.
    pub(super) low: [V; C],
}

impl<V: Copy, const C: usize> Columns<V, C> {
    /// Nothing yet.
    #[inline(always)]
    pub(super) fn new(constants: &Constants<V>) -> Self {
        Self {
            high: [constants.origin; C],
            low: [constants.zero; C],
        }
    }

    /// Column k += a b.
    #[inline(always)]
    fn add_product<const N: usize>(&mut self, k: usize, a: V, b: V)
    where
        V: Doubles<N>,
    {
        let before = self.high[k];
        let high = a.mul_add(b, before);
        self.high[k] = high;
        self.low[k] = self.low[k].add(a.mul_add(b, before.sub(high)));
    }
}

/// Digits `at`.. of `x`, as many as fit, in ascending order; from the top, the digits below L - `at` in descending order.
#[inline(always)]
fn block<const N: usize, const C: usize, const REVERSED: bool>(
    x: &[Vector<N>],
    at: usize,
) -> &[Vector<N>; C] {
    if REVERSED {
        x[..x.len() - at].last_chunk().expect("a tile fits")
    } else {
        x[at..].first_chunk().expect("a tile fits")
    }
}

/// Digit `i` of a block.
#[inline(always)]
fn digit<V: Doubles<N>, const N: usize, const C: usize, const REVERSED: bool>(
    token: V::Token,
    block: &[Vector<N>; C],
    i: usize,
) -> V {
    V::load(token, &block[if REVERSED { C - 1 - i } else { i }])
}

/// Columns += S digits of `a`, ascending, with the window of `b`, whose next digits come in descending.
#[inline(always)]
fn add_steps<
    V: Doubles<N>,
    const N: usize,
    const S: usize,
    const C: usize,
    const REVERSED: bool,
>(
    token: V::Token,
    columns: &mut Columns<V, C>,
    window: &mut [V; C],
    a: &[Vector<N>; S],
    b: &[Vector<N>; S],
) {
    unroll!(step < S => {
        let x = digit::<V, N, S, REVERSED>(token, a, step);
        unroll!(k < C => { columns.add_product(k, x, window[k]); });
        unroll!(k < C => {
            if k + 1 < C {
                window[C - 1 - k] = window[C - 2 - k];
            }
        });
        window[0] = digit::<V, N, S, REVERSED>(token, b, S - 1 - step);
    });
}

/// Columns c..c + C of a product, for `c` a multiple of K.
#[inline(always)]
pub(super) fn add_products<
    V: Doubles<N>,
    const N: usize,
    const K: usize,
    const C: usize,
    const REVERSED: bool,
>(
    token: V::Token,
    columns: &mut Columns<V, C>,
    a: &[Vector<N>],
    b: &[Vector<N>],
    c: usize,
) {
    let first: &[Vector<N>; C] = block::<N, C, REVERSED>(b, c);
    let mut window = [columns.low[0]; C];
    unroll!(k < C => { window[k] = digit::<V, N, C, REVERSED>(token, first, k); });
    if REVERSED {
        let (a, b) = (&a[a.len() - c..], &b[b.len() - c..]);
        for (a, b) in a.as_chunks::<K>().0.iter().rev().zip(b.as_chunks::<K>().0) {
            add_steps::<V, N, K, C, REVERSED>(token, columns, &mut window, a, b);
        }
    } else {
        let (a, b) = (&a[..c], &b[..c]);
        for (a, b) in a.as_chunks::<K>().0.iter().zip(b.as_chunks::<K>().0.iter().rev()) {
            add_steps::<V, N, K, C, REVERSED>(token, columns, &mut window, a, b);
        }
    }
    // Each further digit of a has a product in one column less.
    let last: &[Vector<N>; C] = block::<N, C, REVERSED>(a, c);
    unroll!(step < C => {
        let x = digit::<V, N, C, REVERSED>(token, last, step);
        unroll!(k < C => {
            if k >= step {
                columns.add_product(k, x, window[k - step]);
            }
        });
    });
}

/// Columns c..c + C of a square, for `c` a multiple of K, where `twice` is 2 a: products of unequal digits are taken once.
#[inline(always)]
pub(super) fn add_squares<
    V: Doubles<N>,
    const N: usize,
    const K: usize,
    const H: usize,
    const C: usize,
    const REVERSED: bool,
>(
    token: V::Token,
    columns: &mut Columns<V, C>,
    a: &[Vector<N>],
    twice: &[Vector<N>],
    c: usize,
) {
    const { assert!(K == 2 * H) };
    let half = c / 2;
    let first: &[Vector<N>; C] = block::<N, C, REVERSED>(a, c);
    let mut window = [columns.low[0]; C];
    unroll!(k < C => { window[k] = digit::<V, N, C, REVERSED>(token, first, k); });
    let whole = half - half % K;
    if REVERSED {
        let (twice, a) = (&twice[twice.len() - whole..], &a[a.len() - c..]);
        for (twice, a) in twice.as_chunks::<K>().0.iter().rev().zip(a.as_chunks::<K>().0) {
            add_steps::<V, N, K, C, REVERSED>(token, columns, &mut window, twice, a);
        }
    } else {
        let (twice, a) = (&twice[..whole], &a[..c]);
        for (twice, a) in twice.as_chunks::<K>().0.iter().zip(a.as_chunks::<K>().0.iter().rev()) {
            add_steps::<V, N, K, C, REVERSED>(token, columns, &mut window, twice, a);
        }
    }
    if whole < half {
        let twice = block::<N, H, REVERSED>(twice, whole);
        let a = block::<N, H, REVERSED>(a, half);
        add_steps::<V, N, H, C, REVERSED>(token, columns, &mut window, twice, a);
    }
    // The window starts with digit c / 2 now.
    unroll!(step < C => {
        if 2 * step + 1 < C {
            let twice = block::<N, 1, REVERSED>(twice, half + step);
            let x = V::load(token, &twice[0]);
            unroll!(k < C => {
                if k > 2 * step {
                    columns.add_product(k, x, window[k - step]);
                }
            });
        }
        if 2 * step < C {
            columns.add_product(2 * step, window[step], window[step]);
        }
    });
}

/// Digits out of columns, in ascending order: what is above 2^(W - 1) in one goes into the next digit, which may be a little longer for it.
#[derive(Clone, Copy)]
pub(super) struct Carry<V> {
    /// The high part of the column below, a multiple of 2^W.
    pub(super) high: V,
    /// What was carried out of the column below.
    pub(super) carry: V,
}

impl<V: Copy> Carry<V> {
    #[inline(always)]
    pub(super) fn none(constants: &Constants<V>) -> Self {
        Self {
            high: constants.zero,
            carry: constants.zero,
        }
    }

    /// The digit of the next column, which is multiplied with `factor` first, if there is one.
    #[inline(always)]
    pub(super) fn digit<const N: usize>(
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
pub(super) fn round<V: Doubles<N>, const N: usize>(constants: &Constants<V>, x: V) -> V {
    x.mul_add(constants.inverse_radix, constants.integer)
        .sub(constants.integer)
}

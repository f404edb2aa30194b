//! Products and squares mod n. The steps stand in the [module above](super).

use super::form::{Constants, Form};
use super::tiles::{Carry, add_products, add_squares, round};
use crate::kernel::doubles::{Columns, Doubles, Vector, unroll, with_constant};

/// The two factors of a product, or a number and its double.
#[derive(Clone, Copy)]
pub(super) enum Factors<'a, const N: usize> {
    /// a and b.
    Product(&'a [Vector<N>], &'a [Vector<N>]),
    /// a and 2 a.
    Square(&'a [Vector<N>], &'a [Vector<N>]),
}

/// The modulus in all lanes: n, and -1 / n mod R.
#[derive(Clone, Copy)]
pub(super) struct Modulus<'a, const N: usize> {
    pub(super) form: Form,
    pub(super) n: &'a [Vector<N>],
    pub(super) inverse: &'a [Vector<N>],
}

/// Columns c..c + C of a product or of a square.
#[inline(always)]
fn columns<V: Doubles<N>, const N: usize, const C: usize, const REVERSED: bool>(
    token: V::Token,
    constants: &Constants<V>,
    factors: Factors<'_, N>,
    c: usize,
) -> Columns<V, C> {
    let mut columns = constants.columns();
    match factors {
        Factors::Product(a, b) => {
            add_products::<V, N, C, REVERSED>(token, &mut columns, a, b, c);
        }
        Factors::Square(a, twice) => {
            add_squares::<V, N, C, REVERSED>(token, &mut columns, a, twice, c);
        }
    }
    columns
}

/// The digits of C columns from `c` on.
#[inline(always)]
fn low_tile<V: Doubles<N>, const N: usize, const C: usize>(
    token: V::Token,
    constants: &Constants<V>,
    factors: Factors<'_, N>,
    c: usize,
    carry: &mut Carry<V>,
    out: &mut [Vector<N>],
) {
    let columns = columns::<V, N, C, false>(token, constants, factors, c);
    let out: &mut [Vector<N>; C] = out[c..].first_chunk_mut().expect("a tile fits");
    unroll!(k < C => {
        let column = (columns.high[k], columns.low[k]);
        carry.digit(constants, column, None).store(&mut out[k]);
    });
}

/// The product mod R, in digits, and what is carried out of it.
#[inline(always)]
pub(super) fn low_half<V: Doubles<N>, const N: usize, const K: usize>(
    token: V::Token,
    constants: &Constants<V>,
    factors: Factors<'_, N>,
    out: &mut [Vector<N>],
) -> Carry<V> {
    let mut carry = Carry::none(constants);
    let whole = out.len() - out.len() % K;
    for c in (0..whole).step_by(K) {
        low_tile::<V, N, K>(token, constants, factors, c, &mut carry, out);
    }
    with_constant!(out.len() - whole, K, C => {
        low_tile::<V, N, C>(token, constants, factors, whole, &mut carry, out);
    });
    carry
}

/// The sums above R: the product of the factors, and q n; and a factor of both, if there is one.
struct Sums<'a, V, const N: usize> {
    factors: Factors<'a, N>,
    q: &'a [Vector<N>],
    modulus: Modulus<'a, N>,
    factor: Option<V>,
}

/// The carries of the columns below.
struct State<V> {
    /// Carries of the factors' product, where it is carried on its own.
    factors: Carry<V>,
    sum: Carry<V>,
}

/// The digits of C columns of both sums, from `c` on, counted from the top. The lowest tile is given `tau`, the highest
/// digit of what has been taken away, and then ALL is C + 1: there is one more column below, of q n alone. Elsewhere
/// ALL is C.
#[inline(always)]
fn high_tile<V: Doubles<N>, const N: usize, const C: usize, const ALL: usize>(
    token: V::Token,
    constants: &Constants<V>,
    sums: &Sums<'_, V, N>,
    c: usize,
    state: &mut State<V>,
    out: &mut [Vector<N>],
    tau: Option<V>,
) {
    let Sums {
        factors,
        q,
        modulus,
        factor,
    } = *sums;
    let mut sum = constants.columns::<ALL>();
    if C > 0 {
        let product = columns::<V, N, C, true>(token, constants, factors, c);
        if modulus.form.is_joined() {
            unroll!(k < C => {
                sum.high[k] = product.high[k];
                sum.low[k] = product.low[k];
            });
        } else {
            unroll!(i < C => {
                let k = C - 1 - i;
                let column = (product.high[k], product.low[k]);
                sum.low[k] = state.factors.digit(constants, column, None);
            });
        }
    }
    add_products::<V, N, ALL, true>(token, &mut sum, q, modulus.n, c);
    if let Some(tau) = tau {
        // The lower half, tau and q n together, is a multiple of R: its top digits say which.
        let below = dot::<V, N>(token, constants, q, modulus.n);
        let top = sum.low[C].add(tau);
        let above = round(constants, below.mul_add(constants.inverse_radix, top));
        state.sum.carry = state.sum.carry.add(above);
        state.sum.high = state.sum.high.add(sum.high[C].sub(constants.origin));
        if let Some(factor) = factor {
            state.sum.carry = state.sum.carry.mul(factor);
        }
    }
    if C > 0 {
        let at = out.len() - 1 - c - C;
        let out: &mut [Vector<N>; C] = out[at..].first_chunk_mut().expect("a tile fits");
        unroll!(i < C => {
            let column = (sum.high[C - 1 - i], sum.low[C - 1 - i]);
            state.sum.digit(constants, column, factor).store(&mut out[i]);
        });
    }
}

/// Column L - 2 of q n, nearly.
#[inline(always)]
fn dot<V: Doubles<N>, const N: usize>(
    token: V::Token,
    constants: &Constants<V>,
    q: &[Vector<N>],
    n: &[Vector<N>],
) -> V {
    let below = q.len() - 1;
    let mut sums = [constants.zero; 4];
    let (q, q_rest) = q[..below].as_chunks::<4>();
    let (n_rest, n) = n[..below].as_rchunks::<4>();
    for (q, n) in q.iter().zip(n.iter().rev()) {
        unroll!(i < 4 => {
            sums[i] = V::load(token, &q[i]).mul_add(V::load(token, &n[3 - i]), sums[i]);
        });
    }
    for (q, n) in q_rest.iter().zip(n_rest.iter().rev()) {
        sums[0] = V::load(token, q).mul_add(V::load(token, n), sums[0]);
    }
    sums[0].add(sums[1]).add(sums[2].add(sums[3]))
}

/// The carry out of the lower half of the factors' product, and the quotient that clears it, into `q`.
#[inline(always)]
fn quotient<V: Doubles<N>, const N: usize, const K: usize>(
    token: V::Token,
    constants: &Constants<V>,
    factors: Factors<'_, N>,
    modulus: Modulus<'_, N>,
    tau: &mut [Vector<N>],
    q: &mut [Vector<N>],
) -> Carry<V> {
    let carry = low_half::<V, N, K>(token, constants, factors, tau);
    low_half::<V, N, K>(token, constants, Factors::Product(tau, modulus.inverse), q);
    carry
}

/// out = the product of the factors / R mod n, times the factor, if there is one. `q` is working memory.
#[inline(always)]
pub(super) fn montgomery<V: Doubles<N>, const N: usize, const K: usize>(
    token: V::Token,
    factors: Factors<'_, N>,
    modulus: Modulus<'_, N>,
    out: &mut [Vector<N>],
    q: &mut [Vector<N>],
    factor: Option<V>,
) {
    let constants = &modulus.form.constants::<V, N>(token);
    let carry = quotient::<V, N, K>(token, constants, factors, modulus, out, q);
    let below_top = out.len() - 1;
    let tau = V::load(token, &out[below_top]);
    let none = Carry::none(constants);
    let mut state = match modulus.form.is_joined() {
        true => State {
            factors: none,
            sum: carry,
        },
        false => State {
            factors: carry,
            sum: none,
        },
    };
    let sums = Sums {
        factors,
        q,
        modulus,
        factor,
    };
    let whole = below_top - below_top % K;
    with_constant!(below_top % K, K, 0 or C => {
        high_tile::<V, N, C, { C + 1 }>(
            token, constants, &sums, whole, &mut state, out, Some(tau),
        );
    });
    for c in (0..whole).step_by(K).rev() {
        high_tile::<V, N, K, K>(token, constants, &sums, c, &mut state, out, None);
    }
    // The top digit takes what is left, whatever it is.
    let State { factors, sum } = state;
    let high = factors.high.add(sum.high);
    let carry = match factor {
        Some(factor) => factors.carry.mul(factor),
        None => factors.carry,
    };
    let high = match factor {
        Some(factor) => high.mul(factor),
        None => high,
    };
    high.mul_add(constants.inverse_radix, sum.carry.add(carry))
        .store(&mut out[below_top]);
}

/// twice = 2 a.
#[inline(always)]
pub(super) fn double<V: Doubles<N>, const N: usize>(token: V::Token, a: &[Vector<N>], twice: &mut [Vector<N>]) {
    for (a, twice) in a.iter().zip(twice) {
        let a = V::load(token, a);
        a.add(a).store(twice);
    }
}

/// low += high, in digits again.
#[inline(always)]
pub(super) fn add<V: Doubles<N>, const N: usize>(
    token: V::Token,
    form: Form,
    low: &mut [Vector<N>],
    high: &[Vector<N>],
) {
    let constants = &form.constants::<V, N>(token);
    let mut carry = Carry::none(constants);
    let (top, low) = low.split_last_mut().expect("there are digits");
    let (high_top, high) = high.split_last().expect("there are digits");
    for (low, high) in low.iter_mut().zip(high) {
        let sum = V::load(token, low).add(V::load(token, high));
        carry.digit(constants, (constants.origin, sum), None).store(low);
    }
    V::load(token, top)
        .add(V::load(token, high_top))
        .add(carry.carry)
        .store(top);
}

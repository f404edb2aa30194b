//! Columns of three and of five residues.
//!
//! With w a third root of unity, b + c and w (b - c) give all values: a + wb + w^2 c = a - c + w (b - c). With w a
//! fifth root, values 1 and 4, and 2 and 3, are sum and difference of an even and an odd part:
//!
//! ```text
//! C1 = (w + w^4)/2, C2 = (w^2 + w^3)/2, S1 = (w - w^4)/2, S2 = (w^2 - w^3)/2
//! a + C1 (b + e) + C2 (c + d) ± (S1 (b - e) + S2 (c - d)),   a + C2 (b + e) + C1 (c + d) ± (S2 (b - e) - S1 (c - d))
//! ```
//!
//! Bounds: inputs are at most 1, sums of two 2, their products 1/2 + 2/10 = 0.7, values of five 1 + 4 · 0.7 = 3.8
//! (those of three 1 + 1 + 0.7). Twisted by at most 0.6: 1/2 + 3/8 · 3.8 · 0.6 = 1.36; the first value is not twisted,
//! but reduced.

use crate::{
    field::{Factor, Field},
    kernel::{Eight, Line, Modulus},
    twist::{Cyclic, Twist},
};

/// The constants of five residues: C1, C2, S1, S2.
fn constants5(field: Field, inverse: bool) -> [Factor; 4] {
    let mut w = field.root(5);
    if inverse {
        w = field.invert(w);
    }
    let half = field.p.div_ceil(2);
    let power = |e: u64| field.mul(half, field.pow(w, e));
    let sum = |a: u64, b: u64| (a + b) % field.p;
    let difference = |a: u64, b: u64| (a + field.p - b) % field.p;
    [
        sum(power(1), power(4)),
        sum(power(2), power(3)),
        difference(power(1), power(4)),
        difference(power(2), power(3)),
    ]
    .map(|constant| field.factor(constant))
}

fn constant3(field: Field, inverse: bool) -> Factor {
    let w = field.root(3);
    field.factor(if inverse { field.invert(w) } else { w })
}

#[inline(always)]
fn times<E: Eight>(token: E::Token, x: E, factor: Factor, modulus: &Modulus<E>) -> E {
    x.mul_by(E::splat(token, factor.w), E::splat(token, factor.v), modulus)
}

#[inline(always)]
fn values3<E: Eight>(token: E::Token, [a, b, c]: [E; 3], w: Factor, modulus: &Modulus<E>) -> [E; 3] {
    let d = times(token, b.sub(c), w, modulus);
    [a.add(b).add(c), a.sub(c).add(d), a.sub(b).sub(d)]
}

#[inline(always)]
fn values5<E: Eight>(
    token: E::Token,
    [a, b, c, d, e]: [E; 5],
    [c1, c2, s1, s2]: [Factor; 4],
    modulus: &Modulus<E>,
) -> [E; 5] {
    let (be, cd) = (b.add(e), c.add(d));
    let (f, g) = (b.sub(e), c.sub(d));
    let even1 = a.add(times(token, be, c1, modulus)).add(times(token, cd, c2, modulus));
    let even2 = a.add(times(token, be, c2, modulus)).add(times(token, cd, c1, modulus));
    let odd1 = times(token, f, s1, modulus).add(times(token, g, s2, modulus));
    let odd2 = times(token, f, s2, modulus).sub(times(token, g, s1, modulus));
    [
        a.add(be).add(cd),
        even1.add(odd1),
        even2.add(odd2),
        even2.sub(odd2),
        even1.sub(odd1),
    ]
}

/// Rows of 2^k residues.
fn rows<const M: usize>(data: &mut [Line]) -> [&mut [Line]; M] {
    let mut rows = data.chunks_exact_mut(data.len() / M);
    std::array::from_fn(|_| rows.next().expect("M rows"))
}

fn twist<const M: usize>(cyclic: &Cyclic, inverse: bool) -> Twist {
    let order = (M as u64) << cyclic.log;
    Twist::new(cyclic.field, order, 1..M as u64, 0, inverse)
}

macro_rules! passes {
    ($m:literal, $values:ident, $constants:ident, $forward:ident, $inverse:ident) => {
        /// Each column transformed, and twisted.
        #[inline(always)]
        pub(crate) fn $forward<E: Eight>(token: E::Token, data: &mut [Line], cyclic: &Cyclic, modulus: &Modulus<E>) {
            let constants = $constants(cyclic.field, false);
            let mut twist = twist::<$m>(cyclic, false);
            let rows: [&mut [Line]; $m] = rows(data);
            for i in 0..rows[0].len() {
                let x: [E; $m] = std::array::from_fn(|row| E::load(token, &rows[row][i]));
                let y = $values(token, x, constants, modulus);
                y[0].reduce(modulus).store(&mut rows[0][i]);
                for row in 1..$m {
                    let factor: E = twist.next(token, row - 1, modulus);
                    y[row].mul(factor, modulus).store(&mut rows[row][i]);
                }
            }
        }

        /// The same backwards, times the number of rows.
        #[inline(always)]
        pub(crate) fn $inverse<E: Eight>(token: E::Token, data: &mut [Line], cyclic: &Cyclic, modulus: &Modulus<E>) {
            let constants = $constants(cyclic.field, true);
            let mut twist = twist::<$m>(cyclic, true);
            let rows: [&mut [Line]; $m] = rows(data);
            for i in 0..rows[0].len() {
                let mut x: [E; $m] = std::array::from_fn(|row| E::load(token, &rows[row][i]));
                for row in 1..$m {
                    let factor: E = twist.next(token, row - 1, modulus);
                    x[row] = x[row].mul(factor, modulus);
                }
                let y = $values(token, x, constants, modulus);
                for row in 0..$m {
                    y[row].store(&mut rows[row][i]);
                }
            }
        }
    };
}

passes!(3, values3, constant3, forward3, inverse3);
passes!(5, values5, constants5, forward5, inverse5);

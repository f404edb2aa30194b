//! Levels of transforms on lines.
//!
//! Bounds, in multiples of p (see `kernel/eight.rs` for those of products; a factor of a table is at most 1/2;
//! `bounds.rs` runs all passes on bounds):
//!
//! - Forward, an input is at most 2, and so is an output. Of four, x0 is reduced first, to 0.51. A product with the
//!   first factor is at most 1/2 + 2/10 = 0.7, so that y0 and y2 are at most 1.21, y1 and y3 at most 2.7, the products
//!   of those at most 1/2 + 0.27 = 0.77, and outputs at most 1.98.
//! - Inverse, an input is at most 1, and so is an output. Sums of two are at most 2, products of differences at most
//!   1/2 + 2/10 = 0.7; then x0 ≤ 4 and x1 ≤ 1.4 are reduced, x2 ≤ 1/2 + 4/10 = 0.9, x3 ≤ 1/2 + 1.4/10 = 0.64.

use crate::{
    field::Factor,
    kernel::{Doubles, Eight, Line, Modulus},
    table::Roots,
};

/// Eight of something, without a closure, which would not be compiled for the form.
macro_rules! eight {
    ($i:ident => $item:expr) => {
        [
            eight!(@ $i 0 $item),
            eight!(@ $i 1 $item),
            eight!(@ $i 2 $item),
            eight!(@ $i 3 $item),
            eight!(@ $i 4 $item),
            eight!(@ $i 5 $item),
            eight!(@ $i 6 $item),
            eight!(@ $i 7 $item),
        ]
    };
    (@ $i:ident $number:literal $item:expr) => {{
        let $i = $number;
        $item
    }};
}

/// A factor in every lane.
#[derive(Clone, Copy)]
struct Wide<E> {
    w: E,
    v: E,
}

impl<E: Doubles> Wide<E> {
    #[inline(always)]
    fn new(token: E::Token, factor: Factor) -> Self {
        Self {
            w: E::splat(token, factor.w),
            v: E::splat(token, factor.v),
        }
    }

    #[inline(always)]
    fn times(self, x: E, modulus: &Modulus<E>) -> E {
        x.mul_by(self.w, self.v, modulus)
    }
}

/// Four quarters of a block.
#[inline(always)]
fn quarters(block: &mut [Line]) -> [&mut [Line]; 4] {
    let quarter = block.len() / 4;
    let (a, rest) = block.split_at_mut(quarter);
    let (b, rest) = rest.split_at_mut(quarter);
    let (c, d) = rest.split_at_mut(quarter);
    [a, b, c, &mut d[..quarter]]
}

/// The first level of a block that is its own root, where the factor is 1.
#[inline(always)]
pub(crate) fn forward2_root<E: Eight>(token: E::Token, block: &mut [Line], modulus: &Modulus<E::Half>) {
    let (low, high) = block.split_at_mut(block.len() / 2);
    for (a, b) in low.iter_mut().zip(high) {
        for half in 0..E::HALVES {
            let (x0, x1) = (
                E::load_half(token, a, half).reduce(modulus),
                E::load_half(token, b, half).reduce(modulus),
            );
            E::store_half(x0.add(x1), a, half);
            E::store_half(x0.sub(x1), b, half);
        }
    }
}

/// The last level backwards of a block that is its own root.
#[inline(always)]
pub(crate) fn inverse2_root<E: Eight>(token: E::Token, block: &mut [Line], modulus: &Modulus<E::Half>) {
    let (low, high) = block.split_at_mut(block.len() / 2);
    for (a, b) in low.iter_mut().zip(high) {
        for half in 0..E::HALVES {
            let (x0, x1) = (E::load_half(token, a, half), E::load_half(token, b, half));
            E::store_half(x0.add(x1).reduce(modulus), a, half);
            E::store_half(x0.sub(x1).reduce(modulus), b, half);
        }
    }
}

/// The factors of [`forward4`] and [`inverse4`].
#[derive(Clone, Copy)]
struct Three<E> {
    u: Wide<E>,
    s: Wide<E>,
    t: Wide<E>,
}

impl<E: Doubles> Three<E> {
    #[inline(always)]
    fn new(token: E::Token, node: usize, roots: &Roots) -> Self {
        Self {
            u: Wide::new(token, roots.nodes[node]),
            s: Wide::new(token, roots.nodes[2 * node]),
            t: Wide::new(token, roots.nodes[2 * node + 1]),
        }
    }

    /// Two levels of four residues.
    #[inline(always)]
    fn forward(self, [x0, x1, x2, x3]: [E; 4], modulus: &Modulus<E>) -> [E; 4] {
        let x0 = x0.reduce(modulus);
        let x2 = self.u.times(x2, modulus);
        let x3 = self.u.times(x3, modulus);
        let y0 = x0.add(x2);
        let y2 = x0.sub(x2);
        let y1 = self.s.times(x1.add(x3), modulus);
        let y3 = self.t.times(x1.sub(x3), modulus);
        [y0.add(y1), y0.sub(y1), y2.add(y3), y2.sub(y3)]
    }

    /// As above, for node 0.
    #[inline(always)]
    fn forward_root(self, [x0, x1, x2, x3]: [E; 4], modulus: &Modulus<E>) -> [E; 4] {
        let y0 = x0.add(x2).reduce(modulus);
        let y2 = x0.sub(x2).reduce(modulus);
        let y1 = x1.add(x3).reduce(modulus);
        let y3 = self.t.times(x1.sub(x3), modulus);
        [y0.add(y1), y0.sub(y1), y2.add(y3), y2.sub(y3)]
    }

    /// Backwards, times 4.
    #[inline(always)]
    fn inverse(self, [z0, z1, z2, z3]: [E; 4], modulus: &Modulus<E>) -> [E; 4] {
        let y0 = z0.add(z1);
        let y1 = self.s.times(z0.sub(z1), modulus);
        let y2 = z2.add(z3);
        let y3 = self.t.times(z2.sub(z3), modulus);
        [
            y0.add(y2).reduce(modulus),
            y1.add(y3).reduce(modulus),
            self.u.times(y0.sub(y2), modulus),
            self.u.times(y1.sub(y3), modulus),
        ]
    }

    /// As above, for node 0.
    #[inline(always)]
    fn inverse_root(self, [z0, z1, z2, z3]: [E; 4], modulus: &Modulus<E>) -> [E; 4] {
        let y0 = z0.add(z1);
        let y1 = z0.sub(z1);
        let y2 = z2.add(z3);
        let y3 = self.t.times(z2.sub(z3), modulus);
        [
            y0.add(y2).reduce(modulus),
            y1.add(y3).reduce(modulus),
            y0.sub(y2).reduce(modulus),
            y1.sub(y3).reduce(modulus),
        ]
    }
}

/// Two levels: node `node` and its children. `ROOT` where that is node 0, whose factors are 1, 1 and i.
#[inline(always)]
pub(crate) fn forward4<E: Eight, const ROOT: bool>(
    token: E::Token,
    block: &mut [Line],
    node: usize,
    roots: &Roots,
    modulus: &Modulus<E::Half>,
) {
    let three = Three::<E::Half>::new(token, node, roots);
    let [a, b, c, d] = quarters(block);
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        for half in 0..E::HALVES {
            let x = four::<E>(token, [a, b, c, d], half);
            let [y0, y1, y2, y3] = if ROOT {
                three.forward_root(x, modulus)
            } else {
                three.forward(x, modulus)
            };
            E::store_half(y0, a, half);
            E::store_half(y1, b, half);
            E::store_half(y2, c, half);
            E::store_half(y3, d, half);
        }
    }
}

/// [`forward4`] backwards, times 4.
#[inline(always)]
pub(crate) fn inverse4<E: Eight, const ROOT: bool>(
    token: E::Token,
    block: &mut [Line],
    node: usize,
    roots: &Roots,
    modulus: &Modulus<E::Half>,
) {
    let three = Three::<E::Half>::new(token, node, roots);
    let [a, b, c, d] = quarters(block);
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        for half in 0..E::HALVES {
            let z = four::<E>(token, [a, b, c, d], half);
            let [x0, x1, x2, x3] = if ROOT {
                three.inverse_root(z, modulus)
            } else {
                three.inverse(z, modulus)
            };
            E::store_half(x0, a, half);
            E::store_half(x1, b, half);
            E::store_half(x2, c, half);
            E::store_half(x3, d, half);
        }
    }
}

#[inline(always)]
fn four<E: Eight>(token: E::Token, [a, b, c, d]: [&Line; 4], half: usize) -> [E::Half; 4] {
    [
        E::load_half(token, a, half),
        E::load_half(token, b, half),
        E::load_half(token, c, half),
        E::load_half(token, d, half),
    ]
}

/// A forward butterfly.
#[inline(always)]
fn split<E: Doubles>(x: &mut [E; 8], a: usize, b: usize, u: Wide<E>, modulus: &Modulus<E>) {
    let (x0, x1) = (x[a], u.times(x[b], modulus));
    x[a] = x0.add(x1);
    x[b] = x0.sub(x1);
}

/// Its inverse, times 2.
#[inline(always)]
fn join<E: Doubles>(x: &mut [E; 8], a: usize, b: usize, u: Wide<E>, modulus: &Modulus<E>) {
    let (z0, z1) = (x[a], x[b]);
    x[a] = z0.add(z1);
    x[b] = u.times(z0.sub(z1), modulus);
}

/// As [`split`], by a factor that differs from lane to lane.
#[inline(always)]
fn split_lanes<E: Doubles>(x: &mut [E; 8], a: usize, b: usize, w: E, modulus: &Modulus<E>) {
    let (x0, x1) = (x[a], x[b].mul(w, modulus));
    x[a] = x0.add(x1);
    x[b] = x0.sub(x1);
}

#[inline(always)]
fn join_lanes<E: Doubles>(x: &mut [E; 8], a: usize, b: usize, w: E, modulus: &Modulus<E>) {
    let (z0, z1) = (x[a], x[b]);
    x[a] = z0.add(z1);
    x[b] = z0.sub(z1).mul(w, modulus);
}

/// The last six levels: block `j` of 64. Three are between lines; then rows and columns are exchanged, and stay so, and
/// three are between lines again.
#[inline(always)]
pub(crate) fn forward64<E: Eight>(
    token: E::Token,
    block: &mut [Line; 8],
    j: usize,
    roots: &Roots,
    modulus: &Modulus<E::Half>,
) {
    let mut rows = [Line::ZERO; 8];
    for half in 0..E::HALVES {
        let mut x: [E::Half; 8] = eight!(i => E::load_half(token, &block[i], half));
        for x in &mut x[..4] {
            *x = x.reduce(modulus);
        }
        let u = Wide::<E::Half>::new(token, roots.nodes[j]);
        for i in 0..4 {
            split(&mut x, i, i + 4, u, modulus);
        }
        for side in 0..2 {
            let u = Wide::<E::Half>::new(token, roots.nodes[2 * j + side]);
            split(&mut x, 4 * side, 4 * side + 2, u, modulus);
            split(&mut x, 4 * side + 1, 4 * side + 3, u, modulus);
        }
        for quarter in 0..4 {
            let u = Wide::<E::Half>::new(token, roots.nodes[4 * j + quarter]);
            split(&mut x, 2 * quarter, 2 * quarter + 1, u, modulus);
        }
        for (x, line) in x.into_iter().zip(&mut rows) {
            E::store_half(x, line, half);
        }
    }
    let lanes = &roots.lanes[j];
    for half in 0..E::HALVES {
        let mut x = E::load_columns(token, &rows, half);
        for x in &mut x[..4] {
            *x = x.reduce(modulus);
        }
        let w = E::load_half(token, &lanes[0], half);
        for i in 0..4 {
            split_lanes(&mut x, i, i + 4, w, modulus);
        }
        for side in 0..2 {
            let w = E::load_half(token, &lanes[1 + side], half);
            split_lanes(&mut x, 4 * side, 4 * side + 2, w, modulus);
            split_lanes(&mut x, 4 * side + 1, 4 * side + 3, w, modulus);
        }
        for quarter in 0..4 {
            let w = E::load_half(token, &lanes[3 + quarter], half);
            split_lanes(&mut x, 2 * quarter, 2 * quarter + 1, w, modulus);
        }
        for (x, line) in x.into_iter().zip(block.iter_mut()) {
            E::store_half(x, line, half);
        }
    }
}

/// [`forward64`] backwards, times 64.
#[inline(always)]
pub(crate) fn inverse64<E: Eight>(
    token: E::Token,
    block: &mut [Line; 8],
    j: usize,
    roots: &Roots,
    modulus: &Modulus<E::Half>,
) {
    let mut rows = [Line::ZERO; 8];
    let lanes = &roots.lanes[j];
    for half in 0..E::HALVES {
        let mut x: [E::Half; 8] = eight!(i => E::load_half(token, &block[i], half));
        for quarter in 0..4 {
            let w = E::load_half(token, &lanes[3 + quarter], half);
            join_lanes(&mut x, 2 * quarter, 2 * quarter + 1, w, modulus);
        }
        for side in 0..2 {
            let w = E::load_half(token, &lanes[1 + side], half);
            join_lanes(&mut x, 4 * side, 4 * side + 2, w, modulus);
            join_lanes(&mut x, 4 * side + 1, 4 * side + 3, w, modulus);
            x[4 * side] = x[4 * side].reduce(modulus);
            x[4 * side + 1] = x[4 * side + 1].reduce(modulus);
        }
        let w = E::load_half(token, &lanes[0], half);
        for i in 0..4 {
            join_lanes(&mut x, i, i + 4, w, modulus);
            x[i] = x[i].reduce(modulus);
        }
        E::store_columns(x, &mut rows, half);
    }
    for half in 0..E::HALVES {
        let mut x: [E::Half; 8] = eight!(i => E::load_half(token, &rows[i], half));
        for quarter in 0..4 {
            let u = Wide::<E::Half>::new(token, roots.nodes[4 * j + quarter]);
            join(&mut x, 2 * quarter, 2 * quarter + 1, u, modulus);
        }
        for side in 0..2 {
            let u = Wide::<E::Half>::new(token, roots.nodes[2 * j + side]);
            join(&mut x, 4 * side, 4 * side + 2, u, modulus);
            join(&mut x, 4 * side + 1, 4 * side + 3, u, modulus);
            x[4 * side] = x[4 * side].reduce(modulus);
            x[4 * side + 1] = x[4 * side + 1].reduce(modulus);
        }
        let u = Wide::<E::Half>::new(token, roots.nodes[j]);
        for i in 0..4 {
            join(&mut x, i, i + 4, u, modulus);
            x[i] = x[i].reduce(modulus);
        }
        for (x, line) in x.into_iter().zip(block.iter_mut()) {
            E::store_half(x, line, half);
        }
    }
}

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
    digits::Reader,
    field::{Factor, Field, PRIMES},
    kernel::{Eight, Line, Modulus},
    twist::{AT_ONCE, Cyclic, odd_twists, times},
};

/// A third root of unity, for each prime; and its inverse.
const THIRDS: [[Factor; 2]; 4] = {
    let mut roots = [[Factor::ONE; 2]; 4];
    let mut i = 0;
    while i < 4 {
        let field = PRIMES[i];
        let w = field.root(3);
        roots[i] = [field.factor(w), field.factor(field.mul(w, w))];
        i += 1;
    }
    roots
};

/// C1, C2, S1, S2 for each prime; and for the inverse root.
const FIFTHS: [[[Factor; 4]; 2]; 4] = {
    let mut constants = [[[Factor::ONE; 4]; 2]; 4];
    let mut i = 0;
    while i < 4 {
        let field = PRIMES[i];
        let w = field.root(5);
        constants[i] = [fifths(field, w), fifths(field, field.pow(w, 4))];
        i += 1;
    }
    constants
};

const fn fifths(field: Field, w: u64) -> [Factor; 4] {
    let half = field.p.div_ceil(2);
    let w1 = field.mul(half, w);
    let w2 = field.mul(w1, w);
    let w3 = field.mul(w2, w);
    let w4 = field.mul(w3, w);
    [
        field.factor((w1 + w4) % field.p),
        field.factor((w2 + w3) % field.p),
        field.factor((w1 + field.p - w4) % field.p),
        field.factor((w2 + field.p - w3) % field.p),
    ]
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
    let row = data.len() / M;
    let mut rest = data;
    std::array::from_fn(|_| {
        let (this, others) = std::mem::take(&mut rest).split_at_mut(row);
        rest = others;
        this
    })
}

macro_rules! passes {
    ($m:literal, $values:ident, $constants:ident, $forward:ident, $inverse:ident) => {
        /// Each column transformed, and twisted: of the digits of `reader`.
        #[inline(always)]
        pub(crate) fn $forward<E: Eight>(
            token: E::Token,
            reader: &Reader<'_, E>,
            data: &mut [Line],
            cyclic: &Cyclic,
            modulus: &Modulus<E>,
        ) {
            let constants = $constants[cyclic.prime][0];
            let mut twists = odd_twists(cyclic, false);
            let rows: [&mut [Line]; $m] = rows(data);
            let stride = rows[0].len();
            for from in (0..rows[0].len()).step_by(AT_ONCE) {
                let mut factors = [[E::splat(token, 0.0); AT_ONCE]; $m - 1];
                for row in 0..$m - 1 {
                    factors[row] = twists[row].next(token, modulus);
                }
                for line in 0..AT_ONCE {
                    let i = from + line;
                    let mut x = [reader.line(i, modulus); $m];
                    for row in 1..$m {
                        x[row] = reader.line(row * stride + i, modulus);
                    }
                    let y = $values(token, x, constants, modulus);
                    y[0].reduce(modulus).store(&mut rows[0][i]);
                    for row in 1..$m {
                        y[row]
                            .mul(factors[row - 1][line], modulus)
                            .store(&mut rows[row][i]);
                    }
                }
            }
        }

        /// The same backwards, times the number of rows.
        #[inline(always)]
        pub(crate) fn $inverse<E: Eight>(token: E::Token, data: &mut [Line], cyclic: &Cyclic, modulus: &Modulus<E>) {
            let constants = $constants[cyclic.prime][1];
            let mut twists = odd_twists(cyclic, true);
            let rows: [&mut [Line]; $m] = rows(data);
            for from in (0..rows[0].len()).step_by(AT_ONCE) {
                let mut factors = [[E::splat(token, 0.0); AT_ONCE]; $m - 1];
                for row in 0..$m - 1 {
                    factors[row] = twists[row].next(token, modulus);
                }
                for line in 0..AT_ONCE {
                    let i = from + line;
                    let mut x = [E::load(token, &rows[0][i]); $m];
                    for row in 1..$m {
                        x[row] = E::load(token, &rows[row][i]).mul(factors[row - 1][line], modulus);
                    }
                    let y = $values(token, x, constants, modulus);
                    for row in 0..$m {
                        y[row].store(&mut rows[row][i]);
                    }
                }
            }
        }
    };
}

passes!(3, values3, THIRDS, forward3, inverse3);
passes!(5, values5, FIFTHS, forward5, inverse5);

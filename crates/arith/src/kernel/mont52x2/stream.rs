//! A product and its reduction, step by step.

use super::carries::{Columns, carry_all};
use super::layout::{DIGITS, Shifted, Words};
use super::moduli::Moduli;
use super::quad::{New, Quads};

/// Quads of working memory for numbers of `width` quads.
pub(super) fn working_quads(width: usize) -> usize {
    // The factor against the columns, with a quad below and one above it; products; what reduces them.
    DIGITS * (width + 2) + 2 * width + 2 * width
}

/// N products on their way.
pub(super) struct Stream<'a, V, const N: usize> {
    moduli: &'a Moduli<N>,
    /// One factor against the columns, behind a quad of zeros.
    shifted: &'a mut [Shifted<N>],
    /// The columns of the product.
    product: &'a mut [Words<N>],
    /// The columns of what is added to reduce it.
    reduction: &'a mut [Words<N>],
    /// The carry of the quads below, at the lowest place.
    carry: V,
}

impl<'a, V: Quads<N>, const N: usize> Stream<'a, V, N> {
    /// Products of `a`.
    #[inline(always)]
    pub(super) fn new(token: V::Token, moduli: &'a Moduli<N>, working: &'a mut [Words<N>], a: &[Words<N>]) -> Self {
        let width = a.len();
        let (shifted, working) = working.split_at_mut(DIGITS * (width + 2));
        let (product, reduction) = working.split_at_mut(2 * width);
        let zero = V::splat(token, 0);
        let stream = Self {
            moduli,
            shifted: shifted.as_chunks_mut().0,
            product,
            reduction: &mut reduction[..2 * width],
            carry: zero,
        };
        zero.store(&mut stream.shifted[0][0]);
        let mut factor = Factor {
            shifted: &mut *stream.shifted,
            below: zero,
        };
        for (quad, digits) in a.iter().enumerate() {
            factor.put(quad, V::load(token, digits));
        }
        factor.put(width, zero);
        stream
    }

    /// Adds the products with a quad of the other factors, the `row`th.
    #[inline(always)]
    pub(super) fn multiply(&mut self, token: V::Token, row: usize, b: &[Words<N>], width: usize) {
        let digits = broadcast_each::<V, N>(V::load(token, &b[row]));
        let columns = &mut self.product[row..][..width + 1];
        let new = if row == 0 { New::All } else { New::Last };
        V::add_rows(token, columns, new, &self.shifted[..width + 2], &digits);
    }

    /// A column of the product, or zero.
    #[inline(always)]
    fn product_column(&self, token: V::Token, at: Option<usize>) -> V {
        match at {
            Some(at) => V::load(token, &self.product[at]),
            None => V::splat(token, 0),
        }
    }

    /// Adds the products of the `row`th quad of the factor with itself and what lies above it, and completes the two
    /// quads of the square that have all of theirs then.
    #[inline(always)]
    pub(super) fn square(&mut self, token: V::Token, row: usize, width: usize) {
        let zero = V::splat(token, 0);
        let quad = V::load(token, &self.shifted[row + 1][0]);
        let digits = broadcast_each::<V, N>(quad);
        let [d0, d1, d2, d3] = digits;
        // The row before this one was the first to reach column `width + row - 1`.
        let [even, odd] = [2 * row, 2 * row + 1].map(|at| (row > 0 && at < width + row).then_some(at));
        // Where a place's digit is the row's own or one below it, it is left out.
        let x = load_each::<V, N>(token, &self.shifted[row + 1]);
        let even = self
            .product_column(token, even)
            .add_low(x[0], d0.at::<0b1110>())
            .add_low(x[1], d1.at::<0b1000>())
            .add(zero.add_high(x[1], d0.at::<0b1100>()));
        let x = load_each::<V, N>(token, &self.shifted[row + 2]);
        let odd = self
            .product_column(token, odd)
            .add_low(x[0], d0)
            .add_low(x[1], d1)
            .add_low(x[2], d2.at::<0b1110>())
            .add_low(x[3], d3.at::<0b1000>());
        let odd = zero
            .add_high(x[1], d0)
            .add_high(x[2], d1)
            .add_high(x[3], d2.at::<0b1100>())
            .add(odd);
        for (half, sum, digits) in [(0, even, quad.pairs::<0>()), (1, odd, quad.pairs::<1>())] {
            sum.add(sum)
                .add_low(digits, digits.at::<0b0101>())
                .add_high(digits, digits.at::<0b1010>())
                .store(&mut self.product[2 * row + half]);
        }
        if let Some(above) = (width - row).checked_sub(1) {
            let columns = &mut self.product[2 * row + 2..][..above];
            let new = if row == 0 { New::All } else { New::Last };
            V::add_rows(token, columns, new, &self.shifted[row + 2..][..above + 1], &digits);
        }
    }

    /// The digits of a quad whose turn it is; those of the quad below it, `last`, are the last ones whose products come
    /// in.
    #[inline(always)]
    pub(super) fn digits(&mut self, token: V::Token, at: usize, last: Option<&[V; DIGITS]>) -> V {
        let mut sum = V::load(token, &self.product[at]).add(self.carry);
        // What has been taken away reaches from the third quad on.
        if at > 1 {
            sum = sum.add(V::load(token, &self.reduction[at]));
        }
        if let Some(last) = last {
            sum = add_quad(token, sum, &self.moduli.inverse()[0], last);
        }
        let (digits, carry) = sum.carry();
        self.carry = carry;
        digits
    }

    /// Adds what the digits taken away at `below` are worth, but for the quad that [`digits`](Self::digits) takes them
    /// into.
    #[inline(always)]
    pub(super) fn reduce_partially(&mut self, token: V::Token, below: usize, quad: &[V; DIGITS], width: usize) {
        let columns = &mut self.reduction[below + 2..][..width];
        let new = if below == 0 { New::All } else { New::Last };
        V::add_rows(token, columns, new, &self.moduli.inverse()[..width + 1], quad);
    }

    /// The quotient q for which the last quad below R, of these digits, and q n are a multiple of R.
    #[inline(always)]
    pub(super) fn quotient(&mut self, token: V::Token, digits: V) -> [V; DIGITS] {
        let zero = V::splat(token, 0);
        let inverse = self.moduli.quotient();
        let q = add_quad(token, zero, inverse, &broadcast_each::<V, N>(digits));
        let q = broadcast_each::<V, N>(q.carry().0);
        let (_, carry) = add_quad(token, digits, &self.moduli.n()[0], &q).carry();
        self.carry = self.carry.add(carry);
        q
    }

    /// Adds the quotient times n. The result is the upper half of the sums.
    #[inline(always)]
    fn add_quotient(&mut self, token: V::Token, q: &[V; DIGITS], width: usize) {
        let columns = &mut self.reduction[width..][..width];
        let new = if width == 1 { New::All } else { New::None };
        V::add_rows(token, columns, new, &self.moduli.n()[..width + 1], q);
    }

    /// Adds the quotient times n, and puts the result into `out`.
    #[inline(always)]
    pub(super) fn finish(mut self, token: V::Token, q: &[V; DIGITS], out: &mut [Words<N>]) {
        let width = out.len();
        self.add_quotient(token, q, width);
        let sums = Sums {
            product: &self.product[width..][..width],
            reduction: &self.reduction[width..][..width],
            carry: self.carry,
        };
        carry_all::<V, N>(token, Result { sums, out });
    }

    /// Adds the quotient times n, and makes the result the factor of the next products.
    #[inline(always)]
    pub(super) fn go_on(&mut self, token: V::Token, q: &[V; DIGITS], width: usize) {
        self.add_quotient(token, q, width);
        let zero = V::splat(token, 0);
        let sums = Sums {
            product: &self.product[width..][..width],
            reduction: &self.reduction[width..][..width],
            carry: std::mem::replace(&mut self.carry, zero),
        };
        let mut factor = Factor {
            shifted: &mut *self.shifted,
            below: zero,
        };
        carry_all::<V, N>(
            token,
            NextFactor {
                sums,
                factor: &mut factor,
            },
        );
        factor.put(width, zero);
    }

    /// The factor, whose products are still to come.
    #[inline(always)]
    pub(super) fn factor(&self, token: V::Token, out: &mut [Words<N>]) {
        for (digits, out) in self.shifted[1..].iter().zip(out) {
            V::load(token, &digits[0]).store(out);
        }
    }
}

/// The columns of a reduced product.
struct Sums<'a, V, const N: usize> {
    product: &'a [Words<N>],
    reduction: &'a [Words<N>],
    /// The carry of the lower half.
    carry: V,
}

impl<V: Quads<N>, const N: usize> Sums<'_, V, N> {
    #[inline(always)]
    fn columns(&self, token: V::Token, quad: usize) -> V {
        let product = V::load(token, &self.product[quad]);
        let sum = product.add(V::load(token, &self.reduction[quad]));
        if quad == 0 { sum.add(self.carry) } else { sum }
    }
}

/// A product that goes to memory.
struct Result<'a, V, const N: usize> {
    sums: Sums<'a, V, N>,
    out: &'a mut [Words<N>],
}

impl<V: Quads<N>, const N: usize> Columns<V, N> for Result<'_, V, N> {
    #[inline(always)]
    fn width(&self) -> usize {
        self.out.len()
    }

    #[inline(always)]
    fn columns(&self, token: V::Token, quad: usize) -> V {
        self.sums.columns(token, quad)
    }

    #[inline(always)]
    fn room(&mut self, quad: usize) -> &mut Words<N> {
        &mut self.out[quad]
    }

    #[inline(always)]
    fn put(&mut self, quad: usize, digits: V) {
        digits.store(&mut self.out[quad]);
    }
}

/// A product that is the factor of the next ones.
struct NextFactor<'a, 'b, V, const N: usize> {
    sums: Sums<'a, V, N>,
    factor: &'a mut Factor<'b, V, N>,
}

impl<V: Quads<N>, const N: usize> Columns<V, N> for NextFactor<'_, '_, V, N> {
    #[inline(always)]
    fn width(&self) -> usize {
        self.sums.product.len()
    }

    #[inline(always)]
    fn columns(&self, token: V::Token, quad: usize) -> V {
        self.sums.columns(token, quad)
    }

    #[inline(always)]
    fn room(&mut self, quad: usize) -> &mut Words<N> {
        &mut self.factor.shifted[quad + 1][0]
    }

    #[inline(always)]
    fn put(&mut self, quad: usize, digits: V) {
        self.factor.put(quad, digits);
    }
}

/// A factor on its way to where it lies against the columns.
struct Factor<'a, V, const N: usize> {
    shifted: &'a mut [Shifted<N>],
    /// The quad below the next one.
    below: V,
}

impl<V: Quads<N>, const N: usize> Factor<'_, V, N> {
    #[inline(always)]
    fn put(&mut self, quad: usize, digits: V) {
        let shifted = &mut self.shifted[quad + 1];
        digits.store(&mut shifted[0]);
        digits.move_up::<1>(self.below).store(&mut shifted[1]);
        digits.move_up::<2>(self.below).store(&mut shifted[2]);
        digits.move_up::<3>(self.below).store(&mut shifted[3]);
        self.below = digits;
    }
}

/// sum + the lowest quad of columns of a product with `digits`, each in all places.
#[inline(always)]
fn add_quad<V: Quads<N>, const N: usize>(
    token: V::Token,
    sum: V,
    shifted: &Shifted<N>,
    &[d0, d1, d2, d3]: &[V; DIGITS],
) -> V {
    let x = load_each::<V, N>(token, shifted);
    let zero = V::splat(token, 0);
    // Three chains.
    let low = sum.add_low(x[0], d0).add_low(x[1], d1);
    let lower = zero.add_low(x[2], d2).add_low(x[3], d3);
    let high = zero.add_high(x[1], d0).add_high(x[2], d1).add_high(x[3], d2);
    low.add(lower).add(high)
}

/// Each digit in all places of a vector. Written out, as everything on vectors is: a closure that the compiler does not
/// inline is compiled without the instructions.
#[inline(always)]
pub(super) fn broadcast_each<V: Quads<N>, const N: usize>(digits: V) -> [V; DIGITS] {
    [
        digits.broadcast::<0>(),
        digits.broadcast::<1>(),
        digits.broadcast::<2>(),
        digits.broadcast::<3>(),
    ]
}

#[inline(always)]
fn load_each<V: Quads<N>, const N: usize>(token: V::Token, shifted: &Shifted<N>) -> [V; DIGITS] {
    [
        V::load(token, &shifted[0]),
        V::load(token, &shifted[1]),
        V::load(token, &shifted[2]),
        V::load(token, &shifted[3]),
    ]
}

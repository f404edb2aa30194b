//! Columns of a transform: what it is taken modulo, and the factors between columns and rows.

use crate::{
    field::{Factor, Field},
    kernel::{Eight, Line, Modulus},
    table::Table,
};

/// A prime and its table, for transforms of one length.
#[derive(Clone, Copy)]
pub(crate) struct Cyclic {
    pub(crate) field: Field,
    pub(crate) table: &'static Table,
    /// 1, 3 or 5.
    pub(crate) m: usize,
    /// k, at least 6.
    pub(crate) log: u32,
}

/// The factors r^s of some rows, for one line of columns after the other.
pub(crate) struct Twist {
    /// r^s for the eight columns of the line, row by row.
    factors: Vec<Line>,
    /// r^8.
    steps: Vec<Factor>,
}

impl Twist {
    /// From the column 8 `line` on. Row i has the root of order `order` to the power `exponents[i]`.
    pub(crate) fn new(
        field: Field,
        order: u64,
        exponents: impl Iterator<Item = u64>,
        line: usize,
        inverse: bool,
    ) -> Self {
        let mut root = field.root(order);
        if inverse {
            root = field.invert(root);
        }
        let mut factors = Vec::new();
        let mut steps = Vec::new();
        for exponent in exponents {
            let r = field.pow(root, exponent);
            let mut power = field.pow(r, 8 * line as u64);
            factors.push(Line(std::array::from_fn(|_| {
                let this = field.centred(power);
                power = field.mul(power, r);
                this
            })));
            steps.push(field.factor(field.pow(r, 8)));
        }
        Self { factors, steps }
    }

    /// The factors of row `i` (of at most 0.6), which becomes one line ahead.
    #[inline(always)]
    pub(crate) fn next<E: Eight>(&mut self, token: E::Token, i: usize, modulus: &Modulus<E>) -> E {
        let factor = E::load(token, &self.factors[i]);
        let step = self.steps[i];
        factor
            .mul_by(E::splat(token, step.w), E::splat(token, step.v), modulus)
            .store(&mut self.factors[i]);
        factor
    }
}

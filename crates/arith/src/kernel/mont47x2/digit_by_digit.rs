//! A product mod n, digit by digit: what the assembly for a form of the vectors computes, for tests and for where there
//! is none.

use super::operand::{Factors, Multiplication, Operand, Pair};
use crate::kernel::doubles::{Doubles, Portable};
use crate::kernel::mont47::form::Constants;
use crate::kernel::mont47::tiles::{Carry, round};

type One = Portable<1>;

fn load(x: f64) -> One {
    One::splat((), x)
}

fn double(x: One) -> f64 {
    let mut word = [0];
    x.store(&mut word);
    f64::from_bits(word[0])
}

/// Digit `j` of a number against the columns.
fn digit_of(operand: Operand<'_>, lane: usize, j: usize) -> f64 {
    f64::from_bits(operand.pairs[j / 2][2 * lane + j % 2])
}

/// Digit `j` of a number.
fn digit<const N: usize>(pairs: &[Pair<N>], lane: usize, j: usize) -> f64 {
    f64::from_bits(pairs[j / 2][lane][j % 2])
}

/// A column, as in [`Columns`](crate::kernel::doubles::Columns).
struct Column {
    high: f64,
    low: f64,
}

impl Column {
    fn new(constants: &Constants<One>) -> Self {
        Self {
            high: double(constants.origin),
            low: 0.0,
        }
    }

    fn add_product(&mut self, a: f64, b: f64) {
        let before = self.high;
        self.high = a.mul_add(b, before);
        self.low += a.mul_add(b, before - self.high);
    }

    /// += the products that lead to column `c`.
    fn add<const N: usize>(&mut self, factors: &Factors<'_, N>, lane: usize, c: usize) {
        let Factors { a, b, twice } = *factors;
        let top = 2 * b.len() - 1;
        let (first, last) = (c.saturating_sub(top), c.min(top));
        let Some(twice) = twice else {
            for i in first..=last {
                self.add_product(digit(b, lane, i), digit_of(a, lane, c - i));
            }
            return;
        };
        for i in first..c.div_ceil(2) {
            self.add_product(digit(twice, lane, i), digit_of(a, lane, c - i));
        }
        if c.is_multiple_of(2) {
            self.add_product(digit(b, lane, c / 2), digit_of(a, lane, c / 2));
        }
    }

    /// The digit that it leaves.
    fn digit(self, constants: &Constants<One>, carry: &mut Carry<One>) -> f64 {
        double(carry.digit(constants, (load(self.high), load(self.low)), None))
    }
}

/// The product mod R, and what is left for the column above.
fn low_half<const N: usize>(
    constants: &Constants<One>,
    factors: &Factors<'_, N>,
    lane: usize,
    out: &mut [Pair<N>],
) -> Carry<One> {
    let mut carry = Carry::none(constants);
    for c in 0..2 * out.len() {
        let mut column = Column::new(constants);
        column.add(factors, lane, c);
        out[c / 2][lane][c % 2] = column.digit(constants, &mut carry).to_bits();
    }
    carry
}

pub(super) fn multiply<const N: usize>(multiplication: Multiplication<'_, N>) {
    let Multiplication {
        factors,
        modulus,
        out,
        q,
        ..
    } = multiplication;
    let form = modulus.form;
    let constants = &form.constants::<One, 1>(());
    let digits = form.digits;
    for lane in 0..N {
        let mut of_factors = low_half(constants, &factors, lane, out);
        let tau = Factors {
            a: modulus.inverse,
            b: out,
            twice: None,
        };
        low_half(constants, &tau, lane, q);
        let mut carry = match form.is_joined() {
            true => of_factors,
            false => Carry::none(constants),
        };
        let quotient = Factors {
            a: modulus.n,
            b: q,
            twice: None,
        };
        carry_of_the_lower_half(constants, &quotient, out, lane, &mut carry);
        for c in digits..2 * digits {
            let mut column = Column::new(constants);
            column.add(&factors, lane, c);
            if !form.is_joined() {
                let low = column.digit(constants, &mut of_factors);
                column = Column {
                    low,
                    ..Column::new(constants)
                };
            }
            column.add(&quotient, lane, c);
            out[(c - digits) / 2][lane][c % 2] = column.digit(constants, &mut carry).to_bits();
        }
    }
}

/// The lower half of a product, tau, of which `out` has the digits, and q n together are a multiple of R: their top
/// digits say which.
fn carry_of_the_lower_half<const N: usize>(
    constants: &Constants<One>,
    quotient: &Factors<'_, N>,
    out: &[Pair<N>],
    lane: usize,
    carry: &mut Carry<One>,
) {
    let top = 2 * out.len() - 1;
    let [mut below, mut column] = [Column::new(constants), Column::new(constants)];
    below.add(quotient, lane, top - 1);
    column.add(quotient, lane, top);
    let below = load(below.high).sub(constants.origin);
    let sum = load(column.low + digit(out, lane, top));
    let above = round(constants, below.mul_add(constants.inverse_radix, sum));
    carry.carry = carry.carry.add(above);
    let high = load(column.high).sub(constants.origin);
    carry.high = carry.high.add(high);
}

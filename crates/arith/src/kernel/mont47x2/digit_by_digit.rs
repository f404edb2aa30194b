//! A product mod n, digit by digit: what the assembly for a form of the vectors computes, for tests and for where there is none.

use super::operand::{Factors, Multiplication, Operand, Pair};
use crate::kernel::doubles::{Columns, Doubles, Portable};
use crate::kernel::mont47::form::Constants;
use crate::kernel::mont47::tiles::{Carry, round};

type One = Portable<1>;

fn load(digit: u64) -> One {
    One::load((), &[digit])
}

fn bits(x: One) -> u64 {
    let mut word = [0];
    x.store(&mut word);
    word[0]
}

/// Digit `j` of a number against the columns.
fn digit_of(operand: Operand<'_>, lane: usize, j: usize) -> One {
    load(operand.pairs[j / 2][2 * lane + j % 2])
}

/// Digit `j` of a number.
fn digit<const N: usize>(pairs: &[Pair<N>], lane: usize, j: usize) -> One {
    load(pairs[j / 2][lane][j % 2])
}

/// Column `c` += the products that lead there.
fn add_column<const N: usize>(
    column: &mut Columns<One, 1>,
    factors: &Factors<'_, N>,
    lane: usize,
    c: usize,
) {
    let Factors { a, b, twice } = *factors;
    let top = 2 * b.len() - 1;
    for i in c.saturating_sub(top)..=c.min(top) {
        let j = c - i;
        let x = match twice {
            Some(_) if j < i => continue,
            Some(twice) if j > i => digit(twice, lane, i),
            _ => digit(b, lane, i),
        };
        column.add_product(0, x, digit_of(a, lane, j));
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
        let mut column = constants.columns();
        add_column(&mut column, factors, lane, c);
        let digit = carry.digit(constants, (column.high[0], column.low[0]), None);
        out[c / 2][lane][c % 2] = bits(digit);
    }
    carry
}

pub(super) fn multiply<const N: usize>(multiplication: Multiplication<'_, N>) {
    let Multiplication {
        factors,
        modulus,
        out,
        q,
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
            let mut column = constants.columns();
            add_column(&mut column, &factors, lane, c);
            if !form.is_joined() {
                let sum = (column.high[0], column.low[0]);
                column = constants.columns();
                column.low[0] = of_factors.digit(constants, sum, None);
            }
            add_column(&mut column, &quotient, lane, c);
            let digit = carry.digit(constants, (column.high[0], column.low[0]), None);
            out[(c - digits) / 2][lane][c % 2] = bits(digit);
        }
    }
}

/// The lower half of a product, tau, of which `out` has the digits, and q n together are a multiple of R: their top digits say which.
fn carry_of_the_lower_half<const N: usize>(
    constants: &Constants<One>,
    quotient: &Factors<'_, N>,
    out: &[Pair<N>],
    lane: usize,
    carry: &mut Carry<One>,
) {
    let top = 2 * out.len() - 1;
    let [mut below, mut column] = [constants.columns(); 2];
    add_column(&mut below, quotient, lane, top - 1);
    add_column(&mut column, quotient, lane, top);
    let below = below.high[0].sub(constants.origin);
    let sum = column.low[0].add(digit(out, lane, top));
    let above = round(constants, below.mul_add(constants.inverse_radix, sum));
    carry.carry = carry.carry.add(above);
    carry.high = carry.high.add(column.high[0].sub(constants.origin));
}

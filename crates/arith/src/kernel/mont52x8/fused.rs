//! Numbers of ten digits: product and reduction in one fused path, every column in a register. Schedule and bounds
//! stand in the [module above](super).

use super::blocks::{Carry, clear_column, for_each_row};
use crate::kernel::lanes::{Lanes, Vec8};
use std::hint::black_box;

/// Digits of a number that is worked on so.
pub(super) const DIGITS: usize = 10;
/// Columns of a product.
const COLUMNS: usize = 2 * DIGITS;

/// The modulus in all lanes, and -1 / n mod 2^52.
pub(super) type Modulus<'a> = (&'a [Vec8; DIGITS], &'a Vec8);

/// columns += x times the digits of `a` from `from` on, which are in column `row` + `from` and above.
#[inline(always)]
fn add_row<V: Lanes>(token: V::Token, columns: &mut [V; COLUMNS], row: usize, x: V, a: &[Vec8; DIGITS], from: usize) {
    // Loaded anew for each row: LLVM would keep all digits in registers, and spill columns that are waited for.
    let a = black_box(a);
    for j in from..DIGITS {
        let y = V::load(token, &a[j]);
        columns[row + j] = columns[row + j].add_low(x, y);
        columns[row + j + 1] = columns[row + j + 1].add_high(x, y);
    }
}

/// a = columns / R, in digits, doubled where `double` says so; the lower columns are clear.
#[inline(always)]
fn carry<V: Lanes>(token: V::Token, columns: &[V; COLUMNS], a: &mut [Vec8; DIGITS], double: Option<V::Mask>) {
    let mut digits = Carry::<V>::new(token, double);
    for_each_row!(row < DIGITS => {
        digits.digit(columns[DIGITS + row]).store(&mut a[row]);
    });
}

/// a = a b / R mod n.
#[inline(always)]
pub(super) fn multiply<V: Lanes>(token: V::Token, a: &mut [Vec8; DIGITS], b: &[Vec8; DIGITS], (n, n0): Modulus<'_>) {
    let zero = V::splat(token, 0);
    let n0 = V::load(token, n0);
    let mut products = [zero; COLUMNS];
    let mut columns = [zero; COLUMNS];
    add_row(token, &mut products, 0, V::load(token, &b[0]), a, 0);
    for_each_row!(row < DIGITS => {
        columns[row] = columns[row].add(products[row]);
        let q = zero.add_low(columns[row], n0);
        // The next row of the product has nothing to wait for while the quotient digit is on its way.
        if row + 1 < DIGITS {
            add_row(token, &mut products, row + 1, V::load(token, &b[row + 1]), a, 0);
        }
        clear_column(token, &mut columns, row, q, n);
    });
    for_each_row!(row < DIGITS => {
        columns[DIGITS + row] = columns[DIGITS + row].add(products[DIGITS + row]);
    });
    carry(token, &columns, a, None);
}

/// a = a^2 / R mod n, doubled where `double` says so.
#[inline(always)]
pub(super) fn square<V: Lanes>(token: V::Token, a: &mut [Vec8; DIGITS], (n, n0): Modulus<'_>, double: Option<V::Mask>) {
    let zero = V::splat(token, 0);
    let n0 = V::load(token, n0);
    // Products of unequal digits, once each; and all the rest, which they join, doubled, two columns a row.
    let mut products = [zero; COLUMNS];
    let mut columns = [zero; COLUMNS];
    square_row(token, (&mut products, &mut columns), 0, a);
    for_each_row!(row < DIGITS => {
        let q = zero.add_low(columns[row], n0);
        if row + 1 < DIGITS {
            square_row(token, (&mut products, &mut columns), row + 1, a);
        }
        clear_column(token, &mut columns, row, q, n);
    });
    carry(token, &columns, a, double);
}

/// Adds what digit `row` of `a` makes with itself and those above it, which completes columns 2 `row` and 2 `row` + 1.
#[inline(always)]
fn square_row<V: Lanes>(
    token: V::Token,
    (products, columns): (&mut [V; COLUMNS], &mut [V; COLUMNS]),
    row: usize,
    a: &[Vec8; DIGITS],
) {
    let x = V::load(token, &a[row]);
    add_row(token, products, row, x, a, row + 1);
    let (low, high) = (products[2 * row], products[2 * row + 1]);
    columns[2 * row] = columns[2 * row].add(low.add(low)).add_low(x, x);
    columns[2 * row + 1] = columns[2 * row + 1].add(high.add(high)).add_high(x, x);
}

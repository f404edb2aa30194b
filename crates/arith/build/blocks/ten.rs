//! A square or a product of ten digits, reduced, in one function, of two numbers by turns: the result's columns are
//! left as they are, and become digits beside the multiplications of the other number, for which the chain of carries
//! need not be waited.

use super::look_up;
use super::square::{Columns, carry, load_digits, squares};
use super::tiles::products;
use super::{Lines, ONES, ROWS, VECTOR, at};

/// Registers of the reduction: the window of columns, digits of the quotient, -1 / n mod 2^52, a summand, a carry, and
/// digits of the modulus. Others are those of a look-up.
const WINDOW: usize = 0;
const QUOTIENT: [usize; 2] = [10, 11];
const INVERSE: usize = 12;
const SUMMAND: usize = 13;
const CARRIED: usize = 14;
const MODULUS: [usize; 8] = [15, 16, 17, 18, 19, 20, 21, 30];
/// Vectors of what rcx points to: the modulus, -1 / n mod 2^52, and masks.
const VECTOR_OF_INVERSE: usize = ROWS;
const VECTOR_OF_MASKS: usize = ROWS + 1;

fn window(column: usize) -> usize {
    WINDOW + column % ROWS
}

/// A digit of the modulus, which may be in memory.
fn modulus(digit: usize) -> String {
    match MODULUS.get(digit) {
        Some(register) => format!("zmm{register}"),
        None => at("rcx", digit),
    }
}

/// rdi: room for columns; rsi: a number's digits, and then the columns of the result; rdx: the other number's columns,
/// and then its digits; rcx: the modulus, -1 / n mod 2^52, and masks; to look up, r8: the first entry; r9: what is
/// found.
pub(super) fn square(looks_up: bool) -> String {
    let mut f = Lines::default();
    load_digits(&mut f);
    f.prepare_to_carry();
    if looks_up {
        look_up::load_masks(&mut f, &format!("rcx + {}", VECTOR * VECTOR_OF_MASKS));
    }
    f.beside(squares(Columns::Plain), carry("rdx"));
    match looks_up {
        true => f.beside(
            reduction(),
            look_up::look_up("r8", "rax", &(VECTOR * ROWS).to_string(), "r9"),
        ),
        false => f.append(reduction()),
    }
    f.leave();
    f.text()
}

/// As [`square`]; r8: the other factor's digits; r9: a number for each lane, of which masks are made.
pub(super) fn product() -> String {
    let mut f = Lines::default();
    load_digits(&mut f);
    f.prepare_to_carry();
    f.beside(products(Columns::Plain, "r8", 0), carry("rdx"));
    let masks = look_up::masks("r9", &format!("rcx + {}", VECTOR * VECTOR_OF_MASKS));
    f.beside(reduction(), masks);
    f.leave();
    f.text()
}

/// All ten digits of the quotient, and their multiple of the modulus; columns are left.
fn reduction() -> Lines {
    let mut f = Lines::default();
    f.load(INVERSE, "rcx", VECTOR_OF_INVERSE);
    for column in 0..ROWS {
        f.load(window(column), "rdi", column);
        if let Some(&register) = MODULUS.get(column) {
            f.load(register, "rcx", column);
        }
    }
    let mut rest = Lines::default();
    for row in 0..ROWS {
        f.beside(std::mem::take(&mut rest), next_digit(row));
        rest = multiple(row);
    }
    f.append(rest);
    f
}

/// The quotient's digit that clears column `row`, and what of its multiple the next one waits for, as in
/// [`reduce`](super::reduction::reduce).
fn next_digit(row: usize) -> Lines {
    let mut f = Lines::default();
    let (column, next, quotient) = (window(row), window(row + 1), QUOTIENT[row % 2]);
    f.clear(quotient);
    f.add_low(quotient, column, &format!("zmm{INVERSE}"));
    f.put(format!("vpaddq zmm{CARRIED}, zmm{column}, {ONES}"));
    f.put(format!("vpsrlq zmm{CARRIED}, zmm{CARRIED}, 52"));
    f.put(format!("vpaddq zmm{next}, zmm{next}, zmm{CARRIED}"));
    f.clear(SUMMAND);
    f.add_low(SUMMAND, quotient, &modulus(1));
    f.add_high(next, quotient, &modulus(0));
    f.put(format!("vpaddq zmm{next}, zmm{next}, zmm{SUMMAND}"));
    f
}

/// The rest of the digit's multiple. The last one completes the columns.
fn multiple(row: usize) -> Lines {
    let mut f = Lines::default();
    let quotient = QUOTIENT[row % 2];
    let is_last = row + 1 == ROWS;
    f.load(window(row), "rdi", row + ROWS);
    if is_last {
        f.store("rsi", 0, window(row + 1));
    }
    for digit in 2..ROWS {
        f.add_low(window(row + digit), quotient, &modulus(digit));
    }
    for digit in 1..ROWS {
        f.add_high(window(row + digit + 1), quotient, &modulus(digit));
        if is_last {
            f.store("rsi", digit, window(row + digit + 1));
        }
    }
    f
}

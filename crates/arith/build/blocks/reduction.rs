//! The last ten digits of a reduction: digit after digit of the quotient, from the column that it clears, and its
//! multiple of the modulus.

use super::{CARRY, Lines, ONES, ROWS, VECTOR, at};

/// Registers: the quotient's digits, the window of columns, digits of the modulus, a carry, and a summand.
const QUOTIENT: usize = 0;
const WINDOW: usize = ROWS;
const MODULUS: usize = 2 * ROWS;
const MODULI: usize = 4;
const CARRIED: usize = 24;
const SUMMAND: usize = 25;
const COMPLETE: usize = 26;
const COMPLETES: usize = 3;
/// -1 / n mod 2^52.
const INVERSE: usize = 29;
/// Afterwards, a mask of the lanes that are doubled.
const DOUBLED: usize = 29;

fn window(column: usize) -> usize {
    WINDOW + column % ROWS
}

/// The fate of the result's columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Digits,
    /// Digits of twice the number, in some lanes.
    Doubled,
    /// Digits, but for the last ten, which stay columns.
    Columns,
}

/// rdi: the result; rsi: columns, rdx: the modulus, rcx: -1/n mod 2^52, r8: tens of digits above the first ten; to
/// double, r9: a mask of the lanes.
pub(super) fn reduce(result: End) -> String {
    let double = result == End::Doubled;
    let mut f = Lines::default();
    f.prepare_to_carry();
    f.load(INVERSE, "rcx", 0);
    for column in 0..ROWS {
        f.load(window(column), "rsi", column);
    }
    let mut rest = Lines::default();
    for row in 0..ROWS {
        f.beside(std::mem::take(&mut rest), next_digit(row));
        rest = multiple(row);
    }
    f.append(rest);
    if double {
        f.load(DOUBLED, "r9", 0);
    }
    f.put(format!("add rsi, {}", ROWS * VECTOR));
    f.put(format!("add rdx, {}", ROWS * VECTOR));
    f.put("test r8, r8".into());
    f.put("jz 3f".into());
    f.put("2:".into());
    for at in 0..ROWS {
        step(&mut f, at, double);
    }
    for pointer in ["rdi", "rsi", "rdx"] {
        f.put(format!("add {pointer}, {}", ROWS * VECTOR));
    }
    f.put("sub r8, 1".into());
    f.put("jnz 2b".into());
    f.put("3:".into());
    if result == End::Columns {
        f.put(format!("vpaddq zmm{0}, zmm{0}, {CARRY}", window(0)));
    }
    for at in 0..ROWS {
        match result {
            End::Columns => f.store("rdi", at, window(at)),
            _ => end(&mut f, at, double),
        }
    }
    // Every operation ends here, and the compiler takes the upper halves of registers for clean.
    f.put("vzeroupper".into());
    f.leave();
    f.text()
}

/// The quotient's digit that clears column `row`, and what of its multiple the next one waits for.
fn next_digit(row: usize) -> Lines {
    let mut f = Lines::default();
    let (column, next, quotient) = (window(row), window(row + 1), QUOTIENT + row);
    f.clear(quotient);
    f.add_low(quotient, column, &format!("zmm{INVERSE}"));
    // The low product with n's first digit makes the column's low digit zero, that is, carries 1 unless it is zero
    // already. So does adding 2^52 - 1, which needs no product.
    f.put(format!("vpaddq zmm{CARRIED}, zmm{column}, {ONES}"));
    f.put(format!("vpsraq zmm{CARRIED}, zmm{CARRIED}, 52"));
    f.put(format!("vpaddq zmm{next}, zmm{next}, zmm{CARRIED}"));
    // Two products that do not wait for each other.
    f.clear(SUMMAND);
    f.add_low(SUMMAND, quotient, &at("rdx", 1));
    f.add_high(next, quotient, &at("rdx", 0));
    f.put(format!("vpaddq zmm{next}, zmm{next}, zmm{SUMMAND}"));
    f
}

/// The rest of the digit's multiple.
fn multiple(row: usize) -> Lines {
    let mut f = Lines::default();
    let quotient = QUOTIENT + row;
    f.load(window(row), "rsi", row + ROWS);
    for digits in [1..5, 5..9, 9..10] {
        for digit in digits.clone() {
            f.load(MODULUS + digit % MODULI, "rdx", digit);
        }
        for digit in digits.clone().filter(|&digit| digit > 1) {
            f.add_low(
                window(row + digit),
                quotient,
                &format!("zmm{}", MODULUS + digit % MODULI),
            );
        }
        for digit in digits {
            f.add_high(
                window(row + digit + 1),
                quotient,
                &format!("zmm{}", MODULUS + digit % MODULI),
            );
        }
    }
    f
}

/// The quotient's digits times one of the modulus, as in [`rows`](super::tiles::rows); the column that is complete is
/// a digit of the result.
fn step(f: &mut Lines, at: usize, double: bool) {
    f.load(MODULUS + at % 2, "rdx", at);
    let from = window(at);
    let complete = |f: &mut Lines| {
        let mut rest = Lines::default();
        let to = COMPLETE + at % COMPLETES;
        begin_to_end(f, to, from, double);
        rest.carry(to);
        rest.store("rdi", at, to);
        rest
    };
    super::tiles::step(f, at, complete, |f| f.load(from, "rsi", at + ROWS));
}

fn begin_to_end(f: &mut Lines, to: usize, from: usize, double: bool) {
    if double {
        f.put(format!("vpandq zmm{to}, zmm{from}, zmm{DOUBLED}"));
        f.put(format!("vpaddq zmm{to}, zmm{to}, zmm{from}"));
    } else {
        f.put(format!("vmovdqa64 zmm{to}, zmm{from}"));
    }
}

/// The last ten digits of the result.
fn end(f: &mut Lines, at: usize, double: bool) {
    let to = COMPLETE + at % COMPLETES;
    begin_to_end(f, to, window(at), double);
    f.carry(to);
    f.store("rdi", at, to);
}

//! The square of ten digits: products of unequal digits once, row after row, each column in a register; then every
//! column twice, with the squares of the digits.

use super::{CARRY, Lines, OTHER_CARRY, ROWS, at};

/// The fate of columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// They are stored.
    Plain,
    /// They are stored; beside them, the block's sum with another one is taken.
    PlainAndSum,
    /// The lower half is carried into digits before.
    Lowest,
    /// Likewise; beside that, ten columns in memory become digits.
    LowestAndCarry,
    /// They are those of a sum of two blocks: less the columns of both blocks, plus what is there already.
    Pair,
}

impl Columns {
    pub(super) fn are_lowest(self) -> bool {
        matches!(self, Self::Lowest | Self::LowestAndCarry)
    }
}

/// Registers: digits, columns, and columns that are complete.
const DIGIT: usize = 0;
const COLUMN: usize = ROWS;
const COMPLETE: usize = 2 * ROWS;
const COMPLETES: usize = 6;
/// Registers for anything.
const ANY: [usize; 3] = [26, 27, 28];
/// The sum's highest bit, as a mask.
const TOP: usize = 29;

fn column(at: usize) -> usize {
    COLUMN + at % ROWS
}

/// Where a column waits for its end: both of a row, while those of the row before are still at work.
fn complete(at: usize) -> usize {
    COMPLETE + at % COMPLETES
}

/// rdi: columns; rsi: digits; rdx, rcx: the sum and the other summand's digits; rdx: columns that become digits. Of a
/// pair: rsi: the sum's digits and mask; rdx, rcx: the two squares' columns; r8, r9: the lower and upper ten columns of
/// what is there.
pub(super) fn square(columns: Columns) -> String {
    let mut f = Lines::default();
    load_digits(&mut f);
    match columns {
        Columns::Lowest | Columns::LowestAndCarry | Columns::PlainAndSum => f.prepare_to_carry(),
        Columns::Pair => f.load(TOP, "rsi", ROWS),
        Columns::Plain => {}
    }
    let squares = squares(columns);
    match columns {
        Columns::PlainAndSum => f.beside(squares, sum("rdx", "rcx", |digit| format!("zmm{}", DIGIT + digit), ANY)),
        Columns::LowestAndCarry => f.beside(squares, carry("rdx")),
        _ => f.append(squares),
    }
    f.leave();
    f.text()
}

/// Loads ten digits from rsi.
pub(super) fn load_digits(f: &mut Lines) {
    for digit in 0..ROWS {
        f.load(DIGIT + digit, "rsi", digit);
    }
}

/// The columns of the square of what has been loaded.
pub(super) fn squares(columns: Columns) -> Lines {
    let mut f = Lines::default();
    let mut ready = Lines::default();
    for row in 0..ROWS {
        let mut products = Lines::default();
        if row == 0 {
            for at in 1..ROWS {
                f.clear(column(at));
            }
        }
        for other in row + 1..ROWS {
            products.add_low(column(row + other), DIGIT + row, &format!("zmm{}", DIGIT + other));
        }
        // The column that the row begins.
        let begun = row + ROWS;
        match columns {
            Columns::Pair => products.put(format!("vpandq zmm{}, zmm{TOP}, zmm{}", column(begun), DIGIT + row)),
            _ => products.clear(column(begun)),
        }
        for other in row + 1..ROWS {
            products.add_high(column(row + other + 1), DIGIT + row, &format!("zmm{}", DIGIT + other));
        }
        f.beside(products, ready);
        ready = Lines::default();
        let completed = match row {
            0 => vec![0, 1, 2],
            9 => vec![19],
            _ => vec![2 * row + 1, 2 * row + 2],
        };
        for &at in &completed {
            match at {
                0 => f.clear(complete(at)),
                _ => {
                    let (to, from) = (complete(at), column(at));
                    f.put(format!("vpaddq zmm{to}, zmm{from}, zmm{from}"));
                }
            }
        }
        for at in completed {
            end(&mut ready, columns, at);
        }
    }
    f.append(ready);
    f
}

/// Columns in memory become digits, beside others that do.
pub(super) fn carry(pointer: &str) -> Lines {
    let mut f = Lines::default();
    f.put(format!("vpxord {OTHER_CARRY}, {OTHER_CARRY}, {OTHER_CARRY}"));
    f.carry_columns(pointer, ANY, OTHER_CARRY);
    f
}

/// s = the sum of ten digits in memory and of those, in digits, and the mask of its highest bit.
///
/// Summands are loaded two digits ahead: a load whose address agrees with that of a store before it in the lowest
/// twelve bits waits for it, and a square of two blocks took 1,340 cycles instead of 1,180 where all of these did.
pub(super) fn sum(s: &str, summand: &str, other: impl Fn(usize) -> String, any: [usize; 3]) -> Lines {
    let mut f = Lines::default();
    for digit in 0..ROWS + 2 {
        if digit < ROWS {
            f.load(any[digit % 3], summand, digit);
        }
        let Some(digit) = digit.checked_sub(2) else {
            continue;
        };
        let any = any[digit % 3];
        f.put(format!("vpaddq zmm{any}, zmm{any}, {}", other(digit)));
        f.carry(any);
        f.store(s, digit, any);
    }
    let any = any[0];
    f.clear(any);
    f.put(format!("vpsubq zmm{any}, zmm{any}, {CARRY}"));
    f.store(s, ROWS, any);
    f
}

/// Ends a column that has been doubled.
fn end(f: &mut Lines, columns: Columns, column: usize) {
    let (to, digit) = (complete(column), DIGIT + column / 2);
    if columns == Columns::Pair {
        if column == 2 * ROWS - 1 {
            carry_out(f, to, TOP);
        }
        combine(f, to, to, column);
    }
    match column % 2 {
        0 => f.add_low(to, digit, &format!("zmm{digit}")),
        _ => f.add_high(to, digit, &format!("zmm{digit}")),
    }
    if columns.are_lowest() {
        carry_lowest(f, to, column);
    }
    f.store("rdi", column, to);
}

/// The lower half of the columns becomes digits, and what they carry goes to the first one above.
pub(super) fn carry_lowest(f: &mut Lines, to: usize, column: usize) {
    match column {
        ..ROWS => f.carry(to),
        ROWS => f.put(format!("vpaddq zmm{to}, zmm{to}, {CARRY}")),
        _ => {}
    }
}

/// The product of both factors' highest bits, from a mask, onto the highest column: 2^52 of that is 1 above it.
pub(super) fn carry_out(f: &mut Lines, to: usize, mask: usize) {
    f.put(format!("vpsllq zmm{mask}, zmm{mask}, 52"));
    f.put(format!("vpsubq zmm{to}, zmm{to}, zmm{mask}"));
}

/// to = a column of a sum of two blocks, less both blocks' columns, plus what is there.
pub(super) fn combine(f: &mut Lines, to: usize, from: usize, column: usize) {
    let (there, vec) = match column.checked_sub(ROWS) {
        None => ("r8", column),
        Some(vec) => ("r9", vec),
    };
    f.put(format!("vpaddq zmm{to}, zmm{from}, {}", at(there, vec)));
    f.put(format!("vpsubq zmm{to}, zmm{to}, {}", at("rdx", column)));
    f.put(format!("vpsubq zmm{to}, zmm{to}, {}", at("rcx", column)));
}

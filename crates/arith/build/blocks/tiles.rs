//! Ten digits in registers, times digit after digit of another factor: a window of ten columns moves up with them.

use super::look_up;
use super::square::{self, Columns, carry_lowest, carry_out, combine};
use super::{CARRY, Lines, ROWS, VECTOR, at};

/// Registers: ten digits, the window, a digit of the other factor, and what a column ends in.
const DIGIT: usize = 0;
const WINDOW: usize = ROWS;
const FACTOR: usize = 2 * ROWS;
const COMPLETE: usize = 22;
const COMPLETES: usize = 4;
/// Both sums' highest bits, as masks, and a register for anything.
const TOPS: [usize; 2] = [28, 29];
const ANY: [usize; 3] = [26, 27, 28];

fn window(column: usize) -> usize {
    WINDOW + column % ROWS
}

/// Ten digits times one, from column `step` on, in two groups; between them `complete` ends that column, of which
/// `begin` makes the one that is ten above. What `complete` returns stands beside the second group.
pub(super) fn step(
    f: &mut Lines,
    step: usize,
    complete: impl FnOnce(&mut Lines) -> Lines,
    begin: impl FnOnce(&mut Lines),
) {
    let x = format!("zmm{}", FACTOR + step % 2);
    for row in 0..ROWS {
        f.add_low(window(step + row), DIGIT + row, &x);
    }
    let rest = complete(f);
    begin(f);
    let mut products = Lines::default();
    for row in 0..ROWS {
        products.add_high(window(step + row + 1), DIGIT + row, &x);
    }
    f.beside(products, rest);
}

/// rdi: s, ten digits and the mask of its highest bit; rsi, rdx: the summands' digits.
pub(super) fn sum() -> String {
    let mut f = Lines::default();
    f.prepare_to_carry();
    f.append(square::sum("rdi", "rsi", |digit| at("rdx", digit), [0, 1, 2]));
    f.leave();
    f.text()
}

/// rdi: columns; rsi, rdx: factors; rcx: both factors' sums with the digits at r8 and r9, or columns that become
/// digits. Of a pair: rsi: both sums' digits and masks; rdx, rcx: the two products' columns; r8, r9: the lower and
/// upper ten columns of what is there.
pub(super) fn product(columns: Columns) -> String {
    let mut f = Lines::default();
    let (factor, first) = match columns {
        Columns::Pair => ("rsi", ROWS + 1),
        _ => ("rdx", 0),
    };
    square::load_digits(&mut f);
    match columns {
        Columns::Lowest | Columns::LowestAndCarry | Columns::PlainAndSum => f.prepare_to_carry(),
        Columns::Pair => {
            f.load(TOPS[0], "rsi", ROWS);
            f.load(TOPS[1], "rsi", first + ROWS);
        }
        Columns::Plain => {}
    }
    let products = products(columns, factor, first);
    match columns {
        Columns::PlainAndSum => {
            let mut sums = square::sum("rcx", "r8", |digit| format!("zmm{}", DIGIT + digit), ANY);
            sums.clear(30);
            let second = format!("rcx + {}", VECTOR * (ROWS + 1));
            sums.append(square::sum(&second, "r9", |digit| at("rdx", digit), ANY));
            f.beside(products, sums);
        }
        Columns::LowestAndCarry => f.beside(products, square::carry("rcx")),
        _ => f.append(products),
    }
    f.leave();
    f.text()
}

/// The columns of the product of what has been loaded with the digits in memory, from the vector `first` on.
pub(super) fn products(columns: Columns, factor: &str, first: usize) -> Lines {
    let mut f = Lines::default();
    for column in 0..ROWS {
        f.clear(window(column));
    }
    for at in 0..ROWS {
        let x = FACTOR + at % 2;
        f.load(x, factor, first + at);
        let complete = |f: &mut Lines| end(f, columns, at);
        let begin = |f: &mut Lines| match columns {
            Columns::Pair => {
                let (begun, any) = (window(at), ANY[0]);
                f.put(format!("vpandq zmm{begun}, zmm{}, zmm{x}", TOPS[0]));
                f.put(format!("vpandq zmm{any}, zmm{}, zmm{}", TOPS[1], DIGIT + at));
                f.put(format!("vpaddq zmm{begun}, zmm{begun}, zmm{any}"));
            }
            _ => f.clear(window(at)),
        };
        step(&mut f, at, complete, begin);
    }
    for at in ROWS..2 * ROWS {
        let rest = end(&mut f, columns, at);
        f.append(rest);
    }
    f
}

/// Begins to end a column, whose register is free then, and returns what is left to do.
fn end(f: &mut Lines, columns: Columns, column: usize) -> Lines {
    let mut rest = Lines::default();
    let (from, to) = (window(column), COMPLETE + column % COMPLETES);
    match columns {
        Columns::Plain | Columns::PlainAndSum => f.store("rdi", column, from),
        Columns::Lowest | Columns::LowestAndCarry => {
            f.put(format!("vmovdqa64 zmm{to}, zmm{from}"));
            carry_lowest(&mut rest, to, column);
            rest.store("rdi", column, to);
        }
        Columns::Pair => {
            combine(f, to, from, column);
            if column == 2 * ROWS - 1 {
                let [one, other] = TOPS;
                f.put(format!("vpandq zmm{one}, zmm{one}, zmm{other}"));
                carry_out(f, to, one);
            }
            rest.store("rdi", column, to);
        }
    }
    rest
}

/// Work beside [`rows`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Nothing,
    /// The first ten columns are carried into digits.
    Carry,
    /// Entries of a table are looked up.
    LookUp,
}

/// rdi: columns; rsi: ten digits; rdx: the other factor's digits; rcx: tens of them. To look up, r8: pointers to the
/// first entry, to what is found, and to masks, and bytes of an entry; see [`look_up`].
pub(super) fn rows(beside: Beside) -> String {
    let mut f = Lines::default();
    for digit in 0..ROWS {
        f.load(DIGIT + digit, "rsi", digit);
    }
    for column in 0..ROWS {
        f.load(window(column), "rdi", column);
    }
    if beside == Beside::LookUp {
        let job = ["r10", "r11", "rsi", "r9"];
        for (register, pointer) in job.into_iter().enumerate() {
            f.put(format!("mov {pointer}, [r8 + {}]", 8 * register));
        }
        look_up::load_masks(&mut f, "rsi");
    }
    if beside == Beside::Carry {
        f.prepare_to_carry();
        for at in 0..ROWS {
            row(&mut f, at, true);
        }
        f.put(format!("vpaddq zmm{WINDOW}, zmm{WINDOW}, {CARRY}"));
        next_ten(&mut f);
    }
    f.put("2:".into());
    let mut steps = Lines::default();
    for at in 0..ROWS {
        row(&mut steps, at, false);
    }
    match beside {
        Beside::LookUp => {
            f.beside(steps, look_up::look_up("r10", "rax", "r9", "r11"));
            f.put(format!("add r11, {}", VECTOR * look_up::VECTORS));
        }
        _ => f.append(steps),
    }
    next_ten(&mut f);
    f.put("jnz 2b".into());
    for column in 0..ROWS {
        f.store("rdi", column, window(column));
    }
    f.leave();
    f.text()
}

fn next_ten(f: &mut Lines) {
    f.put(format!("add rdi, {}", ROWS * VECTOR));
    f.put(format!("add rdx, {}", ROWS * VECTOR));
    f.put("sub rcx, 1".into());
}

/// The rows times a digit, onto columns that are in memory.
fn row(f: &mut Lines, at: usize, carry: bool) {
    f.load(FACTOR + at % 2, "rdx", at);
    let from = window(at);
    let complete = |f: &mut Lines| {
        let mut rest = Lines::default();
        match carry {
            true => {
                let to = COMPLETE + at % COMPLETES;
                f.put(format!("vmovdqa64 zmm{to}, zmm{from}"));
                rest.carry(to);
                rest.store("rdi", at, to);
            }
            false => f.store("rdi", at, from),
        }
        rest
    };
    step(f, at, complete, |f| f.load(from, "rdi", at + ROWS));
}

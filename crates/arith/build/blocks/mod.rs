//! Blocks of ten digits of eight numbers at once, written out in x86-64 assembly with AVX-512 IFMA. What they compute,
//! and within which bounds, stands in `src/kernel/x86_64/ifma_blocks.rs` and `ifma_ten.rs`, with their arguments.
//!
//! A CPU with half-width units (Zen 4) does one multiplication of 512 bits a cycle, and one addition, shift or logic
//! beside it, if they come in an order that it can follow. So multiplications come in groups, of which each writes
//! another register, and everything else is spread among them.

mod look_up;
mod reduction;
mod square;
mod ten;
mod tiles;

use std::mem;

/// Digits of a block.
const ROWS: usize = 10;
const VECTOR: usize = 64;

/// Registers with one meaning in all functions.
const ONES: &str = "zmm31";
const CARRY: &str = "zmm30";
/// The carry of a second chain.
const OTHER_CARRY: &str = "zmm29";

/// The names of the functions, and their code.
pub(crate) fn all() -> Vec<(&'static str, String)> {
    vec![
        ("square_lowest", square::square(square::Columns::Lowest)),
        (
            "square_lowest_and_carry",
            square::square(square::Columns::LowestAndCarry),
        ),
        ("square", square::square(square::Columns::Plain)),
        ("square_and_sum", square::square(square::Columns::PlainAndSum)),
        ("square_pair", square::square(square::Columns::Pair)),
        ("sum", tiles::sum()),
        ("product_lowest", tiles::product(square::Columns::Lowest)),
        (
            "product_lowest_and_carry",
            tiles::product(square::Columns::LowestAndCarry),
        ),
        ("product", tiles::product(square::Columns::Plain)),
        ("product_and_sums", tiles::product(square::Columns::PlainAndSum)),
        ("product_pair", tiles::product(square::Columns::Pair)),
        ("rows", tiles::rows(tiles::Beside::Nothing)),
        ("rows_and_carry", tiles::rows(tiles::Beside::Carry)),
        ("rows_and_look_up", tiles::rows(tiles::Beside::LookUp)),
        ("reduce", reduction::reduce(reduction::End::Digits)),
        ("reduce_and_double", reduction::reduce(reduction::End::Doubled)),
        ("reduce_and_leave", reduction::reduce(reduction::End::Columns)),
        ("digits", digits()),
        ("masks", masks()),
        ("ten_square", ten::square(false)),
        ("ten_square_and_look_up", ten::square(true)),
        ("ten_product", ten::product()),
    ]
}

/// rdi: ten columns that become digits.
fn digits() -> String {
    let mut f = Lines::default();
    f.prepare_to_carry();
    f.carry_columns("rdi", [0, 1, 2], CARRY);
    f.put("vzeroupper".into());
    f.leave();
    f.text()
}

/// rdi: masks, a word for each bit; rsi: a number for each lane, a byte each.
fn masks() -> String {
    let mut f = look_up::masks("rsi", "rdi");
    f.leave();
    f.text()
}

/// Lines of code.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn put(&mut self, line: String) {
        self.0.push(line);
    }

    /// to += the low digits of x y.
    fn add_low(&mut self, to: usize, x: usize, y: &str) {
        self.put(format!("vpmadd52luq zmm{to}, zmm{x}, {y}"));
    }

    /// to += the high digits of x y.
    fn add_high(&mut self, to: usize, x: usize, y: &str) {
        self.put(format!("vpmadd52huq zmm{to}, zmm{x}, {y}"));
    }

    fn load(&mut self, to: usize, pointer: &str, vec: usize) {
        self.put(format!("vmovdqu64 zmm{to}, {}", at(pointer, vec)));
    }

    fn store(&mut self, pointer: &str, vec: usize, from: usize) {
        self.put(format!("vmovdqu64 {}, zmm{from}", at(pointer, vec)));
    }

    fn clear(&mut self, register: usize) {
        self.put(format!("vpxord xmm{register}, xmm{register}, xmm{register}"));
    }

    /// The digit of a column, whose carry goes to the next one; in the column's register.
    fn carry(&mut self, column: usize) {
        self.carry_by(column, CARRY);
    }

    /// [`carry`](Self::carry) in a register.
    fn carry_by(&mut self, column: usize, carry: &str) {
        self.put(format!("vpaddq zmm{column}, zmm{column}, {carry}"));
        self.put(format!("vpsraq {carry}, zmm{column}, 52"));
        self.put(format!("vpandq zmm{column}, zmm{column}, {ONES}"));
    }

    /// Ten columns in memory become digits. They are loaded two ahead of what is stored, as in
    /// [`sum`](square::sum).
    fn carry_columns(&mut self, pointer: &str, any: [usize; 3], carry: &str) {
        for digit in 0..ROWS + 2 {
            if digit < ROWS {
                self.load(any[digit % 3], pointer, digit);
            }
            if let Some(digit) = digit.checked_sub(2) {
                self.carry_by(any[digit % 3], carry);
                self.store(pointer, digit, any[digit % 3]);
            }
        }
    }

    /// Prepares for [`carry`](Self::carry): no carry, and the largest digit.
    fn prepare_to_carry(&mut self) {
        self.put("vpxord xmm30, xmm30, xmm30".into());
        self.put(format!("vpternlogd {ONES}, {ONES}, {ONES}, 0xff"));
        self.put(format!("vpsrlq {ONES}, {ONES}, 12"));
    }

    fn leave(&mut self) {
        self.put("ret".into());
    }

    /// These lines and those, which do not depend on each other, in their orders, those spread evenly among these.
    fn beside(&mut self, mut these: Self, those: Self) {
        let count = these.0.len().max(1);
        let mut those = those.0.into_iter().enumerate().peekable();
        let all = those.len();
        for (i, line) in mem::take(&mut these.0).into_iter().enumerate() {
            self.0.push(line);
            while let Some((_, line)) = those.next_if(|(j, _)| j * count < (i + 1) * all) {
                self.0.push(line);
            }
        }
        self.0.extend(those.map(|(_, line)| line));
    }

    fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn text(self) -> String {
        self.0.join("\n") + "\n"
    }
}

/// A vector in memory.
fn at(pointer: &str, vec: usize) -> String {
    format!("[{pointer} + {}]", VECTOR * vec)
}

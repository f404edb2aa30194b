//! Tiles of columns of doubles for one number or for two, in x86-64 assembly with AVX2 and FMA. What is computed, and
//! within which bounds, stands in `src/kernel/mont47x2/`; what is read from memory, in
//! `src/kernel/x86_64/avx2_tiles.rs`.
//!
//! A function gets, as the system's calling convention has it (System V),
//!
//! ```text
//! rdi   where its first column finds what, from the start of each: see `Step`
//! rsi   where these start: see `Start`
//! rdx   the constants: see `Constants`
//! ```
//!
//! and keeps in registers
//!
//! ```text
//! ymm0 to ymm5     the high parts of the columns
//! ymm6 to ymm11    their low parts
//! ymm12            a digit, or two, in all places
//! ymm13 to ymm15   temporaries
//! rax, r10         pairs of a, and pairs moved up by a digit, of the first column
//! rcx, r9          pairs of b, of 2 a in a square; and of a itself
//! ```

/// The offset of a field.
macro_rules! step {
    ($field:ident) => {
        offset_of!(Step<u64>, $field)
    };
}
macro_rules! start {
    ($field:ident) => {
        offset_of!(Start<u64>, $field)
    };
}
/// A constant, as an operand.
macro_rules! constant {
    ($field:ident) => {
        format!("[rdx + {}]", offset_of!(Constants<[f64; 4]>, $field))
    };
}

mod digits;

use crate::agreed::tiles::{Constants, High, LARGEST_TILE, Start, Step, Tile};
use std::fmt::Write;
use std::mem::offset_of;
use std::ops::Range;

const VECTOR: usize = 32;
const FIRST_LOW: usize = LARGEST_TILE;
const DIGIT: usize = 2 * LARGEST_TILE;
/// Products that are worked on at once, a temporary each.
const AT_ONCE: usize = 3;

/// A digit of a pair.
#[derive(Clone, Copy)]
enum Digit {
    Lower,
    Upper,
}

impl Digit {
    /// The register with the pairs that it multiplies: as they are, or moved up.
    fn pairs(self) -> &'static str {
        match self {
            Self::Lower => "rax",
            Self::Upper => "r10",
        }
    }
}

/// All there are.
pub(crate) fn all() -> Vec<Tile> {
    let mut tiles = Vec::new();
    for numbers in [1, 2] {
        for squares in [false, true] {
            for columns in 1..=LARGEST_TILE {
                tiles.push(Tile {
                    numbers,
                    columns,
                    squares,
                    high: None,
                });
            }
            for is_joined in [false, true] {
                for (columns, is_lowest) in [
                    (2, false),
                    (4, false),
                    (6, false),
                    (1, true),
                    (2, true),
                    (3, true),
                    (4, true),
                    (5, true),
                ] {
                    let high = Some(High { is_lowest, is_joined });
                    tiles.push(Tile {
                        numbers,
                        columns,
                        squares,
                        high,
                    });
                }
            }
        }
    }
    tiles
}

/// A `match` of a tile that names the function for each.
pub(crate) fn arms(tiles: &[Tile]) -> String {
    let mut text = String::from("match tile {\n");
    for tile in tiles {
        let Tile {
            numbers,
            columns,
            squares,
            high,
        } = tile;
        let high = match high {
            None => "None".to_owned(),
            Some(High { is_lowest, is_joined }) => {
                format!("Some(High {{ is_lowest: {is_lowest}, is_joined: {is_joined} }})")
            }
        };
        writeln!(
            text,
            "Tile {{ numbers: {numbers}, columns: {columns}, squares: {squares}, high: {high} }} => code!({:?}),",
            name(tile)
        )
        .expect("a string takes everything");
    }
    text.push_str("_ => unreachable!(\"there is no such tile\"),\n}\n");
    text
}

pub(crate) fn name(tile: &Tile) -> String {
    let Tile {
        numbers,
        columns,
        squares,
        high,
    } = tile;
    let operation = if *squares { "square" } else { "product" };
    let kind = match high {
        None => "low",
        Some(High {
            is_lowest: false,
            is_joined: false,
        }) => "high",
        Some(High {
            is_lowest: false,
            is_joined: true,
        }) => "high_joined",
        Some(High {
            is_lowest: true,
            is_joined: false,
        }) => "lowest",
        Some(High {
            is_lowest: true,
            is_joined: true,
        }) => "lowest_joined",
    };
    format!("{operation}_{kind}_{columns}x{numbers}")
}

pub(crate) fn text(tile: Tile) -> String {
    let mut function = Function {
        numbers: tile.numbers,
        reversed: tile.high.is_some(),
        text: String::new(),
    };
    function.tile(tile);
    function.text
}

/// The text of one function.
struct Function {
    numbers: usize,
    /// `true` if columns are counted from the top.
    reversed: bool,
    text: String,
}

impl Function {
    /// Loads the start of something, and adds a step.
    fn get(&mut self, register: &str, start: usize, step: Option<usize>) {
        put!(self, "mov {register}, [rsi + {start}]");
        if let Some(step) = step {
            put!(self, "add {register}, [rdi + {step}]");
        }
    }

    fn get_rows(&mut self, step: usize) {
        put!(self, "mov r8, [rdi + {step}]");
    }

    fn tile(&mut self, tile: Tile) {
        let columns = tile.columns;
        let all = columns + usize::from(tile.high.is_some_and(|high| high.is_lowest));
        let joined = tile.high.is_some_and(|high| high.is_joined);
        self.start(0..if joined { all } else { columns });
        for (register, start, step) in [
            ("rax", start!(pairs), step!(pairs)),
            ("r10", start!(moved), step!(pairs)),
            ("rcx", start!(b), step!(b)),
        ] {
            self.get(register, start, Some(step));
        }
        self.get_rows(step!(rows));
        self.rows(columns);
        if tile.squares {
            self.get("r9", start!(plain), Some(step!(plain)));
            self.square_triangle(columns);
        } else {
            self.triangle(columns, columns);
        }
        let Some(High { is_lowest, is_joined }) = tile.high else {
            self.get("r8", start!(out), Some(step!(out)));
            self.get("r11", start!(below), None);
            self.digits(0..columns, true);
            put!(self, "ret");
            return;
        };
        if !is_joined {
            self.get("r11", start!(below), None);
            self.digits_in_registers(columns);
            self.start_high(0..columns);
            self.start(columns..all);
        }
        for (register, start, step) in [
            ("rax", start!(modulus_pairs), step!(modulus_pairs)),
            ("r10", start!(modulus_moved), step!(modulus_pairs)),
            ("rcx", start!(quotient), step!(quotient)),
        ] {
            self.get(register, start, Some(step));
        }
        self.get_rows(step!(quotient_rows));
        self.rows(all);
        self.triangle(all, columns);
        self.get("r8", start!(out), Some(step!(out)));
        self.get("r11", start!(sum_below), None);
        if is_lowest {
            self.get("r9", start!(tau), None);
            self.carry_of_the_lower_half(columns);
        }
        self.digits(0..columns, !is_lowest);
        put!(self, "ret");
    }

    fn start(&mut self, columns: Range<usize>) {
        self.start_high(columns.clone());
        for k in columns {
            let low = FIRST_LOW + k;
            put!(self, "vxorpd xmm{low}, xmm{low}, xmm{low}");
        }
    }

    fn start_high(&mut self, columns: Range<usize>) {
        for k in columns {
            put!(self, "vmovapd ymm{k}, {}", constant!(origin));
        }
    }

    /// Bytes from a pair of b to the next.
    fn pair(&self) -> usize {
        self.numbers * 16
    }

    /// `by` times `bytes`, away from the first one in the direction of counting.
    fn away(&self, by: usize, bytes: usize) -> String {
        let sign = if self.reversed { '-' } else { '+' };
        format!("{sign} {}", by * bytes)
    }

    /// A digit of the pair `by` after the one that the register points to, in all places; of one number both of them.
    fn digit(&mut self, digit: Digit, register: &str, by: usize) {
        let at = format!("[{register} {}]", self.away(by, self.pair()));
        if self.numbers == 1 {
            put!(self, "vbroadcastf128 ymm{DIGIT}, {at}");
            put!(self, "vpermilpd ymm{DIGIT}, ymm{DIGIT}, 12");
            return;
        }
        match digit {
            Digit::Lower => put!(self, "vmovddup ymm{DIGIT}, {at}"),
            Digit::Upper => put!(self, "vpermilpd ymm{DIGIT}, {at}, 15"),
        }
    }

    fn take_times(&mut self, constant: &str) {
        put!(self, "vmulpd ymm{DIGIT}, ymm{DIGIT}, {constant}");
    }

    /// Columns += the digit times the pairs that lead there in row `row`: in the first row the first column takes the
    /// one that the register points to.
    fn products(&mut self, columns: Range<usize>, register: &str, row: usize) {
        let columns: Vec<usize> = columns.collect();
        for group in columns.chunks(AT_ONCE) {
            let temporary = |i: usize| DIGIT + 1 + i;
            for (i, k) in group.iter().enumerate() {
                put!(self, "vmovapd ymm{}, ymm{k}", temporary(i));
            }
            let at = |f: &Self, k: usize| f.away(k - row, VECTOR);
            for &k in group {
                let at = at(self, k);
                put!(self, "vfmadd231pd ymm{k}, ymm{DIGIT}, [{register} {at}]");
            }
            for (i, k) in group.iter().enumerate() {
                let t = temporary(i);
                put!(self, "vsubpd ymm{t}, ymm{t}, ymm{k}");
            }
            for (i, &k) in group.iter().enumerate() {
                let (t, at) = (temporary(i), at(self, k));
                put!(self, "vfmadd231pd ymm{t}, ymm{DIGIT}, [{register} {at}]");
            }
            for (i, k) in group.iter().enumerate() {
                let low = FIRST_LOW + k;
                put!(self, "vaddpd ymm{low}, ymm{low}, ymm{}", temporary(i));
            }
        }
    }

    /// r8 rows of all columns, if that is not none.
    fn rows(&mut self, columns: usize) {
        put!(self, "test r8, r8\njz 3f\n2:");
        self.digit(Digit::Lower, "rcx", 0);
        self.products(0..columns, "rax", 0);
        if self.numbers == 2 {
            self.digit(Digit::Upper, "rcx", 0);
            self.products(0..columns, "r10", 0);
        }
        let (forwards, backwards) = if self.reversed { ("sub", "add") } else { ("add", "sub") };
        let pair = self.pair();
        put!(self, "{forwards} rcx, {pair}\n{backwards} rax, {VECTOR}");
        if self.numbers == 2 {
            put!(self, "{backwards} r10, {VECTOR}");
        }
        put!(self, "sub r8, 1\njnz 2b\n3:");
    }

    /// The rows of a product that reach fewer columns each time.
    fn triangle(&mut self, columns: usize, rows: usize) {
        for row in 0..rows {
            self.digit(Digit::Lower, "rcx", row);
            if self.numbers == 1 {
                self.products(row..columns, "rax", row);
                continue;
            }
            // Counted from the top, there is nothing in the first pair that has not moved up.
            let first = if self.reversed { row + 1 } else { row };
            self.products(first..columns, "rax", row);
            self.digit(Digit::Upper, "rcx", row);
            self.products(row..columns, "r10", row);
        }
    }

    /// Rows of a square, with the diagonal.
    fn square_triangle(&mut self, columns: usize) {
        for row in 0..columns.div_ceil(2) {
            let (first, second) = (2 * row, 2 * row + 1);
            let (second_end, rest) = ((second + 1).min(columns), (second + 1).min(columns)..columns);
            if self.numbers == 1 {
                let (of_first, of_second) = match self.reversed {
                    false => (constant!(first_of_one), constant!(second_of_one)),
                    true => (constant!(first_of_one_reversed), constant!(second_of_one_reversed)),
                };
                self.digit(Digit::Lower, "r9", row);
                self.take_times(&of_first);
                self.products(first..first + 1, "rax", row);
                if second < columns {
                    self.digit(Digit::Lower, "r9", row);
                    self.take_times(&of_second);
                    self.products(second..second + 1, "rax", row);
                }
                if !rest.is_empty() {
                    self.digit(Digit::Lower, "rcx", row);
                    self.products(rest, "rax", row);
                }
                continue;
            }
            // The digit whose pairs have its square in their lower place, and the other one.
            let (one, other) = match self.reversed {
                false => (Digit::Lower, Digit::Upper),
                true => (Digit::Upper, Digit::Lower),
            };
            let on_diagonal = if self.reversed {
                constant!(diagonal_reversed)
            } else {
                constant!(diagonal)
            };
            self.digit(one, "r9", row);
            self.take_times(&on_diagonal);
            self.products(first..first + 1, one.pairs(), row);
            if second < columns {
                self.digit(one, "rcx", row);
                self.products(second..columns, one.pairs(), row);
                self.digit(other, "r9", row);
                self.take_times(&on_diagonal);
                self.products(second..second_end, other.pairs(), row);
            }
            if !rest.is_empty() {
                self.digit(other, "rcx", row);
                self.products(rest, other.pairs(), row);
            }
        }
    }
}

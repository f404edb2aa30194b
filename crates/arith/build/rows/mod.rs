//! Montgomery squarings and a multiplication of one number or two at once, digit by digit of 52 bits, written out for
//! one length in x86-64 assembly with AVX-512 IFMA. What is computed, and within which bounds, stands in
//! `src/kernel/x86_64/ifma_rows.rs`.
//!
//! A function gets, as the system's calling convention has it (System V),
//!
//! ```text
//! rdi   a, which becomes the result: quads of four digits, those of two numbers side by side
//! rsi   b, likewise, by which a is multiplied in the end, or null
//! rdx   the moduli, each m, n and -1/n mod 2^52, in whole vectors
//! rcx   how many squarings
//! r8    working memory, of which `memory_bytes` are used for each number
//! r9    the constants: shifts by a digit in the lowest place only, the largest digit, two orders of places
//! ```
//!
//! Vectors are whole, but for the highest one of an odd number of quads. All of a number's vectors of one kind are
//! called by the number of the first.

mod steps;

use crate::agreed::rows::{Constants, WORKING_VECTORS};
use std::fmt::Write;
use std::mem::{self, offset_of};
use std::ops::{Range, RangeInclusive};

/// The lengths that there is code for, in digits.
pub(crate) const LENGTHS: [usize; 18] = [8, 10, 12, 14, 16, 18, 20, 21, 24, 26, 28, 30, 32, 36, 40, 41, 44, 48];

const DIGITS_OF_A_QUAD: usize = 4;
const QUAD: usize = 8 * DIGITS_OF_A_QUAD;
const VECTOR: usize = 64;
const DIGITS_OF_A_VECTOR: usize = 8;
const REGISTERS: usize = 32;

/// Places of the constants.
const SHIFTS: usize = offset_of!(Constants<[u64; DIGITS_OF_A_VECTOR]>, shifts);
const LARGEST_DIGIT: usize = offset_of!(Constants<[u64; DIGITS_OF_A_VECTOR]>, largest_digit);
const LOWER_PAIRS: usize = offset_of!(Constants<[u64; DIGITS_OF_A_VECTOR]>, lower_pairs);
const UPPER_PAIRS: usize = offset_of!(Constants<[u64; DIGITS_OF_A_VECTOR]>, upper_pairs);

/// A list of the lengths and of their code.
pub(crate) fn lengths() -> String {
    let length =
        |digits| format!("Length {{ digits: {digits}, code: [code!(\"{digits}x1\"), code!(\"{digits}x2\")] }},\n");
    format!("&[\n{}]\n", LENGTHS.map(length).concat())
}

/// A number's vectors of one kind: in registers, and in memory those for which there are none.
#[derive(Clone)]
struct Vectors {
    first: usize,
    in_registers: usize,
    memory: (&'static str, usize),
}

impl Vectors {
    fn in_registers(first: usize, count: usize) -> Self {
        Self {
            first,
            in_registers: count,
            memory: ("", 0),
        }
    }

    /// The `j`th as an operand, in registers called `size`.
    fn operand(&self, size: &str, j: usize) -> String {
        let (pointer, at) = self.memory;
        match j < self.in_registers {
            true => format!("{size}{}", self.first + j),
            false => format!("[{pointer} + {}]", at + VECTOR * j),
        }
    }
}

/// The registers and the memory of one number.
#[derive(Clone)]
struct Number {
    /// The sum that moves down by a digit in each row.
    sum: usize,
    /// The summand of the next row.
    next: usize,
    a: Vectors,
    /// (m n + 1) / 2^52 of a multiple m n that is -1 mod 2^52.
    multiple: Vectors,
    /// A digit of the quotient in all places.
    quotient: usize,
    /// A digit of b in all places.
    digit: usize,
    /// The carry of the lowest digit; at other times a register for anything.
    carry: usize,
    /// Bytes to its part of values, of moduli and of working memory.
    value: usize,
    modulus: usize,
    memory: usize,
}

/// The text of one function.
pub(crate) struct Function {
    digits: usize,
    numbers: usize,
    vectors: usize,
    /// `true` if what is written now squares.
    squares: bool,
    /// Digits of b that rsi has passed.
    passed: usize,
    each: Vec<Number>,
    /// A register that is zero.
    zero: usize,
    text: String,
}

impl Function {
    pub(crate) fn new(digits: usize, numbers: usize) -> Self {
        let vectors = digits.div_ceil(DIGITS_OF_A_VECTOR);
        let number = |at: usize| {
            let first = at * REGISTERS / numbers;
            let modulus = at * (2 * vectors + 1) * VECTOR;
            let memory = at * WORKING_VECTORS * vectors * VECTOR;
            // Three more vectors, and the one that is zero.
            let room = (REGISTERS / numbers - 4) / vectors;
            let rest = REGISTERS / numbers - 4 - 2 * vectors;
            let at_a = first + 2 * vectors;
            let (a, in_multiple) = match room {
                4.. => (Vectors::in_registers(at_a, vectors), vectors),
                _ => (
                    Vectors {
                        first: 0,
                        in_registers: 0,
                        memory: ("r8", memory + 3 * vectors * VECTOR),
                    },
                    rest.min(vectors),
                ),
            };
            let at_multiple = at_a + a.in_registers;
            let multiple = Vectors {
                first: at_multiple,
                in_registers: in_multiple,
                memory: ("rdx", modulus),
            };
            let after = at_multiple + in_multiple;
            Number {
                sum: first,
                next: first + vectors,
                a,
                multiple,
                quotient: after,
                digit: after + 1,
                carry: after + 2,
                value: at * QUAD,
                modulus,
                memory,
            }
        };
        let each: Vec<Number> = (0..numbers).map(number).collect();
        Self {
            digits,
            numbers,
            vectors,
            squares: false,
            passed: 0,
            zero: each[0].carry + 1,
            each,
            text: String::new(),
        }
    }

    /// Quads of a value, some of whose highest digits may be zero.
    fn quads(&self) -> usize {
        self.digits.div_ceil(DIGITS_OF_A_QUAD)
    }

    /// Digits that the `j`th vector has room for.
    fn places(&self, j: usize) -> usize {
        let half = self.quads() % 2 == 1 && j + 1 == self.vectors;
        if half { DIGITS_OF_A_QUAD } else { DIGITS_OF_A_VECTOR }
    }

    /// The prefix of registers with the `j`th vector.
    fn size(&self, j: usize) -> &'static str {
        if self.places(j) == DIGITS_OF_A_VECTOR {
            "zmm"
        } else {
            "ymm"
        }
    }

    /// Bytes from a value's start to a quad of the first number.
    fn quad(&self, quad: usize) -> usize {
        quad * self.numbers * QUAD
    }

    fn each_vector(&mut self, f: impl Fn(&mut Self, usize)) {
        for j in 0..self.vectors {
            f(self, j);
        }
    }

    fn each_number(&mut self, f: impl Fn(&mut Self, &Number)) {
        for number in self.each.clone() {
            f(self, &number);
        }
    }

    /// to = x op y, of the `j`th vectors.
    fn op(&mut self, op: &str, j: usize, to: usize, x: usize, y: &str) {
        let size = self.size(j);
        put!(self, "{op} {size}{to}, {size}{x}, {y}");
    }

    fn op_registers(&mut self, op: &str, j: usize, to: usize, x: usize, y: usize) {
        let size = self.size(j);
        self.op(op, j, to, x, &format!("{size}{y}"));
    }

    /// The largest digit in all places of the `j`th vector.
    fn largest_digit(&self, j: usize) -> String {
        let places = self.places(j);
        format!("qword ptr [r9 + {LARGEST_DIGIT}]{{1to{places}}}")
    }

    fn make_zero(&mut self, register: usize) {
        put!(self, "vpxord xmm{register}, xmm{register}, xmm{register}");
    }

    fn make_zeros(&mut self, first: usize) {
        self.each_vector(|f, j| f.make_zero(first + j));
    }

    pub(crate) fn text(mut self) -> String {
        self.enter();
        put!(self, "test rcx, rcx\njz 3f");
        self.squares = true;
        self.places_above(1..=7);
        put!(self, "2:");
        self.each_number(Self::first_row);
        self.rows(0..self.digits - 1);
        self.end();
        // What the carries were in.
        let first = match self.vectors {
            1 | 2 => 6,
            3 | 4 => 5,
            _ => 4,
        };
        self.places_above(first..=7);
        put!(self, "sub rcx, 1\njnz 2b\n3:\ntest rsi, rsi\njz 5f");
        self.squares = false;
        self.each_number(Self::first_row);
        if self.digits > 2 * DIGITS_OF_A_VECTOR {
            self.rows_in_a_loop();
        } else {
            self.rows(0..self.digits - 1);
        }
        self.end();
        put!(self, "5:");
        self.leave();
        mem::take(&mut self.text)
    }

    fn rows(&mut self, rows: Range<usize>) {
        for row in rows {
            self.each_number(|f, number| f.row(number, row));
        }
    }

    fn end(&mut self) {
        self.each_number(Self::last_row);
        self.each_number(Self::carry);
    }

    fn enter(&mut self) {
        self.make_zero(self.zero);
        self.each_number(|f, number| {
            f.each_vector(|f, j| {
                let size = f.size(j);
                if j < number.multiple.in_registers {
                    let (register, at) = (number.multiple.first + j, number.modulus + VECTOR * j);
                    put!(f, "vmovdqa64 {size}{register}, [rdx + {at}]");
                }
                // Values lie at any address, with the quads of two numbers by turns.
                let in_register = j < number.a.in_registers;
                let register = if in_register { number.a.first + j } else { number.sum };
                let at = number.value + f.quad(2 * j);
                put!(f, "vmovdqu64 ymm{register}, [rdi + {at}]");
                if f.places(j) == DIGITS_OF_A_VECTOR {
                    let at = number.value + f.quad(2 * j + 1);
                    put!(f, "vinserti64x4 zmm{register}, zmm{register}, [rdi + {at}], 1");
                }
                if !in_register {
                    put!(f, "vmovdqa64 {}, zmm{register}", number.a.operand("", j));
                }
            });
        });
    }

    /// k1 to k7 mean all places from the second on, from the third on, and so forth.
    fn places_above(&mut self, masks: RangeInclusive<usize>) {
        for k in masks {
            let places = 0xff << k & 0xff;
            put!(self, "mov eax, {places}\nkmovb k{k}, eax");
        }
    }

    fn leave(&mut self) {
        self.each_number(|f, number| {
            f.each_vector(|f, j| {
                let register = if j < number.a.in_registers {
                    number.a.first + j
                } else {
                    number.sum + j
                };
                let at = number.value + f.quad(2 * j);
                put!(f, "vmovdqu64 [rdi + {at}], ymm{register}");
                if f.places(j) == DIGITS_OF_A_VECTOR {
                    let at = number.value + f.quad(2 * j + 1);
                    put!(f, "vextracti64x4 [rdi + {at}], zmm{register}, 1");
                }
            });
        });
        put!(self, "vzeroupper\nret");
    }

    /// Rows of a product, a quad of b at a time.
    fn rows_in_a_loop(&mut self) {
        // Each row takes the digits of b of the two rows behind it.
        let rounds = (self.digits - 2) / DIGITS_OF_A_QUAD;
        put!(self, "mov ecx, {rounds}\n4:");
        self.rows(0..DIGITS_OF_A_QUAD);
        put!(self, "add rsi, {}\nsub ecx, 1\njnz 4b", self.quad(1));
        self.passed = rounds * DIGITS_OF_A_QUAD;
        self.rows(self.passed..self.digits - 1);
    }
}

//! A Montgomery multiplication or squaring of one number or two at once, digit by digit of 52 bits, written out for one length in x86-64 assembly
//! with AVX-512 IFMA. What is computed, and within which bounds, stands in `src/kernel/x86_64/ifma_rows.rs`.
//!
//! A function gets, as the system's calling convention has it (System V),
//!
//! ```text
//! rdi   a, which becomes the result: quads of four digits, those of two numbers side by side
//! rsi   b, likewise
//! rdx   the moduli, each m, n and -1/n mod 2^52, in whole vectors
//! rcx   how many squarings, at least one
//! r8    working memory, of which `memory_bytes` are used for each number
//! r9    the constants: shifts by a digit in the lowest place only, the largest digit, two orders of places
//! ```
//!
//! Vectors are whole, but for the highest one of an odd number of quads. All of a number's vectors of one kind are called by the number of the first.

use std::fmt::Write;
use std::mem;

/// The lengths that there is code for, in digits.
pub(crate) const LENGTHS: [usize; 13] = [8, 10, 12, 14, 16, 18, 20, 24, 28, 30, 32, 36, 40];

const DIGITS_OF_A_QUAD: usize = 4;
const QUAD: usize = 8 * DIGITS_OF_A_QUAD;
const VECTOR: usize = 64;
const DIGITS_OF_A_VECTOR: usize = 8;
const REGISTERS: usize = 32;

/// Where the constants lie.
const LARGEST_DIGIT: usize = VECTOR;
const LOWER_PAIRS: usize = 2 * VECTOR;
const UPPER_PAIRS: usize = 3 * VECTOR;

/// What a number's vectors of one kind lie in: registers, and in memory those for which there are none.
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

/// What one number's digits are in.
#[derive(Clone)]
struct Number {
    /// The sum that moves down by a digit in each row.
    sum: usize,
    /// What is added to it in the next row.
    next: usize,
    a: Vectors,
    /// (m n + 1) / 2^52 of a multiple m n that is -1 mod 2^52.
    multiple: Vectors,
    /// A digit of the quotient in all places.
    quotient: usize,
    /// A digit of b in all places.
    digit: usize,
    /// What the lowest digit carries; at other times a register for anything.
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
    squares: bool,
    vectors: usize,
    /// Digits of b that rsi has passed.
    passed: usize,
    each: Vec<Number>,
    /// A register that is zero.
    zero: usize,
    text: String,
}

macro_rules! line {
    ($self:ident, $($text:tt)*) => {
        writeln!($self.text, $($text)*).expect("a string takes everything")
    };
}

impl Function {
    pub(crate) fn new(digits: usize, numbers: usize, squares: bool) -> Self {
        let vectors = digits.div_ceil(DIGITS_OF_A_VECTOR);
        let number = |at: usize| {
            let first = at * REGISTERS / numbers;
            let modulus = at * (2 * vectors + 1) * VECTOR;
            let memory = at * 4 * vectors * VECTOR;
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
            squares,
            vectors,
            passed: 0,
            zero: each[0].carry + 1,
            each,
            text: String::new(),
        }
    }

    /// What it does.
    pub(crate) fn name(&self) -> &'static str {
        if self.squares { "square" } else { "multiply" }
    }

    /// Quads of a value, some of whose highest digits may be zero.
    fn quads(&self) -> usize {
        self.digits.div_ceil(DIGITS_OF_A_QUAD)
    }

    /// Digits that the `j`th vector has room for.
    fn places(&self, j: usize) -> usize {
        let half = self.quads() % 2 == 1 && j + 1 == self.vectors;
        if half {
            DIGITS_OF_A_QUAD
        } else {
            DIGITS_OF_A_VECTOR
        }
    }

    /// What registers with the `j`th vector are called.
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
        line!(self, "{op} {size}{to}, {size}{x}, {y}");
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
        line!(self, "vpxord xmm{register}, xmm{register}, xmm{register}");
    }

    fn make_zeros(&mut self, first: usize) {
        self.each_vector(|f, j| f.make_zero(first + j));
    }

    pub(crate) fn text(mut self) -> String {
        self.enter();
        if self.squares || self.digits <= 2 * DIGITS_OF_A_VECTOR {
            line!(self, "2:");
            self.each_number(Self::first_row);
            for row in 0..self.digits - 1 {
                self.each_number(|f, number| f.row(number, row));
            }
        } else {
            self.each_number(Self::first_row);
            self.rows_in_a_loop();
        }
        self.each_number(Self::last_row);
        self.each_number(Self::carry);
        if self.squares {
            line!(self, "sub rcx, 1\njnz 2b");
        }
        self.leave();
        mem::take(&mut self.text)
    }

    fn enter(&mut self) {
        self.make_zero(self.zero);
        if self.squares {
            for place in 1..DIGITS_OF_A_VECTOR {
                self.places_above(place);
            }
        }
        self.each_number(|f, number| {
            f.each_vector(|f, j| {
                let size = f.size(j);
                if j < number.multiple.in_registers {
                    let (register, at) = (number.multiple.first + j, number.modulus + VECTOR * j);
                    line!(f, "vmovdqa64 {size}{register}, [rdx + {at}]");
                }
                // Values lie at any address, with the quads of two numbers by turns.
                let in_register = j < number.a.in_registers;
                let register = if in_register {
                    number.a.first + j
                } else {
                    number.sum
                };
                let at = number.value + f.quad(2 * j);
                line!(f, "vmovdqu64 ymm{register}, [rdi + {at}]");
                if f.places(j) == DIGITS_OF_A_VECTOR {
                    let at = number.value + f.quad(2 * j + 1);
                    line!(
                        f,
                        "vinserti64x4 zmm{register}, zmm{register}, [rdi + {at}], 1"
                    );
                }
                if !in_register {
                    line!(f, "vmovdqa64 {}, zmm{register}", number.a.operand("", j));
                }
            });
        });
    }

    /// k1 to k7 mean all places from the second on, from the third on, and so forth.
    fn places_above(&mut self, k: usize) {
        let places = 0xff << k & 0xff;
        line!(self, "mov eax, {places}\nkmovb k{k}, eax");
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
                line!(f, "vmovdqu64 [rdi + {at}], ymm{register}");
                if f.places(j) == DIGITS_OF_A_VECTOR {
                    let at = number.value + f.quad(2 * j + 1);
                    line!(f, "vextracti64x4 [rdi + {at}], zmm{register}, 1");
                }
            });
        });
        line!(self, "vzeroupper\nret");
    }

    /// Rows of a product, a quad of b at a time.
    fn rows_in_a_loop(&mut self) {
        // Each row takes the digits of b of the two rows behind it.
        let rounds = (self.digits - 2) / DIGITS_OF_A_QUAD;
        line!(self, "mov ecx, {rounds}\n2:");
        for row in 0..DIGITS_OF_A_QUAD {
            self.each_number(|f, number| f.row(number, row));
        }
        line!(self, "add rsi, {}\nsub ecx, 1\njnz 2b", self.quad(1));
        self.passed = rounds * DIGITS_OF_A_QUAD;
        for row in self.passed..self.digits - 1 {
            self.each_number(|f, number| f.row(number, row));
        }
    }

    /// A digit of b in all places; in a square, of 2 a.
    fn digit(&mut self, number: &Number, row: usize) {
        let (pointer, at) = if self.squares {
            ("r8", number.memory + 8 * row)
        } else {
            let row = row - self.passed;
            let place = 8 * (row % DIGITS_OF_A_QUAD);
            (
                "rsi",
                number.value + self.quad(row / DIGITS_OF_A_QUAD) + place,
            )
        };
        line!(
            self,
            "vpbroadcastq zmm{}, qword ptr [{pointer} + {at}]",
            number.digit
        );
    }

    /// onto += low or high digits of the products of a row; in a square of those above the diagonal.
    fn products(&mut self, number: &Number, op: &str, onto: usize, row: usize) {
        for j in 0..self.vectors {
            let (size, first) = (self.size(j), DIGITS_OF_A_VECTOR * j);
            let under = match row.checked_sub(first) {
                Some(place) if self.squares && place + 1 < self.places(j) => {
                    format!("{{k{}}}", place + 1)
                }
                Some(_) if self.squares => continue,
                _ => String::new(),
            };
            let a = number.a.operand(size, j);
            line!(
                self,
                "{op} {size}{}{under}, {size}{}, {a}",
                onto + j,
                number.digit
            );
        }
    }

    /// The sum moves down by a digit, and gets what was made ready for it, and the carry.
    fn move_down(&mut self, number: &Number) {
        let (sum, next) = (number.sum, number.next);
        for j in 0..self.vectors {
            let above = if j + 1 < self.vectors {
                sum + j + 1
            } else {
                self.zero
            };
            let (size, register) = (self.size(j), sum + j);
            line!(
                self,
                "valignq {size}{register}, {size}{above}, {size}{register}, 1"
            );
        }
        self.op_registers("vpaddq", 0, next, next, number.carry);
        self.each_vector(|f, j| f.op_registers("vpaddq", j, sum + j, sum + j, next + j));
    }

    fn carry_of_the_lowest_digit(&mut self, number: &Number) {
        line!(self, "vpsrlvq xmm{}, xmm{}, [r9]", number.carry, number.sum);
    }

    fn first_row(&mut self, number: &Number) {
        if self.squares {
            self.diagonal(number);
        } else {
            self.make_zeros(number.sum);
        }
        if !self.squares {
            self.digit(number, 0);
        }
        self.products(number, "vpmadd52luq", number.sum, 0);
        self.make_zeros(number.next);
        self.products(number, "vpmadd52huq", number.next, 0);
        self.digit(number, 1);
        self.products(number, "vpmadd52luq", number.next, 1);
    }

    /// From the sum with a row's low digits to that with the low digits of the next one.
    fn row(&mut self, number: &Number, row: usize) {
        let Number {
            sum,
            next,
            quotient,
            ..
        } = *number;
        line!(self, "vpbroadcastq zmm{quotient}, xmm{sum}");
        self.carry_of_the_lowest_digit(number);
        self.move_down(number);
        let reduce = |f: &mut Self, op: &str, onto: usize, j: usize| {
            let multiple = number.multiple.operand(f.size(j), j);
            f.op(op, j, onto + j, quotient, &multiple);
        };
        // The next digit of the quotient waits for this one alone.
        reduce(self, "vpmadd52luq", sum, 0);
        self.make_zeros(next);
        self.products(number, "vpmadd52huq", next, row + 1);
        if row + 2 < self.digits {
            self.digit(number, row + 2);
            self.products(number, "vpmadd52luq", next, row + 2);
        }
        for j in 1..self.vectors {
            reduce(self, "vpmadd52luq", sum, j);
        }
        self.each_vector(|f, j| reduce(f, "vpmadd52huq", next, j));
    }

    /// The last digit of the quotient is one of n itself, so that the result is short.
    fn last_row(&mut self, number: &Number) {
        let Number {
            sum,
            next,
            quotient,
            ..
        } = *number;
        let n = number.modulus + self.vectors * VECTOR;
        let inverse = n + self.vectors * VECTOR;
        self.make_zero(quotient);
        line!(
            self,
            "vpmadd52luq xmm{quotient}, xmm{sum}, [rdx + {inverse}]"
        );
        line!(self, "vpbroadcastq zmm{quotient}, xmm{quotient}");
        if self.squares {
            // The diagonal's upper half.
            let at = number.memory + self.vectors * VECTOR + 8 * self.digits;
            self.each_vector(|f, j| {
                let diagonal = format!("[r8 + {}]", at + VECTOR * j);
                f.op("vpaddq", j, next + j, next + j, &diagonal);
            });
        }
        for (op, onto) in [("vpmadd52luq", sum), ("vpmadd52huq", next)] {
            self.each_vector(|f, j| {
                let n = format!("[rdx + {}]", n + VECTOR * j);
                f.op(op, j, onto + j, quotient, &n);
            });
        }
        self.carry_of_the_lowest_digit(number);
        self.move_down(number);
    }

    /// a = the sum, in digits: what exceeds a digit goes one place up, after which a place carries one or nothing; these carries all at once, by an
    /// addition of bits.
    fn carry(&mut self, number: &Number) {
        let Number {
            sum, next, carry, ..
        } = *number;
        self.each_vector(|f, j| {
            let (size, largest) = (f.size(j), f.largest_digit(j));
            line!(f, "vpsrlq {size}{}, {size}{}, 52", next + j, sum + j);
            f.op("vpandq", j, sum + j, sum + j, &largest);
        });
        self.each_vector(|f, j| {
            let below = if j == 0 { f.zero } else { next + j - 1 };
            line!(f, "valignq zmm{carry}, zmm{}, zmm{below}, 7", next + j);
            f.op_registers("vpaddq", j, sum + j, sum + j, carry);
        });
        // rax: who carries; r11: who would, if the one below did.
        for j in (0..self.vectors).rev() {
            let (size, largest) = (self.size(j), self.largest_digit(j));
            for (how, bits) in [("vpcmpnleuq", "rax"), ("vpcmpequq", "r11")] {
                line!(self, "{how} k0, {size}{}, {largest}", sum + j);
                line!(self, "kmovb r10d, k0");
                if j + 1 == self.vectors {
                    line!(self, "mov {bits}, r10");
                } else {
                    line!(self, "shl {bits}, 8\nor {bits}, r10");
                }
            }
        }
        line!(self, "lea rax, [r11 + 2*rax]\nxor rax, r11");
        self.each_vector(|f, j| {
            let (size, largest) = (f.size(j), f.largest_digit(j));
            line!(f, "kmovb k0, eax\nshr rax, 8\nvpmovm2q {size}{carry}, k0");
            f.op_registers("vpsubq", j, sum + j, sum + j, carry);
            let in_register = j < number.a.in_registers;
            let to = if in_register {
                number.a.first + j
            } else {
                sum + j
            };
            f.op("vpandq", j, to, sum + j, &largest);
            if !in_register {
                line!(f, "vmovdqa64 {}, zmm{to}", number.a.operand("", j));
            }
        });
    }

    /// Working memory gets the digits of 2 a and those of the diagonal, and the sum the lower half of these.
    ///
    /// A digit of 2 a has what the one below carries. In its row it multiplies the digits of a above its own only; so the digit of a at its own
    /// place lacks this carry, and gets it here.
    fn diagonal(&mut self, number: &Number) {
        let Number {
            sum,
            next,
            carry,
            quotient,
            digit,
            memory,
            ..
        } = *number;
        let diagonal = memory + self.vectors * VECTOR;
        let zero = self.zero;
        // The `j`th vector of a, in a register.
        let load = |f: &mut Self, j: usize| match j < number.a.in_registers {
            true => number.a.first + j,
            false => {
                let a = number.a.operand("zmm", j);
                line!(f, "vmovdqa64 zmm{quotient}, {a}");
                quotient
            }
        };
        self.each_vector(|f, j| {
            let below = match j {
                0 => format!("zmm{zero}"),
                _ => number.a.operand("zmm", j - 1),
            };
            let (a, carried, double) = (load(f, j), next + j, carry);
            let largest = f.largest_digit(0);
            line!(f, "vpaddq zmm{double}, zmm{a}, zmm{a}");
            line!(f, "vpandq zmm{double}, zmm{double}, {largest}");
            if j == 0 {
                // The first row's digit, which need not wait for memory.
                line!(f, "vpbroadcastq zmm{digit}, xmm{double}");
            }
            line!(f, "valignq zmm{carried}, zmm{a}, {below}, 7");
            line!(f, "vpsrlq zmm{carried}, zmm{carried}, 51");
            line!(f, "vpaddq zmm{double}, zmm{double}, zmm{carried}");
            line!(f, "vmovdqa64 [r8 + {}], zmm{double}", memory + VECTOR * j);
        });
        self.each_vector(|f, j| {
            let (a, low, high) = (load(f, j), next + j, carry);
            line!(f, "vpsubq zmm{low}, zmm{zero}, zmm{low}");
            line!(f, "vpandq zmm{low}, zmm{low}, zmm{a}");
            line!(f, "vpmadd52luq zmm{low}, zmm{a}, zmm{a}");
            f.make_zero(high);
            line!(f, "vpmadd52huq zmm{high}, zmm{a}, zmm{a}");
            for (half, pairs) in [LOWER_PAIRS, UPPER_PAIRS].into_iter().enumerate() {
                let pair = 2 * j + half;
                let to = if pair < f.vectors {
                    sum + pair
                } else {
                    quotient
                };
                line!(f, "vmovdqa64 zmm{to}, [r9 + {pairs}]");
                line!(f, "vpermi2q zmm{to}, zmm{low}, zmm{high}");
                if DIGITS_OF_A_VECTOR * (pair + 1) > f.digits {
                    line!(f, "vmovdqa64 [r8 + {}], zmm{to}", diagonal + VECTOR * pair);
                }
            }
        });
        // What is in the sum by now, above its last digit, is not added a second time.
        for place in self.digits..DIGITS_OF_A_QUAD * self.quads() {
            line!(self, "mov qword ptr [r8 + {}], 0", diagonal + 8 * place);
        }
    }
}

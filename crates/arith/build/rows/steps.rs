//! The steps of a multiplication or a squaring of one number.

use super::{
    DIGITS_OF_A_QUAD, DIGITS_OF_A_VECTOR, Function, LARGEST_DIGIT, LOWER_PAIRS, Number, SHIFTS, UPPER_PAIRS, VECTOR,
};
use std::fmt::Write;
use std::ops::Range;

impl Function {
    /// A digit of b in all places; in a square, of 2 a.
    fn digit(&mut self, number: &Number, row: usize) {
        let (pointer, at) = if self.squares {
            ("r8", number.memory + 8 * row)
        } else {
            let row = row - self.passed;
            let place = 8 * (row % DIGITS_OF_A_QUAD);
            ("rsi", number.value + self.quad(row / DIGITS_OF_A_QUAD) + place)
        };
        put!(self, "vpbroadcastq zmm{}, qword ptr [{pointer} + {at}]", number.digit);
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
            put!(self, "{op} {size}{}{under}, {size}{}, {a}", onto + j, number.digit);
        }
    }

    /// The sum moves down by a digit, and gets what was made ready for it, and the carry.
    fn move_down(&mut self, number: &Number) {
        let (sum, next) = (number.sum, number.next);
        for j in 0..self.vectors {
            let above = if j + 1 < self.vectors { sum + j + 1 } else { self.zero };
            let (size, register) = (self.size(j), sum + j);
            put!(self, "valignq {size}{register}, {size}{above}, {size}{register}, 1");
        }
        self.op_registers("vpaddq", 0, next, next, number.carry);
        self.each_vector(|f, j| f.op_registers("vpaddq", j, sum + j, sum + j, next + j));
    }

    fn carry_of_the_lowest_digit(&mut self, number: &Number) {
        put!(self, "vpsrlvq xmm{}, xmm{}, [r9 + {SHIFTS}]", number.carry, number.sum);
    }

    pub(super) fn first_row(&mut self, number: &Number) {
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
    pub(super) fn row(&mut self, number: &Number, row: usize) {
        let Number {
            sum, next, quotient, ..
        } = *number;
        put!(self, "vpbroadcastq zmm{quotient}, xmm{sum}");
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
    pub(super) fn last_row(&mut self, number: &Number) {
        let Number {
            sum, next, quotient, ..
        } = *number;
        let n = number.modulus + self.vectors * VECTOR;
        let inverse = n + self.vectors * VECTOR;
        self.make_zero(quotient);
        put!(self, "vpmadd52luq xmm{quotient}, xmm{sum}, [rdx + {inverse}]");
        put!(self, "vpbroadcastq zmm{quotient}, xmm{quotient}");
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

    /// a = the sum, in digits: what exceeds a digit goes one place up, after which a place carries one or nothing;
    /// these carries all at once, by an addition of bits.
    pub(super) fn carry(&mut self, number: &Number) {
        let Number { sum, next, carry, .. } = *number;
        self.each_vector(|f, j| {
            let (size, largest) = (f.size(j), f.largest_digit(j));
            put!(f, "vpsrlq {size}{}, {size}{}, 52", next + j, sum + j);
            f.op("vpandq", j, sum + j, sum + j, &largest);
        });
        self.each_vector(|f, j| {
            let below = if j == 0 { f.zero } else { next + j - 1 };
            put!(f, "valignq zmm{carry}, zmm{}, zmm{below}, 7", next + j);
            f.op_registers("vpaddq", j, sum + j, sum + j, carry);
        });
        // k6: who carries; k7: who would, if the one below did.
        self.compare("vpcmpnleuq", sum, 0..self.vectors, 6);
        self.compare("vpcmpequq", sum, 0..self.vectors, 7);
        put!(self, "kaddq k6, k6, k6\nkaddq k6, k6, k7\nkxorq k6, k6, k7");
        // -1, in a register: an operand in memory would be loaded under a secret mask.
        put!(self, "vpternlogd zmm{carry}, zmm{carry}, zmm{carry}, 0xff");
        self.each_vector(|f, j| {
            let (size, largest) = (f.size(j), f.largest_digit(j));
            let sum = sum + j;
            put!(f, "vpsubq {size}{sum}{{k6}}, {size}{sum}, {size}{carry}");
            if j + 1 < f.vectors {
                put!(f, "kshiftrq k6, k6, 8");
            }
            let in_register = j < number.a.in_registers;
            let to = if in_register { number.a.first + j } else { sum };
            f.op("vpandq", j, to, sum, &largest);
            if !in_register {
                put!(f, "vmovdqa64 {}, zmm{to}", number.a.operand("", j));
            }
        });
    }

    /// A mask, `k`, of the places of some vectors that compare so with the largest digit. Takes k4, k5 and k0 as well.
    fn compare(&mut self, how: &str, vectors: usize, of: Range<usize>, k: usize) {
        if of.len() == 1 {
            let j = of.start;
            let (size, largest) = (self.size(j), self.largest_digit(j));
            put!(self, "{how} k{k}, {size}{}, {largest}", vectors + j);
            return;
        }
        // The lower part fills its half of the mask.
        let lower = of.len().next_power_of_two() / 2;
        let (unpack, below) = match lower {
            1 => ("kunpckbw", 0),
            2 => ("kunpckwd", 5),
            _ => ("kunpckdq", 4),
        };
        self.compare(how, vectors, of.start + lower..of.end, k);
        self.compare(how, vectors, of.start..of.start + lower, below);
        put!(self, "{unpack} k{k}, k{k}, k{below}");
    }

    /// Working memory gets the digits of 2 a and those of the diagonal, and the sum the lower half of these.
    ///
    /// A digit of 2 a has what the one below carries. In its row it multiplies the digits of a above its own only; so
    /// the digit of a at its own place lacks this carry, and gets it here.
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
                put!(f, "vmovdqa64 zmm{quotient}, {a}");
                quotient
            }
        };
        self.each_vector(|f, j| {
            let below = match j {
                0 => format!("zmm{zero}"),
                _ => number.a.operand("zmm", j - 1),
            };
            let (size, largest) = (f.size(j), f.largest_digit(j));
            let (a, carried, double) = (load(f, j), next + j, carry);
            put!(f, "vpaddq {size}{double}, {size}{a}, {size}{a}");
            if j == 0 {
                // The first row's digit, which need not wait for memory.
                put!(f, "vpandq xmm{digit}, xmm{double}, [r9 + {LARGEST_DIGIT}]");
                put!(f, "vpbroadcastq zmm{digit}, xmm{digit}");
            }
            put!(f, "valignq zmm{carried}, zmm{a}, {below}, 7");
            put!(f, "vpsrlq {size}{carried}, {size}{carried}, 51");
            // double & largest | carried
            put!(f, "vpternlogq {size}{double}, {size}{carried}, {largest}, 0xec");
            let at = memory + VECTOR * j;
            put!(f, "vmovdqa64 [r8 + {at}], zmm{double}");
        });
        self.each_vector(|f, j| {
            let (a, low, high) = (load(f, j), next + j, carry);
            f.op_registers("vpsubq", j, low, zero, low);
            f.op_registers("vpandq", j, low, low, a);
            f.op_registers("vpmadd52luq", j, low, a, a);
            f.make_zero(high);
            f.op_registers("vpmadd52huq", j, high, a, a);
            // Four digits fill one vector.
            let orders = [LOWER_PAIRS, UPPER_PAIRS];
            let orders = &orders[..f.places(j) / DIGITS_OF_A_QUAD];
            for (half, order) in orders.iter().enumerate() {
                let pairs = 2 * j + half;
                let to = if pairs < f.vectors { sum + pairs } else { quotient };
                put!(f, "vmovdqa64 zmm{to}, [r9 + {order}]");
                put!(f, "vpermi2q zmm{to}, zmm{low}, zmm{high}");
                if DIGITS_OF_A_VECTOR * (pairs + 1) > f.digits {
                    let at = diagonal + VECTOR * pairs;
                    put!(f, "vmovdqa64 [r8 + {at}], zmm{to}");
                }
            }
        });
        // What is in the sum by now, above its last digit, is not added a second time.
        for place in self.digits..DIGITS_OF_A_QUAD * self.quads() {
            put!(self, "mov qword ptr [r8 + {}], 0", diagonal + 8 * place);
        }
    }
}

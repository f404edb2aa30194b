//! Private powers in floating point: digits of 52 bits in doubles, for devices that do as many multiply-adds of doubles as of words.
//!
//! Both halves of a product of two digits come of two fused multiply-adds that round towards zero:
//!
//! ```text
//! h = a b + 2¹⁰⁴                     its mantissa is a b / 2⁵²
//! l = a b + ((2¹⁰⁴ + 2⁵²) − h)       its mantissa is a b mod 2⁵²
//! ```
//!
//! (N. Emmart, F. Zheng and C. Weems, "Faster modular exponentiation using double precision floating point arithmetic on the GPU",
//! ARITH 2018.) The bits of h and l are added to columns of 64 bits as they are; their exponents are constants, which
//! columns begin with, negated. Constants are multiples of 2⁵², so that a column's lowest 52 bits are right before it has all of them.
//!
//! ```text
//! t = a b                            2 D columns; of a square, products off the diagonal are added once and doubled
//! for each i: q = t[i] (−1/n) mod 2⁵², t = t + q n 2⁵²ⁱ, t[i + 1] = t[i + 1] + t[i] / 2⁵²
//! the upper half of t, with carries, is the result
//! ```
//!
//! **Bounds.** R = 2⁵²ᴰ is at least 2⁸ n. So a product of numbers below 2 n comes out below 2 n, and nothing is subtracted but at the
//! end. A column has at most 4 D halves below 2⁵² and a carry, which for D up to 30 is below 2⁵⁹.
//!
//! **Forms.** States and tables come in Montgomery form to 2³²ᴸ. They are doubled 52 D − 32 L times when they are first read, and a
//! product with 2³²ᴸ mod n makes the former form again.

use super::{
    emitter::{Address, Word, emit},
    frame::{Frame, QUAD},
    montgomery,
    numbers::{Array, Modulus, Read},
    private::{self, Part},
    sum::subtract_once,
};

const DIGIT: usize = 52;

/// 2⁵², and the exponent that it shares with all doubles below 2⁵³ that are not below it.
const LOW: u64 = 0x4330_0000_0000_0000;
/// 2¹⁰⁴.
const HIGH: u64 = 0x4670_0000_0000_0000;
/// 2¹⁰⁴ + 2⁵².
const BOTH: u64 = HIGH + 1;

/// Lengths whose columns fit the registers.
pub(super) const LIMBS: [usize; 3] = [16, 32, 48];

fn digits_for(limbs: usize) -> usize {
    (32 * limbs).div_ceil(DIGIT)
}

/// How many halves a column gets.
#[derive(Clone, Copy, Default)]
struct Halves {
    low: u64,
    high: u64,
}

impl Halves {
    /// What is to be added for them to leave no exponents.
    fn constant(self) -> u64 {
        let sum = self
            .low
            .wrapping_mul(LOW)
            .wrapping_add(self.high.wrapping_mul(HIGH));
        0u64.wrapping_sub(sum)
    }
}

/// Constants, and the modulus in digits.
struct Field {
    /// The digits of n as doubles, in the thread's own memory: products do without their registers.
    n: Word,
    /// −1/n mod 2⁶⁴.
    n0: Address,
    low: Address,
    high: Address,
    both: Address,
}

/// As [`private::power_digits`].
pub(super) fn power_digits(limbs: usize, window: usize) -> String {
    let registers = if limbs == 16 { 168 } else { 255 };
    private::power_digits_with(limbs, Some(registers), |frame, part, states, table| {
        let [digits, first, last] = ["digits", "first", "last"].map(|name| frame.e.parameter(name));
        let scale = DIGIT * digits_for(limbs) - 32 * limbs;
        let none = frame.e.set(0);
        let one = frame.e.set(1);
        frame.when(first, "lt", one, |frame| {
            frame.scale_table(table, part, scale, window)
        });
        let words = frame.load(states);
        frame.double_times(&words, scale, &part.n);
        let x = frame.doubles(&words);
        let field = frame.field(&part.n);
        let place = frame.e.set(first);
        let from = frame.e.at(part.record, digits, 4);
        frame.while_below(place, last, |frame| {
            frame.when(place, "ne", none, |frame| {
                let (turn, end) = (frame.e.set(0), frame.e.set(window as u32));
                frame.while_below(turn, end, |frame| frame.square_doubles(&x, &field));
            });
            let from = frame.e.at(from, place, 4);
            let digit = frame.word_at(from, 0);
            let own = frame.look_up(table, digit, window);
            let y = &mut Read::Own { own, place: 0 };
            frame.multiply_doubles(&x, y, &field);
        });
        let r = &mut Read::Record {
            record: part.record,
            place: limbs,
        };
        frame.multiply_doubles(&x, r, &field);
        let mut words = frame.words(&x);
        let top = words.pop().expect("there is a word above the limbs");
        let n = part.n.limbs(&mut frame.e);
        subtract_once(&mut frame.e, &words, &words, top.into(), &n);
        frame.store(states, &words);
    })
}

impl Frame {
    /// `x = 2^times x mod n`.
    fn double_times(&mut self, x: &[Word], times: usize, n: &Modulus) {
        let (turn, end) = (self.e.set(0), self.e.set(times as u32));
        self.while_below(turn, end, |frame| montgomery::double(&mut frame.e, x, x, n));
    }

    /// The same for all entries of a table.
    fn scale_table(&mut self, table: Array, part: &Part, times: usize, window: usize) {
        let at = self.walk(table);
        let (entry, end) = (self.e.set(0), self.e.set(1u32 << window));
        self.while_below(entry, end, |frame| {
            let x = frame.e.number(frame.limbs);
            let from = frame.e.address();
            emit!(frame.e, "mov.b64", from, at);
            for quad in x.chunks_exact(QUAD) {
                frame.e.load_quad(quad, from);
                frame.e.advance(from, table.step);
            }
            frame.double_times(&x, times, &part.n);
            for quad in x.chunks_exact(QUAD) {
                frame.e.store_quad(at, quad);
                frame.e.advance(at, table.step);
            }
        });
    }

    fn field(&mut self, n: &Modulus) -> Field {
        let words = n.limbs(&mut self.e);
        let e = &mut self.e;
        let [low, high, both] = [LOW, HIGH, BOTH].map(|bits| e.wide(bits));
        // One step of Newton's more than words need: x = −1/n, so x (2 + n x).
        let lowest = e.pack(words[0], words[1]);
        let zero = e.set(0);
        let n0 = e.pack(n.n0, zero);
        let product = e.wide_of2("mul.lo.s64", lowest, n0);
        let two = e.wide(2);
        let factor = e.wide_of2("add.s64", product, two);
        let n0 = e.wide_of2("mul.lo.s64", n0, factor);
        // Behind what is looked up.
        let n = self.e.own_memory(self.limbs + 2 * digits_for(self.limbs));
        for (place, digit) in self.doubles(&words).into_iter().enumerate() {
            let (low, high) = self.e.unpack(digit);
            self.e.store_own(n, self.limbs + 2 * place, low);
            self.e.store_own(n, self.limbs + 2 * place + 1, high);
        }
        Field {
            n,
            n0,
            low,
            high,
            both,
        }
    }

    /// The digits of a number, as doubles.
    fn doubles(&mut self, words: &[Word]) -> Vec<Address> {
        (0..digits_for(words.len()))
            .map(|digit| self.double_of(digit, |_, place| words.get(place).copied()))
            .collect()
    }

    /// One digit of a number whose limbs are had one by one, as a double.
    fn double_of(
        &mut self,
        digit: usize,
        mut limb: impl FnMut(&mut Self, usize) -> Option<Word>,
    ) -> Address {
        let (first, shift) = (digit * DIGIT / 32, (digit * DIGIT % 32) as u32);
        let zero = self.e.set(0);
        let [a, b, c] = [0, 1, 2].map(|place| limb(self, first + place).unwrap_or(zero));
        let e = &mut self.e;
        let (low, high) = match shift {
            0 => (a, b),
            _ => {
                let (low, high) = (e.word(), e.word());
                emit!(e, "shf.l.wrap.b32", low, a, b, 32 - shift);
                emit!(e, "shf.l.wrap.b32", high, b, c, 32 - shift);
                (low, high)
            }
        };
        let masked = e.of2("and.b32", high, 0xf_ffffu32);
        let high = e.of2("or.b32", masked, (LOW >> 32) as u32);
        let bits = e.pack(low, high);
        let exponent = e.wide(LOW);
        e.wide_of2("sub.rn.f64", bits, exponent)
    }

    /// The limbs of a number in digits below 2⁵², and the word above them.
    fn words(&mut self, x: &[Address]) -> Vec<Word> {
        let e = &mut self.e;
        let exponent = e.wide(LOW);
        let parts: Vec<(Word, Word)> = x
            .iter()
            .map(|&digit| {
                let bits = e.wide_of2("add.rn.f64", digit, exponent);
                let (low, high) = e.unpack(bits);
                (low, e.of2("and.b32", high, 0xf_ffffu32))
            })
            .collect();
        (0..=self.limbs)
            .map(|limb| {
                let (digit, shift) = (32 * limb / DIGIT, 32 * limb % DIGIT);
                let (low, high) = parts[digit];
                // 32 bits from `shift` on, of which the next digit has those above 52.
                let within = match shift {
                    0 => low,
                    shift if shift < 32 => {
                        let to = e.word();
                        emit!(e, "shf.l.wrap.b32", to, low, high, 32 - shift);
                        to
                    }
                    shift => e.of2("shr.u32", high, shift as u32 - 32),
                };
                if shift <= DIGIT - 32 || digit + 1 == parts.len() {
                    return within;
                }
                let above = e.of2("shl.b32", parts[digit + 1].0, (DIGIT - shift) as u32);
                e.of2("or.b32", within, above)
            })
            .collect()
    }

    /// Adds both halves of `a b` to two columns.
    fn add_product(&mut self, columns: &mut [Address], a: Address, b: Address, field: &Field) {
        let e = &mut self.e;
        let high = e.address();
        emit!(e, "fma.rz.f64", high, a, b, field.high);
        let rest = e.wide_of2("sub.rn.f64", field.both, high);
        let low = e.address();
        emit!(e, "fma.rz.f64", low, a, b, rest);
        emit!(e, "add.s64", columns[0], columns[0], low);
        emit!(e, "add.s64", columns[1], columns[1], high);
    }

    /// `x = x y / R`, below 2 n.
    fn multiply_doubles(&mut self, x: &[Address], y: &mut Read, field: &Field) {
        let count = x.len();
        let mut halves = vec![Halves::default(); 2 * count];
        count_rows(&mut halves, count, |_| 0);
        count_rows(&mut halves, count, |_| 0);
        let mut columns: Vec<Address> = halves.iter().map(|h| self.e.wide(h.constant())).collect();
        let mut read: Vec<Word> = Vec::new();
        let limbs = self.limbs;
        for row in 0..count {
            let digit = self.double_of(row, |frame, place| {
                while place < limbs && read.len() <= place {
                    read.push(y.next(&mut frame.e));
                }
                read.get(place).copied()
            });
            for (place, &x) in x.iter().enumerate() {
                self.add_product(&mut columns[row + place..], x, digit, field);
            }
        }
        self.reduce_doubles(x, columns, field);
    }

    /// `x = x² / R`, below 2 n.
    fn square_doubles(&mut self, x: &[Address], field: &Field) {
        let count = x.len();
        let mut above = vec![Halves::default(); 2 * count];
        count_rows(&mut above, count, |row| row + 1);
        let mut columns: Vec<Address> = above.iter().map(|h| self.e.wide(h.constant())).collect();
        for row in 0..count {
            for place in row + 1..count {
                self.add_product(&mut columns[row + place..], x[row], x[place], field);
            }
        }
        let mut others = vec![Halves::default(); 2 * count];
        count_rows(&mut others, count, |_| 0);
        for (column, halves) in others.iter_mut().enumerate() {
            // The diagonal.
            match column % 2 {
                0 => halves.low += 1,
                _ => halves.high += 1,
            }
        }
        for (column, halves) in columns.iter().zip(&others) {
            emit!(self.e, "add.s64", *column, *column, *column);
            let constant = self.e.wide(halves.constant());
            emit!(self.e, "add.s64", *column, *column, constant);
        }
        for (row, &digit) in x.iter().enumerate() {
            self.add_product(&mut columns[2 * row..], digit, digit, field);
        }
        self.reduce_doubles(x, columns, field);
    }

    /// Reduces columns, and leaves the result in `x`.
    fn reduce_doubles(&mut self, x: &[Address], mut columns: Vec<Address>, field: &Field) {
        let count = x.len();
        let mask = self.e.wide((1 << DIGIT) - 1);
        let digit_of_n = |place: usize| {
            let [low, high] =
                [0, 1].map(|half| self.e.load_own(field.n, self.limbs + 2 * place + half));
            self.e.pack(low, high)
        };
        let n: Vec<Address> = (0..count).map(digit_of_n).collect();
        for row in 0..count {
            let e = &mut self.e;
            let product = e.wide_of2("mul.lo.s64", columns[row], field.n0);
            let quotient = e.wide_of2("and.b64", product, mask);
            let bits = e.wide_of2("or.b64", quotient, field.low);
            let quotient = e.wide_of2("sub.rn.f64", bits, field.low);
            for (place, &n) in n.iter().enumerate() {
                self.add_product(&mut columns[row + place..], n, quotient, field);
            }
            let carry = self.e.shifted(columns[row], DIGIT);
            emit!(self.e, "add.s64", columns[row + 1], columns[row + 1], carry);
        }
        for (digit, &to) in x.iter().enumerate() {
            let e = &mut self.e;
            let column = columns[count + digit];
            if digit + 1 < count {
                let carry = e.shifted(column, DIGIT);
                emit!(
                    e,
                    "add.s64",
                    columns[count + digit + 1],
                    columns[count + digit + 1],
                    carry
                );
            }
            let low = e.wide_of2("and.b64", column, mask);
            let bits = e.wide_of2("or.b64", low, field.low);
            emit!(e, "sub.rn.f64", to, bits, field.low);
        }
    }
}

/// Counts what rows of products, each from a place on, add to columns.
fn count_rows(columns: &mut [Halves], count: usize, from: impl Fn(usize) -> usize) {
    for row in 0..count {
        for place in from(row)..count {
            columns[row + place].low += 1;
            columns[row + place + 1].high += 1;
        }
    }
}

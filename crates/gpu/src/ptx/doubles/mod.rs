//! Private powers in floating point: digits of 52 bits in doubles, for devices that do as many multiply-adds of doubles
//! as of words.
//!
//! Both halves of a product of two digits come of two fused multiply-adds that round towards zero:
//!
//! ```text
//! h = a b + 2¹⁰⁴                     its mantissa is a b / 2⁵²
//! l = a b + ((2¹⁰⁴ + 2⁵²) − h)       its mantissa is a b mod 2⁵²
//! ```
//!
//! (N. Emmart, F. Zheng and C. Weems, "Faster modular exponentiation using double precision floating point arithmetic
//! on the GPU", ARITH 2018.) The bits of h and l are added to columns of 64 bits as they are; their exponents are
//! constants, which columns are given, negated. Constants are multiples of 2⁵², so that a column's lowest 52 bits are
//! right before it has all of them. [`products`] has the rest.
//!
//! **Forms.** States and tables come in Montgomery form to 2³²ᴸ. They are doubled 52 D − 32 L times when they are first
//! read, and a product with 2³²ᴸ mod n makes the former form again.

mod digits;
mod products;

use self::{
    digits::{BOTH, DIGIT, HIGH, LOW, digits_for},
    products::{Field, store_digit},
};
use super::{
    emitter::{Address, Operand, Word, ZERO, emit},
    frame::{Frame, QUAD},
    montgomery,
    numbers::{Array, Modulus},
    private,
    sum::subtract_once,
};

/// Lengths for which there is such a kernel.
pub(super) const LIMBS: [usize; 4] = [16, 32, 48, 64];

/// The registers that a thread gets: as few as do without memory for registers. At 32 limbs with 168 a scheduler of
/// 16,384 has three groups of threads, with more of them two.
fn registers(limbs: usize) -> usize {
    match limbs {
        16 => 96,
        32 => 168,
        _ => 255,
    }
}

/// As [`private::power_digits`]. While products and squares have the registers, all else is in the thread's own memory,
/// or worked out anew.
pub(super) fn power_digits(limbs: usize, window: usize) -> String {
    let mut frame = private::power_digits_frame(limbs);
    let count = digits_for(limbs);
    let scale = DIGIT * count - 32 * limbs;
    // What three loops count.
    let [index_at, place_at, turn_at] = [0, 1, 2].map(|at| Field::words(count) + at * Frame::COUNTS);
    let own = frame.e.own_memory(turn_at + Frame::COUNTS);
    let (index, step) = frame.e.place();
    let total = frame.count_of_parts();
    let indices = [index, total, step].map(Operand::from);
    frame.while_below_put_away(indices, own, index_at, |frame, index| {
        let part = frame.part(index);
        let n = frame.modulus(part.record);
        let [first, last] = ["first", "last"].map(|name| frame.e.parameter(name));
        let none = frame.e.set(0);
        let one = frame.e.set(1);
        frame.when(first, "lt", one, |frame| {
            let table = frame.table(part.lane, part.lanes);
            frame.scale_table(table, &n, scale, window)
        });
        let states = frame.array("states", part.lane, part.lanes);
        let words = frame.load(states);
        frame.double_times(&words, scale, &n);
        let x = frame.doubles(&words);
        let field = frame.field(own, &n);
        let again = |frame: &mut Frame| {
            let index = frame.e.load_own(own, index_at);
            frame.part(index)
        };
        let places = [first.into(), last.into(), one.into()];
        frame.while_below_put_away(places, own, place_at, |frame, place| {
            frame.when(place, "ne", none, |frame| {
                let turns = [ZERO, (window as u32).into(), one.into()];
                frame.while_below_put_away(turns, own, turn_at, |frame, _| field.square(&mut frame.e, &x));
            });
            let part = again(frame);
            let place = frame.e.load_own(own, place_at);
            let digits = frame.e.parameter("digits");
            let from = frame.e.at(part.record, digits, 4);
            let from = frame.e.at(from, place, 4);
            let digit = frame.word_at(from, 0);
            let table = frame.table(part.lane, part.lanes);
            // Where the factor will be.
            frame.look_up(table, digit, window);
            let y = frame.take_back(own);
            frame.put_beside(&field, &y);
            field.multiply(&mut frame.e, &x);
        });
        let part = again(frame);
        let r = frame.number_at(part.record, limbs);
        frame.put_beside(&field, &r);
        field.multiply(&mut frame.e, &x);
        let mut words = frame.words(&x);
        let top = words.pop().expect("there is a word above the limbs");
        let part = again(frame);
        let n = frame.number_at(part.record, 0);
        subtract_once(&mut frame.e, &words, &words, top.into(), &n);
        let states = frame.array("states", part.lane, part.lanes);
        frame.store(states, &words);
    });
    frame.finish_with(Some(registers(limbs)))
}

impl Frame {
    /// `x = 2^times x mod n`.
    fn double_times(&mut self, x: &[Word], times: usize, n: &Modulus) {
        let (turn, end) = (self.e.set(0), self.e.set(times as u32));
        self.while_below(turn, end, |frame| montgomery::double(&mut frame.e, x, x, n));
    }

    /// Scales all entries of a table.
    fn scale_table(&mut self, table: Array, n: &Modulus, times: usize, window: usize) {
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
            frame.double_times(&x, times, n);
            for quad in x.chunks_exact(QUAD) {
                frame.e.store_quad(at, quad);
                frame.e.advance(at, table.step);
            }
        });
    }

    fn field(&mut self, own: Word, n: &Modulus) -> Field {
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
        let mask = e.wide((1 << DIGIT) - 1);
        for (place, digit) in self.doubles(&words).into_iter().enumerate() {
            let place = digits_for(self.limbs) + place;
            store_digit(&mut self.e, own, place, digit);
        }
        Field {
            own,
            n0,
            low,
            high,
            both,
            mask,
        }
    }

    /// Puts a factor where products want it.
    fn put_beside(&mut self, field: &Field, words: &[Word]) {
        for (place, digit) in self.doubles(words).into_iter().enumerate() {
            store_digit(&mut self.e, field.own, place, digit);
        }
    }

    /// The digits of a number, as doubles.
    fn doubles(&mut self, words: &[Word]) -> Vec<Address> {
        (0..digits_for(words.len()))
            .map(|digit| self.double_of(words, digit))
            .collect()
    }

    fn double_of(&mut self, words: &[Word], digit: usize) -> Address {
        let (first, shift) = (digit * DIGIT / 32, (digit * DIGIT % 32) as u32);
        let zero = self.e.set(0);
        let [a, b, c] = [0, 1, 2].map(|place| words.get(first + place).copied().unwrap_or(zero));
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
}

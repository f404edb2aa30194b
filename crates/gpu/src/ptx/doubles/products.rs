//! Products and squares of numbers in digits, and their reduction.
//!
//! ```text
//! a b / R     for each i: t = t + a b[i], t = (t + q n) / 2⁵², with q = t[0] (−1/n) mod 2⁵²          D + 1 columns
//! a² / R      t = a², column by column: products off the diagonal once, doubled, and those on it      2 D columns
//!             for each i < D: t = (t + q n) / 2⁵²; the columns above D come when they are reached      D + 1 columns
//! ```
//!
//! Columns of a square are done one after the other, so that two of them are open at a time; the upper half waits in
//! the thread's own memory. Rows of products and reductions are alike, so they are a loop over a few of them, after
//! which columns are moved back to the registers where they were. A square's columns are not alike, and are written
//! out.
//!
//! **Exponents.** A column that has got all of its halves is reduced by [`Halves::constant`]. One that passes through a
//! loop gets what is missing beforehand if it is to fall off, as its lowest bits must be right then, and afterwards if
//! not.
//!
//! **Bounds.** R = 2⁵²ᴰ is at least 2⁸ n, so a product of numbers below 2 n comes out below 2 n, and nothing is
//! subtracted but at the end. A column has at most 4 D halves below 2⁵² and a carry, which for D up to 40 is below 2⁶⁰.

use super::{
    super::emitter::{Address, Emitter, Word, emit},
    digits::{DIGIT, HIGH, LOW},
};

/// Rows of a turn of a loop: with all of them there is no loop, with few of them few registers are needed.
fn rows_of_a_turn(digits: usize) -> usize {
    match digits {
        10 => 10,
        _ => 2,
    }
}

/// The most digits of a modulus that a product holds in registers, beside its other factor and its columns.
const MOST_HELD: usize = 10;

/// How many halves of products a column gets.
#[derive(Clone, Copy, Default)]
struct Halves {
    low: u64,
    high: u64,
}

impl Halves {
    /// The constant to be added for them to leave no exponents.
    fn constant(self) -> u64 {
        let sum = self.low.wrapping_mul(LOW).wrapping_add(self.high.wrapping_mul(HIGH));
        0u64.wrapping_sub(sum)
    }

    /// The terms of a reduction that a column gets which begins as the column of `place` and falls off.
    fn until_it_falls(place: usize) -> Self {
        Halves {
            low: place as u64 + 1,
            high: place as u64,
        }
    }

    /// The terms that a column gets which comes above all others, and is the one of `place` in the end.
    fn until_the_end(digits: usize, place: usize) -> Self {
        Halves {
            low: (digits - 1 - place) as u64,
            high: (digits - place) as u64,
        }
    }

    /// Adds the constant to a column. Its lower half is zero.
    fn correct(self, e: &mut Emitter, column: Address) {
        let constant = (self.constant() >> 32) as u32;
        let (low, high) = e.unpack(column);
        let high = e.of2("add.u32", high, constant);
        emit!(e, "mov.b64", column, format_args!("{{{low}, {high}}}"));
    }

    fn times(self, by: u64) -> Self {
        Halves {
            low: by * self.low,
            high: by * self.high,
        }
    }

    fn plus(self, other: Self) -> Self {
        Halves {
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }
}

/// Constants, and the thread's own memory.
pub(super) struct Field {
    /// Two words a digit: first a factor or the upper half of a square, then n.
    pub(super) own: Word,
    /// −1/n mod 2⁶⁴.
    pub(super) n0: Address,
    pub(super) low: Address,
    pub(super) high: Address,
    pub(super) both: Address,
    /// The lowest 52 bits.
    pub(super) mask: Address,
}

impl Field {
    /// Words of the thread's own memory for numbers of so many digits.
    pub(super) fn words(digits: usize) -> usize {
        4 * digits
    }

    /// The double of bits below 2⁵².
    fn double(&self, e: &mut Emitter, to: Address, bits: Address) {
        let bits = e.wide_of2("or.b64", bits, self.low);
        emit!(e, "sub.rn.f64", to, bits, self.low);
    }

    /// Adds both halves of `a b` to two columns.
    fn add_product(&self, e: &mut Emitter, columns: [Address; 2], a: Address, b: Address) {
        let high = e.address();
        emit!(e, "fma.rz.f64", high, a, b, self.high);
        let rest = e.wide_of2("sub.rn.f64", self.both, high);
        let low = e.address();
        emit!(e, "fma.rz.f64", low, a, b, rest);
        emit!(e, "add.s64", columns[0], columns[0], low);
        emit!(e, "add.s64", columns[1], columns[1], high);
    }

    fn add_row(&self, e: &mut Emitter, columns: &[Address], a: &[Address], b: Address) {
        for (place, &a) in a.iter().enumerate() {
            self.add_product(e, [columns[place], columns[place + 1]], a, b);
        }
    }

    /// Adds the multiple of n that makes the lowest digit zero, and carries what is above it.
    fn reduce_row(&self, e: &mut Emitter, columns: &[Address], n: &Digits) {
        let product = e.wide_of2("mul.lo.s64", columns[0], self.n0);
        let bits = e.wide_of2("and.b64", product, self.mask);
        let quotient = e.address();
        self.double(e, quotient, bits);
        for place in 0..columns.len() - 1 {
            let n = n.digit(e, place);
            self.add_product(e, [columns[place], columns[place + 1]], n, quotient);
        }
        let carry = e.shifted(columns[0], DIGIT);
        emit!(e, "add.s64", columns[1], columns[1], carry);
    }

    /// `x = x y / R`, below 2 n, with y beside.
    pub(super) fn multiply(&self, e: &mut Emitter, x: &[Address]) {
        let count = x.len();
        let n = match count <= MOST_HELD {
            true => Digits::held(e, self.own, count),
            false => Digits::Own(self.own, count),
        };
        let columns = (0..count)
            .map(|place| e.wide(Halves::until_it_falls(place).times(2).constant()))
            .collect();
        let rows = rows_of_a_turn(count);
        let columns = turns(e, columns, rows, self.own, |e, columns, from| {
            for row in 0..rows {
                let columns = &columns[row..=row + count];
                emit!(e, "mov.b64", columns[count], 0);
                let digit = load_digit(e, from, row);
                self.add_row(e, columns, x, digit);
                self.reduce_row(e, columns, &n);
            }
        });
        for (place, &column) in columns.iter().enumerate() {
            let missing = Halves::until_the_end(count, place).times(2);
            missing.correct(e, column);
        }
        self.finish(e, x, &columns);
    }

    /// `x = x² / R`, below 2 n.
    pub(super) fn square(&self, e: &mut Emitter, x: &[Address]) {
        let count = x.len();
        let columns = self.columns_of_square(e, x);
        let n = Digits::held(e, self.own, count);
        let rows = rows_of_a_turn(count);
        let columns = turns(e, columns, rows, self.own, |e, columns, from| {
            for row in 0..rows {
                let columns = &columns[row..=row + count];
                let above = load_digit(e, from, row);
                emit!(e, "mov.b64", columns[count], above);
                self.reduce_row(e, columns, &n);
            }
        });
        self.finish(e, x, &columns);
    }

    /// The columns of x², the upper half put away, with what they need for their reduction.
    fn columns_of_square(&self, e: &mut Emitter, x: &[Address]) -> Vec<Address> {
        let count = x.len();
        let mut lower = Vec::new();
        // The column after this one, and its half from the diagonal, which is not doubled.
        let (mut next, mut of_diagonal) = (e.wide(0), None);
        for place in 0..2 * count {
            let column = next;
            next = e.wide(0);
            let pairs = |sum: usize| {
                let first = (sum + 1).saturating_sub(count);
                (first..count)
                    .map(move |i| (i, sum.wrapping_sub(i)))
                    .take_while(|&(i, j)| j < count && i < j)
            };
            for (i, j) in pairs(place) {
                self.add_product(e, [column, next], x[i], x[j]);
            }
            let before = place.checked_sub(1).map_or(0, |sum| pairs(sum).count());
            let halves = Halves {
                low: pairs(place).count() as u64,
                high: before as u64,
            };
            let mut halves = halves.times(2);
            emit!(e, "add.s64", column, column, column);
            match of_diagonal.take() {
                Some(high) => {
                    emit!(e, "add.s64", column, column, high);
                    halves.high += 1;
                }
                None => {
                    let high = e.wide(0);
                    let digit = x[place / 2];
                    self.add_product(e, [column, high], digit, digit);
                    halves.low += 1;
                    of_diagonal = Some(high);
                }
            }
            let of_reduction = match place.checked_sub(count) {
                None => Halves::until_it_falls(place),
                Some(place) => Halves::until_the_end(count, place),
            };
            halves.plus(of_reduction).correct(e, column);
            match place.checked_sub(count) {
                None => lower.push(column),
                Some(place) => store_digit(e, self.own, place, column),
            }
        }
        lower
    }

    /// The digits of what columns hold.
    fn finish(&self, e: &mut Emitter, to: &[Address], columns: &[Address]) {
        for (place, (&to, &column)) in to.iter().zip(columns).enumerate() {
            if let Some(&above) = columns.get(place + 1) {
                let carry = e.shifted(column, DIGIT);
                emit!(e, "add.s64", above, above, carry);
            }
            let bits = e.wide_of2("and.b64", column, self.mask);
            self.double(e, to, bits);
        }
    }
}

/// The digits of a modulus.
enum Digits {
    Held(Vec<Address>),
    /// Behind so many others.
    Own(Word, usize),
}

impl Digits {
    fn held(e: &mut Emitter, own: Word, count: usize) -> Self {
        let own = Digits::Own(own, count);
        Digits::Held((0..count).map(|place| own.digit(e, place)).collect())
    }

    fn digit(&self, e: &mut Emitter, place: usize) -> Address {
        match *self {
            Digits::Held(ref digits) => digits[place],
            Digits::Own(own, before) => load_digit(e, own, before + place),
        }
    }
}

/// Does all rows, a few in a turn: `body` does those of a turn, on as many columns more. It gets the place of its first
/// row in memory that has two words for each. The columns that are left are returned.
fn turns(
    e: &mut Emitter,
    mut columns: Vec<Address>,
    rows: usize,
    own: Word,
    body: impl FnOnce(&mut Emitter, &[Address], Word),
) -> Vec<Address> {
    let count = columns.len();
    columns.extend((0..rows).map(|_| e.address()));
    if rows == count {
        body(e, &columns, own);
        return columns.split_off(rows);
    }
    let word = e.set(0);
    e.while_below(word, 2 * count as u32, 2 * rows as u32, |e| {
        let from = e.own_from(own, word);
        body(e, &columns, from);
        for place in 0..count {
            emit!(e, "mov.b64", columns[place], columns[place + rows]);
        }
    });
    columns.truncate(count);
    columns
}

fn load_digit(e: &mut Emitter, own: Word, place: usize) -> Address {
    let [low, high] = [0, 1].map(|half| e.load_own(own, 2 * place + half));
    e.pack(low, high)
}

pub(super) fn store_digit(e: &mut Emitter, own: Word, place: usize, digit: Address) {
    let (low, high) = e.unpack(digit);
    e.store_own(own, 2 * place, low);
    e.store_own(own, 2 * place + 1, high);
}

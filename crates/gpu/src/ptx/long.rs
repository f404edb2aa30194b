//! Products of numbers that no thread has registers for: they lie in the thread's local memory, and are multiplied in
//! pieces.
//!
//! With pieces of C limbs, half of a number each, a *pass* adds the product of one piece and a few digits to the
//! columns of t from some place on. The running sum of C columns moves along t: a row leaves its lowest column where it
//! is, and takes the next column in.
//!
//! ```text
//! t = 0
//! for each piece a' of a, at its place:       t = t + a' b                                 a pass of L rows
//! for each piece of rows:
//!     for each of its rows i:                 q[i] = t[i] (−1/n) mod 2³², t = t + q[i] n'   a pass of C rows, with the lowest piece n'
//!     for each other piece n' of n, at its:   t = t + q n'                                 a pass of C rows
//! t = t / R, less n if t ≥ n
//! ```
//!
//! Quotients lie where they have made columns zero. All addresses follow from places and turns of loops. Squares are
//! products, as a public power and blinding have few of them.
//!
//! **Bounds.** t has 2 L + 1 columns: it is below R² + n R, and so is every partial sum.

use super::{
    emitter::{Address, Emitter, Operand, Word, ZERO},
    frame::Frame,
    numbers::{Array, Modulus},
    separate::{self, ROWS, Turns},
    sum::{Chain, Sum, Term},
};

/// Lengths for which there are pieces that fit the registers: 48 and 64 limbs.
pub(super) const PIECES: usize = 2;

/// Numbers in a thread's local memory.
pub(super) struct Long {
    limbs: usize,
    t: Address,
    /// The number that is worked on.
    x: Address,
    /// Another.
    y: Address,
}

/// Where the digits of a factor are.
#[derive(Clone, Copy)]
pub(super) enum Factor {
    /// x itself.
    X,
    /// The other number.
    Y,
    /// In a record, from a place on.
    Record(Address, usize),
}

impl Frame {
    pub(super) fn long(&mut self) -> Long {
        let limbs = self.limbs;
        let t = self.e.local_memory(4 * limbs + 1);
        let x = self.e.at_local(t, 2 * limbs + 1);
        let y = self.e.at_local(t, 3 * limbs + 1);
        Long { limbs, t, x, y }
    }

    /// Calls `body` with each limb of a number in an array.
    fn each_limb(&mut self, array: Array, mut body: impl FnMut(&mut Emitter, usize, Address)) {
        let at = self.walk(array);
        for place in 0..self.limbs {
            body(&mut self.e, place, at);
            self.e.advance(at, array.step);
        }
    }

    pub(super) fn load_long(&mut self, to: &Long, array: Array) {
        self.load_local(to.x, array);
    }

    pub(super) fn load_long_factor(&mut self, to: &Long, array: Array) {
        self.load_local(to.y, array);
    }

    fn load_local(&mut self, to: Address, array: Array) {
        self.each_limb(array, |e, place, at| {
            let limb = e.word();
            e.load_word(limb, at, 0);
            e.store_local(to, place, limb);
        });
    }

    pub(super) fn store_long(&mut self, array: Array, from: &Long) {
        self.each_limb(array, |e, place, at| {
            let limb = e.load_local(from.x, place);
            e.store_word(at, 0, limb);
        });
    }

    /// All ones if x is the number in an array.
    pub(super) fn mask_if_long_same(&mut self, long: &Long, array: Array) -> Word {
        let difference = self.e.set(0);
        self.each_limb(array, |e, place, at| {
            let limb = e.word();
            e.load_word(limb, at, 0);
            let own = e.load_local(long.x, place);
            e.or_difference(difference, difference, limb, own);
        });
        self.e.mask_if_zero(difference)
    }

    /// Keeps a number in an array if a mask is all ones, and wipes it if it is zero.
    pub(super) fn keep(&mut self, array: Array, mask: Word) {
        self.each_limb(array, |e, _, at| {
            let limb = e.word();
            e.load_word(limb, at, 0);
            let kept = e.of2("and.b32", limb, mask);
            e.store_word(at, 0, kept);
        });
    }
}

impl Long {
    fn piece(&self) -> usize {
        self.limbs / PIECES
    }

    /// `x = x b / R mod n`, below n, if one of both is below n.
    pub(super) fn multiply(&self, e: &mut Emitter, b: Factor, n: &Modulus) {
        let piece = self.piece();
        let zero = e.set(0);
        for place in self.limbs + piece..=2 * self.limbs {
            e.store_local(self.t, place, zero);
        }
        for first in (0..self.limbs).step_by(piece) {
            let a: Vec<Word> = (first..first + piece)
                .map(|place| e.load_local(self.x, place))
                .collect();
            self.pass(e, first, self.limbs, first == 0, |e, row| {
                let digits = self.factor(e, b, row);
                (a.clone(), digits)
            });
        }
        self.reduce(e, n);
    }

    /// `x = x / R mod n`, below n.
    pub(super) fn leave(&self, e: &mut Emitter, n: &Modulus) {
        let zero = e.set(0);
        for place in 0..=2 * self.limbs {
            let limb = match place < self.limbs {
                true => e.load_local(self.x, place),
                false => zero,
            };
            e.store_local(self.t, place, limb);
        }
        self.reduce(e, n);
    }

    /// The digits of a turn's rows.
    fn factor(&self, e: &mut Emitter, b: Factor, row: Word) -> Vec<Word> {
        let (base, place) = match b {
            Factor::X => (self.x, 0),
            Factor::Y => (self.y, 0),
            Factor::Record(record, place) => (record, place),
        };
        let from = e.at(base, row, 4);
        let digit = |digit: usize| match b {
            Factor::Record(..) => {
                let word = e.word();
                e.load_word(word, from, 4 * (place + digit));
                word
            }
            _ => e.load_local(from, digit),
        };
        (0..ROWS).map(digit).collect()
    }

    /// Adds the product of a piece and `rows` digits to t from `base` on; `is_new` if there is nothing in those columns
    /// yet.
    fn pass(
        &self,
        e: &mut Emitter,
        base: usize,
        rows: usize,
        is_new: bool,
        operands: impl FnOnce(&mut Emitter, Word) -> (Vec<Word>, Vec<Word>),
    ) {
        let piece = self.piece();
        let start = e.at_local(self.t, base);
        let turns = self.begin(e, base, is_new);
        let row = e.set(0);
        e.while_below(row, rows as u32, ROWS as u32, |e| {
            let (mut sum, mut carry) = turns.sum();
            let at = e.at(start, row, 4);
            let (a, digits) = operands(e, row);
            for (place, &digit) in digits.iter().enumerate() {
                let terms: Vec<_> = a.iter().map(|&a| Some(Term::Product(a, digit))).collect();
                let lowest = separate::add_row(e, &mut sum, &mut carry, &terms);
                e.store_local(at, place, lowest);
                if !is_new {
                    sum.odd[piece - 2] = e.load_local(at, place + piece).into();
                }
            }
            turns.end(e, sum, carry);
        });
        let (sum, carry) = turns.sum();
        self.end(e, sum, carry, base + rows);
    }

    fn reduce(&self, e: &mut Emitter, n: &Modulus) {
        let piece = self.piece();
        for block in (0..self.limbs).step_by(piece) {
            self.reduce_block(e, block, n);
            for first in (piece..self.limbs).step_by(piece) {
                let limbs = n.piece(e, first, piece);
                let quotients = e.at_local(self.t, block);
                self.pass(e, block + first, piece, false, |e, row| {
                    let from = e.at(quotients, row, 4);
                    let digits = (0..ROWS).map(|place| e.load_local(from, place)).collect();
                    (limbs, digits)
                });
            }
        }
        self.subtract_once(e, n);
    }

    /// The rows of a block with the lowest piece of n, which make the quotients.
    fn reduce_block(&self, e: &mut Emitter, block: usize, n: &Modulus) {
        let piece = self.piece();
        let start = e.at_local(self.t, block);
        let limbs = n.piece(e, 0, piece);
        let turns = self.begin(e, block, false);
        let row = e.set(0);
        e.while_below(row, piece as u32, ROWS as u32, |e| {
            let (mut sum, carry) = turns.sum();
            let at = e.at(start, row, 4);
            for place in 0..ROWS {
                let quotient = sum.reduce(e, &limbs, n.n0);
                e.store_local(at, place, quotient);
                sum.shift();
                sum.odd[piece - 2] = e.load_local(at, place + piece).into();
            }
            turns.end(e, sum, carry);
        });
        let (sum, carry) = turns.sum();
        self.end(e, sum, carry, block + piece);
    }

    fn begin(&self, e: &mut Emitter, base: usize, is_new: bool) -> Turns {
        let columns = (base..base + self.piece()).map(|place| match is_new {
            true => ZERO,
            false => e.load_local(self.t, place).into(),
        });
        let columns: Vec<Operand> = columns.collect();
        Turns::begin(e, columns)
    }

    /// Puts a sum's columns back to t from `base` on, and carries on from there.
    fn end(&self, e: &mut Emitter, sum: Sum, carry: Operand, base: usize) {
        let (limbs, top) = sum.join(e);
        let above = base + limbs.len();
        let mut chain = Chain::new();
        for (place, limb) in limbs.into_iter().enumerate() {
            let mut limb = limb.into();
            chain.add(e, &mut limb, if place == 0 { carry } else { ZERO });
            e.store_local(self.t, base + place, limb);
        }
        let mut top = top.into();
        chain.end(e, &mut top);
        let mut chain = Chain::new();
        for place in above..=2 * self.limbs {
            let mut column = e.load_local(self.t, place).into();
            chain.add(e, &mut column, if place == above { top } else { ZERO });
            e.store_local(self.t, place, column);
        }
    }

    /// The upper half of t to x, less n if that is not negative.
    fn subtract_once(&self, e: &mut Emitter, n: &Modulus) {
        for place in 0..self.limbs {
            let limb = e.load_local(self.t, self.limbs + place);
            let of_n = n.piece(e, place, 1)[0];
            let name = if place == 0 { "sub.cc.u32" } else { "subc.cc.u32" };
            let less = e.of2(name, limb, of_n);
            e.store_local(self.x, place, less);
        }
        let top = e.load_local(self.t, 2 * self.limbs);
        let keep = e.of2("subc.u32", top, 0);
        for place in 0..self.limbs {
            let limb = e.load_local(self.t, self.limbs + place);
            let less = e.load_local(self.x, place);
            let chosen = e.word();
            e.choose(chosen, limb, less, keep);
            e.store_local(self.x, place, chosen);
        }
    }
}

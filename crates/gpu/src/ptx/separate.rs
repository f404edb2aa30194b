//! Products of numbers that are too long for [`montgomery`](super::montgomery)'s way: first the whole product, then its
//! reduction ("separated operand scanning" of Koç, Acar and Kaliski 1996).
//!
//! ```text
//! t = a b                                    rows of L products; a row leaves its lowest column in the thread's local memory
//! u = t[0 .. L]                              the lower half again in registers
//! for each i: u = (u + n (u[0] · (−1/n) mod 2³²)) / 2³² + t[L + i] 2³²⁽ᴸ⁻¹⁾
//! u = u − n if u ≥ n
//! ```
//!
//! Each half needs registers for the running sum and for one number: 3 L and a few, where the interleaved way takes 4
//! L. Rows of a product and of a reduction are alike, so they are loops over a few of them. Rows of a square are not,
//! and are written out. All addresses in local memory follow from the turn of a loop.
//!
//! **Bounds.** The sum of a product's rows is below 2 R after each division. The reduction's u is below 2 R: it is
//! below (2 R + (2³² − 1) n) / 2³² + (2³² − 1) R / 2³² after each row.

use super::{
    emitter::{Address, Emitter, Operand, Word, ZERO},
    numbers::{Modulus, Read},
    sum::{self, Chain, Sum, Term},
};

/// Rows of a turn: an even number, so that the two halves of a sum have their names again after it.
pub(super) const ROWS: usize = 4;

/// `to = a b / R mod n`, as [`montgomery::multiply`](super::montgomery::multiply).
pub(super) fn multiply(e: &mut Emitter, to: &[Word], a: &[Word], b: &mut Read, n: &Modulus) {
    let digits = b.put_away(e, a.len());
    let low = e.local_memory(2 * a.len());
    let turns = Turns::begin(e, vec![ZERO; a.len()]);
    let row = e.set(0);
    e.while_below(row, a.len() as u32, ROWS as u32, |e| {
        let (mut sum, mut carry) = turns.sum();
        let from = e.own_from(digits, row);
        let store = e.at(low, row, 4);
        for place in 0..ROWS {
            let digit = e.load_own(from, place);
            let terms: Vec<_> = a.iter().map(|&a| Some(Term::Product(a, digit))).collect();
            let lowest = add_row(e, &mut sum, &mut carry, &terms);
            e.store_local(store, place, lowest);
        }
        turns.end(e, sum, carry);
    });
    let (sum, carry) = turns.sum();
    finish_product(e, sum, carry, low);
    reduce_product(e, to, low, a.len(), n);
}

/// `to = a² / R mod n`, as [`montgomery::square`](super::montgomery::square).
pub(super) fn square(e: &mut Emitter, to: &[Word], a: &[Word], n: &Modulus) {
    let low = e.local_memory(2 * a.len());
    let mut sum = Sum::of(vec![ZERO; a.len()]);
    let mut carry = ZERO;
    for row in 0..a.len() {
        let terms = sum::row_of_square(e, a, row);
        let lowest = add_row(e, &mut sum, &mut carry, &terms);
        e.store_local(low, row, lowest);
    }
    finish_product(e, sum, carry, low);
    reduce_product(e, to, low, a.len(), n);
}

/// `to = a / R mod n`, as [`montgomery::leave`](super::montgomery::leave).
pub(super) fn leave(e: &mut Emitter, to: &[Word], a: &[Word], n: &Modulus) {
    reduce(e, to, a.iter().map(|&limb| limb.into()).collect(), None, n);
}

/// Adds a row, and divides by 2³²: returns the column that falls off. What it carries is at most 2, and added with the
/// next.
pub(super) fn add_row(e: &mut Emitter, sum: &mut Sum, carry: &mut Operand, terms: &[Option<Term>]) -> Operand {
    sum.add_row(e, terms);
    let mut lowest = std::mem::replace(&mut sum.even[0], ZERO);
    let mut next = ZERO;
    for value in [sum.pending, *carry] {
        let mut chain = Chain::new();
        chain.add(e, &mut lowest, value);
        chain.end(e, &mut next);
    }
    sum.shift();
    *carry = next;
    lowest
}

/// The upper half of a product, after all of its rows, to local memory.
fn finish_product(e: &mut Emitter, sum: Sum, carry: Operand, low: Address) {
    let (limbs, _) = sum.join(e);
    let count = limbs.len();
    let mut chain = Chain::new();
    for (place, limb) in limbs.into_iter().enumerate() {
        let mut limb = limb.into();
        chain.add(e, &mut limb, if place == 0 { carry } else { ZERO });
        e.store_local(low, count + place, limb);
    }
}

fn reduce_product(e: &mut Emitter, to: &[Word], low: Address, limbs: usize, n: &Modulus) {
    let even = (0..limbs).map(|place| e.load_local(low, place).into()).collect();
    let high = e.at_local(low, limbs);
    reduce(e, to, even, Some(high), n);
}

/// `to = (even + high R) / R mod n`, where the upper half comes from local memory, or is zero.
fn reduce(e: &mut Emitter, to: &[Word], even: Vec<Operand>, high: Option<Address>, n: &Modulus) {
    let limbs = even.len();
    let turns = Turns::begin(e, even);
    let modulus = n.limbs(e);
    let row = e.set(0);
    e.while_below(row, limbs as u32, ROWS as u32, |e| {
        let (mut sum, carry) = turns.sum();
        let from = high.map(|high| e.at(high, row, 4));
        for place in 0..ROWS {
            sum.reduce(e, &modulus, n.n0);
            sum.shift();
            if let Some(from) = from {
                // The column that the division has made.
                sum.odd[limbs - 2] = e.load_local(from, place).into();
            }
        }
        turns.end(e, sum, carry);
    });
    let (sum, _) = turns.sum();
    let (result, top) = sum.join(e);
    sum::subtract_once(e, to, &result, top.into(), &modulus);
}

/// The registers in which a sum is from turn to turn of a loop.
pub(super) struct Turns {
    even: Vec<Word>,
    odd: Vec<Word>,
    pending: Word,
    carry: Word,
}

impl Turns {
    pub(super) fn begin(e: &mut Emitter, even: Vec<Operand>) -> Self {
        Turns {
            odd: even.iter().map(|_| e.set(0)).collect(),
            even: even.into_iter().map(|column| e.set(column)).collect(),
            pending: e.set(0),
            carry: e.set(0),
        }
    }

    pub(super) fn sum(&self) -> (Sum, Operand) {
        let all = |registers: &[Word]| registers.iter().map(|&register| register.into()).collect();
        let mut sum = Sum::of(all(&self.even));
        sum.odd = all(&self.odd);
        sum.pending = self.pending.into();
        (sum, self.carry.into())
    }

    /// Moves a sum back where it was, after a turn. Columns come from registers of higher ones, and so lowest first;
    /// what is pending comes from a column.
    pub(super) fn end(&self, e: &mut Emitter, sum: Sum, carry: Operand) {
        debug_assert!(sum.top == ZERO);
        e.copy(self.pending, sum.pending);
        e.copy(self.carry, carry);
        for (to, column) in self.even.iter().zip(sum.even) {
            e.copy(*to, column);
        }
        for (to, column) in self.odd.iter().zip(sum.odd) {
            e.copy(*to, column);
        }
    }
}

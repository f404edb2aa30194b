//! Squares and products of ten digits, reduced. The ten columns r that are left of digits a, b and n are shown to be,
//! for all values of the atoms,
//!
//! ```text
//! R r = a b + sum over k < 10 of q_k X^k n,   R = X^10
//! ```
//!
//! where 0 <= q_k < X are the digits of the quotient. So r < a b / R + n. Of the columns c of the other number, which
//! are within the bounds that are shown of r, the digits d satisfy
//!
//! ```text
//! sum of c_k X^k = sum of d_k X^k + R f,   0 <= d_k < X
//! ```
//!
//! As the number is not negative and below R, f is zero. What is looked up is compared with the entry, in all lanes,
//! for each entry in each lane; and so are masks.

use super::*;

const REDUCED: usize = ROWS;

/// The function that is certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Operation {
    Square,
    SquareAndLookUp,
    Product,
    /// Columns become digits.
    Digits,
    Masks,
}

/// Bounds that the callers keep to.
#[derive(Clone, Copy)]
pub(in super::super) struct Contract {
    pub(in super::super) operation: Operation,
    /// Of a digit that goes in.
    pub(in super::super) digit_bits: u32,
    /// Of a column that is left, and of one that becomes a digit.
    pub(in super::super) column_bits: u32,
}

impl Contract {
    pub(in super::super) fn new(operation: Operation) -> Self {
        Self {
            operation,
            digit_bits: DIGIT_BITS,
            column_bits: 58,
        }
    }
}

/// Certifies a function, or says why not.
pub(in super::super) fn certify(code: &Code, contract: Contract) -> Result<(), Refusal> {
    // Each entry, in each lane.
    let runs = if contract.operation == Operation::Square {
        1
    } else {
        ENTRIES
    };
    (0..runs).try_for_each(|first| Run::new(contract, first).all(code))
}

struct Run {
    contract: Contract,
    frame: Frame,
    /// The entry's number in each lane.
    wanted: [usize; LANES],
    a: Vec<Value>,
    b: Vec<Value>,
    n: Vec<Value>,
    inverse: Vec<Value>,
    other: Vec<Value>,
}

impl Run {
    fn new(contract: Contract, first: usize) -> Self {
        let mut frame = Frame::new();
        let mut digits = || frame.digits(ROWS, contract.digit_bits);
        let (a, b, n) = (digits(), digits(), digits());
        Self {
            contract,
            wanted: std::array::from_fn(|lane| (first + lane) % ENTRIES),
            a,
            b,
            n,
            inverse: frame.unknown(1, [1, LARGEST]),
            other: frame.digits(ROWS, contract.column_bits),
            frame,
        }
    }

    fn all(mut self, code: &Code) -> Result<(), Refusal> {
        let operation = self.contract.operation;
        let other = self.frame.region("the other number", cells(&self.other), true);
        let numbers = constants([numbers(&self.wanted)]);
        let numbers = self.frame.region("numbers of entries", cells(&numbers), false);
        match operation {
            Operation::Digits => {
                self.frame.call(code, &[other.at(0)])?;
                return self.frame.are_digits(other, 0, &self.other);
            }
            Operation::Masks => {
                let masks = self.frame.room("masks", 1);
                self.frame.call(code, &[masks.at(0), numbers.at(0)])?;
                return self.frame.is_there(masks, 0, &masks_of(&self.wanted), "masks");
            }
            _ => {}
        }
        let columns = self.frame.room("columns", 2 * ROWS);
        let a = self.frame.region("a", cells(&self.a), true);
        let makes_masks = operation == Operation::Product;
        let modulus = [&self.n[..], &self.inverse].concat();
        let mut under = cells(&modulus);
        if operation == Operation::SquareAndLookUp {
            under.extend(cells(&masks_of(&self.wanted)));
        }
        under.resize(modulus.len() + LANES, Cell::Unknown);
        let under = self.frame.region("the modulus", under, makes_masks);
        let mut arguments = vec![columns.at(0), a.at(0), other.at(0), under.at(0)];
        let b = if makes_masks { self.b.clone() } else { self.a.clone() };
        match operation {
            Operation::Product => {
                let b = self.frame.region("b", cells(&b), false);
                arguments.extend([b.at(0), numbers.at(0)]);
                self.frame.call(code, &arguments)?;
                let masks = masks_of(&self.wanted);
                self.frame.is_there(under, modulus.len() / LANES, &masks, "masks")?;
                self.frame.is_there(under, 0, &modulus, "the modulus")?;
            }
            Operation::SquareAndLookUp => self.look_up(code, arguments)?,
            _ => self.frame.call(code, &arguments)?,
        }
        (0..LANES).try_for_each(|lane| self.montgomery(lane, &b, a))?;
        self.frame.are_digits(other, 0, &self.other)
    }

    fn look_up(&mut self, code: &Code, mut arguments: Vec<Word>) -> Result<(), Refusal> {
        let frame = &mut self.frame;
        let table = frame.digits(ENTRIES * ROWS, DIGIT_BITS);
        let entries = frame.region("the table", cells(&table), false);
        let found = frame.room("what is looked up", VECS);
        arguments.extend([entries.at(0), found.at(0)]);
        frame.call(code, &arguments)?;
        let wanted = entries_of(&table, &self.wanted, ROWS, VECS);
        frame.is_there(found, 0, &wanted, "what is looked up")
    }

    fn montgomery(&self, lane: usize, b: &[Value], region: Region) -> Result<(), Refusal> {
        let algebra = &self.frame.machine.algebra;
        let of = |values: &[Value], digit: usize| atom(&values[digit * LANES + lane]);
        let mut identity = Identity::new(DIGIT_BITS);
        let known = [of(&self.n, 0), of(&self.inverse, 0)];
        let quotients = clear(&mut identity, algebra, 0, known, 1)?;
        let most = (1 << self.contract.column_bits) - 1;
        for place in 0..ROWS {
            let column = self.frame.number(region, place, lane, [0, most])?;
            identity.add(&column.polynomial, 1, REDUCED + place);
        }
        for (place, &quotient) in quotients.iter().enumerate() {
            for digit in 0..ROWS {
                let products = [(quotient, of(&self.n, digit)), (of(&self.a, place), of(b, digit))];
                for (x, y) in products {
                    identity.add_term(Monomial::product(x, y), -1, place + digit);
                }
            }
        }
        match identity.rest().first_key_value() {
            None => Ok(()),
            Some((monomial, digits)) => Err(format!(
                "it is not a b / R mod n: {monomial:?} is left, times {digits:?}"
            )),
        }
    }
}

//! Blocks of ten digits in eight lanes: what `build/blocks/` writes, and `src/kernel/x86_64/ifma_ten.rs` and
//! `ifma_blocks.rs` promise.
//!
//! With X = 2^52, a quotient's digit q_k and the column s that it clears, one relation enters that is no equation of
//! polynomials. As n_0 n' = -1 mod X, s + q_k n_0 is a multiple of X, so that s and the low digit of q_k n_0 are
//! together X times s / X, rounded up; and that is what is carried: floor((s + X - 1) / X).

mod blocks;
mod ten;

use super::algebra::{Algebra, Number, Origin, Value};
use super::code::Code;
use super::identity::Identity;
use super::machine::{Cell, LANES, Machine, Next, WORD, Word};
use super::polynomial::{Atom, Monomial, ONE, Polynomial, Refusal};

pub(super) use blocks::Contract as Window;
pub(super) use ten::{Contract, Operation, certify};

const DIGIT_BITS: u32 = 52;
/// Digits of a block.
const ROWS: usize = 10;
const LARGEST: i128 = (1 << DIGIT_BITS) - 1;
/// Bits of an entry's number; entries of a table.
const BITS: usize = 5;
const ENTRIES: usize = 1 << BITS;
/// Vecs of an entry that are looked up beside ten rows.
const VECS: usize = 2;

/// The registers of arguments: rdi, rsi, rdx, rcx, r8, r9.
const ARGUMENTS: [usize; 6] = [7, 6, 2, 1, 8, 9];
/// rbx, rsp, rbp, and r12 to r15.
const OF_THE_CALLER: [usize; 7] = [3, 4, 5, 12, 13, 14, 15];

/// Memory of functions, vec by vec, and their machine.
struct Frame {
    machine: Machine,
}

/// A region of memory.
#[derive(Clone, Copy)]
struct Region(usize);

impl Region {
    /// A pointer to one of its vecs.
    fn at(self, vec: usize) -> Word {
        let at = (vec * LANES * WORD) as i64;
        Word::Pointer { region: self.0, at }
    }
}

fn cells(values: &[Value]) -> Vec<Cell> {
    values.iter().cloned().map(Cell::Number).collect()
}

fn constants(words: impl IntoIterator<Item = i128>) -> Vec<Value> {
    words.into_iter().map(Number::constant).collect()
}

fn atom(value: &Value) -> Atom {
    value.polynomial.as_multiple().map_or(ONE, |(atom, _)| atom)
}

impl Frame {
    fn new() -> Self {
        Self {
            machine: Machine::new(),
        }
    }

    /// Unknown integers of so many vecs, by vec and lane.
    fn unknown(&mut self, vecs: usize, [least, most]: [i128; 2]) -> Vec<Value> {
        let unknown = |_| self.machine.algebra.input(least, most);
        (0..vecs * LANES).map(unknown).collect()
    }

    fn digits(&mut self, vecs: usize, bits: u32) -> Vec<Value> {
        self.unknown(vecs, [0, (1 << bits) - 1])
    }

    /// Memory at any address.
    fn region(&mut self, name: &'static str, cells: Vec<Cell>, is_written: bool) -> Region {
        self.machine.region(name, cells, is_written);
        let regions = &mut self.machine.regions;
        regions.last_mut().expect("there is one").alignment = WORD;
        Region(regions.len() - 1)
    }

    fn room(&mut self, name: &'static str, vecs: usize) -> Region {
        self.region(name, vec![Cell::Unknown; vecs * LANES], true)
    }

    fn cells(&self, region: Region) -> &[Cell] {
        &self.machine.regions[region.0].cells
    }

    /// Calls a function; registers hold anything else.
    fn call(&mut self, code: &Code, arguments: &[Word]) -> Result<(), Refusal> {
        self.machine.forget_registers();
        for (&register, &argument) in ARGUMENTS.iter().zip(arguments) {
            self.machine.general[register] = Some(argument);
        }
        let mut at = 0;
        for _ in 0..1 << 16 {
            match self.machine.step(code, at)? {
                Next::At(next) => at = next,
                Next::Returned => {
                    let is_lost = |&register: &usize| self.machine.general[register].is_some();
                    return match OF_THE_CALLER.iter().any(is_lost) {
                        true => Err("a register of the caller is lost".to_owned()),
                        false => Ok(()),
                    };
                }
            }
        }
        Err("no end".to_owned())
    }

    /// The number in a lane of a vec, within these bounds.
    fn number(&self, region: Region, vec: usize, lane: usize, [least, most]: [i128; 2]) -> Result<&Value, Refusal> {
        let Cell::Number(value) = &self.cells(region)[vec * LANES + lane] else {
            return Err(format!("vec {vec} of what is left is unknown"));
        };
        match value.scale == 0 && value.least >= least && value.most <= most {
            true => Ok(value),
            false => Err(format!(
                "vec {vec} of what is left is from {} to {}",
                value.least, value.most
            )),
        }
    }

    /// Shows that ten vecs in memory are the digits of ten columns, but for what the highest one carries.
    fn are_digits(&self, region: Region, first: usize, columns: &[Value]) -> Result<(), Refusal> {
        (0..LANES).try_for_each(|lane| {
            let mut identity = Identity::new(DIGIT_BITS);
            for place in 0..ROWS {
                let digit = self.number(region, first + place, lane, [0, LARGEST])?;
                identity.add(&digit.polynomial, -1, place);
                identity.add(&columns[place * LANES + lane].polynomial, 1, place);
            }
            let lost = self.lost(&identity, ROWS);
            lost.map_err(|left| format!("these are not its digits: {left}"))
        })
    }

    /// Shows that an identity holds, but for what a number may lose from a place on, which is no polynomial.
    fn lost(&self, identity: &Identity, from: usize) -> Result<(), Refusal> {
        for (monomial, digits) in identity.rest() {
            let is_lost = monomial.0 == ONE && monomial.1 != ONE;
            if !is_lost || digits.keys().any(|&place| place < from) {
                return Err(format!("{monomial:?} is left, times {digits:?}"));
            }
        }
        Ok(())
    }

    /// Shows that cells from vec `first` on hold these numbers.
    fn is_there(&self, region: Region, first: usize, values: &[Value], what: &str) -> Result<(), Refusal> {
        let cells = &self.cells(region)[first * LANES..];
        let is_same = |(cell, value): (&Cell, &Value)| cell.is(&Cell::Number(value.clone()));
        match cells.len() >= values.len() && cells.iter().zip(values).all(is_same) {
            true => Ok(()),
            false => Err(format!("{what}: something else is there")),
        }
    }
}

/// The ten digits of a quotient, among the atoms from `first` on; adds to an identity, `times` over, what is zero: for
/// each of them the column that it clears and its low product, less what is carried.
fn clear(
    identity: &mut Identity,
    algebra: &Algebra,
    first: usize,
    [n_0, inverse]: [Atom; 2],
    times: i128,
) -> Result<Vec<Atom>, Refusal> {
    let all = algebra.since(first).map(|(atom, _)| atom);
    let quotients: Vec<Atom> = all.filter(|&atom| algebra.were_multiplied(atom, n_0)).collect();
    if quotients.len() != ROWS {
        return Err(format!("{} digits of the quotient", quotients.len()));
    }
    let floors = algebra.since(first).filter_map(|(atom, known)| match &known.origin {
        Origin::Floor { of, bits: DIGIT_BITS } => Some((atom, of)),
        _ => None,
    });
    let floors: Vec<(Atom, &Polynomial)> = floors.collect();
    // Columns, from what is carried out of them.
    let carries = floors.iter().filter_map(|&(carry, of)| {
        let mut column = of.clone();
        column.add_term(Monomial::CONSTANT, -LARGEST);
        (column.coefficient(Monomial::CONSTANT) == 0).then_some((carry, column))
    });
    let carries: Vec<(Atom, Polynomial)> = carries.collect();
    for (place, &quotient) in quotients.iter().enumerate() {
        let known = algebra.known(quotient);
        if known.least < 0 || known.most > LARGEST {
            return Err("a digit of the quotient is too long".to_owned());
        }
        let product = Polynomial::of(Monomial::product(quotient, n_0), 1);
        let high = floors.iter().find(|(_, of)| **of == product);
        let (high, _) = high.ok_or("no high digit of q n_0")?;
        let is_cleared = |(_, column): &&(Atom, Polynomial)| {
            let mut sum = column.clone();
            sum.add(&product, 1);
            algebra.is_multiple(&sum, DIGIT_BITS, inverse, n_0)
        };
        let cleared = carries.iter().find(is_cleared);
        let (carry, column) = cleared.ok_or("a digit of the quotient clears no column")?;
        // column + q n_0 - X high - X carry.
        identity.add(column, times, place);
        identity.add(&product, times, place);
        identity.add_term(Monomial::of(*high), -times, place + 1);
        identity.add_term(Monomial::of(*carry), -times, place + 1);
    }
    Ok(quotients)
}

/// Masks of the lanes whose number has a bit, in a vec.
fn masks_of(wanted: &[usize; LANES]) -> Vec<Value> {
    let mask = |bit: usize| (0..LANES).fold(0, |mask, lane| mask | ((wanted[lane] >> bit & 1) << lane) as i128);
    constants((0..BITS).map(mask))
}

/// Numbers of entries, a byte each.
fn numbers(wanted: &[usize; LANES]) -> i128 {
    let bytes = wanted.iter().rev();
    bytes.fold(0, |word, &wanted| word << 8 | wanted as i128)
}

/// The first vecs of the wanted entries.
fn entries_of(table: &[Value], wanted: &[usize; LANES], digits: usize, vecs: usize) -> Vec<Value> {
    let all = (0..vecs).flat_map(|vec| (0..LANES).map(move |lane| (vec, lane)));
    let of = |(vec, lane): (usize, usize)| table[(wanted[lane] * digits + vec) * LANES + lane].clone();
    all.map(of).collect()
}

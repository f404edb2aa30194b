//! The rows of `mont52x2_ifma`: what `build/rows/` writes and `src/kernel/x86_64/ifma_rows.rs` promises.
//!
//! With X = 2^52, R = X^d, numbers a and b with a b < 25 n R / 16, n <= R / 16, n' = (m n + 1) / X and m n_0 = -1 mod
//! X, all in digits below X of which those from d on are zero, a function leaves a^2 / R mod n as often as asked, and
//! then a b / R mod n.
//!
//! A function is cut at the head of its loop over squarings, behind it, and behind the multiplication. At each cut a
//! becomes new unknown digits within the promised bounds, and everything but constants, moduli and b is forgotten; the
//! constants at the loop's head must be there again when it comes back. So what is shown of one squaring holds for any
//! number of them.
//!
//! Of an operation is shown, with the digits r of its result as polynomials,
//!
//! ```text
//! R r + R X^places f = a b + sum over k < d - 1 of q_k X^k (X n' - 1) + q_(d-1) X^(d-1) n
//! ```
//!
//! for all values of the atoms, where 0 <= q_k < X are the digits of the quotient, and 0 <= f what the highest places
//! lose. One relation enters that is no equation of polynomials: the last word that is dropped, s + q_(d-1) n_0 less
//! what was carried, is a multiple of X, and so nothing is lost with it. As X n' - 1 = m n, the right side is a b + n
//! times less than 2 R. So r + X^places f < 25 n / 16 + 2 n < 5 n < R: f is zero, and so are the digits of r from d
//! on.

mod product;

use super::algebra::{Number, Origin, Value};
use super::code::{Code, Operand};
use super::generated::rows::{Constants, WORKING_VECTORS};
use super::machine::{Cell, LANES, Machine, Next, Word};
use super::polynomial::{Atom, Refusal};
use std::collections::{BTreeSet, HashSet};
use std::mem::offset_of;
use std::rc::Rc;

const DIGIT_BITS: u32 = 52;
const DIGITS_OF_A_QUAD: usize = 4;
const RCX: u8 = 1;
const RDX: usize = 2;
const RSI: u8 = 6;
const RDI: usize = 7;

/// The bounds that the callers of a function keep to.
#[derive(Clone, Copy)]
pub(super) struct Contract {
    pub(super) digits: usize,
    pub(super) numbers: usize,
    /// Of a digit that goes in.
    pub(super) digit_bits: u32,
    /// R is at least 2^spare n.
    pub(super) spare: u32,
}

impl Contract {
    pub(super) fn new(digits: usize, numbers: usize) -> Self {
        Self {
            digits,
            numbers,
            digit_bits: DIGIT_BITS,
            spare: 4,
        }
    }

    fn places(self) -> usize {
        self.digits.next_multiple_of(DIGITS_OF_A_QUAD)
    }

    fn vectors(self) -> usize {
        self.digits.div_ceil(LANES)
    }

    /// The word of a value with a digit of a number.
    fn place(self, number: usize, digit: usize) -> usize {
        let (quad, place) = (digit / DIGITS_OF_A_QUAD, digit % DIGITS_OF_A_QUAD);
        (quad * self.numbers + number) * DIGITS_OF_A_QUAD + place
    }

    /// 25 n / 2^spare + 2 n < 5 n < R, where a b < 25 n R / 2^spare, as it is for a, b < 5 n.
    fn keeps_values_small(self) -> bool {
        let times = 1u64 << self.spare;
        25 + 2 * times < 5 * times && 5 < times
    }
}

/// Instructions at which a function is cut.
struct Cuts {
    head: usize,
    multiplication: usize,
    end: usize,
}

impl Cuts {
    fn of(code: &Code) -> Result<Self, Refusal> {
        let instructions = &code.instructions;
        let is_test = |at: usize, register: u8| {
            let tests = instructions
                .get(at)
                .filter(|instruction| instruction.mnemonic == "test");
            tests.is_some_and(|tests| tests.operands == [Operand::General(register), Operand::General(register)])
        };
        let jump = |at: usize, mnemonic: &str| {
            let jump = instructions
                .get(at)
                .filter(|instruction| instruction.mnemonic == mnemonic);
            jump.and_then(|jump| jump.target).ok_or("a function of another shape")
        };
        let first = (0..instructions.len())
            .find(|&at| is_test(at, RCX))
            .ok_or("no count is tested")?;
        let multiplication = jump(first + 1, "je")?;
        if !is_test(multiplication, RSI) {
            return Err("no pointer to b is tested behind the loop".to_owned());
        }
        Ok(Self {
            head: jump(multiplication - 1, "jne")?,
            multiplication,
            end: jump(multiplication + 1, "je")?,
        })
    }
}

/// A place that holds a digit of a.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Location {
    Lane(usize, usize),
    Memory(usize, usize),
}

/// A number's modulus.
struct Modulus {
    multiple: Vec<Value>,
    n: Vec<Value>,
    inverse: Value,
}

struct Run<'a> {
    code: &'a Code,
    cuts: &'a Cuts,
    contract: Contract,
    machine: Machine,
    moduli: Vec<Modulus>,
    /// Digits of each number, as they are at the last cut.
    a: Vec<Vec<Value>>,
    b: Vec<Vec<Value>>,
    /// The places of each number's digits between operations, once they are known.
    locations: Vec<Vec<Location>>,
    /// Other registers that hold the same digits at the last cut: number, digit, register and lane.
    copies: Vec<(usize, usize, Location)>,
    /// Atoms that stay.
    given: HashSet<Atom>,
    working: usize,
}

/// Certifies a function, or says why not.
pub(super) fn certify(code: &Code, contract: Contract) -> Result<(), Refusal> {
    if !contract.keeps_values_small() {
        return Err("results may exceed 5 n".to_owned());
    }
    let cuts = Cuts::of(code)?;
    // What does not stay the same from one round of the loop to the next, of what its first round finds.
    let mut changing = BTreeSet::new();
    for (times, has_b) in [(2, true), (1, false), (0, true)] {
        loop {
            let run = Run::new(code, &cuts, contract, times, has_b);
            let shown = run.all(&changing);
            let more = shown
                .map_err(|refusal| format!("{times} squarings, {}b: {refusal}", if has_b { "" } else { "no " }))?;
            if more.is_empty() {
                break;
            }
            changing.extend(more);
        }
    }
    Ok(())
}

impl<'a> Run<'a> {
    fn new(code: &'a Code, cuts: &'a Cuts, contract: Contract, times: i64, has_b: bool) -> Self {
        let Contract { digits, numbers, .. } = contract;
        let words = contract.vectors() * LANES;
        let mut machine = Machine::new();
        let number = |machine: &mut Machine| -> Vec<Value> {
            let largest = (1i128 << contract.digit_bits) - 1;
            let digit = |place: usize| machine.algebra.input(0, if place < digits { largest } else { 0 });
            (0..words).map(digit).collect()
        };
        let moduli: Vec<Modulus> = (0..numbers)
            .map(|_| Modulus {
                multiple: number(&mut machine),
                n: number(&mut machine),
                inverse: machine.algebra.input(1, (1 << DIGIT_BITS) - 1),
            })
            .collect();
        let mut values = || (0..numbers).map(|_| number(&mut machine)).collect::<Vec<_>>();
        let b = values();
        let given = (0..machine.algebra.atoms() as Atom).collect();
        let mut values = || (0..numbers).map(|_| number(&mut machine)).collect::<Vec<_>>();
        let a = values();
        let in_memory = |value: &[Vec<Value>]| {
            let mut cells = vec![Cell::Unknown; numbers * contract.places()];
            for (number, digits) in value.iter().enumerate() {
                for (digit, value) in digits[..contract.places()].iter().enumerate() {
                    cells[contract.place(number, digit)] = Cell::Number(value.clone());
                }
            }
            cells
        };
        let moduli_in_memory = moduli.iter().flat_map(|modulus| {
            let digits = modulus.multiple.iter().chain(&modulus.n).chain([&modulus.inverse]);
            let rest = vec![Cell::Unknown; LANES - 1];
            digits
                .map(|digit| Cell::Number(digit.clone()))
                .chain(rest)
                .collect::<Vec<_>>()
        });
        machine.general[RDI] = Some(machine.region("a", in_memory(&a), true));
        machine.general[usize::from(RSI)] = Some(match has_b {
            true => machine.region("b", in_memory(&b), false),
            false => Word::Integer(0),
        });
        machine.general[RDX] = Some(machine.region("the moduli", moduli_in_memory.collect(), false));
        machine.general[usize::from(RCX)] = Some(Word::Integer(times));
        let working = vec![Cell::Unknown; numbers * WORKING_VECTORS * words];
        let working = machine.region("working memory", working, true);
        machine.general[8] = Some(working);
        machine.general[9] = Some(machine.region("the constants", constants(), false));
        let Word::Pointer { region: working, .. } = working else {
            unreachable!("a region has a pointer")
        };
        // Values lie at any address.
        for region in machine
            .regions
            .iter_mut()
            .filter(|region| ["a", "b"].contains(&region.name))
        {
            region.alignment = 8;
        }
        Self {
            code,
            cuts,
            contract,
            machine,
            moduli,
            a,
            b,
            locations: Vec::new(),
            copies: Vec::new(),
            given,
            working,
        }
    }

    /// Runs the function. At the loop's head cells of which `changing` has the numbers hold anything; returns those
    /// that should be among them and are not.
    fn all(mut self, changing: &BTreeSet<usize>) -> Result<Vec<usize>, Refusal> {
        let Cuts {
            head,
            multiplication,
            end,
        } = *self.cuts;
        let has_b = self.machine.general[usize::from(RSI)] != Some(Word::Integer(0));
        let (mut at, mut last, mut first_atom) = (0, None, 0);
        let mut at_head: Option<(Vec<Cell>, Vec<_>)> = None;
        for _ in 0..1 << 16 {
            if [head, multiplication, end].contains(&at) {
                match last {
                    None => self.locate()?,
                    Some(from) if from == head => self.operation("a squaring", &self.a, first_atom)?,
                    Some(_) if has_b => self.operation("a multiplication", &self.b, first_atom)?,
                    Some(_) => self.is_unchanged()?,
                }
                // Each round of the loop finds a in one place, as the first one does.
                self.copies = if at == head { Vec::new() } else { self.find_copies() };
                self.cut();
                if at == head {
                    for &cell in changing {
                        *self.cell_mut(cell) = Cell::Unknown;
                    }
                    let (cells, masks) = at_head.get_or_insert_with(|| (self.cells(), self.machine.masks.all()));
                    let differs = |now: &Cell, then: &Cell| matches!(then, Cell::Number(_)) && !now.is(then);
                    let changed = self.cells().into_iter().zip(&*cells).enumerate();
                    let changed = changed.filter(|(_, (now, then))| differs(now, then)).map(|(at, _)| at);
                    let changed: Vec<usize> = changed.collect();
                    if !changed.is_empty() {
                        return Ok(changed);
                    }
                    if !self.machine.masks.know_all_of(masks) {
                        return Err("the loop does not come back to the masks that it began with".to_owned());
                    }
                }
                self.begin();
                (last, first_atom) = (Some(at), self.machine.algebra.atoms());
            }
            match self.machine.step(self.code, at)? {
                Next::At(next) => at = next,
                Next::Returned => return self.returned().map(|()| Vec::new()),
            }
        }
        Err("no end".to_owned())
    }

    /// Where the function has put the digits of a.
    fn locate(&mut self) -> Result<(), Refusal> {
        let Contract { digits, numbers, .. } = self.contract;
        let find = |value: &Value| {
            let is_it = |cell: &Cell| cell.is(&Cell::Number(value.clone()));
            let memory = self.machine.regions[self.working].cells.iter().position(is_it);
            let memory = memory.map(|at| Location::Memory(self.working, at));
            let registers = (0..32).flat_map(|register| (0..LANES).map(move |lane| (register, lane)));
            let mut lanes = registers.filter(|&(register, lane)| is_it(&self.machine.vectors[register][lane]));
            memory.or_else(|| lanes.next().map(|(register, lane)| Location::Lane(register, lane)))
        };
        for number in 0..numbers {
            let mut locations = Vec::new();
            for digit in 0..self.contract.places() {
                // Digits that are zero are behind one that is not.
                let known = digit.min(digits - 1);
                let location = find(&self.a[number][known]).ok_or("a digit is not loaded")?;
                locations.push(match location {
                    Location::Lane(register, lane) => Location::Lane(register, lane + digit - known),
                    Location::Memory(region, at) => Location::Memory(region, at + digit - known),
                });
            }
            self.locations.push(locations);
        }
        Ok(())
    }

    fn at(&mut self, location: Location) -> &mut Cell {
        match location {
            Location::Lane(register, lane) => &mut self.machine.vectors[register][lane],
            Location::Memory(region, at) => &mut self.machine.regions[region].cells[at],
        }
    }

    fn find_copies(&self) -> Vec<(usize, usize, Location)> {
        let mut copies = Vec::new();
        let all = self.locations.iter().enumerate();
        for (number, (digit, &location)) in all.flat_map(|(i, all)| all.iter().enumerate().map(move |at| (i, at))) {
            let Cell::Number(value) = self.cell(location) else {
                continue;
            };
            for (register, lanes) in self.machine.vectors.iter().enumerate() {
                for (lane, cell) in lanes.iter().enumerate() {
                    let copy = Location::Lane(register, lane);
                    if copy != location && matches!(cell, Cell::Number(same) if Rc::ptr_eq(value, same)) {
                        copies.push((number, digit, copy));
                    }
                }
            }
        }
        copies
    }

    /// Forgets what the next operation must not depend on.
    fn cut(&mut self) {
        let (given, algebra) = (&self.given, &self.machine.algebra);
        let stays = |cell: &Cell| match cell {
            Cell::Number(value) => {
                let atom = value.polynomial.as_multiple();
                value.as_constant().is_some()
                    || atom.is_some_and(|(atom, times)| {
                        let is_whole = matches!(algebra.known(atom).origin, Origin::Given);
                        times == 1 && is_whole && given.contains(&atom)
                    })
            }
            Cell::Unknown | Cell::Public(_) => false,
        };
        let written = self.machine.regions.iter_mut().filter(|region| region.is_written);
        let memory = written.flat_map(|region| &mut region.cells);
        for cell in self.machine.vectors.iter_mut().flatten().chain(memory) {
            if !stays(cell) {
                *cell = Cell::Unknown;
            }
        }
        self.machine.masks.forget();
        for location in self.locations.concat() {
            *self.at(location) = Cell::Unknown;
        }
    }

    /// Registers and working memory.
    fn cells(&self) -> Vec<Cell> {
        let memory = &self.machine.regions[self.working].cells;
        self.machine.vectors.iter().flatten().chain(memory).cloned().collect()
    }

    /// One of them.
    fn cell_mut(&mut self, at: usize) -> &mut Cell {
        let memory = &mut self.machine.regions[self.working].cells;
        self.machine
            .vectors
            .iter_mut()
            .flatten()
            .chain(memory)
            .nth(at)
            .expect("there are so many")
    }

    /// Shows that a is what it was at the last cut.
    fn is_unchanged(&self) -> Result<(), Refusal> {
        let all = self
            .locations
            .iter()
            .flatten()
            .zip(self.a.iter().flat_map(|a| &a[..self.contract.places()]));
        match all
            .into_iter()
            .all(|(&location, value)| self.cell(location).is(&Cell::Number(value.clone())))
        {
            true => Ok(()),
            false => Err("a changes where nothing is multiplied".to_owned()),
        }
    }

    fn cell(&self, location: Location) -> &Cell {
        match location {
            Location::Lane(register, lane) => &self.machine.vectors[register][lane],
            Location::Memory(region, at) => &self.machine.regions[region].cells[at],
        }
    }

    /// New digits of a.
    fn begin(&mut self) {
        let largest = (1i128 << self.contract.digit_bits) - 1;
        let places = self.contract.places();
        for (number, digit) in (0..self.contract.numbers).flat_map(|i| (0..places).map(move |place| (i, place))) {
            let most = if digit < self.contract.digits { largest } else { 0 };
            let value = self.machine.algebra.input(0, most);
            let location = self.locations[number][digit];
            *self.at(location) = Cell::Number(value.clone());
            self.a[number][digit] = value;
        }
        for (number, digit, copy) in std::mem::take(&mut self.copies) {
            *self.at(copy) = Cell::Number(self.a[number][digit].clone());
        }
    }

    /// Shows that the digits of a are where the caller has them.
    fn returned(&self) -> Result<(), Refusal> {
        let Some(Word::Pointer { region, .. }) = self.machine.general[RDI] else {
            return Err("the pointer to a is lost".to_owned());
        };
        for (number, digits) in self.a.iter().enumerate() {
            for (digit, value) in digits[..self.contract.places()].iter().enumerate() {
                let cell = &self.machine.regions[region].cells[self.contract.place(number, digit)];
                if !cell.is(&Cell::Number(value.clone())) {
                    return Err(format!("digit {digit} of number {number} is not stored"));
                }
            }
        }
        Ok(())
    }
}

/// The constants of `ifma_rows.rs`.
fn constants() -> Vec<Cell> {
    let values = Constants {
        shifts: [DIGIT_BITS.into(), 64, 64, 64, 64, 64, 64, 64],
        largest_digit: [(1 << DIGIT_BITS) - 1; LANES],
        lower_pairs: [0, 8, 1, 9, 2, 10, 3, 11],
        upper_pairs: [4, 12, 5, 13, 6, 14, 7, 15],
    };
    type Vectors = Constants<[i128; LANES]>;
    let vectors = size_of::<Vectors>() / size_of::<[i128; LANES]>();
    let mut cells = vec![Cell::Unknown; vectors * LANES];
    for (offset, vector) in [
        (offset_of!(Vectors, shifts), values.shifts),
        (offset_of!(Vectors, largest_digit), values.largest_digit),
        (offset_of!(Vectors, lower_pairs), values.lower_pairs),
        (offset_of!(Vectors, upper_pairs), values.upper_pairs),
    ] {
        for (cell, word) in cells[offset / size_of::<i128>()..].iter_mut().zip(vector) {
            *cell = Cell::Number(Number::constant(word));
        }
    }
    cells
}

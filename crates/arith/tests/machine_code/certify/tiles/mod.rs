//! The tiles of `mont47x2_avx2fma`: what `build/tiles/` writes, called as `src/kernel/x86_64/avx2_tiles.rs` does.
//!
//! # Contract
//!
//! X = 2^W, R = X^L, R >= 32 n, n n* = -1 mod R. Digits have signs and are at most B = X / 2 + 2^(54 - W). Numbers a
//! and b with |a b| < 1.21 n R / 32, as it is for |a|, |b| < 1.1 n. The result is r = a b / R mod n, |r| < 0.54 n, in
//! such digits.
//!
//! # Argument
//!
//! The plan is run tile by tile: tau, the lower half of a b; then q = tau n* mod R; then the upper half of a b and of q
//! n. Two equations between polynomials are shown, where c_q and c are what is left for the column above:
//!
//! ```text
//! q + R c_q                                           = the products of digits of tau and n* below R
//! R (r + R c) - a b - q n + tau + (columns of q n below R) = R v
//! ```
//!
//! 1. By the first one, q = tau n* mod R. So tau + q n, and tau + (columns of q n below R), are multiples of R.
//! 2. v has integer coefficients, and its atoms are integers. So d = R (r + R c) - a b - q n is a multiple of R, too.
//! 3. d is R v less tau and those columns. v has the high parts of column L - 1, and what is rounded of its low part,
//!    the highest digit of tau, and the high parts of column L - 2. What is rounded away is at most R / 2. What is left
//!    out, low parts of column L - 2, the columns below, and the other digits of tau, is below R / 4. So |d| < R, and d
//!    = 0.
//! 4. |r + R c| = |a b + q n| / R < 0.54 n, as |q| is little more than R / 2. |r| <= B (1 + X + ...) < 0.6 R. So c = 0.

mod product;

use super::algebra::{Number, Value};
use super::code::Code;
use super::generated::tiles::{Constants, High, Start, Step, Tile};
use super::machine::{Cell, Machine, Next, WORD, Word};
use super::polynomial::Refusal;
use super::tile_plan::{constants, tiles};
use std::mem::{offset_of, size_of};
use std::rc::Rc;

const RDX: usize = 2;
const RSI: usize = 6;
const RDI: usize = 7;
const VECTOR: usize = 4;

/// The form of the numbers, and what the callers keep to.
#[derive(Clone, Copy)]
pub(super) struct Contract {
    pub(super) numbers: usize,
    /// Bits of a digit.
    pub(super) width: u32,
    pub(super) digits: usize,
    pub(super) squares: bool,
    /// By how much a digit may be longer than half of 2^width.
    pub(super) excess: i128,
}

impl Contract {
    pub(super) fn new(numbers: usize, width: u32, digits: usize, squares: bool) -> Self {
        Self {
            numbers,
            width,
            digits,
            squares,
            excess: 1 << (54 - width),
        }
    }

    fn pairs(self) -> usize {
        self.digits / 2
    }

    /// As `mont47::form::Form::is_joined`.
    fn is_joined(self) -> bool {
        2 * self.digits < 1 << (53 - self.width)
    }

    fn half(self) -> i128 {
        1 << (self.width - 1)
    }

    fn largest_digit(self) -> i128 {
        self.half() + self.excess
    }
}

/// The name of a tile's text, as `build/tiles/` has it.
fn name(tile: &Tile) -> String {
    let operation = if tile.squares { "square" } else { "product" };
    let part = match tile.high {
        None => "low",
        Some(High { is_lowest: false, .. }) => "high",
        Some(High { is_lowest: true, .. }) => "lowest",
    };
    let joined = if tile.high.is_some_and(|high| high.is_joined) {
        "_joined"
    } else {
        ""
    };
    format!("{operation}_{part}{joined}_{}x{}", tile.columns, tile.numbers)
}

/// The results for one number.
struct Computed {
    a: Vec<Value>,
    b: Vec<Value>,
    n: Vec<Value>,
    inverse: Vec<Value>,
    /// The digits of the lower half of a b, of the quotient, and of the result.
    tau: Vec<Value>,
    q: Vec<Value>,
    result: Vec<Value>,
    /// The rest for the column above, high part and carry: by the quotient, and by all sums at the end.
    above_q: [Value; 2],
    above: Vec<[Value; 2]>,
}

struct Run<'a> {
    contract: Contract,
    machine: Machine,
    code: &'a dyn Fn(&str) -> Code,
}

/// Certifies a product or a square, or says why not. `code` has the tiles by their names.
pub(super) fn certify(contract: Contract, code: &dyn Fn(&str) -> Code) -> Result<(), Refusal> {
    let run = Run {
        contract,
        machine: Machine::new(),
        code,
    };
    run.all()
}

impl Run<'_> {
    fn all(mut self) -> Result<(), Refusal> {
        let contract = self.contract;
        let largest = contract.largest_digit();
        let a = self.number(largest);
        let b = if contract.squares {
            a.clone()
        } else {
            self.number(largest)
        };
        let (n, inverse) = (self.number(contract.half()), self.number(contract.half()));

        let [pairs, moved] = self.operand("a", &a);
        let [modulus_pairs, modulus_moved] = self.operand("n", &n);
        let [inverse_pairs, inverse_moved] = self.operand("-1 / n", &inverse);
        let twice = |a: &Vec<Value>| a.iter().map(|digit| Number::times(digit, 2)).collect();
        let twice = a.iter().map(twice).collect::<Result<Vec<Vec<Value>>, Refusal>>()?;
        let plain = self.value("b", &b);
        let first = if contract.squares {
            self.value("2 a", &twice)
        } else {
            plain
        };
        let room = vec![Cell::Unknown; contract.numbers * contract.digits];
        let (out, quotient) = (
            self.region("the result", room.clone(), true),
            self.region("q", room, true),
        );
        // High parts and carries, which begin with nothing.
        let carries = || vec![Cell::Number(Number::constant(0)); 2 * VECTOR];
        let below = self.region("carries", carries(), true);
        let below_of_q = self.region("carries of q", carries(), true);
        let sum_below = self.region("carries of the sum", carries(), true);
        let mut starts = Start {
            pairs,
            moved,
            b: first,
            plain,
            modulus_pairs,
            modulus_moved,
            quotient,
            out,
            below,
            sum_below,
            tau: away(out, (WORD * 2 * contract.numbers * (contract.pairs() - 1)) as i64),
        };
        let of_q = Start {
            pairs: inverse_pairs,
            moved: inverse_moved,
            b: out,
            out: quotient,
            below: below_of_q,
            ..starts
        };
        let constants = self.constants();
        let is_joined = contract.is_joined();
        let of_factors = tiles(contract.numbers, contract.pairs(), contract.squares, is_joined);
        let of_quotient = tiles(contract.numbers, contract.pairs(), false, is_joined);
        self.calls(&of_factors.low, &starts, constants)?;
        let tau = self.digits(out)?;
        self.calls(&of_quotient.low, &of_q, constants)?;
        let q = self.digits(quotient)?;
        let above_q = self.above(below_of_q)?;
        if is_joined {
            starts.sum_below = starts.below;
        }
        self.calls(&of_factors.high, &starts, constants)?;
        let result = self.digits(out)?;
        let mut above = vec![self.above(starts.sum_below)?];
        if !is_joined {
            above.push(self.above(starts.below)?);
        }
        for number in 0..contract.numbers {
            let computed = Computed {
                a: a[number].clone(),
                b: b[number].clone(),
                n: n[number].clone(),
                inverse: inverse[number].clone(),
                tau: tau[number].clone(),
                q: q[number].clone(),
                result: result[number].clone(),
                above_q: above_q[number].clone(),
                above: above.iter().map(|above| above[number].clone()).collect(),
            };
            let shown = self.product(&computed);
            shown.map_err(|refusal| format!("number {number}: {refusal}"))?;
        }
        Ok(())
    }

    /// Unknown digits of each number.
    fn number(&mut self, largest: i128) -> Vec<Vec<Value>> {
        let Contract { numbers, digits, .. } = self.contract;
        let algebra = &mut self.machine.algebra;
        let mut number = || (0..digits).map(|_| algebra.input(-largest, largest)).collect();
        (0..numbers).map(|_| number()).collect()
    }

    fn region(&mut self, name: &'static str, cells: Vec<Cell>, is_written: bool) -> Word {
        let pointer = self.machine.region(name, cells, is_written);
        // Numbers lie at any address.
        self.machine.regions.last_mut().expect("it is there").alignment = WORD;
        pointer
    }

    /// Numbers as pairs of digits, those of all numbers side by side.
    fn value(&mut self, name: &'static str, value: &[Vec<Value>]) -> Word {
        let pairs =
            (0..self.contract.pairs()).flat_map(|pair| value.iter().map(move |digits| &digits[2 * pair..][..2]));
        let cells = pairs.flatten().map(|digit| Cell::Number(digit.clone()));
        let cells = cells.collect();
        self.region(name, cells, false)
    }

    /// Numbers against the columns, as `mont47x2::operand::Operand` has them.
    fn operand(&mut self, name: &'static str, value: &[Vec<Value>]) -> [Word; 2] {
        let digit = |digits: &Vec<Value>, at: Option<usize>| {
            let digit = at.and_then(|at| digits.get(at).cloned());
            Cell::Number(digit.unwrap_or_else(|| Number::constant(0)))
        };
        let pair = |digits: &Vec<Value>, j: usize| [digit(digits, Some(2 * j)), digit(digits, Some(2 * j + 1))];
        let moved = |digits: &Vec<Value>, j: usize| [digit(digits, (2 * j).checked_sub(1)), digit(digits, Some(2 * j))];
        let pairs = 0..=self.contract.pairs();
        let [pairs, moved]: [Vec<Cell>; 2] = match value {
            [one] => [
                pairs.flat_map(|j| [pair(one, j), moved(one, j)].concat()).collect(),
                Vec::new(),
            ],
            _ => [
                pairs
                    .clone()
                    .flat_map(|j| value.iter().flat_map(move |digits| pair(digits, j)))
                    .collect(),
                pairs
                    .flat_map(|j| value.iter().flat_map(move |digits| moved(digits, j)))
                    .collect(),
            ],
        };
        [self.region(name, pairs, false), self.region(name, moved, false)]
    }

    fn constants(&mut self) -> Word {
        let values = constants(self.contract.width as i32);
        let mut cells = vec![Cell::Unknown; size_of::<Constants<[f64; VECTOR]>>() / WORD];
        let mut put = |offset: usize, vector: [f64; VECTOR]| {
            for (cell, double) in cells[offset / WORD..].iter_mut().zip(vector) {
                *cell = Cell::Number(exactly(double));
            }
        };
        macro_rules! put {
            ($($field:ident)*) => {
                $(put(offset_of!(Constants<[f64; VECTOR]>, $field), values.$field);)*
            };
        }
        put!(origin inverse_radix minus_radix integer diagonal first_of_one second_of_one);
        put!(diagonal_reversed first_of_one_reversed second_of_one_reversed);
        // Vectors of constants are on their borders, which is as much as is asked for.
        self.machine.region("the constants", cells, false)
    }

    fn calls(&mut self, calls: &[(Tile, Step<usize>)], starts: &Start<Word>, constants: Word) -> Result<(), Refusal> {
        let mut start_cells = vec![Cell::Unknown; size_of::<Start<u64>>() / WORD];
        let mut step_cells = vec![Cell::Unknown; size_of::<Step<u64>>() / WORD];
        macro_rules! put {
            ($cells:ident, $of:ident, $values:expr, $word:expr, $($field:ident)*) => {
                $($cells[offset_of!($of<u64>, $field) / WORD] = Cell::Public($word($values.$field));)*
            };
        }
        let pointer = |pointer: Word| pointer;
        put!(start_cells, Start, starts, pointer, pairs moved b plain modulus_pairs modulus_moved);
        put!(start_cells, Start, starts, pointer, quotient out below sum_below tau);
        let starts = self.region("the starts", start_cells, false);
        for (tile, step) in calls {
            let integer = |number: usize| Word::Integer(number as i64);
            put!(step_cells, Step, step, integer, pairs b plain rows modulus_pairs quotient quotient_rows out);
            let step = self.region("the step", step_cells.clone(), false);
            let name = name(tile);
            let code = (self.code)(&name);
            self.call(&code, [step, starts, constants])
                .map_err(|refusal| format!("{name}: {refusal}"))?;
        }
        Ok(())
    }

    fn call(&mut self, code: &Code, [step, starts, constants]: [Word; 3]) -> Result<(), Refusal> {
        let machine = &mut self.machine;
        // Nothing is left in a register by the caller, or by the call before.
        machine.forget_registers();
        machine.general[RDI] = Some(step);
        machine.general[RSI] = Some(starts);
        machine.general[RDX] = Some(constants);
        let mut at = 0;
        for _ in 0..1 << 20 {
            match machine.step(code, at)? {
                Next::At(next) => at = next,
                Next::Returned => return Ok(()),
            }
        }
        Err("no end".to_owned())
    }

    fn known(&self, pointer: Word, at: usize) -> Result<Value, Refusal> {
        let Word::Pointer { region, .. } = pointer else {
            unreachable!("a region has a pointer")
        };
        let region = &self.machine.regions[region];
        match &region.cells[at] {
            Cell::Number(value) if value.scale == 0 => Ok(Rc::clone(value)),
            _ => Err(format!("word {at} of {} is unknown", region.name)),
        }
    }

    /// Each number's digits, which must be as short as those that go in.
    fn digits(&self, from: Word) -> Result<Vec<Vec<Value>>, Refusal> {
        let Contract { numbers, digits, .. } = self.contract;
        let digit = |number: usize, digit: usize| {
            let value = self.known(from, 2 * (digit / 2 * numbers + number) + digit % 2)?;
            match value.size() <= self.contract.largest_digit() {
                true => Ok(value),
                false => Err(format!("digit {digit} is from {} to {}", value.least, value.most)),
            }
        };
        (0..numbers)
            .map(|number| (0..digits).map(|i| digit(number, i)).collect())
            .collect()
    }

    /// The rest that a sum leaves for the column above, of each number: in the odd places of two vectors.
    fn above(&self, from: Word) -> Result<Vec<[Value; 2]>, Refusal> {
        let of = |number: usize| {
            Ok([
                self.known(from, 2 * number + 1)?,
                self.known(from, VECTOR + 2 * number + 1)?,
            ])
        };
        (0..self.contract.numbers).map(of).collect()
    }
}

fn away(pointer: Word, by: i64) -> Word {
    match pointer {
        Word::Pointer { region, at } => Word::Pointer { region, at: at + by },
        Word::Integer(_) => unreachable!("a region has a pointer"),
    }
}

/// The value of a double, which is an integer or one divided by a power of two.
fn exactly(double: f64) -> Value {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = double.to_bits();
    let (exponent, fraction) = (
        (bits >> FRACTION & 0x7ff) as i32,
        i128::from(bits & ((1 << FRACTION) - 1)),
    );
    if exponent == 0 {
        assert_eq!(fraction, 0, "nothing is subnormal");
        return Number::constant(0);
    }
    let whole = fraction | 1 << FRACTION;
    let (whole, exponent) = (
        whole >> whole.trailing_zeros(),
        exponent - 1075 + whole.trailing_zeros() as i32,
    );
    let whole = if double < 0.0 { -whole } else { whole };
    let value = Number::constant(whole << exponent.max(0));
    let mut number = Number::take(value);
    number.scale = exponent.min(0);
    Rc::new(number)
}

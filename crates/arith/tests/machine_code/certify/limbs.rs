//! The meaning of instructions on limbs of 64 bits in general registers, where a function may have them there.
//!
//! A sum leaves its carry, floor((x + y + carry) / 2^64), in one of two flags. The last carry of a row is none because
//! of the value of the row: with k limbs below 2^64 each, r + digit m < 2^(64 (k + 1)). That the row's registers hold
//! this value is shown where the row ends, as an equation between polynomials; then nothing carries out of its top.
//!
//! One carry is decided by cases: that of the last sum, by which n is subtracted. A function is run once for each.

use super::algebra::{Number, Value};
use super::code::{Instruction, Memory, Operand};
use super::identity::Identity;
use super::machine::{Cell, Machine, WORD, Word};
use super::polynomial::Refusal;
use std::rc::Rc;

const BITS: u32 = 64;
const RDX: usize = 2;
const RSP: u8 = 4;

/// Limbs in registers, and flags. A register holds a limb or a public word.
#[derive(Default)]
pub(super) struct Limbs {
    values: [Option<Value>; 16],
    /// CF, OF and ZF.
    carry: Option<Value>,
    overflow: Option<Value>,
    zero: Option<bool>,
    row: Option<Row>,
    /// The case: what the last sum carries.
    pub(super) case: bool,
    /// The value that is decided by cases.
    pub(super) decided: Option<Value>,
}

/// A row that has begun: one digit times some limbs, onto registers.
struct Row {
    top: u8,
    before: [Option<Value>; 16],
    digit: Option<Value>,
    pending: Option<Value>,
    columns: Vec<(u8, Value)>,
}

impl Machine {
    /// Allows limbs in general registers.
    pub(super) fn have_limbs(&mut self, case: bool) {
        self.limbs = Some(Limbs {
            case,
            ..Limbs::default()
        });
    }

    /// Limbs may be anything.
    pub(super) fn forget_limbs(&mut self) {
        let case = self.limbs().case;
        self.have_limbs(case);
    }

    pub(super) fn limbs(&mut self) -> &mut Limbs {
        self.limbs.as_mut().expect("limbs are allowed")
    }

    pub(super) fn set_register(&mut self, register: u8, cell: Cell) {
        self.write(&Operand::General(register), cell)
            .expect("a register takes everything");
    }

    fn read(&mut self, operand: &Operand) -> Result<Cell, Refusal> {
        match operand {
            Operand::Immediate(number) => Ok(Cell::Public(Word::Integer(*number))),
            &Operand::General(register) => {
                let register = usize::from(register);
                let limb = self.limbs().values[register].clone().map(Cell::Number);
                Ok(limb.or(self.general[register].map(Cell::Public)).unwrap_or_default())
            }
            Operand::Memory(memory) => Ok(self.cells(memory, 1, 1)?.swap_remove(0)),
            _ => Err("a vector would come into a general register".to_owned()),
        }
    }

    pub(super) fn limb(&mut self, operand: &Operand) -> Result<Value, Refusal> {
        match self.read(operand)? {
            Cell::Number(value) => Ok(value),
            Cell::Public(Word::Integer(number @ 0..)) => Ok(Number::constant(number.into())),
            _ => Err("computed with something that is no limb".to_owned()),
        }
    }

    fn write(&mut self, operand: &Operand, cell: Cell) -> Result<(), Refusal> {
        match operand {
            &Operand::General(register) => {
                let register = usize::from(register);
                (self.general[register], self.limbs().values[register]) = match cell {
                    Cell::Public(word) => (Some(word), None),
                    Cell::Number(value) => (None, Some(value)),
                    Cell::Unknown => (None, None),
                };
                Ok(())
            }
            Operand::Memory(memory) => self.store(memory, &[cell], 1),
            _ => Err("not known".to_owned()),
        }
    }

    /// The stack's top moves by so many bytes.
    fn move_stack(&mut self, by: i64) -> Result<(), Refusal> {
        match &mut self.general[usize::from(RSP)] {
            Some(Word::Pointer { at, .. }) => {
                *at += by;
                Ok(())
            }
            _ => Err("the stack is lost".to_owned()),
        }
    }

    pub(super) fn run_limbs(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let top = Operand::Memory(Memory {
            base: RSP,
            index: None,
            displacement: 0,
            broadcast: false,
        });
        match (&*instruction.mnemonic, &instruction.operands[..]) {
            ("nop", _) => Ok(()),
            ("push", [from]) => {
                let cell = self.read(from)?;
                self.move_stack(-(WORD as i64))?;
                self.write(&top, cell)
            }
            ("pop", [to]) => {
                let cell = self.read(&top)?;
                self.move_stack(WORD as i64)?;
                self.write(to, cell)
            }
            ("sub" | "add", [Operand::General(RSP), Operand::Immediate(by)]) => {
                self.forget_flags();
                self.move_stack(if instruction.mnemonic == "add" { *by } else { -by })
            }
            ("mov", [to, from]) => {
                let cell = self.read(from)?;
                self.write(to, cell)
            }
            ("dec", [count]) => {
                let Cell::Public(Word::Integer(number)) = self.read(count)? else {
                    return Err("a count that is not public".to_owned());
                };
                self.forget_flags();
                self.is_zero = Some(number == 1);
                self.write(count, Cell::Public(Word::Integer(number - 1)))
            }
            ("xor", [to @ Operand::General(register), same]) if to == same => {
                let limbs = self.limbs();
                (limbs.carry, limbs.overflow) = (Some(Number::constant(0)), Some(Number::constant(0)));
                (limbs.zero, limbs.row) = (Some(true), None);
                self.is_zero = None;
                self.write(to, Cell::Number(Number::constant(0)))?;
                let limbs = self.limbs();
                limbs.row = Some(Row {
                    top: *register,
                    before: limbs.values.clone(),
                    digit: limbs.values[RDX].clone(),
                    pending: None,
                    columns: Vec::new(),
                });
                Ok(())
            }
            ("mulx", [high, low, from]) => {
                let digit = self.limb(&Operand::General(RDX as u8))?;
                let factor = self.limb(from)?;
                let halves = self.algebra.halves(&digit, &factor, BITS)?;
                if let Some(row) = &mut self.limbs().row {
                    row.pending = Some(factor);
                }
                // Where both are the same register, it gets the high half.
                self.write(low, Cell::Number(halves[0].clone()))?;
                self.write(high, Cell::Number(halves[1].clone()))
            }
            ("imul", [to, from]) => {
                let (x, y) = (self.limb(to)?, self.limb(from)?);
                let [low, _] = self.algebra.halves(&x, &y, BITS)?;
                self.forget_flags();
                self.write(to, Cell::Number(low))
            }
            ("add", [to, from]) => {
                self.forget_flags();
                let carry = self.sum(to, from, Number::constant(0))?;
                self.limbs().carry = Some(carry);
                Ok(())
            }
            ("adc" | "adcx", [to, from]) => {
                let carry = self.limbs().carry.clone().ok_or("a carry of which nothing is known")?;
                if let Some(top) = self.end_of_row(to, from, &carry)? {
                    self.forget_flags();
                    return self.write(to, Cell::Number(top));
                }
                if let (Some(row), Operand::General(register)) = (&mut self.limbs().row, to)
                    && let Some(factor) = row.pending.take()
                {
                    row.columns.push((*register, factor));
                }
                if instruction.mnemonic == "adc" {
                    self.forget_flags();
                }
                let carry = self.sum(to, from, carry)?;
                self.limbs().carry = Some(carry);
                Ok(())
            }
            ("adox", [to, from]) => {
                let carry = self
                    .limbs()
                    .overflow
                    .clone()
                    .ok_or("a carry of which nothing is known")?;
                let carry = self.sum(to, from, carry)?;
                self.limbs().overflow = Some(carry);
                Ok(())
            }
            ("sbb", [to, same]) if to == same => {
                let limbs = self.limbs();
                let carry = limbs.carry.clone().ok_or("a carry of which nothing is known")?;
                if limbs.decided.replace(carry).is_some() {
                    return Err("two carries that would be decided by cases".to_owned());
                }
                let case = i128::from(limbs.case);
                limbs.carry = Some(Number::constant(case));
                self.write(to, Cell::Number(Number::constant(-case)))
            }
            ("neg", [to]) => {
                let x = self.limb(to)?;
                let Some(negated @ 0..=1) = x.as_constant().map(|x| -x) else {
                    return Err("the negative of something else than a bit".to_owned());
                };
                self.forget_flags();
                let limbs = self.limbs();
                (limbs.carry, limbs.zero) = (Some(Number::constant(negated)), Some(negated == 0));
                self.write(to, Cell::Number(Number::constant(negated)))
            }
            ("not", [to]) => {
                let x = self.limb(to)?;
                let complement = Number::difference(Number::constant((1 << BITS) - 1), &x)?;
                self.write(to, Cell::Number(complement))
            }
            ("cmove", [to, from]) => match self.limbs().zero {
                Some(true) => {
                    let cell = self.read(from)?;
                    self.write(to, cell)
                }
                Some(false) => Ok(()),
                None => Err("a condition of which nothing is known".to_owned()),
            },
            _ => Err("not known".to_owned()),
        }
    }

    fn forget_flags(&mut self) {
        self.is_zero = None;
        let limbs = self.limbs();
        (limbs.carry, limbs.overflow, limbs.zero) = (None, None, None);
    }

    /// to += from + carry; returns what is carried.
    fn sum(&mut self, to: &Operand, from: &Operand, carry: Value) -> Result<Value, Refusal> {
        let (x, y) = (self.limb(to)?, self.limb(from)?);
        let sum = Number::sum(Number::sum(x, y)?, carry)?;
        let carry = self.algebra.floor(&sum, BITS)?;
        let low = self.algebra.low(&sum, BITS)?;
        self.write(to, Cell::Number(low))?;
        Ok(carry)
    }

    /// The top of a row that ends here, if nothing is carried out of it because of the row's value.
    fn end_of_row(&mut self, to: &Operand, from: &Operand, carry: &Value) -> Result<Option<Value>, Refusal> {
        let (Operand::General(register), Operand::Immediate(0)) = (to, from) else {
            return Ok(None);
        };
        let Some(row) = self.limbs().row.take().filter(|row| row.top == *register) else {
            return Ok(None);
        };
        let top = Number::sum(self.limb(to)?, carry.clone())?;
        let (Some(digit), true) = (row.digit, !row.columns.is_empty()) else {
            return Ok(None);
        };
        let is_limb = |value: &Value| value.least >= 0 && value.most >> BITS == 0;
        let mut identity = Identity::new(BITS);
        identity.add(&top.polynomial, 1, row.columns.len());
        let mut seen = Vec::new();
        for (place, (register, factor)) in row.columns.iter().enumerate() {
            let before = row.before[usize::from(*register)].clone();
            let now = self.limbs().values[usize::from(*register)].clone();
            let (Some(before), Some(now)) = (before, now) else {
                return Ok(None);
            };
            if ![&before, &digit, factor].into_iter().all(is_limb) || seen.contains(register) || register == &row.top {
                return Ok(None);
            }
            seen.push(*register);
            identity.add(&now.polynomial, 1, place);
            identity.add(&before.polynomial, -1, place);
            let [low, high] = self.algebra.halves(&digit, factor, BITS)?;
            identity.add(&low.polynomial, -1, place);
            identity.add(&high.polynomial, -1, place + 1);
        }
        if !identity.rest().is_empty() {
            return Ok(None);
        }
        let mut top = Number::take(top);
        top.most = top.most.min((1 << BITS) - 1);
        Ok(Some(Rc::new(top)))
    }
}

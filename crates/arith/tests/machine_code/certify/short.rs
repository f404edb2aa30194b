//! The functions of `mont64x1_adx` for eight limbs, `src/kernel/x86_64/adx512.rs`.
//!
//! With X = 2^64, R = X^8, any a, b < R, any odd n < R and n n* = -1 mod X, a becomes r = a b / R mod n, r < R. Shown
//! is, in two cases, c = 0 and c = 1, of what the last sum carries,
//!
//! ```text
//! R (r + R f) + R R (carry - c) = a b + q n - c n R
//! ```
//!
//! where t = a b < R R has been shown before, with nothing carried out of it, q < R, f = 0 if c = 0, and carry = c is
//! the case. Each word that is dropped, s + q_i n_0 less what is carried, is a multiple of X, and so zero. With S = (a
//! b + q n) / R < R + n: if c = 0, r = S; if c = 1, r + R f = S - n < R, so f =
//! 0. In the end every register of the caller and the stack are what they were.

use super::algebra::{Number, Origin, Value};
use super::code::{Code, Memory, Operand};
use super::identity::Identity;
use super::machine::{Cell, Machine, Next, WORD, Word};
use super::polynomial::{Atom, Monomial, ONE, Refusal};
use std::collections::BTreeSet;

const LIMBS: usize = 8;
const BITS: u32 = 64;
const RSP: usize = 4;
/// Registers that belong to the caller.
const KEPT: [usize; 6] = [3, 5, 12, 13, 14, 15];
const STACK: usize = 256;

/// Multiplications, or so many squarings.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Multiply,
    Square { times: i64 },
}

struct Run<'a> {
    code: &'a Code,
    machine: Machine,
    case: bool,
    a: Vec<Value>,
    b: Option<Vec<Value>>,
    n: Vec<Value>,
    inverse: Value,
    region: usize,
    /// The carry of the full product out of its 16 limbs: none.
    none: Option<BTreeSet<Atom>>,
}

fn atom(value: &Value) -> Atom {
    value.polynomial.as_multiple().map_or(ONE, |(atom, _)| atom)
}

/// Certifies a function, or says why not.
pub(super) fn certify(code: &Code, operation: Operation) -> Result<(), Refusal> {
    for case in [false, true] {
        let shown = Run::new(code, operation, case).all();
        shown.map_err(|refusal| format!("with the carry {case}: {refusal}"))?;
    }
    Ok(())
}

impl<'a> Run<'a> {
    fn new(code: &'a Code, operation: Operation, case: bool) -> Self {
        let mut machine = Machine::new();
        machine.have_limbs(case);
        let largest = (1i128 << BITS) - 1;
        let mut number = || {
            (0..LIMBS)
                .map(|_| machine.algebra.input(0, largest))
                .collect::<Vec<_>>()
        };
        let (a, b, n) = (number(), number(), number());
        let inverse = machine.algebra.input(1, largest);
        let cells = |number: &[Value]| number.iter().cloned().map(Cell::Number).collect();
        let pointer = machine.region("a", cells(&a), true);
        let Word::Pointer { region, .. } = pointer else {
            unreachable!("a region has a pointer")
        };
        let of_n = machine.region("n", cells(&n), false);
        let (arguments, b) = match operation {
            Operation::Multiply => {
                let of_b = machine.region("b", cells(&b), false);
                let words = [pointer, of_b, of_n].map(Cell::Public);
                ([&words[..], &[Cell::Number(inverse.clone())]].concat(), Some(b))
            }
            Operation::Square { times } => {
                let words = [pointer, of_n].map(Cell::Public);
                let times = Cell::Public(Word::Integer(times));
                ([&words[..], &[Cell::Number(inverse.clone()), times]].concat(), None)
            }
        };
        for (register, argument) in [7, 6, 2, 1].into_iter().zip(arguments) {
            machine.set_register(register, argument);
        }
        for register in KEPT {
            machine.general[register] = Some(kept(register));
        }
        let stack = machine.region("the stack", vec![Cell::Unknown; STACK], true);
        machine.general[RSP] = Some(top(stack));
        Self {
            code,
            machine,
            case,
            a,
            b,
            n,
            inverse,
            region,
            none: None,
        }
    }

    fn all(mut self) -> Result<(), Refusal> {
        let mut jumps = self
            .code
            .instructions
            .iter()
            .filter(|instruction| instruction.mnemonic == "jne");
        let head = jumps.next_back().and_then(|jump| jump.target);
        let (mut at, mut first, mut begun) = (0, self.machine.algebra.atoms(), self.b.is_some());
        for _ in 0..1 << 14 {
            if Some(at) == head {
                if begun {
                    self.product(first)?;
                }
                self.cut();
                (first, begun) = (self.machine.algebra.atoms(), true);
            }
            // The reduction begins with the first digit of the quotient.
            let instruction = self.code.instructions.get(at);
            if self.none.is_none() && instruction.is_some_and(|instruction| instruction.mnemonic == "imul") {
                self.none = Some(self.full_product()?);
            }
            match self.machine.step(self.code, at)? {
                Next::At(next) => at = next,
                Next::Returned => {
                    self.product(first)?;
                    return self.returned();
                }
            }
        }
        Err("no end".to_owned())
    }

    /// A new a; every other limb but those of the modulus may be anything.
    fn cut(&mut self) {
        let largest = (1i128 << BITS) - 1;
        self.machine.forget_limbs();
        let inverse = Cell::Number(self.inverse.clone());
        for region in self.machine.regions.iter_mut().filter(|region| region.is_written) {
            for cell in &mut region.cells {
                if matches!(cell, Cell::Number(_)) && !cell.is(&inverse) {
                    *cell = Cell::Unknown;
                }
            }
        }
        for limb in 0..LIMBS {
            self.a[limb] = self.machine.algebra.input(0, largest);
            self.machine.regions[self.region].cells[limb] = Cell::Number(self.a[limb].clone());
        }
    }

    /// Shows that r8 to r15 and the stack have t = a b, and returns what is carried out of it. That is none of it, as t
    /// is not negative and a b is below R R.
    fn full_product(&mut self) -> Result<BTreeSet<Atom>, Refusal> {
        let mut identity = Identity::new(BITS);
        for place in 0..2 * LIMBS {
            let limb = self.machine.limb(&match place < LIMBS {
                true => Operand::General(8 + place as u8),
                false => Operand::Memory(Memory {
                    base: RSP as u8,
                    index: None,
                    displacement: (WORD * place) as i64,
                    broadcast: false,
                }),
            })?;
            if limb.least < 0 {
                return Err("a limb of the product may be negative".to_owned());
            }
            identity.add(&limb.polynomial, 1, place);
        }
        let b = self.b.as_ref().unwrap_or(&self.a);
        for (i, a) in self.a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                identity.add_term(Monomial::product(atom(a), atom(b)), -1, i + j);
            }
        }
        let mut none = BTreeSet::new();
        for (Monomial(one, lost), digits) in identity.rest() {
            let is_lost = one == ONE
                && lost != ONE
                && self.machine.algebra.known(lost).least >= 0
                && digits.iter().all(|(&place, &digit)| place >= 2 * LIMBS && digit < 0);
            if !is_lost {
                let left = Monomial(one, lost);
                return Err(format!("it is not a b: {left:?} is left, times {digits:?}"));
            }
            none.insert(lost);
        }
        Ok(none)
    }

    fn product(&mut self, first: usize) -> Result<(), Refusal> {
        let decided = self.machine.limbs().decided.take().ok_or("nothing is subtracted")?;
        let none = self.none.take().ok_or("nothing is reduced")?;
        let algebra = &self.machine.algebra;
        let n: Vec<Atom> = self.n.iter().map(atom).collect();
        let quotients = algebra.since(first).map(|(atom, _)| atom);
        let quotients: Vec<Atom> = quotients.filter(|&atom| algebra.were_multiplied(atom, n[0])).collect();
        if quotients.len() != LIMBS {
            return Err(format!("{} digits of the quotient", quotients.len()));
        }
        let mut identity = Identity::new(BITS);
        for (place, &quotient) in quotients.iter().enumerate() {
            let known = algebra.known(quotient);
            if known.least < 0 || known.most >> BITS != 0 {
                return Err("a digit of the quotient is too long".to_owned());
            }
            let product = Monomial::product(quotient, n[0]);
            let dropped = algebra.since(first).find_map(|(carry, known)| match &known.origin {
                Origin::Floor { of, bits: BITS } if of.len() > 1 && of.coefficient(product) == 1 => Some((carry, of)),
                _ => None,
            });
            let (carry, dropped) = dropped.ok_or("a digit of the quotient carries nothing")?;
            if !algebra.is_multiple(dropped, BITS, atom(&self.inverse), n[0]) {
                return Err("a digit of the quotient does not make its place zero".to_owned());
            }
            identity.add(dropped, 1, place);
            identity.add_term(Monomial::of(carry), -1, place + 1);
        }
        let b = self.b.as_ref().unwrap_or(&self.a);
        for i in 0..LIMBS {
            let Cell::Number(limb) = &self.machine.regions[self.region].cells[i] else {
                return Err(format!("limb {i} of the result is unknown"));
            };
            if limb.least < 0 || limb.most >> BITS != 0 {
                return Err(format!(
                    "limb {i} of the result is from {} to {}",
                    limb.least, limb.most
                ));
            }
            identity.add(&limb.polynomial, 1, LIMBS + i);
            for j in 0..LIMBS {
                identity.add_term(Monomial::product(atom(&self.a[i]), atom(&b[j])), -1, i + j);
                identity.add_term(Monomial::product(quotients[i], n[j]), -1, i + j);
            }
            if self.case {
                identity.add_term(Monomial::of(n[i]), 1, LIMBS + i);
            }
        }
        // carry - c.
        identity.add(&decided.polynomial, 1, 2 * LIMBS);
        identity.add(&Number::constant(self.case.into()).polynomial, -1, 2 * LIMBS);
        for (Monomial(one, lost), digits) in identity.rest() {
            let is_lost = self.case
                && one == ONE
                && lost != ONE
                && algebra.known(lost).least >= 0
                && digits.iter().all(|(&place, &digit)| place >= 2 * LIMBS && digit < 0);
            let is_none = one == ONE && none.contains(&lost);
            if !is_lost && !is_none {
                let left = Monomial(one, lost);
                return Err(format!("it is not a b / R mod n: {left:?} is left, times {digits:?}"));
            }
        }
        Ok(())
    }

    /// Shows that what belongs to the caller is as it was.
    fn returned(&self) -> Result<(), Refusal> {
        let is_kept = KEPT
            .into_iter()
            .all(|register| self.machine.general[register] == Some(kept(register)));
        let stack = self.machine.regions.len() - 1;
        let is_back = self.machine.general[RSP] == Some(top(Word::Pointer { region: stack, at: 0 }));
        match is_kept && is_back {
            true => Ok(()),
            false => Err("a register of the caller is lost".to_owned()),
        }
    }
}

/// A word that nothing else has, in the place of what a caller has in a register.
fn kept(register: usize) -> Word {
    Word::Integer(-1 - register as i64)
}

fn top(stack: Word) -> Word {
    match stack {
        Word::Pointer { region, .. } => Word::Pointer {
            region,
            at: (STACK * WORD) as i64,
        },
        word => word,
    }
}

//! The meaning of instructions on doubles in vectors.
//!
//! A double's number is its exact value. A result is exact where its bounds, in units of what divides it, are no more
//! than 2^53. One kind of rounding is understood: p + c, where c is positive and a multiple of the unit u that all
//! possible sums have in common. It leaves c + u h, with a new atom h, p / u rounded to nearest; then p - u h, which is
//! at most u / 2, is known where it is computed next. Everything else that might round is refused.

use super::algebra::{Number, Origin, Value, small};
use super::code::{Instruction, Operand};
use super::machine::{Cell, Machine};
use super::polynomial::{Monomial, Polynomial, Refusal};
use std::rc::Rc;

/// Bits of a double's fraction, the first one included.
const PRECISION: u32 = 53;

impl Machine {
    pub(super) fn run_doubles(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        if instruction.under.is_some() {
            return Err("not known".to_owned());
        }
        let operands = &instruction.operands;
        let arithmetic = |machine: &Self, of: &[&Operand]| -> Result<Vec<Vec<Cell>>, Refusal> {
            let (_, lanes) = Self::width(&operands[0])?;
            of.iter().map(|operand| machine.lanes(operand, lanes)).collect()
        };
        match (&*instruction.mnemonic, &operands[..]) {
            ("vmovapd", [to, from]) => self.move_vector([to, from], true),
            ("vmovupd", [to, from]) => self.move_vector([to, from], false),
            ("vxorpd", [to, x, y]) if x == y => {
                let (register, _) = Self::width(to)?;
                self.set(register, Vec::new());
                Ok(())
            }
            ("vbroadcastf128", [to, from]) => {
                let (register, _) = Self::width(to)?;
                let half = self.lanes(from, 2)?;
                self.set(register, [half.clone(), half].concat());
                Ok(())
            }
            ("vmovddup", [to, from]) => {
                let (register, lanes) = Self::width(to)?;
                let cells = self.lanes(from, lanes)?;
                self.set(register, (0..lanes).map(|lane| cells[lane & !1].clone()).collect());
                Ok(())
            }
            ("vpermilpd", [to, from, Operand::Immediate(order)]) => {
                let (register, lanes) = Self::width(to)?;
                let cells = self.lanes(from, lanes)?;
                let pick = |lane: usize| cells[lane & !1 | (order >> lane & 1) as usize].clone();
                self.set(register, (0..lanes).map(pick).collect());
                Ok(())
            }
            ("vshufpd", [to, x, y, Operand::Immediate(order)]) => {
                let (register, lanes) = Self::width(to)?;
                let of = [self.lanes(x, lanes)?, self.lanes(y, lanes)?];
                // The first operand's in even places, the second one's in odd places.
                let pick = |lane: usize| of[lane & 1][lane & !1 | (order >> lane & 1) as usize].clone();
                self.set(register, (0..lanes).map(pick).collect());
                Ok(())
            }
            ("vperm2f128", [to, x, y, Operand::Immediate(1)]) if x == y => {
                let (register, lanes) = Self::width(to)?;
                let cells = self.lanes(x, lanes)?;
                self.set(register, [&cells[2..], &cells[..2]].concat());
                Ok(())
            }
            ("vaddpd", [to, x, y]) => {
                let of = arithmetic(self, &[x, y])?;
                self.each_lane(to, &of, |machine, of| machine.add_product(None, &of[0], &of[1], 1))
            }
            ("vsubpd", [to, x, y]) => {
                let of = arithmetic(self, &[x, y])?;
                self.each_lane(to, &of, |machine, of| machine.add_product(None, &of[0], &of[1], -1))
            }
            ("vmulpd", [to, x, y]) => {
                let of = arithmetic(self, &[x, y])?;
                let zero = Number::constant(0);
                self.each_lane(to, &of, |machine, of| {
                    machine.add_product(Some(&of[0]), &of[1], &zero, 1)
                })
            }
            ("vfmadd231pd", [to, x, y]) => {
                let of = arithmetic(self, &[to, x, y])?;
                self.each_lane(to, &of, |machine, of| {
                    machine.add_product(Some(&of[1]), &of[2], &of[0], 1)
                })
            }
            ("vfmadd213pd", [to, x, y]) => {
                let of = arithmetic(self, &[to, x, y])?;
                self.each_lane(to, &of, |machine, of| {
                    machine.add_product(Some(&of[1]), &of[0], &of[2], 1)
                })
            }
            _ => Err("not known".to_owned()),
        }
    }

    fn each_lane(
        &mut self,
        to: &Operand,
        of: &[Vec<Cell>],
        f: impl Fn(&mut Self, &[Value]) -> Result<Value, Refusal>,
    ) -> Result<(), Refusal> {
        let (register, lanes) = Self::width(to)?;
        let mut results = Vec::new();
        for lane in 0..lanes {
            let number = |cells: &Vec<Cell>| match &cells[lane] {
                Cell::Number(value) => Some(value.clone()),
                Cell::Unknown | Cell::Public(_) => None,
            };
            let operands: Option<Vec<Value>> = of.iter().map(number).collect();
            results.push(match operands {
                Some(operands) => Cell::Number(f(self, &operands)?),
                None => Cell::Unknown,
            });
        }
        self.set(register, results);
        Ok(())
    }

    /// x y + sign z, rounded to a double; y + sign z without an x.
    fn add_product(&mut self, x: Option<&Value>, y: &Value, z: &Value, sign: i128) -> Result<Value, Refusal> {
        let product = match x {
            None => y.clone(),
            Some(x) => self.exact_product(x, y)?,
        };
        let added = if sign == 1 { z.clone() } else { Number::times(z, sign)? };
        let exact = self.exact_sum(&product, &added)?;
        match is_double(&exact) {
            true => Ok(Rc::new(exact)),
            false => self.rounded_sum(&product, &added, &exact),
        }
    }

    fn exact_product(&mut self, x: &Value, y: &Value) -> Result<Value, Refusal> {
        let constant = |value: &Value| value.polynomial.as_constant();
        let product = match (constant(x), constant(y)) {
            (_, Some(factor)) => Number::times(x, factor)?,
            (Some(factor), _) => Number::times(y, factor)?,
            // Only constants have scales.
            _ => self.algebra.product(x, y)?,
        };
        let mut product = Number::take(product);
        product.scale = x.scale + y.scale;
        // As integers, where they are.
        let twos = product.scale.min(0).unsigned_abs();
        if product.polynomial.twos() >= twos {
            product.polynomial = product.polynomial.without_twos(twos);
            (product.least, product.most) = (product.least >> twos, product.most >> twos);
            product.scale = product.scale.max(0);
        }
        Ok(Rc::new(product))
    }

    /// x + y, with the bounds that are known of it.
    fn exact_sum(&self, x: &Value, y: &Value) -> Result<Number, Refusal> {
        let scale = x.scale.min(y.scale);
        let shifted = |value: &Value| -> Result<(Polynomial, [i128; 2]), Refusal> {
            let places = value.scale - scale;
            if places > 100 {
                return Err("numbers too far apart".to_owned());
            }
            let shifted = Number::times(value, 1 << places)?;
            Ok((shifted.polynomial.clone(), [shifted.least, shifted.most]))
        };
        let ((mut polynomial, x_bounds), (y_polynomial, y_bounds)) = (shifted(x)?, shifted(y)?);
        polynomial.add(&y_polynomial, 1);
        let sum = |i: usize| small(x_bounds[i].checked_add(y_bounds[i]));
        let mut bounds = [sum(0)?, sum(1)?];
        let mut narrow = |[least, most]: [i128; 2]| bounds = [bounds[0].max(least), bounds[1].min(most)];
        if polynomial.len() <= 2
            && let Some(known) = self.algebra.bounds(&polynomial)
        {
            narrow(known);
        }
        // What a rounding has left.
        for atom in [x, y].into_iter().filter_map(|value| value.polynomial.as_multiple()) {
            if let Origin::Rounded { of, bits } = &self.algebra.known(atom.0).origin
                && polynomial.coefficient(Monomial::of(atom.0)) == -1 << bits
            {
                let mut rest = polynomial.clone();
                rest.add_term(Monomial::of(atom.0), 1 << bits);
                if rest == *of {
                    narrow([-1 << (bits - 1), 1 << (bits - 1)]);
                }
            }
        }
        let mut number = Number::new(polynomial, bounds);
        number.scale = scale;
        Ok(number)
    }

    /// product + added, which no double holds exactly.
    fn rounded_sum(&mut self, product: &Value, added: &Value, exact: &Number) -> Result<Value, Refusal> {
        let refused = || {
            format!(
                "may round: from {} to {} times 2^{}",
                exact.least, exact.most, exact.scale
            )
        };
        if exact.least <= 0 || exact.least.ilog2() != exact.most.ilog2() {
            return Err(refused());
        }
        let unit = exact.least.ilog2() as i32 + exact.scale - (PRECISION as i32 - 1);
        let grain = |number: &Number| number.polynomial.twos() as i32 + number.scale;
        let bits = u32::try_from(unit - product.scale)
            .ok()
            .filter(|&bits| (1..100).contains(&bits));
        let (Some(bits), true, true) = (bits, grain(added) >= unit, added.scale == 0 && (0..100).contains(&unit))
        else {
            return Err(refused());
        };
        let bounds = [product.least >> bits, (product.most + (1 << bits) - 1) >> bits];
        let atom = self.algebra.rounded(product.polynomial.clone(), bits, bounds);
        let rounded = Number::times(&self.algebra.value(atom), 1 << unit)?;
        Number::sum(added.clone(), rounded)
    }
}

/// `true` if a double holds everything that the number may be.
fn is_double(number: &Number) -> bool {
    let twos = number.polynomial.twos().min(120);
    number.size() >> twos <= 1 << PRECISION
}

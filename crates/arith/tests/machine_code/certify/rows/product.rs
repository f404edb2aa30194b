//! The equation of one operation.

use super::{DIGIT_BITS, Modulus, Run};
use crate::certify::algebra::{Known, Origin, Value};
use crate::certify::identity::Identity;
use crate::certify::machine::Cell;
use crate::certify::polynomial::{Atom, Monomial, ONE, Polynomial, Refusal};

impl Run<'_> {
    /// Shows that the digits of a are what an operation of a and `b` leaves, whose atoms are those from `first` on.
    pub(super) fn operation(&self, name: &str, b: &[Vec<Value>], first: usize) -> Result<(), Refusal> {
        for (number, b) in b.iter().enumerate() {
            let shown = self.montgomery(number, b, first);
            shown.map_err(|refusal| format!("{name}, number {number}: {refusal}"))?;
        }
        Ok(())
    }

    fn montgomery(&self, number: usize, b: &[Value], first: usize) -> Result<(), Refusal> {
        let (d, algebra) = (self.contract.digits, &self.machine.algebra);
        let Modulus { multiple, n, inverse } = &self.moduli[number];
        let atom = |value: &Value| value.polynomial.as_multiple().map_or(ONE, |(atom, _)| atom);
        let largest = (1 << DIGIT_BITS) - 1;
        // Digits of the quotient, in the order in which they were found.
        let by = |factor: Atom| {
            let all = algebra.since(first).map(|(atom, _)| atom);
            all.filter(move |&atom| algebra.were_multiplied(atom, factor))
                .collect::<Vec<_>>()
        };
        let (quotients, last) = (by(atom(&multiple[0])), by(atom(&n[0])));
        let [last] = last[..] else {
            return Err(format!("{} last digits of the quotient", last.len()));
        };
        if quotients.len() != d - 1 {
            return Err(format!("{} digits of the quotient times n'", quotients.len()));
        }
        let is_digit = |known: &Known| known.least >= 0 && known.most <= largest;
        if !quotients
            .iter()
            .chain([&last])
            .all(|&digit| is_digit(algebra.known(digit)))
        {
            return Err("a digit of the quotient is too long".to_owned());
        }
        // What is dropped last.
        let is_last = Monomial::product(last, atom(&n[0]));
        let dropped = algebra.since(first).find_map(|(carry, known)| match &known.origin {
            Origin::Floor { of, bits: DIGIT_BITS } if of.len() > 1 && of.coefficient(is_last) == 1 => Some((carry, of)),
            _ => None,
        });
        let (carry, dropped) = dropped.ok_or("no carry of the last digit")?;
        if !algebra.is_multiple(dropped, DIGIT_BITS, atom(inverse), atom(&n[0])) {
            return Err("the last digit of the quotient does not make the lowest place zero".to_owned());
        }
        let mut identity = Identity::new(DIGIT_BITS);
        identity.add(dropped, 1, d - 1);
        identity.add_term(Monomial::of(carry), -1, d);
        for (place, &location) in self.locations[number].iter().enumerate() {
            let Cell::Number(digit) = self.cell(location) else {
                return Err(format!("digit {place} of the result is unknown"));
            };
            if digit.scale != 0 || digit.least < 0 || digit.most > largest {
                return Err(format!(
                    "digit {place} of the result is from {} to {}",
                    digit.least, digit.most
                ));
            }
            identity.add(&digit.polynomial, 1, d + place);
        }
        let mut subtract = |x: Atom, y: &Value, place: usize| {
            if let Some((y, 1)) = y.polynomial.as_multiple() {
                identity.add_term(Monomial::product(x, y), -1, place);
            }
        };
        for i in 0..d {
            for (j, b) in b[..d].iter().enumerate() {
                subtract(atom(&self.a[number][i]), b, i + j);
            }
            for (k, &quotient) in quotients.iter().enumerate() {
                subtract(quotient, &multiple[i], k + i + 1);
            }
            subtract(last, &n[i], d - 1 + i);
        }
        for (k, &quotient) in quotients.iter().enumerate() {
            identity.add_term(Monomial::of(quotient), 1, k);
        }
        // Digits of the quotient, and then the doubled digits in what these are.
        let expanded = |monomial| self.expanded(monomial, &quotients, last);
        let identity = identity.expand(expanded).expand(expanded);
        // What the highest places lose, and nothing else.
        for (monomial, digits) in identity.rest() {
            let Monomial(one, lost) = monomial;
            let is_lost = one == ONE
                && algebra.known(lost).least >= 0
                && digits
                    .iter()
                    .all(|(&place, &digit)| place >= d + self.contract.places() && digit < 0);
            if !is_lost {
                return Err(format!(
                    "it is not a b / R mod n: {monomial:?} is left, times {digits:?}"
                ));
            }
        }
        Ok(())
    }

    /// A monomial without names but for digits of the quotient that multiply.
    fn expanded(&self, Monomial(x, y): Monomial, quotients: &[Atom], last: Atom) -> Option<Polynomial> {
        let is_quotient = |atom: Atom| quotients.binary_search(&atom).is_ok() || atom == last;
        let of = |atom: Atom| match &self.machine.algebra.known(atom).origin {
            Origin::Name(polynomial) => Some(polynomial),
            _ => None,
        };
        let name = |atom: Atom| of(atom).filter(|_| !is_quotient(atom));
        if x == ONE {
            return of(y).cloned();
        }
        if name(x).is_none() && name(y).is_none() {
            return None;
        }
        let factor = |atom: Atom| name(atom).cloned().unwrap_or(Polynomial::of(Monomial::of(atom), 1));
        factor(x).product(&factor(y))
    }
}

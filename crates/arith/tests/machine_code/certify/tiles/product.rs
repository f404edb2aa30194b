//! The equations of one number's product.

use super::{Computed, Contract, Run};
use crate::certify::algebra::{Algebra, Origin, Value};
use crate::certify::identity::Identity;
use crate::certify::polynomial::{Atom, Monomial, ONE, Polynomial, Refusal};
use std::collections::HashSet;

/// An atom for a digit. No digit is anything else than one.
fn name(algebra: &mut Algebra, digit: &Value) -> Result<Atom, Refusal> {
    match algebra.name(digit) {
        (atom, 1) if atom != ONE => Ok(atom),
        _ => Err("a digit that is a multiple of another one".to_owned()),
    }
}

fn names(algebra: &mut Algebra, digits: &[Value]) -> Result<Vec<Atom>, Refusal> {
    digits.iter().map(|digit| name(algebra, digit)).collect()
}

impl Run<'_> {
    pub(super) fn product(&mut self, computed: &Computed) -> Result<(), Refusal> {
        self.quotient(computed)?;
        let Contract { width, digits, .. } = self.contract;
        let algebra = &mut self.machine.algebra;
        let [a, b, n, q] = [&computed.a, &computed.b, &computed.n, &computed.q].map(|digits| names(algebra, digits));
        let (a, b, n, q) = (a?, b?, n?, q?);
        let products: HashSet<Monomial> = q
            .iter()
            .flat_map(|&q| n.iter().map(move |&n| Monomial::product(q, n)))
            .collect();
        let algebra = &self.machine.algebra;

        // R (r + R c) - a b - q n
        let result = |identity: &mut Identity| {
            for (place, digit) in computed.result.iter().enumerate() {
                identity.add(&digit.polynomial, 1, digits + place);
            }
            for [high, carry] in &computed.above {
                identity.add(&high.polynomial, 1, 2 * digits - 1);
                identity.add(&carry.polynomial, 1, 2 * digits);
            }
            for i in 0..digits {
                for j in 0..digits {
                    identity.add_term(Monomial::product(a[i], b[j]), -1, i + j);
                    identity.add_term(Monomial::product(q[i], n[j]), -1, i + j);
                }
            }
        };
        let add_tau = |identity: &mut Identity, places: usize, sign: i128| {
            for (place, digit) in computed.tau[..places].iter().enumerate() {
                identity.add(&digit.polynomial, sign, place);
            }
        };
        let add_columns = |identity: &mut Identity, columns: usize, sign: i128| {
            for (i, &q) in q[..columns].iter().enumerate() {
                for (j, &n) in n[..columns - i].iter().enumerate() {
                    identity.add_term(Monomial::product(q, n), sign, i + j);
                }
            }
        };
        let mut multiple = Identity::new(width);
        result(&mut multiple);
        add_tau(&mut multiple, digits, 1);
        add_columns(&mut multiple, digits, 1);
        let rounded = |atom: Atom| match &algebra.known(atom).origin {
            Origin::Rounded { of, bits } if *bits == width => Some(of),
            _ => None,
        };
        // The carry out of the lower half is the one that is rounded of a sum.
        let mut carry = None;
        for (monomial, coefficients) in multiple.rest() {
            let Monomial(one, atom) = monomial;
            let of = Some(atom).filter(|_| one == ONE).and_then(rounded);
            let is_whole = coefficients.keys().all(|&place| place >= digits);
            let Some(of) = of.filter(|_| is_whole) else {
                return Err(format!(
                    "it is not a b / R mod n: {monomial:?} is left, times {coefficients:?}"
                ));
            };
            if of.len() > 1 {
                if carry.is_some() || coefficients.iter().ne([(&digits, &1)]) {
                    return Err("the lower half carries in two ways".to_owned());
                }
                carry = Some((atom, of));
            }
        }
        let (carry, sum) = carry.ok_or("the lower half does not carry")?;

        // What is below the carry, less what is rounded away with it, has only parts that are known to be small.
        let mut rest = Identity::new(width);
        result(&mut rest);
        rest.add(sum, 1, digits - 1);
        rest.add_term(Monomial::of(carry), -1, digits);
        add_tau(&mut rest, digits - 1, 1);
        if digits > 2 {
            add_columns(&mut rest, digits - 2, 1);
        }
        let mut lost = 0;
        for (Monomial(one, atom), coefficient) in sum.terms() {
            // High parts of q n, one column below.
            let of = rounded(atom).filter(|_| one == ONE && coefficient == 1);
            let of = of.filter(|of| of.len() == 1 && of.terms().all(|(monomial, _)| products.contains(&monomial)));
            if let Some(of) = of {
                let mut low: Polynomial = of.clone();
                low.add_term(Monomial::of(atom), -1 << width);
                rest.add(&low, 1, digits - 2);
                lost += 1;
            }
        }
        if let Some((monomial, coefficients)) = rest.rest().into_iter().next() {
            return Err(format!(
                "the lower half does not carry right: {monomial:?} is left, times {coefficients:?}"
            ));
        }
        if !computed.above.iter().all(|[high, _]| high.polynomial.twos() >= width) {
            return Err("what is left above is not whole".to_owned());
        }
        // In units of X^(L - 2): low parts; tau, as a geometric series; columns of q n, likewise.
        let (largest, radix) = (self.contract.largest_digit(), 1i128 << width);
        let columns = 2 * digits as i128 * largest * largest / radix + 1;
        if lost * radix / 2 + 2 * largest + columns >= radix * radix / 4 {
            return Err("what the lower half leaves out may change what it carries".to_owned());
        }
        // |a b| / R < 1.21 n / 32, |q| n / R < n (largest digit of q) / (X - 1): together below 0.54 n.
        let longest = computed
            .q
            .iter()
            .map(|digit| digit.size())
            .max()
            .expect("there are digits");
        if 121 * (radix - 1) + 3200 * longest >= 54 * 32 * (radix - 1) {
            return Err("results may exceed 0.54 n".to_owned());
        }
        // |r| < 0.6 R, so that nothing is left above.
        let longest = computed
            .result
            .iter()
            .map(|digit| digit.size())
            .max()
            .expect("there are digits");
        match 10 * longest < 6 * (radix - 1) {
            true => Ok(()),
            false => Err("the result may be as long as R".to_owned()),
        }
    }

    /// Shows that q is tau times -1 / n mod R.
    fn quotient(&mut self, computed: &Computed) -> Result<(), Refusal> {
        let Contract { width, digits, .. } = self.contract;
        let algebra = &mut self.machine.algebra;
        let (tau, inverse) = (names(algebra, &computed.tau)?, names(algebra, &computed.inverse)?);
        let mut identity = Identity::new(width);
        for (place, digit) in computed.q.iter().enumerate() {
            identity.add(&digit.polynomial, 1, place);
        }
        let [high, carry] = &computed.above_q;
        if high.polynomial.twos() < width {
            return Err("what q leaves above is not whole".to_owned());
        }
        identity.add(&high.polynomial, 1, digits - 1);
        identity.add(&carry.polynomial, 1, digits);
        for (i, &tau) in tau.iter().enumerate() {
            for (j, &inverse) in inverse[..digits - i].iter().enumerate() {
                identity.add_term(Monomial::product(tau, inverse), -1, i + j);
            }
        }
        match identity.rest().into_iter().next() {
            None => Ok(()),
            Some((monomial, coefficients)) => Err(format!(
                "q is not -tau / n mod R: {monomial:?} is left, times {coefficients:?}"
            )),
        }
    }
}

//! Sums of polynomials times powers of 2^bits: whether one is zero for all values of its atoms, and what is left of it.

use super::polynomial::{Monomial, Polynomial};
use std::collections::{BTreeMap, HashMap};

pub(super) struct Identity {
    bits: u32,
    /// For each monomial, its coefficients at places.
    terms: HashMap<Monomial, BTreeMap<usize, i128>>,
}

impl Identity {
    pub(super) fn new(bits: u32) -> Self {
        Self {
            bits,
            terms: HashMap::new(),
        }
    }

    pub(super) fn add_term(&mut self, monomial: Monomial, coefficient: i128, place: usize) {
        let sum = self.terms.entry(monomial).or_default().entry(place).or_default();
        *sum = sum.checked_add(coefficient).expect("small coefficients");
    }

    /// += factor polynomial 2^(bits place).
    pub(super) fn add(&mut self, polynomial: &Polynomial, factor: i128, place: usize) {
        for (monomial, coefficient) in polynomial.terms() {
            self.add_term(
                monomial,
                coefficient.checked_mul(factor).expect("small coefficients"),
                place,
            );
        }
    }

    /// Replaces each monomial that `with` knows better by polynomials.
    pub(super) fn expand(self, with: impl Fn(Monomial) -> Option<Polynomial>) -> Self {
        let mut expanded = Self::new(self.bits);
        for (monomial, places) in self.terms {
            let polynomial = with(monomial);
            for (place, coefficient) in places {
                match &polynomial {
                    Some(polynomial) => expanded.add(polynomial, coefficient, place),
                    None => expanded.add_term(monomial, coefficient, place),
                }
            }
        }
        expanded
    }

    /// The monomials whose coefficients are not zero, with digits of these, of which none exceeds half of 2^bits in its
    /// absolute value, by their places.
    pub(super) fn rest(&self) -> BTreeMap<Monomial, BTreeMap<usize, i128>> {
        let digits = |places: &BTreeMap<usize, i128>| {
            let mut digits = BTreeMap::new();
            let Some((&first, _)) = places.first_key_value() else {
                return digits;
            };
            let (mut place, mut carry) = (first, 0i128);
            let mut above = places.range(first..).peekable();
            while carry != 0 || above.peek().is_some() {
                if carry == 0 {
                    place = *above.peek().expect("there is one").0;
                }
                if let Some((_, coefficient)) = above.next_if(|&(&at, _)| at == place) {
                    carry = carry.checked_add(*coefficient).expect("small coefficients");
                }
                let half = 1i128 << (self.bits - 1);
                let digit = (carry + half).rem_euclid(2 * half) - half;
                if digit != 0 {
                    digits.insert(place, digit);
                }
                carry = (carry - digit) >> self.bits;
                place += 1;
            }
            digits
        };
        let all = self.terms.iter().map(|(&monomial, places)| (monomial, digits(places)));
        all.filter(|(_, digits)| !digits.is_empty()).collect()
    }
}

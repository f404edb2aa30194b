//! Polynomials with integer coefficients in *atoms*, unknowns that stand for integers. No product has more than two.

use std::collections::BTreeMap;

/// The reason for which something is not certified.
pub(super) type Refusal = String;

/// An unknown integer, by its number. The one that is called [`ONE`] is 1.
pub(super) type Atom = u32;

pub(super) const ONE: Atom = 0;

/// A product of two atoms, the lower number first. Of one atom and of none, the others are [`ONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Monomial(pub(super) Atom, pub(super) Atom);

impl Monomial {
    pub(super) const CONSTANT: Self = Self(ONE, ONE);

    pub(super) fn of(atom: Atom) -> Self {
        Self(ONE, atom)
    }

    pub(super) fn product(x: Atom, y: Atom) -> Self {
        Self(x.min(y), x.max(y))
    }

    fn times(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::CONSTANT, product) | (product, Self::CONSTANT) => Some(product),
            (Self(ONE, x), Self(ONE, y)) => Some(Self::product(x, y)),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Polynomial {
    /// No coefficient is zero.
    terms: BTreeMap<Monomial, i128>,
}

impl Polynomial {
    pub(super) fn constant(value: i128) -> Self {
        Self::of(Monomial::CONSTANT, value)
    }

    pub(super) fn of(monomial: Monomial, coefficient: i128) -> Self {
        let mut polynomial = Self::default();
        polynomial.add_term(monomial, coefficient);
        polynomial
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (Monomial, i128)> {
        self.terms
            .iter()
            .map(|(&monomial, &coefficient)| (monomial, coefficient))
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(super) fn coefficient(&self, monomial: Monomial) -> i128 {
        self.terms.get(&monomial).copied().unwrap_or(0)
    }

    /// The value, of a constant.
    pub(super) fn as_constant(&self) -> Option<i128> {
        match self.len() {
            0 => Some(0),
            1 => self.terms.get(&Monomial::CONSTANT).copied(),
            _ => None,
        }
    }

    /// The one term, if there is no other and it is a multiple of an atom.
    pub(super) fn as_multiple(&self) -> Option<(Atom, i128)> {
        match self.terms.first_key_value() {
            Some((&Monomial(ONE, atom), &coefficient)) if self.len() == 1 && atom != ONE => Some((atom, coefficient)),
            _ => None,
        }
    }

    /// The greatest power of two that divides all coefficients; of nothing a great one.
    pub(super) fn twos(&self) -> u32 {
        let twos = self.terms.values().map(|coefficient| coefficient.trailing_zeros());
        twos.min().unwrap_or(120)
    }

    pub(super) fn add_term(&mut self, monomial: Monomial, coefficient: i128) {
        let sum = self
            .coefficient(monomial)
            .checked_add(coefficient)
            .expect("small coefficients");
        match sum {
            0 => self.terms.remove(&monomial),
            _ => self.terms.insert(monomial, sum),
        };
    }

    /// += factor · other.
    pub(super) fn add(&mut self, other: &Self, factor: i128) {
        for (monomial, coefficient) in other.terms() {
            self.add_term(monomial, coefficient.checked_mul(factor).expect("small coefficients"));
        }
    }

    pub(super) fn times(&self, factor: i128) -> Self {
        let mut product = Self::default();
        product.add(self, factor);
        product
    }

    /// Divided by a power of two that divides all coefficients.
    pub(super) fn without_twos(&self, twos: u32) -> Self {
        assert!(twos <= self.twos());
        let terms = self
            .terms
            .iter()
            .map(|(&monomial, &coefficient)| (monomial, coefficient >> twos));
        Self { terms: terms.collect() }
    }

    /// The product, unless one of its terms would have three atoms.
    pub(super) fn product(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (x, coefficient) in self.terms() {
            for (y, factor) in other.terms() {
                let coefficient = coefficient.checked_mul(factor).expect("small coefficients");
                product.add_term(x.times(y)?, coefficient);
            }
        }
        Some(product)
    }
}

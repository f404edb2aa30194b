//! Numbers that a machine computes with, each known exactly: as a polynomial in atoms, and by bounds.
//!
//! Whatever is not a polynomial of what went in becomes a new atom, of which bounds and a relation are known:
//!
//! | atom | what is known of it |
//! |---|---|
//! | an input | its bounds |
//! | a name | it equals a polynomial |
//! | f = floor(x / 2^k) | x's bounds divided; 0 <= x - 2^k f < 2^k |
//! | h = x / 2^k, rounded to an integer next to it | x's bounds divided; \|x - 2^k h\| <= 2^(k - 1) |
//!
//! Equal floors are one atom. Nothing else is ever assumed of an atom, so that an equation between polynomials holds
//! for all inputs within their bounds.

use super::polynomial::{Atom, Monomial, ONE, Polynomial, Refusal};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A number: a polynomial times a power of two.
#[derive(Debug, Default)]
pub(super) struct Number {
    pub(super) polynomial: Polynomial,
    /// The exponent of the power of two. Below zero only between the two halves of a rounding.
    pub(super) scale: i32,
    /// Bounds of the polynomial's value.
    pub(super) least: i128,
    pub(super) most: i128,
    /// An atom for the whole.
    name: OnceCell<Atom>,
    /// The lowest so many bits.
    low: OnceCell<(u32, Value)>,
}

impl Clone for Number {
    /// The number alone, which may be changed.
    fn clone(&self) -> Self {
        Self {
            scale: self.scale,
            ..Self::new(self.polynomial.clone(), [self.least, self.most])
        }
    }
}

/// A number in one place or several.
pub(super) type Value = Rc<Number>;

impl Number {
    pub(super) fn new(polynomial: Polynomial, [least, most]: [i128; 2]) -> Self {
        Self {
            polynomial,
            least,
            most,
            ..Self::default()
        }
    }

    pub(super) fn constant(value: i128) -> Value {
        Rc::new(Self::new(Polynomial::constant(value), [value; 2]))
    }

    /// A number, if it is no other than this one.
    pub(super) fn as_constant(&self) -> Option<i128> {
        self.polynomial.as_constant().filter(|_| self.scale == 0)
    }

    /// The greatest absolute value of the polynomial.
    pub(super) fn size(&self) -> i128 {
        self.least.abs().max(self.most.abs())
    }

    /// The number, as one that may be changed.
    pub(super) fn take(value: Value) -> Self {
        let mut number = Rc::unwrap_or_clone(value);
        (number.name, number.low) = (OnceCell::new(), OnceCell::new());
        number
    }

    /// x + y, of integers.
    pub(super) fn sum(x: Value, y: Value) -> Result<Value, Refusal> {
        let (x, y) = match x.polynomial.len() < y.polynomial.len() {
            true => (y, x),
            false => (x, y),
        };
        let mut sum = Self::take(x);
        if sum.scale != 0 || y.scale != 0 {
            return Err("a sum of what is not whole".to_owned());
        }
        sum.polynomial.add(&y.polynomial, 1);
        (sum.least, sum.most) = (
            small(sum.least.checked_add(y.least))?,
            small(sum.most.checked_add(y.most))?,
        );
        Ok(Rc::new(sum))
    }

    /// x times a constant.
    pub(super) fn times(x: &Value, factor: i128) -> Result<Value, Refusal> {
        let ends = [small(x.least.checked_mul(factor))?, small(x.most.checked_mul(factor))?];
        let product = Self::new(x.polynomial.times(factor), [ends[0].min(ends[1]), ends[0].max(ends[1])]);
        Ok(Rc::new(Self {
            scale: x.scale,
            ..product
        }))
    }

    /// x - y, of integers.
    pub(super) fn difference(x: Value, y: &Value) -> Result<Value, Refusal> {
        Self::sum(x, Self::times(y, -1)?)
    }
}

/// A bound, unless it is longer than anything here may be.
pub(super) fn small(bound: Option<i128>) -> Result<i128, Refusal> {
    let bound = bound.filter(|bound| bound.unsigned_abs() < 1 << 120);
    bound.ok_or_else(|| "a number is too large".to_owned())
}

/// Where an atom comes from.
#[derive(Debug)]
pub(super) enum Origin {
    /// An input, or 1.
    Given,
    Name(Polynomial),
    Floor {
        of: Polynomial,
        bits: u32,
    },
    Rounded {
        of: Polynomial,
        bits: u32,
    },
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) least: i128,
    pub(super) most: i128,
    pub(super) origin: Origin,
}

/// All atoms.
pub(super) struct Algebra {
    atoms: Vec<Known>,
    floors: HashMap<(Vec<(Monomial, i128)>, u32), Atom>,
    products: HashSet<Monomial>,
}

impl Algebra {
    pub(super) fn new() -> Self {
        let one = Known {
            least: 1,
            most: 1,
            origin: Origin::Given,
        };
        Self {
            atoms: vec![one],
            floors: HashMap::new(),
            products: HashSet::new(),
        }
    }

    pub(super) fn known(&self, atom: Atom) -> &Known {
        &self.atoms[atom as usize]
    }

    fn new_atom(&mut self, [least, most]: [i128; 2], origin: Origin) -> Atom {
        assert!(least <= most);
        self.atoms.push(Known { least, most, origin });
        (self.atoms.len() - 1) as Atom
    }

    /// An atom as a number.
    pub(super) fn value(&self, atom: Atom) -> Value {
        let Known { least, most, .. } = *self.known(atom);
        Rc::new(Number::new(Polynomial::of(Monomial::of(atom), 1), [least, most]))
    }

    /// An input of which the bounds are known.
    pub(super) fn input(&mut self, least: i128, most: i128) -> Value {
        if least == most {
            return Number::constant(least);
        }
        let atom = self.new_atom([least, most], Origin::Given);
        self.value(atom)
    }

    /// Atoms from a number on.
    pub(super) fn since(&self, first: usize) -> impl Iterator<Item = (Atom, &Known)> {
        (0..).zip(&self.atoms).skip(first)
    }

    pub(super) fn atoms(&self) -> usize {
        self.atoms.len()
    }

    /// `true` if the two have been multiplied.
    pub(super) fn were_multiplied(&self, x: Atom, y: Atom) -> bool {
        self.products.contains(&Monomial::product(x, y))
    }

    pub(super) fn rounded(&mut self, of: Polynomial, bits: u32, bounds: [i128; 2]) -> Atom {
        self.new_atom(bounds, Origin::Rounded { of, bits })
    }

    /// The bounds that the atoms of a polynomial leave it, which has one atom in each term.
    pub(super) fn bounds(&self, polynomial: &Polynomial) -> Option<[i128; 2]> {
        let (mut least, mut most) = (0i128, 0i128);
        for (Monomial(first, atom), coefficient) in polynomial.terms() {
            if first != ONE {
                return None;
            }
            let known = self.known(atom);
            let ends = [known.least, known.most].map(|end| end.checked_mul(coefficient));
            let ends = [ends[0]?, ends[1]?];
            least = least.checked_add(ends[0].min(ends[1]))?;
            most = most.checked_add(ends[0].max(ends[1]))?;
        }
        Some([least, most])
    }

    /// An atom that equals a number, and its multiple in the number.
    pub(super) fn name(&mut self, value: &Value) -> (Atom, i128) {
        assert_eq!(value.scale, 0);
        if let Some(constant) = value.as_constant() {
            return (ONE, constant);
        }
        if let Some(multiple) = value.polynomial.as_multiple() {
            return multiple;
        }
        let named = value
            .name
            .get_or_init(|| self.new_atom([value.least, value.most], Origin::Name(value.polynomial.clone())));
        (*named, 1)
    }

    /// x y of integers, whose bounds may have any sign.
    pub(super) fn product(&mut self, x: &Value, y: &Value) -> Result<Value, Refusal> {
        if x.scale != 0 || y.scale != 0 {
            return Err("a product of what is not whole".to_owned());
        }
        let ((x_atom, x_times), (y_atom, y_times)) = (self.name(x), self.name(y));
        let times = small(x_times.checked_mul(y_times))?;
        let mut bounds = [i128::MAX, i128::MIN];
        for x in [x.least, x.most] {
            for y in [y.least, y.most] {
                let end = small(x.checked_mul(y))?;
                bounds = [bounds[0].min(end), bounds[1].max(end)];
            }
        }
        let monomial = Monomial::product(x_atom, y_atom);
        self.products.insert(monomial);
        let product = Polynomial::of(monomial, times);
        Ok(Rc::new(Number::new(product, bounds)))
    }

    /// x y as x y mod 2^bits and floor(x y / 2^bits), of x and y below 2^bits.
    pub(super) fn halves(&mut self, x: &Value, y: &Value, bits: u32) -> Result<[Value; 2], Refusal> {
        let is_short = |value: &Value| value.scale == 0 && value.least >= 0 && value.most >> bits == 0;
        let ((x_atom, x_times), (y_atom, y_times)) = (self.name(x), self.name(y));
        if !is_short(x) || !is_short(y) || x_times != 1 || y_times != 1 {
            return Err("a product of what is not a limb".to_owned());
        }
        let monomial = Monomial::product(x_atom, y_atom);
        self.products.insert(monomial);
        let product = Polynomial::of(monomial, 1);
        let key = (product.terms().collect(), bits);
        let above = match self.floors.get(&key) {
            Some(&atom) => atom,
            None => {
                let of = product.clone();
                let atom = self.new_atom([0, (1 << bits) - 2], Origin::Floor { of, bits });
                self.floors.insert(key, atom);
                atom
            }
        };
        let mut low = product;
        low.add_term(Monomial::of(above), -1 << bits);
        let low = Number::new(low, [0, (1 << bits) - 1]);
        Ok([Rc::new(low), self.value(above)])
    }

    /// floor(x / 2^bits) of an integer that is not negative.
    pub(super) fn floor(&mut self, x: &Value, bits: u32) -> Result<Value, Refusal> {
        match x.least >= 0 {
            true => self.signed_floor(x, bits),
            false => Err(format!("a shift of what may be negative: {} to {}", x.least, x.most)),
        }
    }

    /// floor(x / 2^bits) of an integer.
    pub(super) fn signed_floor(&mut self, x: &Value, bits: u32) -> Result<Value, Refusal> {
        if x.scale != 0 {
            return Err("a shift of what is not whole".to_owned());
        }
        let bounds = [x.least >> bits, x.most >> bits];
        if bounds[0] == bounds[1] {
            return Ok(Number::constant(bounds[0]));
        }
        let twos = x.polynomial.twos().min(bits);
        let (reduced, rest) = (x.polynomial.without_twos(twos), bits - twos);
        if rest == 0 {
            return Ok(Rc::new(Number::new(reduced, bounds)));
        }
        let key = (reduced.terms().collect(), rest);
        let atom = match self.floors.get(&key) {
            Some(&atom) => atom,
            None => {
                let atom = self.new_atom(
                    bounds,
                    Origin::Floor {
                        of: reduced,
                        bits: rest,
                    },
                );
                self.floors.insert(key, atom);
                atom
            }
        };
        let known = self.known(atom);
        let bounds = [bounds[0].max(known.least), bounds[1].min(known.most)];
        Ok(Rc::new(Number::new(Polynomial::of(Monomial::of(atom), 1), bounds)))
    }

    /// x mod 2^bits.
    pub(super) fn low(&mut self, x: &Value, bits: u32) -> Result<Value, Refusal> {
        if x.scale == 0 && x.least >= 0 && x.most >> bits == 0 {
            return Ok(x.clone());
        }
        if let Some((known, low)) = x.low.get()
            && *known == bits
        {
            return Ok(low.clone());
        }
        let above = self.signed_floor(x, bits)?;
        let mut low = Number::take(Number::difference(x.clone(), &Number::times(&above, 1 << bits)?)?);
        let twos = low.polynomial.twos().min(bits);
        (low.least, low.most) = (0, (1 << bits) - (1 << twos));
        let low = Rc::new(low);
        // One number is seldom cut in two places.
        let _ = x.low.set((bits, low.clone()));
        Ok(low)
    }

    /// `true` if x is a multiple of 2^bits, given that `inverse` times `digit` is -1 mod 2^bits: for x = s + q digit,
    /// where q = s inverse mod 2^bits.
    pub(super) fn is_multiple(&self, x: &Polynomial, bits: u32, inverse: Atom, digit: Atom) -> bool {
        let mut sum = Polynomial::default();
        for (Monomial(first, second), coefficient) in x.terms() {
            let quotient = match (first == digit, second == digit) {
                (true, false) => second,
                (false, true) => first,
                _ => ONE,
            };
            let Origin::Name(quotient) = &self.known(quotient).origin else {
                sum.add_term(Monomial(first, second), coefficient);
                continue;
            };
            // s inverse digit is -s.
            for (Monomial(first, second), factor) in quotient.terms() {
                let product = coefficient.checked_mul(factor).expect("small coefficients");
                if product.trailing_zeros() >= bits {
                    continue;
                }
                let s = match (first == inverse, second == inverse) {
                    (true, false) => second,
                    (false, true) => first,
                    _ => return false,
                };
                let s = match &self.known(s).origin {
                    Origin::Name(s) => s.clone(),
                    _ => Polynomial::of(Monomial::of(s), 1),
                };
                sum.add(&s, -product);
            }
        }
        sum.twos() >= bits
    }
}

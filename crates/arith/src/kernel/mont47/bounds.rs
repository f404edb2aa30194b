//! Proof that every sum is exact and every digit in range, for every length: the kernel's own code, on intervals.
//!
//! [`Range`] is a form of the vectors like the others. Its value is not a number but what is known of one: the least
//! and the greatest that it can be, and a power of two that it is a multiple of. Each operation computes what is known
//! of its result, and panics where the result might not be exact. Two roundings are meant, and are recognised by where
//! their operands came from:
//!
//! | what | known of it |
//! |---|---|
//! | h = a b + H, where all that it can be has one ulp u; then H - h; then a b + (H - h) | the last is what h lost: at most u / 2 |
//! | r = x / 2^W + 1.5 · 2^52; then r - 1.5 · 2^52; then x - 2^W (that) | the last is a digit: at most 2^(W - 1) |
//!
//! One value is approximate on purpose, a column that is only carried from: what the sums in it may lose is added up,
//! and must be so little that the integer it is rounded to is right. Nothing approximate is ever stored.
//!
//! `mont47x2` sums the same products in the same columns, in another order, which no bound depends on, and makes digits
//! of them by the same steps; so what is proved for its forms, those of an even number of digits, goes for it.
//!
//! Memory holds the range in the words of four lanes: least, greatest, exponent of the divisor, and a number that tells
//! values apart, so that what is loaded twice is known to be the same.

use super::form::Form;
use super::reduction::{Factors, Modulus, add, double, montgomery};
use crate::kernel::doubles::{Doubles, Vector, Work};
use std::sync::atomic::{AtomicU64, Ordering};

/// The possible values of one double.
#[derive(Clone, Copy, Debug)]
struct Range {
    least: f64,
    most: f64,
    /// It is a multiple of two to this power.
    grain: i32,
    /// Equal for equal values.
    id: u64,
    /// By how much it may differ from what it stands for.
    error: f64,
    from: From,
}

/// The origin of a value, as far as it matters.
#[derive(Clone, Copy, Debug)]
enum From {
    Anything,
    /// a b + c, rounded to a multiple of `unit`: c and something between `added`.
    Rounded {
        a: u64,
        b: u64,
        c: u64,
        unit: f64,
        added: (f64, f64),
    },
    /// -a b, and less or more by what rounding to a multiple of `unit` took.
    Negated {
        a: u64,
        b: u64,
        unit: f64,
    },
    /// a b, rounded to an integer.
    Integer {
        a: u64,
        b: u64,
    },
}

/// An id that no other value has.
fn new_id() -> u64 {
    static IDS: AtomicU64 = AtomicU64::new(1);
    IDS.fetch_add(1, Ordering::Relaxed)
}

/// The next double below, if the number may have been rounded up.
fn below(x: f64) -> f64 {
    if x == 0.0 || x.abs() < EXACT { x } else { x.next_down() }
}

fn above(x: f64) -> f64 {
    -below(-x)
}

/// Integers below this are exact, and so are their halves here.
const EXACT: f64 = (1u64 << 50) as f64;

/// Two to a power.
fn power(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

impl Range {
    fn between(least: f64, most: f64, grain: i32) -> Self {
        assert!(least <= most, "{least} to {most}");
        // Nothing is a multiple of everything.
        let is_zero = least == 0.0 && most == 0.0;
        Self {
            least,
            most,
            grain: if is_zero { 1000 } else { grain },
            id: new_id(),
            error: 0.0,
            from: From::Anything,
        }
    }

    fn within(most: f64) -> Self {
        Self::between(-most, most, 0)
    }

    fn is_constant(self) -> bool {
        self.least == self.most
    }

    /// The greatest absolute value.
    fn size(self) -> f64 {
        self.most.abs().max(self.least.abs())
    }

    fn to_words(self) -> Vector<4> {
        assert!(self.error == 0.0, "what is stored is exact: {self:?}");
        [
            self.least.to_bits(),
            self.most.to_bits(),
            self.grain.cast_unsigned().into(),
            self.id,
        ]
    }

    fn of_words([least, most, grain, id]: Vector<4>) -> Self {
        Self {
            id,
            ..Self::between(
                f64::from_bits(least),
                f64::from_bits(most),
                (grain as u32).cast_signed(),
            )
        }
    }

    /// a b without rounding.
    fn product(a: Self, b: Self) -> (f64, f64) {
        let ends = [a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most];
        let least = ends.into_iter().fold(f64::INFINITY, f64::min);
        let most = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
        (below(least), above(most))
    }

    /// The sum of a and b, or a b + c: exact if doubles have all that it can be, else `None` with its ends.
    fn exact(least: f64, most: f64, grain: i32, error: f64) -> Result<Self, (f64, f64)> {
        let sum = Self {
            error,
            ..Self::between(least, most, grain)
        };
        match sum.size() <= power(53) * power(grain.max(-200)) && grain > NO_GRAIN {
            true => Ok(sum),
            false => Err((least, most)),
        }
    }

    /// A sum that is meant to be approximate.
    fn approximate(least: f64, most: f64, error: f64) -> Self {
        let sum = Self::between(below(least), above(most), NO_GRAIN);
        Self {
            error: above(error + sum.size() * power(-53)),
            ..sum
        }
    }
}

/// The grain of what is approximate.
const NO_GRAIN: i32 = -1000;

impl Doubles<4> for Range {
    type Token = ();
    type Mask = ();

    fn run<W: Work<4>>((): (), work: W) {
        work.run::<Self>(());
    }

    #[inline(never)]
    fn load((): (), vector: &Vector<4>) -> Self {
        Self::of_words(*vector)
    }

    #[inline(never)]
    fn splat((): (), x: f64) -> Self {
        let grain = match x {
            0.0 => 0,
            // Powers of two, and half as much again.
            _ => ((x.to_bits() >> 52 & 0x7FF) as i32) - 1023 - i32::from(x.to_bits() << 12 != 0),
        };
        Self::between(x, x, grain)
    }

    #[inline(never)]
    fn store(self, vector: &mut Vector<4>) {
        *vector = self.to_words();
    }

    #[inline(never)]
    fn add(self, b: Self) -> Self {
        let error = self.error + b.error;
        let (least, most) = (below(self.least + b.least), above(self.most + b.most));
        let sum = Self::exact(least, most, self.grain.min(b.grain), error);
        sum.unwrap_or_else(|(least, most)| {
            assert!(error > 0.0, "a sum is rounded: {self:?} + {b:?}");
            Self::approximate(least, most, error)
        })
    }

    #[inline(never)]
    fn sub(self, b: Self) -> Self {
        // What was rounded, less what it was added to.
        if let From::Rounded {
            a,
            b: factor,
            c,
            unit,
            added: (least, most),
        } = self.from
            && c == b.id
            && unit == 1.0
        {
            return Self {
                from: From::Integer { a, b: factor },
                ..Self::between(least, most, self.grain)
            };
        }
        // What something was added to, less the rounded sum.
        if let From::Rounded {
            a,
            b: factor,
            c,
            unit,
            added: (least, most),
        } = b.from
            && c == self.id
        {
            let negated = Self::exact(-most, -least, self.grain.min(b.grain), 0.0);
            return Self {
                from: From::Negated { a, b: factor, unit },
                ..negated.unwrap_or_else(|_| panic!("a difference is rounded: {self:?} - {b:?}"))
            };
        }
        let negative = Self {
            least: -b.most,
            most: -b.least,
            from: From::Anything,
            ..b
        };
        self.add(negative)
    }

    #[inline(never)]
    fn mul(self, b: Self) -> Self {
        // Only by 1 or 2, which rounds nothing however long the number is.
        assert!((b.least, b.most) == (1.0, 2.0) && self.error == 0.0, "{self:?} {b:?}");
        let (least, most) = Self::product(self, b);
        Self::between(least, most, self.grain)
    }

    #[inline(never)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        if let From::Negated {
            a: first,
            b: second,
            unit,
        } = b.from
            && (first, second) == (self.id, a.id)
        {
            let lost = Self::exact(-unit / 2.0, unit / 2.0, self.grain + a.grain, 0.0);
            return lost.unwrap_or_else(|_| panic!("what was lost is rounded: {self:?} {a:?}"));
        }
        if let From::Integer { a: x, b: factor } = self.from
            && x == b.id
        {
            // x - 2^W (x / 2^W rounded).
            let radix = -a.least;
            assert!(a.is_constant() && radix > 1.0, "a radix: {a:?}");
            assert!(factor == inverse_of(radix), "x is divided by the radix");
            let half = radix / 2.0;
            let digit = Self::exact(-half, half, b.grain, b.error);
            return digit.unwrap_or_else(|_| panic!("a digit is rounded: {b:?}"));
        }
        let (product_least, product_most) = Self::product(self, a);
        let grain = (self.grain + a.grain).min(b.grain);
        let error = self.error * a.size() + a.error * self.size() + b.error;
        let (least, most) = (below(product_least + b.least), above(product_most + b.most));
        Self::exact(least, most, grain, error).unwrap_or_else(|(least, most)| {
            // One ulp for all that it can be?
            let exponent = |x: f64| (x.to_bits() >> 52 & 0x7FF) as i32;
            let is_positive = b.least > 0.0;
            if !is_positive {
                // The approximate column begins here.
                return Self::approximate(least, most, error);
            }
            assert!(
                least > 0.0 && exponent(least) == exponent(most),
                "a rounded sum leaves its binade: {least:e} to {most:e}"
            );
            let unit = power(exponent(least) - 1023 - 52);
            assert!(error <= unit / 4.0, "too much is lost: {error} of {unit}");
            let to_unit = |least: f64, most: f64| {
                let down = (least / unit - 0.5).ceil().min((least / unit).round());
                let up = (most / unit + 0.5).floor().max((most / unit).round());
                (down * unit, up * unit)
            };
            let added = to_unit(product_least, product_most);
            let (least, most) = to_unit(least, most);
            Self {
                from: From::Rounded {
                    a: self.id,
                    b: if a.is_constant() {
                        inverse_of(1.0 / a.most)
                    } else {
                        a.id
                    },
                    c: b.id,
                    unit,
                    added,
                },
                ..Self::between(least, most, exponent(unit) - 1023)
            }
        })
    }

    #[inline(never)]
    fn equal(self, _: Self) {
        unreachable!("nothing is looked up");
    }

    #[inline(never)]
    fn merge(self, _: Self, (): ()) -> Self {
        unreachable!("nothing is looked up");
    }
}

/// The id under which the inverse of a radix is known as a factor, instead of its own.
fn inverse_of(radix: f64) -> u64 {
    radix.to_bits() | 1 << 63
}

/// Bounds that are assumed of the numbers that go in, and shown of those that come out.
struct Bounds {
    form: Form,
    /// Of all digits but the top one.
    digit: f64,
    /// Of the top one.
    top: f64,
}

impl Bounds {
    /// Digits of a number of `most` at the top.
    fn number(&self, top: f64) -> Vec<Vector<4>> {
        let mut digits = vec![self.digit; self.form.digits];
        *digits.last_mut().expect("there are digits") = top;
        digits.into_iter().map(|most| Range::within(most).to_words()).collect()
    }
}

/// The modulus and -1 / n mod R, for moduli of `limbs` limbs.
fn modulus_digits(form: Form, limbs: usize) -> [Vec<Vector<4>>; 2] {
    let half = power(form.width as i32 - 1);
    let mut n = vec![Range::within(half).to_words(); form.digits];
    let inverse = n.clone();
    let bits_at_top = (64 * limbs) as i32 - (form.width * (form.digits - 1)) as i32;
    let top = power(bits_at_top.max(0));
    *n.last_mut().expect("there are digits") = Range::between(0.0, top, 0).to_words();
    [n, inverse]
}

/// Multiplies `a` and `b`, or squares `a`, and returns what comes out, times 1 or 2 if that is asked for.
fn result(
    form: Form,
    [n, inverse]: &[Vec<Vector<4>>; 2],
    a: &[Vector<4>],
    b: Option<&[Vector<4>]>,
    doubles: bool,
) -> Vec<Vector<4>> {
    let mut twice = a.to_vec();
    double::<Range, 4>((), a, &mut twice);
    let factors = match b {
        Some(b) => Factors::Product(a, b),
        None => Factors::Square(a, &twice),
    };
    let modulus = Modulus { form, n, inverse };
    let factor = doubles.then(|| Range::between(1.0, 2.0, 0));
    let (mut out, mut q) = (a.to_vec(), a.to_vec());
    montgomery::<Range, 4, 6>((), factors, modulus, &mut out, &mut q, factor);
    let (mut wide, mut q) = (a.to_vec(), a.to_vec());
    montgomery::<Range, 4, 8>((), factors, modulus, &mut wide, &mut q, factor);
    for (digit, wide) in out.iter_mut().zip(wide) {
        let (one, other) = (Range::of_words(*digit), Range::of_words(wide));
        *digit = Range::within(one.size().max(other.size())).to_words();
    }
    out
}

/// The greatest digit below the top one, and the top one.
fn sizes(number: &[Vector<4>]) -> (f64, f64) {
    let (top, digits) = number.split_last().expect("there are digits");
    let size = |digit: &Vector<4>| Range::of_words(*digit).size();
    (digits.iter().map(size).fold(0.0, f64::max), size(top))
}

/// Finds digits that products keep, from those that a number is loaded with, and shows that everything on the way is
/// exact.
fn settled(form: Form, limbs: usize) -> Bounds {
    let modulus = modulus_digits(form, limbs);
    let half = power(form.width as i32 - 1);
    let mut bounds = Bounds {
        form,
        digit: half,
        // As a number mod R is loaded.
        top: half,
    };
    let loaded = bounds.number(half);
    let n_top = Range::of_words(*modulus[0].last().expect("there are digits")).most;
    let constant = bounds.number(n_top);
    // A number that was loaded is first multiplied with a constant below n.
    let (digit, top) = sizes(&result(form, &modulus, &loaded, Some(&constant), false));
    (bounds.digit, bounds.top) = (bounds.digit.max(digit), top.max(n_top));
    for _ in 0..8 {
        let number = bounds.number(bounds.top);
        let mut digit = bounds.digit;
        let mut top = n_top;
        for (factors, doubles) in [(Some(&number[..]), false), (None, false), (None, true)] {
            let (other, other_top) = sizes(&result(form, &modulus, &number, factors, doubles));
            digit = digit.max(other);
            top = top.max(other_top);
        }
        if digit <= bounds.digit && top <= bounds.top {
            return bounds;
        }
        // With a little room, or they would close in on their bounds for ever.
        (bounds.digit, bounds.top) = (digit + 1.0, (top * 1.01).max(bounds.top).ceil());
    }
    panic!("digits of {limbs} limbs grow without end");
}

#[test]
fn every_length_is_exact() {
    let lengths = || (1..=64).chain([72, 80, 96, 112, 128, 160, 192, 224, 256]);
    let odd_or_even = lengths().map(|limbs| (Form::new(limbs), limbs));
    let even = lengths().map(|limbs| (Form::even(limbs), limbs));
    for (form, limbs) in odd_or_even.chain(even) {
        let Bounds { form, digit, top } = settled(form, limbs);
        // A digit is longer than half the radix by what is carried into it alone.
        let half = power(form.width as i32 - 1);
        assert!(digit <= half + power(54 - form.width as i32), "{form:?}: {digit}");
        // The sums of two numbers, of which each half of a long one is.
        let number = Bounds { form, digit, top }.number(top);
        let mut sum = number.clone();
        add::<Range, 4>((), form, &mut sum, &number);
        assert!(sizes(&sum).0 <= half + 2.0, "{form:?}");
        // The columns that the carry out of the lower half leaves out: a quarter of what would change it is not
        // reached.
        let left_out =
            (form.digits as f64 * digit * digit * power(-2 * (form.width as i32)) + 2.0) * power(-(form.width as i32));
        assert!(left_out < 0.25);
        // A number is below 1.1 n, for R >= 32 n: the quotient is no greater than R / 2 and what its digits are too
        // long by.
        let quotient = 0.5 + (digit - half + 1.0) * power(-(form.width as i32));
        for times in [1.0, 2.0] {
            assert!(times * (1.1 * 1.1 / 32.0 + quotient) < 1.1, "{form:?}");
        }
    }
}

/// Digits of one bit more than the form chooses, where it chooses by what a column holds.
#[test]
fn digits_of_one_bit_more_are_found() {
    for limbs in [47, 64, 92, 128, 184, 256] {
        let chosen = Form::new(limbs);
        assert!(chosen.width < 47, "{limbs}");
        let width = chosen.width + 1;
        let digits = (64 * limbs + 5).div_ceil(width);
        let wider = std::panic::catch_unwind(|| settled(Form { width, digits }, limbs));
        assert!(wider.is_err(), "{chosen:?}");
    }
}

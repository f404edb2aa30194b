//! The bounds that `kernel` and `butterfly` state, proved by running the transforms on bounds: a form whose doubles are
//! upper bounds of absolute values, as multiples of p, and whose operations are what `kernel` proves of them.
//!
//! In memory a bound is negative, so that it differs from a factor of a table, which is at most 1/2.

use crate::{
    digits::{self, Reader},
    kernel::{Doubles, Eight, Line, Modulus, Work},
    plan::{self, Plan},
};

#[derive(Clone, Copy, Debug)]
struct Bound(f64);

/// A product has q of at most 2^51: A W ≤ 2.
fn product(a: f64, w: f64) -> f64 {
    assert!(a * w <= 2.0, "{a} times {w}");
    a * w
}

impl Doubles for Bound {
    type Token = ();

    /// Nothing but constants are made of doubles: those of a product are known by where they stand.
    fn splat((): (), x: f64) -> Self {
        Self(if x == 0.0 { 0.0 } else { 0.5 })
    }

    fn add(self, b: Self) -> Self {
        // Sums are exact below 2^53.
        assert!(self.0 + b.0 <= 7.9);
        Self(self.0 + b.0)
    }

    fn sub(self, b: Self) -> Self {
        self.add(b)
    }

    fn mul_by(self, w: Self, _: Self, _: &Modulus<Self>) -> Self {
        assert!(w.0 <= 0.5, "a factor of a table");
        product(self.0, 0.5);
        Self(0.5 + self.0 / 10.0)
    }

    fn mul(self, b: Self, _: &Modulus<Self>) -> Self {
        Self(0.5 + 3.0 / 8.0 * product(self.0, b.0))
    }

    fn reduce(self, _: &Modulus<Self>) -> Self {
        assert!(self.0 <= 8.0);
        Self(0.501)
    }
}

impl Eight for Bound {
    type Half = Self;
    const HALVES: usize = 1;
    type Shape = ();

    fn run<W: Work>((): (), work: W) -> W::Output {
        work.run::<Self>(())
    }

    fn load((): (), line: &Line) -> Self {
        let lane = |&x: &f64| if (-8.0..=0.0).contains(&x) { -x } else { 0.5 };
        Self(line.0.iter().map(lane).fold(0.0, f64::max))
    }

    fn store(self, line: &mut Line) {
        *line = Line([-self.0; 8]);
    }

    fn load_half((): (), line: &Line, _: usize) -> Self {
        Self::load((), line)
    }

    fn store_half(half: Self, line: &mut Line, _: usize) {
        half.store(line);
    }

    fn load_columns((): (), rows: &[Line; 8], _: usize) -> [Self; 8] {
        let greatest = rows.iter().map(|row| Self::load((), row).0).fold(0.0, f64::max);
        [Self(greatest); 8]
    }

    fn store_columns(columns: [Self; 8], rows: &mut [Line; 8], _: usize) {
        let greatest = columns.iter().map(|column| column.0).fold(0.0, f64::max);
        rows.fill(Line([-greatest; 8]));
    }

    fn add_if_negative(self, _: Self) -> Self {
        assert!(self.0 <= 1.0);
        Self(1.0)
    }

    fn shape((): (), _: u32) {}

    /// Below 2^48, a quarter of p and a thousandth more.
    fn digits((): (), _: &[u64], _: u32, _: usize, (): &()) -> [Self; 2] {
        [Self(0.2501); 2]
    }

    fn to_integers(self) -> [u64; 8] {
        assert!(self.0 <= 1.0);
        [0; 8]
    }
}

#[test]
fn no_residue_exceeds_what_products_bear() {
    // Each length of the passes within caches; columns of few rows and of many, short and long; 3 and 5 times those.
    for m in [1, 3, 5] {
        for log in 6..=21 {
            let plan = Plan::with(3, m, log, 2).expect("short enough");
            let limbs = vec![u64::MAX; plan.length()];
            let modulus = Modulus::<Bound>::new((), plan.cyclic(0).field.p);
            let reader = Reader::<Bound>::new((), &limbs, plan.bits, plan.cyclic(0).field);
            assert!(reader.line(0, &modulus).0 <= 0.8);
            let mut values = vec![Line::ZERO; plan.lines()];
            plan::forward::<Bound>((), &plan, 0, &limbs[..plan.length() / 2], &mut values);
            assert!(values.iter().all(|line| -line.0[0] <= 4.0), "{m} {log}");
            let mut residues = vec![Line::ZERO; plan.lines()];
            let products = [(&values[..], &values[..]), (&values[..], &values[..])];
            for products in [&products[..1], &products[..]] {
                plan::inverse::<Bound>((), &plan, 0, products, &mut residues);
                assert!(residues.iter().all(|line| -line.0[0] <= 4.0), "{m} {log}");
            }
            let mut out = vec![0; plan.capacity() / 64];
            digits::recombine::<Bound, 4>((), [&residues; 4], plan.bits, &mut out);
        }
    }
}

#[test]
fn a_bound_that_is_exceeded_is_seen() {
    let modulus = Modulus::<Bound>::new((), crate::field::PRIMES[0].p);
    let seen = |f: fn(Modulus<Bound>) -> Bound| std::panic::catch_unwind(move || f(modulus)).is_err();
    assert!(!seen(|modulus| Bound(4.0).mul_by(Bound(0.5), Bound(0.5), &modulus)));
    assert!(seen(|modulus| Bound(4.1).mul_by(Bound(0.5), Bound(0.5), &modulus)));
    assert!(seen(|modulus| Bound(2.0).mul(Bound(1.1), &modulus)));
}

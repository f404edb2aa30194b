//! The form every machine has.

use super::eight::{Doubles, Eight, Line, Modulus, ROUND, Work, digits};

/// Eight doubles in an array. No fused operation: what it would give exactly, integers modulo 2^64 give exactly too.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f64; 8]);

impl Portable {
    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], b.0[lane])))
    }
}

/// a w - q p, which is below 2^52 in absolute value. Each factor is an integer, so that the result is right modulo
/// 2^64.
#[inline(always)]
fn remainder(a: f64, w: f64, q: f64, p: f64) -> f64 {
    let product = (a as i64).wrapping_mul(w as i64);
    product.wrapping_sub((q as i64).wrapping_mul(p as i64)) as f64
}

#[inline(always)]
fn round(x: f64) -> f64 {
    x + ROUND - ROUND
}

/// Exchanges rows and columns.
#[inline(always)]
fn transpose(rows: [Portable; 8]) -> [Portable; 8] {
    std::array::from_fn(|column| Portable(std::array::from_fn(|row| rows[row].0[column])))
}

impl Doubles for Portable {
    type Token = ();

    #[inline(always)]
    fn splat((): (), x: f64) -> Self {
        Self([x; 8])
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self.zip(b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        self.zip(b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul_by(self, w: Self, v: Self, modulus: &Modulus<Self>) -> Self {
        let p = modulus.p.0[0];
        Self(std::array::from_fn(|lane| {
            let (a, w) = (self.0[lane], w.0[lane]);
            remainder(a, w, round(a * v.0[lane]), p)
        }))
    }

    #[inline(always)]
    fn mul(self, b: Self, modulus: &Modulus<Self>) -> Self {
        let (p, inverse) = (modulus.p.0[0], modulus.inverse.0[0]);
        self.zip(b, |a, b| remainder(a, b, round(a * b * inverse), p))
    }

    #[inline(always)]
    fn reduce(self, modulus: &Modulus<Self>) -> Self {
        let (p, inverse) = (modulus.p.0[0], modulus.inverse.0[0]);
        // q is at most 8: q p is exact, and so is the difference.
        Self(self.0.map(|a| a - round(a * inverse) * p))
    }
}

impl Eight for Portable {
    type Half = Self;
    const HALVES: usize = 1;
    type Shape = ();

    #[inline(always)]
    fn run<W: Work>((): (), work: W) -> W::Output {
        work.run::<Self>(())
    }

    #[inline(always)]
    fn load((): (), line: &Line) -> Self {
        Self(line.0)
    }

    #[inline(always)]
    fn store(self, line: &mut Line) {
        line.0 = self.0;
    }

    #[inline(always)]
    fn load_half((): (), line: &Line, _: usize) -> Self {
        Self::load((), line)
    }

    #[inline(always)]
    fn store_half(half: Self, line: &mut Line, _: usize) {
        half.store(line);
    }

    #[inline(always)]
    fn load_columns((): (), rows: &[Line; 8], _: usize) -> [Self; 8] {
        let load = |row: usize| Self::load((), &rows[row]);
        transpose([load(0), load(1), load(2), load(3), load(4), load(5), load(6), load(7)])
    }

    #[inline(always)]
    fn store_columns(columns: [Self; 8], rows: &mut [Line; 8], _: usize) {
        for (row, line) in transpose(columns).into_iter().zip(rows) {
            row.store(line);
        }
    }

    #[inline(always)]
    fn add_if_negative(self, p: Self) -> Self {
        self.zip(p, |a, p| if a < 0.0 { a + p } else { a })
    }

    #[inline(always)]
    fn shape((): (), _: u32) {}

    #[inline(always)]
    fn digits((): (), limbs: &[u64], bits: u32, line: usize, (): &()) -> [Self; 2] {
        digits(limbs, bits, line).map(|integers| Self(integers.map(|x| x as f64)))
    }

    #[inline(always)]
    fn to_integers(self) -> [u64; 8] {
        self.0.map(|x| x as u64)
    }
}

//! The kernel's operations, done with the instructions of one form of the vectors.

use super::form::Form;
use super::lookup::look_up;
use super::moduli::{Moduli, vectors, vectors_mut};
use super::reduction::{Factors, Modulus, add, double, montgomery};
use crate::kernel::Doublings;
use crate::kernel::doubles::{Doubles, Vector, Work};

/// a = a b / R mod n.
pub(super) struct Multiply<'a, const N: usize, const K: usize, const SHORT: bool> {
    pub(super) moduli: &'a Moduli<N>,
    pub(super) a: &'a mut [Vector<N>],
    pub(super) b: &'a [Vector<N>],
    pub(super) working: &'a mut [Vector<N>],
}

impl<const N: usize, const K: usize, const SHORT: bool> Work<N> for Multiply<'_, N, K, SHORT> {
    #[inline(always)]
    fn run<V: Doubles<N>>(self, token: V::Token) {
        let Self { moduli, a, b, working } = self;
        let modulus = modulus::<N, SHORT>(moduli);
        let (a, b) = (&mut a[..modulus.form.digits], &b[..modulus.form.digits]);
        let [out, q, _] = thirds(working, a.len());
        let factors = Factors::Product(a, b);
        montgomery::<V, N, K>(token, factors, modulus, out, q, None);
        a.copy_from_slice(out);
    }
}

/// a = a^2 / R mod n, `times` times over.
pub(super) struct Square<'a, const N: usize, const K: usize, const SHORT: bool> {
    pub(super) moduli: &'a Moduli<N>,
    pub(super) a: &'a mut [Vector<N>],
    pub(super) times: usize,
    pub(super) working: &'a mut [Vector<N>],
}

impl<const N: usize, const K: usize, const SHORT: bool> Work<N> for Square<'_, N, K, SHORT> {
    #[inline(always)]
    fn run<V: Doubles<N>>(self, token: V::Token) {
        let Self {
            moduli,
            a,
            times,
            working,
        } = self;
        let modulus = modulus::<N, SHORT>(moduli);
        let digits = modulus.form.digits;
        let [out, q, twice] = thirds(working, digits);
        let (mut from, mut to) = (&mut a[..digits], out);
        for _ in 0..times {
            // Of a length that the compiler knows, also after the swap.
            let (a, out) = (&mut from[..digits], &mut to[..digits]);
            double::<V, N>(token, a, twice);
            montgomery::<V, N, K>(token, Factors::Square(a, twice), modulus, out, q, None);
            std::mem::swap(&mut from, &mut to);
        }
        if times % 2 == 1 {
            to.copy_from_slice(from);
        }
    }
}

/// Squarings, each doubled in the lanes whose bit is set.
pub(super) struct SquareAndDouble<'a, const N: usize, const K: usize>(pub(super) Doublings<'a, Moduli<N>>);

impl<const N: usize, const K: usize> Work<N> for SquareAndDouble<'_, N, K> {
    #[inline(always)]
    fn run<V: Doubles<N>>(self, token: V::Token) {
        let Doublings {
            moduli,
            value,
            bits,
            working,
        } = self.0;
        let a = vectors_mut::<N>(value);
        let [out, q, twice] = thirds(vectors_mut(working), a.len());
        let (mut from, mut to) = (&mut *a, out);
        let steps = bits.as_chunks::<N>().0;
        for bits in steps {
            // The exponent of 1 or 2.
            let mut factor = [0; N];
            for (factor, &bit) in factor.iter_mut().zip(bits) {
                *factor = 1f64.to_bits() + (u64::from(bit) << 52);
            }
            let factor = V::load(token, &factor);
            double::<V, N>(token, from, twice);
            let factors = Factors::Square(from, twice);
            montgomery::<V, N, K>(token, factors, moduli.modulus(), to, q, Some(factor));
            std::mem::swap(&mut from, &mut to);
        }
        if steps.len() % 2 == 1 {
            to.copy_from_slice(from);
        }
    }
}

/// low += high.
pub(super) struct Add<'a, const N: usize> {
    pub(super) moduli: &'a Moduli<N>,
    pub(super) low: &'a mut [Vector<N>],
    pub(super) high: &'a [Vector<N>],
}

impl<const N: usize> Work<N> for Add<'_, N> {
    #[inline(always)]
    fn run<V: Doubles<N>>(self, token: V::Token) {
        add::<V, N>(token, self.moduli.form, self.low, self.high);
    }
}

/// The entry `digits[lane]` of the table for each lane.
pub(in crate::kernel) struct Select<'a, const N: usize> {
    pub(in crate::kernel) table: &'a [u64],
    pub(in crate::kernel) digits: &'a [u8],
    pub(in crate::kernel) value: &'a mut [u64],
}

impl<const N: usize> Work<N> for Select<'_, N> {
    #[inline(always)]
    fn run<V: Doubles<N>>(self, token: V::Token) {
        let digits = self.digits.first_chunk().expect("one for each lane");
        let value = vectors_mut(self.value);
        look_up::<V, N>(token, vectors(self.table), digits, value);
    }
}

/// The modulus; where SHORT, of [`Form::SHORT`], which the compiler then makes all loops for: with two tiles to a sum,
/// what is around the rows counts.
#[inline(always)]
fn modulus<const N: usize, const SHORT: bool>(moduli: &Moduli<N>) -> Modulus<'_, N> {
    let modulus = moduli.modulus();
    if !SHORT {
        return modulus;
    }
    let form = Form::SHORT;
    Modulus {
        form,
        n: &modulus.n[..form.digits],
        inverse: &modulus.inverse[..form.digits],
    }
}

/// Three values of working memory.
#[inline(always)]
fn thirds<const N: usize>(working: &mut [Vector<N>], len: usize) -> [&mut [Vector<N>]; 3] {
    let (first, rest) = working.split_at_mut(len);
    let (second, rest) = rest.split_at_mut(len);
    [first, second, &mut rest[..len]]
}

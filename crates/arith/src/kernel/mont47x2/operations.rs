//! The kernel's operations, done with the instructions of one form of the vectors.

use super::moduli::{Moduli, pairs_mut, pairs_of};
use super::operand::{Carries, Factors, Multiplication, Operand, Pair, operand_vectors};
use super::pairs::{Pairs, Work};
use crate::kernel::doubles::Vector;
use crate::kernel::mont47::form::{Constants, Form};
use crate::kernel::mont47::tiles::round;

/// Working memory, in words, of numbers of so many pairs.
pub(super) fn working_words(numbers: usize, pairs: usize) -> usize {
    4 * operand_vectors(numbers, pairs) + CARRIES + 3 * 2 * numbers * pairs
}

const CARRIES: usize = size_of::<Carries>() / size_of::<u64>();

/// Working memory, cut.
struct Working<'a, const N: usize> {
    operand: &'a mut [Vector<4>],
    out: &'a mut [Pair<N>],
    twice: &'a mut [Pair<N>],
    q: &'a mut [Pair<N>],
    carries: &'a mut Carries,
}

impl<'a, const N: usize> Working<'a, N> {
    fn cut(words: &'a mut [u64], pairs: usize) -> Self {
        let (operand, rest) = words.split_at_mut(4 * operand_vectors(N, pairs));
        let (carries, rest) = rest.split_at_mut(CARRIES);
        let carries = carries.as_chunks_mut().0.as_chunks_mut().0;
        let (out, rest) = pairs_mut(rest).split_at_mut(pairs);
        let (twice, rest) = rest.split_at_mut(pairs);
        Self {
            operand: operand.as_chunks_mut().0,
            out,
            twice,
            q: &mut rest[..pairs],
            carries: carries.try_into().expect("as many"),
        }
    }
}

/// a = a^2 / R mod n, `times` times over, and then a = a b / R mod n if there is a b.
pub(super) struct SquareAndMultiply<'a, V: Pairs<N>, const N: usize> {
    pub(super) moduli: &'a Moduli<V::Plan, N>,
    pub(super) a: &'a mut [u64],
    pub(super) times: usize,
    pub(super) b: Option<&'a [u64]>,
    pub(super) working: &'a mut [u64],
}

impl<V: Pairs<N>, const N: usize> Work<V, N> for SquareAndMultiply<'_, V, N> {
    #[inline(always)]
    fn run(self, token: V::Token) {
        let Self { moduli, times, .. } = self;
        let pairs = moduli.form.digits / 2;
        let Working {
            operand,
            out,
            twice,
            q,
            carries,
        } = Working::<N>::cut(self.working, pairs);
        let (mut from, mut to) = (&mut pairs_mut::<N>(self.a)[..pairs], out);
        for _ in 0..times {
            square::<V, N>(token, moduli, from, to, (operand, twice, q, carries));
            std::mem::swap(&mut from, &mut to);
        }
        if let Some(b) = self.b {
            put_operand::<V, N>(token, from, operand);
            let multiplication = Multiplication {
                factors: Factors {
                    a: Operand::new::<N>(operand, pairs),
                    b: &pairs_of(b)[..pairs],
                    twice: None,
                },
                modulus: moduli.modulus(),
                out: to,
                q,
                carries,
            };
            V::multiply(token, &moduli.plan, multiplication);
            std::mem::swap(&mut from, &mut to);
        }
        if (times + usize::from(self.b.is_some())) % 2 == 1 {
            to.copy_from_slice(from);
        }
    }
}

/// out = a^2 / R mod n.
#[inline(always)]
fn square<V: Pairs<N>, const N: usize>(
    token: V::Token,
    moduli: &Moduli<V::Plan, N>,
    a: &[Pair<N>],
    out: &mut [Pair<N>],
    (operand, twice, q, carries): (&mut [Vector<4>], &mut [Pair<N>], &mut [Pair<N>], &mut Carries),
) {
    put_operand::<V, N>(token, a, operand);
    for (a, twice) in a.iter().zip(&mut *twice) {
        let a = V::load_pair(token, a);
        a.add(a).store_pair(twice);
    }
    let multiplication = Multiplication {
        factors: Factors {
            a: Operand::new::<N>(operand, a.len()),
            b: a,
            twice: Some(twice),
        },
        modulus: moduli.modulus(),
        out,
        q,
        carries,
    };
    V::multiply(token, &moduli.plan, multiplication);
}

/// Puts a number against the columns.
#[inline(always)]
fn put_operand<V: Pairs<N>, const N: usize>(token: V::Token, a: &[Pair<N>], operand: &mut [Vector<4>]) {
    let zero = V::splat(token, 0.0);
    let (pairs, moved) = operand.split_at_mut(a.len() + 1);
    let (last, pairs) = pairs.split_last_mut().expect("there is a pair");
    let mut below = zero;
    if N == 1 {
        for (a, to) in a.iter().zip(pairs) {
            let pair = V::load_pair(token, a);
            pair.halves(below.shift(pair)).store(to);
            below = pair;
        }
        zero.halves(below.shift(zero)).store(last);
    } else {
        let (last_moved, moved) = moved.split_last_mut().expect("there is a pair");
        for ((a, to), to_moved) in a.iter().zip(pairs).zip(moved) {
            let pair = V::load_pair(token, a);
            pair.store(to);
            below.shift(pair).store(to_moved);
            below = pair;
        }
        zero.store(last);
        below.shift(zero).store(last_moved);
    }
}

/// value = (1 + factor) value^2 / R mod n, a factor of 0 or 1 for each number, in both places of a pair.
pub(super) struct SquareAndDouble<'a, V: Pairs<N>, const N: usize> {
    pub(super) moduli: &'a Moduli<V::Plan, N>,
    pub(super) value: &'a mut [u64],
    pub(super) factor: &'a Pair<N>,
    pub(super) working: &'a mut [u64],
}

impl<V: Pairs<N>, const N: usize> Work<V, N> for SquareAndDouble<'_, V, N> {
    #[inline(always)]
    fn run(self, token: V::Token) {
        let form = self.moduli.form;
        let pairs = form.digits / 2;
        let Working {
            operand,
            out,
            twice,
            q,
            carries,
        } = Working::<N>::cut(self.working, pairs);
        let a = &mut pairs_mut(self.value)[..pairs];
        square::<V, N>(token, self.moduli, a, out, (operand, twice, q, carries));
        let factor = V::load_pair(token, self.factor);
        let mut digits = Digits::<V>::new(token, form);
        for (a, x) in a.iter_mut().zip(out) {
            let x = V::load_pair(token, x);
            digits.next(factor.mul_add(x, x)).store_pair(a);
        }
    }
}

/// low += high.
pub(super) struct Add<'a, V: Pairs<N>, const N: usize> {
    pub(super) moduli: &'a Moduli<V::Plan, N>,
    pub(super) low: &'a mut [u64],
    pub(super) high: &'a [u64],
}

impl<V: Pairs<N>, const N: usize> Work<V, N> for Add<'_, V, N> {
    #[inline(always)]
    fn run(self, token: V::Token) {
        let mut digits = Digits::<V>::new(token, self.moduli.form);
        for (low, high) in pairs_mut(self.low).iter_mut().zip(pairs_of(self.high)) {
            let sum = V::load_pair(token, low).add(V::load_pair(token, high));
            digits.next(sum).store_pair(low);
        }
    }
}

/// Makes digits of sums of a few digits each.
struct Digits<V> {
    constants: Constants<V>,
    /// The carry of the pair below.
    below: V,
}

impl<V> Digits<V> {
    #[inline(always)]
    fn new<const N: usize>(token: V::Token, form: Form) -> Self
    where
        V: Pairs<N>,
    {
        let constants = form.constants(token);
        Self {
            below: constants.zero,
            constants,
        }
    }

    #[inline(always)]
    fn next<const N: usize>(&mut self, sum: V) -> V
    where
        V: Pairs<N>,
    {
        let above = round(&self.constants, sum);
        let digits = above.mul_add(self.constants.minus_radix, sum);
        let digits = digits.add(self.below.shift(above));
        self.below = above;
        digits
    }
}

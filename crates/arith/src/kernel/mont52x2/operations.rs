//! The kernel's operations, done with the instructions of one form.

use super::carries::carry_all;
use super::layout::{DIGITS, Words};
use super::moduli::Moduli;
use super::quad::{Quads, Work};
use super::stream::{Stream, broadcast_each};
use crate::kernel::doubles::unroll;

/// The quotient of a product of which the rows come from `$row`, in turn; all but its products with n is added.
///
/// Loops: code for each number of quads is slower, by a tenth at 1024 bits and by a sixth at 1536.
macro_rules! reduce {
    ($stream:ident, $token:ident, $width:expr, $row:ident => $add_row:expr) => {{
        let width = $width;
        let $row = 0;
        $add_row;
        let mut quad = [V::splat($token, 0); DIGITS];
        for at in 0..width {
            // What must wait for the digits before comes first, then what fills the time until the next ones are there.
            let digits = $stream.digits($token, at, (at > 0).then_some(&quad));
            if at > 0 {
                $stream.reduce_partially($token, at - 1, &quad, width);
            }
            if at + 1 < width {
                let $row = at + 1;
                $add_row;
                quad = broadcast_each::<V, N>(digits);
            } else {
                quad = $stream.quotient($token, digits);
            }
        }
        quad
    }};
}

/// a = a b / R mod n.
pub(super) struct Multiply<'a, const N: usize> {
    pub(super) moduli: &'a Moduli<N>,
    pub(super) a: &'a mut [Words<N>],
    pub(super) b: &'a [Words<N>],
    pub(super) working: &'a mut [Words<N>],
}

impl<const N: usize> Work<N> for Multiply<'_, N> {
    #[inline(always)]
    fn run<V: Quads<N>>(self, token: V::Token) {
        let width = self.a.len();
        let mut stream = Stream::<V, N>::new(token, self.moduli, self.working, self.a);
        let q = reduce!(stream, token, width, row => stream.multiply(token, row, self.b, width));
        stream.finish(token, &q, self.a);
    }
}

/// a = a^2 / R mod n, `times` times over.
pub(super) struct Square<'a, const N: usize> {
    pub(super) moduli: &'a Moduli<N>,
    pub(super) a: &'a mut [Words<N>],
    pub(super) times: usize,
    pub(super) working: &'a mut [Words<N>],
}

impl<const N: usize> Work<N> for Square<'_, N> {
    #[inline(always)]
    fn run<V: Quads<N>>(self, token: V::Token) {
        let width = self.a.len();
        let mut stream = Stream::<V, N>::new(token, self.moduli, self.working, self.a);
        for _ in 0..self.times {
            let q = reduce!(stream, token, width, row => stream.square(token, row, width));
            stream.go_on(token, &q, width);
        }
        stream.factor(token, self.a);
    }
}

/// a = a + b.
pub(super) struct Add<'a, const N: usize> {
    pub(super) a: &'a mut [Words<N>],
    pub(super) b: &'a [Words<N>],
}

impl<const N: usize> Work<N> for Add<'_, N> {
    #[inline(always)]
    fn run<V: Quads<N>>(self, token: V::Token) {
        for (a, b) in self.a.iter_mut().zip(self.b) {
            V::load(token, a).add(V::load(token, b)).store(a);
        }
        carry_all::<V, N>(token, self.a);
    }
}

/// Looks entry `digits[lane]` of the table up for each number: all entries pass by, under masks.
pub(super) struct Select<'a, const N: usize> {
    pub(super) table: &'a [Words<N>],
    pub(super) digits: &'a [u8],
    pub(super) value: &'a mut [Words<N>],
}

/// Quads that are looked up at once, in registers.
const STRIP: usize = 8;

impl<const N: usize> Work<N> for Select<'_, N> {
    #[inline(always)]
    fn run<V: Quads<N>>(self, token: V::Token) {
        let mut wanted = [[0; DIGITS]; N];
        for (wanted, &digit) in wanted.iter_mut().zip(self.digits) {
            *wanted = [digit.into(); DIGITS];
        }
        let (wanted, one) = (V::load(token, &wanted), V::splat(token, 1));
        let stride = self.value.len();
        for (strip, value) in self.value.chunks_mut(STRIP).enumerate() {
            let mut picked = [V::splat(token, 0); STRIP];
            let mut index = V::splat(token, 0);
            for entry in self.table.chunks_exact(stride) {
                let is_wanted = index.equal(wanted);
                let entry = &entry[strip * STRIP..][..value.len()];
                unroll!(i < STRIP => {
                    if i < entry.len() {
                        picked[i] = picked[i].or(V::load(token, &entry[i]).and(is_wanted));
                    }
                });
                index = index.add(one);
            }
            unroll!(i < STRIP => {
                if i < value.len() {
                    picked[i].store(&mut value[i]);
                }
            });
        }
    }
}

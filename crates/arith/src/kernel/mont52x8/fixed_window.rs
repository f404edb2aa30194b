//! Exponentiations, window after window: two interleaved for numbers of ten digits, which fill each other's gaps; one
//! alone for all others.

use super::fused::{DIGITS, multiply, square};
use super::lookup::look_up;
use super::moduli::{Moduli, vec8s, vec8s_mut};
use crate::kernel::lanes::{Lanes, Vec8, Work};
use crate::kernel::tens::{self, Power, Powers};
use crate::kernel::{FixedWindow, Table};

/// Values of working memory, of which the first of two streams has those of both.
pub(super) const VALUES: usize = tens::TWO_TENS.div_ceil(DIGITS);

/// A number of ten digits.
type Ten = [Vec8; DIGITS];

/// The operands of one stream.
struct Stream<'a> {
    value: &'a mut Ten,
    selected: &'a mut Ten,
    n: &'a mut Ten,
    n0: &'a Vec8,
    table: &'a [Vec8],
}

impl<'a> Stream<'a> {
    #[inline(always)]
    fn new([value, selected, n]: [&'a mut Ten; 3], moduli: &'a Moduli, from: &[u64], table: &'a [u64]) -> Self {
        value.copy_from_slice(vec8s(from));
        n.copy_from_slice(vec8s(&moduli.n));
        Self {
            value,
            selected,
            n,
            n0: &moduli.n0,
            table: vec8s(table),
        }
    }

    #[inline(always)]
    fn square<V: Lanes>(&mut self, token: V::Token) {
        square::<V>(token, self.value, (self.n, self.n0), None);
    }

    #[inline(always)]
    fn look_up<V: Lanes>(&mut self, token: V::Token, digits: &[u8]) {
        look_up::<V, 1>(token, self.table, [digits], [self.selected]);
    }

    #[inline(always)]
    fn multiply<V: Lanes>(&mut self, token: V::Token) {
        multiply::<V>(token, self.value, self.selected, (self.n, self.n0));
    }
}

/// The tens in working memory.
///
/// All that is written again and again lies together there, with the moduli: a load whose address agrees with that of a
/// store before it in the lower twelve bits is held back for it, though they have nothing to do with each other.
pub(super) fn tens(working: &mut [u64]) -> &mut [Ten] {
    vec8s_mut(working).as_chunks_mut().0
}

/// One exponentiation, and the width of its windows.
pub(super) struct One<'a>(pub(super) FixedWindow<'a, Moduli>, pub(super) usize);

impl Work for One<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self(power, width) = self;
        let [value, selected, n, ..] = tens(power.working) else {
            unreachable!("there is memory for six");
        };
        let memory = [value, selected, n];
        let mut stream = Stream::new(memory, power.moduli, power.value, power.table);
        for digits in power.digits.chunks_exact(8) {
            for _ in 0..width {
                stream.square::<V>(token);
            }
            stream.look_up::<V>(token, digits);
            stream.multiply::<V>(token);
        }
        vec8s_mut(power.value).copy_from_slice(stream.value);
    }
}

/// One of numbers for which the lanes' form has code of its own: while it squares, it looks up.
pub(super) struct Tens<'a>(pub(super) FixedWindow<'a, Moduli>);

impl Tens<'_> {
    /// `true` if there is code for such numbers and windows.
    pub(super) fn fit<V: Lanes>(digits: usize, width: usize) -> bool {
        V::HAS_TENS && tens::fit(digits) && width == tens::WIDTH
    }
}

impl Work for Tens<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self(mut power) = self;
        let working = vec8s_mut(std::mem::take(&mut power.working));
        let powers = [for_tens(power)];
        V::power_of_tens(token, Powers { powers, working });
    }
}

fn for_tens(power: FixedWindow<'_, Moduli>) -> Power<'_> {
    Power {
        value: vec8s_mut(power.value),
        n: vec8s(&power.moduli.n),
        n0: &power.moduli.n0,
        inverse: vec8s(&power.moduli.large_inverse),
        table: vec8s(power.table),
        digits: power.digits.as_chunks().0,
    }
}

/// The tables of two powers of numbers of ten digits, of which the first two entries are there.
pub(super) struct Tables<'a>(pub(super) [Table<'a, Moduli>; 2]);

impl Work for Tables<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let [mut one, two] = self.0;
        let working = vec8s_mut(std::mem::take(&mut one.working));
        let tables = [one, two].map(|Table { moduli, table, .. }| tens::Table {
            n: vec8s(&moduli.n),
            n0: &moduli.n0,
            entries: vec8s_mut(table),
        });
        V::tables_of_ten(token, tables, working);
    }
}

/// Two of one length, alternately: what one waits for, the other fills.
pub(super) struct Two<'a>(pub(super) [FixedWindow<'a, Moduli>; 2], pub(super) usize);

impl Work for Two<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self([one, two], width) = self;
        if V::HAS_TENS && width == tens::WIDTH {
            let mut one = one;
            let working = vec8s_mut(std::mem::take(&mut one.working));
            let powers = [one, two].map(for_tens);
            return V::powers_of_ten(token, Powers { powers, working });
        }
        let [value1, value2, selected1, selected2, n1, n2, ..] = tens(one.working) else {
            unreachable!("there is memory for six");
        };
        let memory = [value1, selected1, n1];
        let mut stream1 = Stream::new(memory, one.moduli, one.value, one.table);
        let memory = [value2, selected2, n2];
        let mut stream2 = Stream::new(memory, two.moduli, two.value, two.table);
        let windows = one.digits.chunks_exact(8).zip(two.digits.chunks_exact(8));
        for (digits1, digits2) in windows {
            for _ in 0..width {
                stream1.square::<V>(token);
                stream2.square::<V>(token);
            }
            stream1.look_up::<V>(token, digits1);
            stream2.look_up::<V>(token, digits2);
            stream1.multiply::<V>(token);
            stream2.multiply::<V>(token);
        }
        vec8s_mut(one.value).copy_from_slice(stream1.value);
        vec8s_mut(two.value).copy_from_slice(stream2.value);
    }
}

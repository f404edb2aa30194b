//! Exponentiations, window after window: two interleaved for numbers of ten digits, which fill each other's gaps; one
//! alone for all others.

use super::blocks::LARGE;
use super::fused::{DIGITS, multiply, square};
use super::lookup::{look_up, wanted};
use super::moduli::{Moduli, vec8s, vec8s_mut};
use super::operations::by_tens;
use crate::kernel::FixedWindow;
use crate::kernel::lanes::{Lanes, Vec8, Work};
use crate::kernel::tens::{self, Factors, LookUp};

/// Values of working memory, of which the first of two streams has those of both.
pub(super) const VALUES: usize = 6;

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
pub(super) struct Tens<'a>(pub(super) FixedWindow<'a, Moduli>, pub(super) usize);

impl Tens<'_> {
    /// `true` if there is code for such numbers, and the squarings of a window are as many as it takes to look up.
    pub(super) fn fit<V: Lanes>(digits: usize, width: usize) -> bool {
        let in_time = |parts| parts <= width * (digits / LARGE);
        V::HAS_TENS && tens::fit(digits) && LookUp::parts(1 << width, digits).is_some_and(in_time)
    }

    /// Vecs of working memory.
    pub(super) fn working(digits: usize) -> usize {
        tens::working(digits) + MOST_ENTRIES
    }
}

/// Entries of a table, at most.
const MOST_ENTRIES: usize = 64;

impl Work for Tens<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self(power, width) = self;
        let moduli = power.moduli;
        let (value, selected, table) = (vec8s_mut(power.value), vec8s_mut(power.selected), vec8s(power.table));
        let (t, masks) = vec8s_mut(power.working).split_at_mut(tens::working(value.len()));
        let masks = &mut masks[..1 << width];
        for digits in power.digits.as_chunks().0 {
            mask_entries::<V>(token, masks, digits);
            let mut look_up = LookUp::new(table, masks, selected);
            for _ in 0..width {
                by_tens::<V>(token, moduli, Factors::Square, value, t, None, Some(&mut look_up));
            }
            by_tens::<V>(token, moduli, Factors::Product(selected), value, t, None, None);
        }
    }
}

/// For each entry, all bits set in the lanes whose digit it is.
#[inline(always)]
fn mask_entries<V: Lanes>(token: V::Token, masks: &mut [Vec8], digits: &[u8; 8]) {
    let wanted = wanted::<V>(token, digits);
    for (number, mask) in (0..).zip(masks) {
        wanted.equal_bits(V::splat(token, number)).store(mask);
    }
}

/// Two of one length, alternately: what one waits for, the other fills.
pub(super) struct Two<'a>(pub(super) [FixedWindow<'a, Moduli>; 2], pub(super) usize);

impl Work for Two<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self([one, two], width) = self;
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

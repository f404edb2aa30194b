//! Exponentiations, window after window: two side by side of numbers of ten digits, which fill each other's gaps; one alone
//! of all others.

use super::{Moduli, Mont52x8, Select, cells, cells_mut, lookup, sweep};
use crate::kernel::lanes::{Cell, Lanes, Work};
use crate::kernel::{Ladder, LaneKernel, climb};

/// Values of working memory, of which the first of two streams has those of both.
pub(super) const VALUES: usize = 6;

/// A number of ten digits.
type Ten = [Cell; sweep::DIGITS];

/// What one stream works on.
struct Stream<'a> {
    value: &'a mut Ten,
    selected: &'a mut Ten,
    n: &'a mut Ten,
    n0: &'a Cell,
    table: &'a [Cell],
}

impl<'a> Stream<'a> {
    #[inline(always)]
    fn new(
        [value, selected, n]: [&'a mut Ten; 3],
        moduli: &'a Moduli,
        from: &[u64],
        table: &'a [u64],
    ) -> Self {
        value.copy_from_slice(cells(from));
        n.copy_from_slice(cells(&moduli.n));
        Self {
            value,
            selected,
            n,
            n0: &moduli.n0,
            table: cells(table),
        }
    }

    #[inline(always)]
    fn square<V: Lanes>(&mut self, token: V::Token) {
        sweep::square::<V>(token, self.value, (self.n, self.n0), None);
    }

    #[inline(always)]
    fn look_up<V: Lanes>(&mut self, token: V::Token, digits: &[u8]) {
        lookup::look_up::<V, 1>(token, self.table, [digits], [self.selected]);
    }

    #[inline(always)]
    fn multiply<V: Lanes>(&mut self, token: V::Token) {
        sweep::multiply::<V>(token, self.value, self.selected, (self.n, self.n0));
    }
}

/// The tens in working memory.
///
/// All that is written again and again lies together there, with the moduli: a load whose address agrees with that of a
/// store before it in the lower twelve bits is held back for it, though they have nothing to do with each other.
pub(super) fn tens(working: &mut [u64]) -> &mut [Ten] {
    cells_mut(working).as_chunks_mut().0
}

/// One exponentiation, and the width of its windows.
pub(super) struct One<'a>(pub(super) Ladder<'a, Moduli>, pub(super) usize);

impl Work for One<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self(ladder, width) = self;
        let [value, selected, n, ..] = tens(ladder.working) else {
            unreachable!("there is memory for six");
        };
        let memory = [value, selected, n];
        let mut stream = Stream::new(memory, ladder.moduli, ladder.value, ladder.table);
        for digits in ladder.digits.chunks_exact(8) {
            for _ in 0..width {
                stream.square::<V>(token);
            }
            stream.look_up::<V>(token, digits);
            stream.multiply::<V>(token);
        }
        cells_mut(ladder.value).copy_from_slice(stream.value);
    }
}

/// Two of one length, alternately: what one waits for, the other fills.
pub(super) struct Two<'a>(pub(super) [Ladder<'a, Moduli>; 2], pub(super) usize);

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
        cells_mut(one.value).copy_from_slice(stream1.value);
        cells_mut(two.value).copy_from_slice(stream2.value);
    }
}

/// An exponentiation of numbers of any other length: the table is read once for two windows.
pub(super) fn by_twos<V: Lanes>(kernel: Mont52x8<V>, ladder: Ladder<'_, Moduli>, width: usize) {
    let Ladder {
        moduli,
        value,
        table,
        digits,
        selected,
        working,
    } = ladder;
    let (working, second) = working.split_at_mut(2 * value.len());
    let second = &mut second[..value.len()];
    let (pairs, rest) = digits.as_chunks::<16>();
    for pair in pairs {
        let (digits1, digits2) = pair.split_at(8);
        let select = Select {
            table: cells(table),
            digits: [digits1, digits2],
            selected: [cells_mut(selected), cells_mut(second)],
        };
        V::run(kernel.token, select);
        for selected in [&*selected, &*second] {
            kernel.sqr(moduli, value, width, working);
            kernel.mul(moduli, value, selected, working);
        }
    }
    let ladder = Ladder {
        moduli,
        value,
        table,
        digits: rest,
        selected,
        working,
    };
    climb(kernel, ladder, width);
}

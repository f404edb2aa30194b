//! Looking a table up in constant time.

use super::tiles::Beside;
use crate::kernel::lanes::{Cell, Lanes};

/// Bits of a digit of the exponent, at most.
const MAX_WIDTH: usize = 6;

/// A look-up done bit by bit: a *tick* is one cell of the result. It reads that cell of every entry, whatever the digits,
/// and keeps one by the bits of the digits, so that as many masks serve as a digit has bits.
pub(super) struct LookUp<'a, V: Lanes> {
    table: &'a [Cell],
    selected: &'a mut [Cell],
    digits: Cell,
    done: usize,
    token: V::Token,
}

impl<'a, V: Lanes> LookUp<'a, V> {
    /// Looks entry `digits[lane]` up for each lane; entries are as long as `selected`, and 4 to 64.
    #[inline(always)]
    pub(super) fn new(
        token: V::Token,
        table: &'a [Cell],
        digits: &[u8],
        selected: &'a mut [Cell],
    ) -> Self {
        Self {
            table,
            selected,
            digits: std::array::from_fn(|lane| u64::from(digits[lane])),
            done: 0,
            token,
        }
    }

    /// Does all that is left.
    #[inline(always)]
    pub(super) fn finish(mut self) {
        while self.done < self.selected.len() {
            self.tick();
        }
    }
}

impl<V: Lanes> Beside for LookUp<'_, V> {
    #[inline(always)]
    fn tick(&mut self) {
        let stride = self.selected.len();
        let Some(selected) = self.selected.get_mut(self.done) else {
            return;
        };
        let digits = V::load(self.token, &self.digits);
        // No closure here: one would be compiled apart, without the instructions.
        let mut bits = [digits.test(V::splat(self.token, 1)); MAX_WIDTH];
        for (i, bit) in bits.iter_mut().enumerate().skip(1) {
            *bit = digits.test(V::splat(self.token, 1 << i));
        }
        let column = Column::<V> {
            cells: &self.table[self.done..],
            stride,
            bits,
            token: self.token,
        };
        match self.table.len() / stride {
            4 => column.of_4(0),
            8 => column.of_8(0),
            16 => column.of_16(0),
            32 => column.of_32(0),
            _ => column.of_64(0),
        }
        .store(selected);
        self.done += 1;
    }
}

/// One cell of each entry.
struct Column<'a, V: Lanes> {
    /// Its cells, `stride` apart.
    cells: &'a [Cell],
    stride: usize,
    /// The bits of the digits, the lowest first.
    bits: [V::Mask; MAX_WIDTH],
    token: V::Token,
}

/// Picks among twice as many entries from `first` on by one more bit.
macro_rules! double {
    ($name:ident = 2 x $half:ident: $entries:literal by bit $bit:literal) => {
        #[inline(always)]
        fn $name(&self, first: usize) -> V {
            self.$half(first)
                .merge(self.$half(first + $entries / 2), self.bits[$bit])
        }
    };
}

impl<V: Lanes> Column<'_, V> {
    #[inline(always)]
    fn of_1(&self, entry: usize) -> V {
        V::load(self.token, &self.cells[entry * self.stride])
    }

    double!(of_2 = 2 x of_1: 2 by bit 0);
    double!(of_4 = 2 x of_2: 4 by bit 1);
    double!(of_8 = 2 x of_4: 8 by bit 2);
    double!(of_16 = 2 x of_8: 16 by bit 3);
    double!(of_32 = 2 x of_16: 32 by bit 4);
    double!(of_64 = 2 x of_32: 64 by bit 5);
}

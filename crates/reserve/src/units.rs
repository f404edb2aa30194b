//! Which part of a block is lent: a bit for each unit of it, so that nothing is ever lost of what comes back.

/// Bytes of a unit; places are multiples of it.
pub(crate) const UNIT: usize = 16;
const WORD: usize = u64::BITS as usize;

/// Bytes that one word of the bits stands for.
pub(crate) const UNIT_WORD: usize = UNIT * WORD;

/// The bits of a block, all 0 at first.
pub(crate) struct Units<'a>(pub(crate) &'a mut [u64]);

impl Units<'_> {
    /// A place for `size` bytes, as its offset: the first that is large enough. The block begins at address `base`, a
    /// multiple of [`UNIT`].
    pub(crate) fn take(&mut self, size: usize, align: usize, base: usize) -> Option<usize> {
        let (needed, all) = (size.div_ceil(UNIT), self.0.len() * WORD);
        let mut next = 0;
        loop {
            let address = base.checked_add(next * UNIT)?;
            let start = (address.checked_next_multiple_of(align.max(UNIT))? - base) / UNIT;
            let end = start.checked_add(needed).filter(|end| *end <= all)?;
            match self.first(start, end, true) {
                Some(lent) => next = self.first(lent, all, false)?,
                None => {
                    self.set(start, end, true);
                    return Some(start * UNIT);
                }
            }
        }
    }

    /// Takes back what [`take`](Self::take) gave.
    pub(crate) fn give(&mut self, offset: usize, size: usize) {
        let start = offset / UNIT;
        self.set(start, start + size.div_ceil(UNIT), false);
    }

    /// Takes back the end of what [`take`](Self::take) gave: `left` bytes of it stay.
    pub(crate) fn give_end(&mut self, offset: usize, size: usize, left: usize) {
        let start = offset / UNIT;
        self.set(start + left.div_ceil(UNIT), start + size.div_ceil(UNIT), false);
    }

    /// The first of these units that is lent, or that is not.
    fn first(&self, mut start: usize, end: usize, is_lent: bool) -> Option<usize> {
        while start < end {
            let word = self.0[start / WORD];
            let wanted = if is_lent { word } else { !word };
            let wanted = wanted >> (start % WORD);
            if wanted != 0 {
                let found = start + wanted.trailing_zeros() as usize;
                return (found < end).then_some(found);
            }
            start = (start / WORD + 1) * WORD;
        }
        None
    }

    fn set(&mut self, mut start: usize, end: usize, is_lent: bool) {
        while start < end {
            let len = (end - start).min(WORD - start % WORD);
            let mask = (u64::MAX >> (WORD - len)) << (start % WORD);
            match is_lent {
                true => self.0[start / WORD] |= mask,
                false => self.0[start / WORD] &= !mask,
            }
            start += len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence of numbers that is the same each time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1);
            (self.0 >> 33) as usize % bound
        }
    }

    #[test]
    fn places_are_aligned_do_not_overlap_and_come_back() {
        const BYTES: usize = 1 << 14;
        for base in [0x1000, 0x1010, 0x1030] {
            let mut bits = [0; BYTES / UNIT_WORD];
            let mut units = Units(&mut bits);
            let mut numbers = Numbers(base as u64);
            let mut taken: Vec<(usize, usize)> = Vec::new();
            for _ in 0..20_000 {
                if taken.is_empty() || numbers.below(5) < 3 {
                    let (size, align) = (1 + numbers.below(600), 1 << numbers.below(8));
                    let Some(offset) = units.take(size, align, base) else {
                        taken
                            .drain(..taken.len() / 2)
                            .for_each(|(offset, size)| units.give(offset, size));
                        continue;
                    };
                    assert!((base + offset).is_multiple_of(align) && offset + size <= BYTES);
                    let apart = |&(other, len): &(usize, usize)| offset + size <= other || other + len <= offset;
                    assert!(taken.iter().all(apart), "{offset} {size} {taken:?}");
                    taken.push((offset, size));
                } else {
                    let (offset, size) = taken.swap_remove(numbers.below(taken.len()));
                    units.give(offset, size);
                }
            }
            for (offset, size) in taken {
                units.give(offset, size);
            }
            assert_eq!(units.take(BYTES, 1, base), Some(0));
        }
    }

    #[test]
    fn nothing_is_lost_between_many_small_places() {
        const BYTES: usize = 1 << 16;
        let mut bits = [0; BYTES / UNIT_WORD];
        let mut units = Units(&mut bits);
        for _ in 0..BYTES / UNIT {
            units.take(1, 1, 0).unwrap();
        }
        assert_eq!(units.take(1, 1, 0), None);
        for place in (0..BYTES).step_by(2 * UNIT) {
            units.give(place, 1);
        }
        assert_eq!(units.take(UNIT + 1, 1, 0), None);
        for place in (UNIT..BYTES).step_by(2 * UNIT) {
            units.give(place, UNIT);
        }
        assert_eq!(units.take(BYTES, 1, 0), Some(0));
    }

    #[test]
    fn the_end_of_a_place_comes_back() {
        let mut bits = [0];
        let mut units = Units(&mut bits);
        assert_eq!(units.take(UNIT_WORD, 1, 0), Some(0));
        units.give_end(0, UNIT_WORD, 17);
        assert_eq!(units.take(1, 1, 0), Some(32));
        units.give_end(0, 17, 17);
        assert_eq!(units.take(1, 1, 0), Some(48));
        units.give(0, 17);
        assert_eq!(units.take(32, 1, 0), Some(0));
    }

    #[test]
    fn nothing_is_given_that_does_not_fit() {
        let mut bits = [0];
        let mut units = Units(&mut bits);
        assert_eq!(units.take(UNIT_WORD + 1, 1, 0), None);
        assert_eq!(units.take(usize::MAX, 1, 0), None);
        assert_eq!(units.take(UNIT_WORD - 32, 64, 16), None);
        assert_eq!(units.take(16, 64, 16), Some(48));
        assert_eq!(units.take(48, 1, 16), Some(0));
        assert_eq!(units.take(UNIT_WORD - 64, 1, 16), Some(64));
        assert_eq!(units.take(1, 1, 16), None);
    }
}

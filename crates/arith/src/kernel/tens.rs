//! Operations on numbers of two and more blocks of ten digits, which a form of the lanes may have code of its own for:
//! `x86_64/ifma_blocks.rs`, where formulas, bounds and schedule stand.

use super::vec8::Vec8;
use std::marker::PhantomData;
use std::ptr;

/// The factors of the columns that are reduced.
pub(crate) enum Factors<'a> {
    /// a^2.
    Square,
    /// a b.
    Product(&'a [Vec8]),
    /// Whatever is in the first columns of working memory, the lowest ten of them digits.
    Columns,
}

/// a = the columns / R mod n.
pub(crate) struct Operation<'a, 't> {
    pub(crate) factors: Factors<'a>,
    /// L digits.
    pub(crate) a: &'a mut [Vec8],
    pub(crate) n: &'a [Vec8],
    /// -1 / n mod 2^52.
    pub(crate) n0: &'a Vec8,
    /// 2^-520 mod n.
    pub(crate) inverse: &'a [Vec8],
    /// Of [`working`] vecs.
    pub(crate) working: &'a mut [Vec8],
    /// All bits set in the lanes in which the result is doubled.
    pub(crate) double: Option<&'a Vec8>,
    /// A table that is looked up meanwhile.
    pub(crate) look_up: Option<&'a mut LookUp<'t>>,
}

/// Sixteen entries of a table, five vecs of each, that are looked up in all lanes. Pointers are to whole slices.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Part {
    /// The vecs found among entries before.
    found: *const Vec8,
    /// Where it goes.
    selected: *mut Vec8,
    /// The first entry's vecs, and its mask.
    entries: *const Vec8,
    masks: *const Vec8,
}

/// Parts of a table, at most.
const MOST_PARTS: usize = 48;

/// A table that is looked up part by part.
pub(crate) struct LookUp<'t> {
    parts: [Part; MOST_PARTS],
    count: usize,
    done: usize,
    /// Bytes of an entry.
    entry: usize,
    borrowed: PhantomData<(&'t mut [Vec8], &'t [Vec8])>,
}

impl<'t> LookUp<'t> {
    /// Entries and vecs of a part.
    pub(crate) const ENTRIES: usize = 16;
    const VECS: usize = 5;
    /// Parts of a table of `entries` entries of so many digits, if it can be looked up so.
    pub(crate) fn parts(entries: usize, digits: usize) -> Option<usize> {
        let is_whole = entries.is_multiple_of(Self::ENTRIES) && digits.is_multiple_of(Self::VECS);
        let parts = entries / Self::ENTRIES * (digits / Self::VECS);
        (is_whole && parts <= MOST_PARTS).then_some(parts)
    }

    /// `masks` have, for each entry, all bits set in the lanes that want it.
    #[inline(always)]
    pub(crate) fn new(table: &'t [Vec8], masks: &'t [Vec8], selected: &'t mut [Vec8]) -> Self {
        static NOTHING: [Vec8; LookUp::VECS] = [[0; 8]; LookUp::VECS];
        let digits = selected.len();
        let count = Self::parts(masks.len(), digits).expect("such tables are looked up so");
        assert_eq!(table.len(), digits * masks.len());
        let selected = selected.as_mut_ptr();
        let none = Part {
            found: ptr::null(),
            selected,
            entries: ptr::null(),
            masks: ptr::null(),
        };
        let mut parts = [none; MOST_PARTS];
        let (mut vec, mut entry) = (0, 0);
        for part in &mut parts[..count] {
            let selected = selected.wrapping_add(vec);
            *part = Part {
                found: if entry == 0 { NOTHING.as_ptr() } else { selected },
                selected,
                entries: table.as_ptr().wrapping_add(entry * digits + vec),
                masks: masks.as_ptr().wrapping_add(entry),
            };
            entry += Self::ENTRIES;
            if entry == masks.len() {
                (vec, entry) = (vec + Self::VECS, 0);
            }
        }
        Self {
            parts,
            count,
            done: 0,
            entry: size_of_val(&table[..digits]),
            borrowed: PhantomData,
        }
    }

    /// The next parts, of so many at most, and the bytes of an entry. They are taken for done.
    #[inline(always)]
    pub(crate) fn next(&mut self, most: usize) -> (&[Part], usize) {
        let first = self.done;
        self.done = self.count.min(first + most);
        (&self.parts[first..self.done], self.entry)
    }
}

/// Digits of a block.
pub(crate) const BLOCK: usize = 10;

/// The longest numbers whose columns, with signs and doubled, have room in a word.
const LONGEST: usize = 160;

/// `true` if numbers of so many digits are worked on in blocks of ten alone.
pub(crate) fn fit(digits: usize) -> bool {
    digits > BLOCK && digits <= LONGEST && digits.is_multiple_of(BLOCK)
}

/// Vecs of working memory that an operation needs: columns, the columns of blocks, and two sums of blocks.
pub(crate) fn working(digits: usize) -> usize {
    4 * digits + 2 * (BLOCK + 1)
}

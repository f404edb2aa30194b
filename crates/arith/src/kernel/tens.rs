//! Operations on numbers of blocks of ten digits, which a form of the lanes may have code of its own for:
//! `x86_64/ifma_blocks.rs` and `ifma_ten.rs`, where formulas, bounds and schedule stand.

use super::vec8::Vec8;

/// The factors of the columns that are reduced.
pub(crate) enum Factors<'a> {
    /// a^2.
    Square,
    /// a b.
    Product(&'a [Vec8]),
    /// Whatever is in the first columns of working memory, the lowest ten of them digits.
    Columns,
}

/// a = the columns / R mod n, for numbers of two and more blocks.
pub(crate) struct Operation<'a> {
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
}

/// A power: for each window, `value` is squared [`WIDTH`] times, and multiplied by an entry of the table in each lane.
pub(crate) struct Power<'a> {
    pub(crate) value: &'a mut [Vec8],
    pub(crate) n: &'a [Vec8],
    /// -1 / n mod 2^52.
    pub(crate) n0: &'a Vec8,
    /// 2^-520 mod n; of ten digits it is not used.
    pub(crate) inverse: &'a [Vec8],
    pub(crate) table: &'a [Vec8],
    /// The entry's number for each window and lane.
    pub(crate) digits: &'a [[u8; 8]],
}

/// A table of the powers of a number of ten digits from 0 up, [`ENTRIES`] of them.
pub(crate) struct Table<'a> {
    pub(crate) n: &'a [Vec8],
    /// -1 / n mod 2^52.
    pub(crate) n0: &'a Vec8,
    pub(crate) entries: &'a mut [Vec8],
}

/// Powers: one, or two together.
pub(crate) struct Powers<'a, const STREAMS: usize> {
    pub(crate) powers: [Power<'a>; STREAMS],
    /// Of [`working_of_power`] vecs, or of [`TWO_TENS`].
    pub(crate) working: &'a mut [Vec8],
}

/// Digits of a block.
pub(crate) const BLOCK: usize = 10;

/// The longest numbers whose columns, with signs and doubled, have room in a word.
const LONGEST: usize = 160;

/// `true` if numbers of so many digits are worked on in blocks of ten alone.
pub(crate) fn fit(digits: usize) -> bool {
    digits > BLOCK && digits <= LONGEST && digits.is_multiple_of(BLOCK)
}

/// Bits of the windows of powers, squarings of a window, between which its table is looked up.
pub(crate) const WIDTH: usize = 5;

/// Entries of a table.
pub(crate) const ENTRIES: usize = 1 << WIDTH;

/// Vecs of working memory that an operation needs: columns, the columns of blocks, and two sums of blocks.
pub(crate) fn working(digits: usize) -> usize {
    4 * digits + 2 * (BLOCK + 1)
}

/// Vecs of working memory that a power needs: those of an operation, what is looked up, and masks.
pub(crate) fn working_of_power(digits: usize) -> usize {
    working(digits) + digits + 1
}

/// Vecs of working memory that two powers of numbers of ten digits need: columns; and for each number, itself and its
/// factor, the modulus with -1 / n mod 2^52, and masks.
pub(crate) const TWO_TENS: usize = 2 * BLOCK + 2 * (3 * BLOCK + 2);

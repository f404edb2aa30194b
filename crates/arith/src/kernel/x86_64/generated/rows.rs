//! The arguments of the code of rows: `build/rows/` writes it, `ifma_rows.rs` calls it, and both compile this file.

/// Constants, a vector each.
#[repr(C, align(64))]
pub(crate) struct Constants<Vector> {
    /// By a digit in the lowest place; everything away elsewhere.
    pub(crate) shifts: Vector,
    pub(crate) largest_digit: Vector,
    /// Places of two vectors by turns: the lower four of each, and the upper.
    pub(crate) lower_pairs: Vector,
    pub(crate) upper_pairs: Vector,
}

/// Vectors of working memory for each of a number's: the digits of 2 a; the diagonal of a square, which is twice as
/// long; and a.
pub(crate) const WORKING_VECTORS: usize = 4;

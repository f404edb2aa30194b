//! The arguments of the code of tiles, and its functions: `build/tiles/` writes them, `avx2_tiles.rs`
//! calls them, and both compile this file.

/// Offsets of what the first column of a tile takes in the first row, in bytes from its start; and rows. A word each.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Step<Word> {
    pub(crate) pairs: Word,
    pub(crate) b: Word,
    /// The first factor itself in a square, where b is its double: the pair of the first row that does not reach all
    /// columns.
    pub(crate) plain: Word,
    /// Rows that reach all columns.
    pub(crate) rows: Word,
    pub(crate) modulus_pairs: Word,
    pub(crate) quotient: Word,
    pub(crate) quotient_rows: Word,
    /// The lowest pair of the tile.
    pub(crate) out: Word,
}

/// The starts of everything.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Start<Pointer> {
    pub(crate) pairs: Pointer,
    pub(crate) moved: Pointer,
    pub(crate) b: Pointer,
    pub(crate) plain: Pointer,
    pub(crate) modulus_pairs: Pointer,
    pub(crate) modulus_moved: Pointer,
    pub(crate) quotient: Pointer,
    pub(crate) out: Pointer,
    /// Carries of a pair of columns for the one above: the high parts, multiples of 2^W, and what was carried.
    pub(crate) below: Pointer,
    pub(crate) sum_below: Pointer,
    pub(crate) tau: Pointer,
}

/// Constants, a vector each.
#[repr(C, align(32))]
pub(crate) struct Constants<Vector> {
    pub(crate) origin: Vector,
    pub(crate) inverse_radix: Vector,
    pub(crate) minus_radix: Vector,
    pub(crate) integer: Vector,
    /// Factors of the products on the diagonal: of two numbers; of one, in its first and in its second column;
    /// then the same from the top.
    pub(crate) diagonal: Vector,
    pub(crate) first_of_one: Vector,
    pub(crate) second_of_one: Vector,
    pub(crate) diagonal_reversed: Vector,
    pub(crate) first_of_one_reversed: Vector,
    pub(crate) second_of_one_reversed: Vector,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) numbers: usize,
    /// Pairs of columns.
    pub(crate) columns: usize,
    pub(crate) squares: bool,
    /// None below R.
    pub(crate) high: Option<High>,
}

/// A tile above R.
#[derive(Clone, Copy, Debug)]
pub(crate) struct High {
    /// There is one more pair of columns below, of q n alone.
    pub(crate) is_lowest: bool,
    /// The factors' product and q n are summed in the same columns.
    pub(crate) is_joined: bool,
}

/// Pairs of columns in the largest tile: there are registers for so many.
pub(crate) const LARGEST_TILE: usize = 6;

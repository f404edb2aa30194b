//! How numbers lie in memory, and what a product mod n is made of.

use crate::kernel::doubles::Vector;
use crate::kernel::mont47::form::Form;
use std::ops::Range;

/// Two neighbouring digits of each of N numbers, as the bits of doubles.
pub(crate) type Pair<const N: usize> = [[u64; 2]; N];

/// A number against the columns: M + 1 vectors of pairs, of which the highest is zero, and as many of pairs moved up by a digit: pair j is digits 2 j and 2 j + 1, and
/// moved up digits 2 j - 1 and 2 j. Of one number, M + 1 vectors with pairs in their lower halves and pairs moved up in their upper halves.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) pairs: &'a [Vector<4>],
    pub(crate) moved: &'a [Vector<4>],
}

/// Vectors of an [`Operand`] of N numbers of so many pairs.
pub(super) const fn operand_vectors(numbers: usize, pairs: usize) -> usize {
    numbers * (pairs + 1)
}

impl<'a> Operand<'a> {
    /// Of these vectors, for `pairs` pairs.
    pub(super) fn new<const N: usize>(vectors: &'a [Vector<4>], pairs: usize) -> Self {
        let (pairs, moved) = vectors.split_at(pairs + 1);
        Self {
            pairs,
            moved: &moved[..(N - 1) * pairs.len()],
        }
    }
}

/// The factors of a product: a against the columns, and b; of a square a, a again and 2 a.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a, const N: usize> {
    pub(crate) a: Operand<'a>,
    pub(crate) b: &'a [Pair<N>],
    /// Of a square.
    pub(crate) twice: Option<&'a [Pair<N>]>,
}

/// The modulus: n, and -1 / n mod R.
#[derive(Clone, Copy)]
pub(crate) struct Modulus<'a> {
    pub(crate) form: Form,
    pub(crate) n: Operand<'a>,
    pub(crate) inverse: Operand<'a>,
}

/// out = the product of the factors / R mod n. All numbers are of as many pairs; `q` is working memory.
pub(crate) struct Multiplication<'a, const N: usize> {
    pub(crate) factors: Factors<'a, N>,
    pub(crate) modulus: Modulus<'a>,
    pub(crate) out: &'a mut [Pair<N>],
    pub(crate) q: &'a mut [Pair<N>],
}

/// Pairs of columns in the largest tile.
pub(crate) const LARGEST_TILE: usize = 6;

/// How the columns of numbers of so many pairs are cut into tiles.
pub(crate) struct Tiles {
    /// Below R, in ascending order.
    pub(crate) low: Vec<Range<usize>>,
    /// Above R, counted from the top. The last one has one more pair of columns below, of q n alone.
    pub(crate) high: Vec<Range<usize>>,
}

impl Tiles {
    pub(crate) fn new(pairs: usize) -> Self {
        let mut high = cut(pairs + 1);
        high.last_mut().expect("there are columns").end -= 1;
        Self {
            low: cut(pairs),
            high,
        }
    }
}

/// Tiles of so many pairs of columns. All but the last one are even, as squares want them, and the last one is the largest: what comes next waits for all of them, and its
/// columns fill the time that each of its rows waits for the one before.
fn cut(pairs: usize) -> Vec<Range<usize>> {
    let last = match pairs {
        ..=LARGEST_TILE => pairs,
        _ => LARGEST_TILE - pairs % 2,
    };
    let mut tiles = Vec::new();
    let mut from = 0;
    while from < pairs - last {
        let rest = pairs - last - from;
        let columns = rest
            .div_ceil(rest.div_ceil(LARGEST_TILE))
            .next_multiple_of(2);
        tiles.push(from..from + columns);
        from += columns;
    }
    tiles.push(from..pairs);
    tiles
}

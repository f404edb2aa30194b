//! Numbers in memory, and the parts of a product mod n.

use crate::kernel::doubles::Vector;
use crate::kernel::mont47::form::Form;

/// Two neighbouring digits of each of N numbers, as the bits of doubles.
pub(crate) type Pair<const N: usize> = [[u64; 2]; N];

/// A number against the columns: M + 1 vectors of pairs, of which the highest is zero, and as many of pairs moved up by
/// a digit: pair j is digits 2 j and 2 j + 1, and moved up digits 2 j - 1 and 2 j. Of one number, M + 1 vectors with
/// pairs in their lower halves and pairs moved up in their upper halves.
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

/// out = the product of the factors / R mod n. All numbers are of as many pairs; `q` and `carries` are working memory.
pub(crate) struct Multiplication<'a, const N: usize> {
    pub(crate) factors: Factors<'a, N>,
    pub(crate) modulus: Modulus<'a>,
    pub(crate) out: &'a mut [Pair<N>],
    pub(crate) q: &'a mut [Pair<N>],
    pub(crate) carries: &'a mut Carries,
}

/// Room for what a pair of columns leaves for the one above, high parts and carries, of each of the three sums.
pub(crate) type Carries = [[Vector<4>; 2]; 3];

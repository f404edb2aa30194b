//! Pairs of neighbouring digits of one number or of two in a vector of four doubles: the type the kernel is written
//! over.

use super::operand::{Multiplication, Pair};
use crate::kernel::doubles::Doubles;
use crate::kernel::mont47::form::Form;

/// Four doubles that hold a pair of digits of each of two numbers, a number in each half. Of one number each half has a
/// pair, and takes a sum of its own.
pub(crate) trait Pairs<const N: usize>: Doubles<4> {
    /// A plan of multiplications of numbers of one length.
    type Plan: Clone + Send + Sync;

    /// Does `work` compiled for this form.
    fn run_pairs(token: Self::Token, work: impl Work<Self, N>);
    /// The pairs of memory; that of one number in both halves.
    fn load_pair(token: Self::Token, pair: &Pair<N>) -> Self;
    /// To memory; of one number what is in the lower half.
    fn store_pair(self, pair: &mut Pair<N>);
    /// In each half the upper digit of `self`, and above it the lower one of `above`: pairs moved up by a digit.
    fn shift(self, above: Self) -> Self;
    /// The lower half of `self` and the upper half of `upper`.
    fn halves(self, upper: Self) -> Self;
    /// The plan for numbers of one form.
    fn plan(form: Form) -> Self::Plan;
    /// Multiplies mod n, by the plan for numbers of as many pairs.
    fn multiply(token: Self::Token, plan: &Self::Plan, multiplication: Multiplication<'_, N>);
}

/// Something to do over a form for N numbers.
pub(crate) trait Work<V: Pairs<N>, const N: usize> {
    /// Does it. Implementations are `#[inline(always)]`.
    fn run(self, token: V::Token);
}

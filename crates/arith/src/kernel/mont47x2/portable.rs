//! The form every machine has.

use super::digit_by_digit;
use super::operand::{Multiplication, Pair};
use super::pairs::{Pairs, Work};
use crate::kernel::doubles::{Doubles, Portable, Vector};
use crate::kernel::mont47::form::Form;

impl<const N: usize> Pairs<N> for Portable<4> {
    type Plan = ();

    fn run_pairs((): (), work: impl Work<Self, N>) {
        work.run(());
    }

    #[inline(always)]
    fn load_pair((): (), pair: &Pair<N>) -> Self {
        let upper = pair[N - 1];
        Self::load((), &[pair[0][0], pair[0][1], upper[0], upper[1]])
    }

    #[inline(always)]
    fn store_pair(self, pair: &mut Pair<N>) {
        let mut vector = [0; 4];
        self.store(&mut vector);
        for (to, from) in pair.iter_mut().zip(vector.as_chunks().0) {
            *to = *from;
        }
    }

    #[inline(always)]
    fn shift(self, above: Self) -> Self {
        places(self, above, [1, 4, 3, 6])
    }

    #[inline(always)]
    fn halves(self, upper: Self) -> Self {
        places(self, upper, [0, 1, 6, 7])
    }

    fn plan(_: Form) {}

    fn multiply((): (), (): &(), multiplication: Multiplication<'_, N>) {
        digit_by_digit::multiply(multiplication);
    }
}

/// The doubles of these places of `a` and, from 4 on, of `b`.
#[inline(always)]
fn places(a: Portable<4>, b: Portable<4>, places: [usize; 4]) -> Portable<4> {
    let [mut low, mut high]: [Vector<4>; 2] = [[0; 4]; 2];
    a.store(&mut low);
    b.store(&mut high);
    let all = [low, high];
    Portable::load((), &places.map(|place| all[place / 4][place % 4]))
}

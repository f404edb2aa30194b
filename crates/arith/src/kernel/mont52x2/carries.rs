//! From columns to digits.

use super::quad::{DIGITS, Quad, Words};
use crate::kernel::lanes::DIGIT_MASK;

/// Quads whose carries fit into one word.
const WORD_QUADS: usize = u64::BITS as usize / DIGITS;

/// Carries columns into digits; they are worth less than R.
///
/// Each column gives what exceeds its digit to the next, all at once. A column then carries 1 at most, and all of these carries come out of one
/// addition of words that hold a bit for each column: whether it carries, and whether it would if 1 came in.
#[inline(always)]
pub(super) fn carry_all<V: Quad>(token: V::Token, columns: &mut [Words]) {
    let mask = V::splat(token, DIGIT_MASK);
    let mut below = V::splat(token, 0);
    let (mut carries_below, mut carry) = (0, false);
    for columns in columns.chunks_mut(WORD_QUADS) {
        let (mut carries, mut passes) = (0, 0);
        for (i, column) in columns.iter_mut().enumerate() {
            let sum = V::load(token, column);
            let above = sum.shift_right_digit();
            let sum = sum.and(mask).add(above.move_up::<1>(below));
            below = above;
            carries |= u64::from(sum.exceeds(mask)) << (DIGITS * i);
            passes |= u64::from(sum.equals(mask)) << (DIGITS * i);
            sum.store(column);
        }
        let count = DIGITS * columns.len();
        let (sum, over) = (carries << 1 | carries_below).overflowing_add(passes);
        let (sum, over_again) = sum.overflowing_add(carry.into());
        (carries_below, carry) = (carries >> (count - 1), over | over_again);
        let takes = sum ^ passes;
        for (i, column) in columns.iter_mut().enumerate() {
            let places = (takes >> (DIGITS * i)) as u8 & 0b1111;
            V::load(token, column)
                .add_one_at(places)
                .and(mask)
                .store(column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lanes::DIGIT_BITS;
    use crate::kernel::mont52x2::quad::{Portable, Work};
    use num_bigint::BigUint;

    struct CarryAll<'a>(&'a mut [Words]);

    impl Work for CarryAll<'_> {
        #[inline(always)]
        fn run<V: Quad>(self, token: V::Token) {
            carry_all::<V>(token, self.0);
        }
    }

    fn worth(columns: &[Words]) -> BigUint {
        let columns = columns.iter().flatten().rev();
        columns.fold(BigUint::ZERO, |sum, &column| (sum << DIGIT_BITS) + column)
    }

    /// Carries that begin nowhere, anywhere and in the lowest column, and pass through any number of full digits, over the words that hold them.
    fn carries_go_as_far_as_they_must<V: Quad>(token: V::Token) {
        for quads in [1, 2, 5, 15, 16, 17, 32, 33, 40] {
            let digits = DIGITS * quads;
            for from in [0, 1, 3, 4, 62, 63, 64, 65, digits - 1] {
                for to in [1, 4, 63, 64, 65, 128, digits - 1] {
                    for start in [0, DIGIT_MASK, DIGIT_MASK + 1, u64::MAX] {
                        let mut columns = vec![[0; DIGITS]; quads];
                        let words = columns.as_flattened_mut();
                        for word in words.iter_mut().take(to.min(digits - 1)).skip(from) {
                            *word = DIGIT_MASK;
                        }
                        words[from.min(digits - 1)] = if from < digits - 1 { start } else { 1 };
                        let expected = worth(&columns);
                        V::run(token, CarryAll(&mut columns));
                        assert_eq!(
                            worth(&columns),
                            expected,
                            "{quads} quads, {from} to {to}, {start:x}"
                        );
                        assert!(columns.iter().flatten().all(|&digit| digit <= DIGIT_MASK));
                    }
                }
            }
        }
    }

    #[test]
    fn carries_of_arrays_go_as_far_as_they_must() {
        carries_go_as_far_as_they_must::<Portable>(());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn carries_of_registers_go_as_far_as_they_must() {
        use crate::kernel::x86_64::{ifma256::Ymm, ifma512::HaveIfma};
        match HaveIfma::check() {
            Some(token) => carries_go_as_far_as_they_must::<Ymm>(token),
            None => eprintln!("skipped: this CPU has no AVX-512 IFMA"),
        }
    }
}

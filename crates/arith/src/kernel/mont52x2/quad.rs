//! Four neighbouring digits of one number: the type the kernel is written over.
//!
//! It has a portable form ([`Portable`], for every machine and for tests) and one of 256-bit registers (`x86_64::ifma256`). As with
//! [`Lanes`](crate::kernel::lanes::Lanes), the kernel's body is generic and `#[inline(always)]`, and [`Quad::run`] compiles it with the
//! instructions that the form needs.

use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use std::hint::black_box;

/// Digits of a quad.
pub(super) const DIGITS: usize = 4;

/// A quad in memory.
pub(crate) type Words = [u64; DIGITS];

/// A quad of a factor as it lies against the columns for each of four digits of the other factor: moved up by 0, 1, 2 and 3 digits, and
/// filled from the quad below.
pub(crate) type Shifted = [Words; DIGITS];

/// Four 64-bit words. A value can only be made with a [`Token`](Self::Token), so having one proves that this CPU can work on it.
pub(crate) trait Quad: Copy + Send + Sync + 'static {
    /// The name of the Montgomery kernel over this form.
    const MONT52X2: &'static str;
    /// The proof that this CPU has the instructions.
    type Token: Copy + Send + Sync + 'static;

    /// Does `work` compiled for this form.
    fn run<W: Work>(token: Self::Token, work: W);
    /// The words of memory.
    fn load(token: Self::Token, words: &Words) -> Self;
    /// The same word four times.
    fn splat(token: Self::Token, word: u64) -> Self;
    /// A word, and three zeros above it.
    fn lowest(token: Self::Token, word: u64) -> Self;
    /// Each of two words twice.
    fn pairs(token: Self::Token, words: &[u64; 2]) -> Self;
    /// To memory.
    fn store(self, words: &mut Words);
    /// The words.
    fn words(self) -> Words;
    /// self + b mod 2^64.
    fn add(self, b: Self) -> Self;
    /// self + 1 at each place whose bit is set.
    fn add_one_at(self, places: u8) -> Self;
    /// Bitwise and.
    fn and(self, b: Self) -> Self;
    /// Bitwise or.
    fn or(self, b: Self) -> Self;
    /// self / 2^52.
    fn shift_right_digit(self) -> Self;
    /// Moved up by BY places, 1 to 3, and filled with the highest ones of `below`.
    fn move_up<const BY: usize>(self, below: Self) -> Self;
    /// self + (the low digit of the product of a's and b's low digits) mod 2^64.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// self + (the high digit of the product of a's and b's low digits) mod 2^64.
    fn add_high(self, a: Self, b: Self) -> Self;
    /// [`add_low`](Self::add_low) at the places whose bits are set.
    fn add_low_at<const PLACES: u8>(self, a: Self, b: Self) -> Self;
    /// [`add_high`](Self::add_high) at the places whose bits are set.
    fn add_high_at<const PLACES: u8>(self, a: Self, b: Self) -> Self;
    /// A bit for each place where self > b, of words without sign.
    fn exceeds(self, b: Self) -> u8;
    /// A bit for each place where self = b.
    fn equals(self, b: Self) -> u8;

    /// columns += four rows: `digits`, each in all places, times the quads of `shifted` behind the first, which is what lies below them.
    #[inline(always)]
    fn add_rows(
        token: Self::Token,
        columns: &mut [Words],
        shifted: &[Shifted],
        digits: &[Self; 4],
    ) {
        for (column, pair) in columns.iter_mut().zip(shifted.windows(2)) {
            let [below, here] = pair else { unreachable!() };
            let factor = |by: usize| Self::load(token, here.get(by).unwrap_or(&below[0]));
            let mut sum = Self::load(token, column);
            for (by, &digit) in digits.iter().enumerate() {
                // The high digit of a product belongs to the next column.
                sum = sum
                    .add_low(factor(by), digit)
                    .add_high(factor(by + 1), digit);
            }
            sum.store(column);
        }
    }
}

/// Something to do over any form.
pub(crate) trait Work {
    /// Does it. Implementations are `#[inline(always)]`.
    fn run<V: Quad>(self, token: V::Token);
}

/// The form every machine has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable(Words);

impl Portable {
    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], b.0[i])))
    }

    /// `b` at the places whose bits are set, a constant.
    #[inline(always)]
    fn replace(self, b: Self, places: u8) -> Self {
        let at = |i| {
            if places >> i & 1 == 1 {
                b.0[i]
            } else {
                self.0[i]
            }
        };
        Self(std::array::from_fn(at))
    }

    /// Gathers a bit from each word.
    #[inline(always)]
    fn bits(self) -> u8 {
        // Past this point the compiler cannot know that a word is 0 or 1, and makes no branch of it.
        let words = black_box(self.0);
        (0..DIGITS).fold(0, |bits, i| bits | (words[i] as u8) << i)
    }
}

/// The product of the low digits. It never overflows; asking for the check would cost more than the product.
#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & DIGIT_MASK).wrapping_mul(u128::from(b & DIGIT_MASK))
}

impl Quad for Portable {
    const MONT52X2: &'static str = "mont52x2_portable";
    type Token = ();

    fn run<W: Work>((): (), work: W) {
        work.run::<Self>(());
    }

    #[inline(always)]
    fn load((): (), words: &Words) -> Self {
        Self(*words)
    }

    #[inline(always)]
    fn splat((): (), word: u64) -> Self {
        Self([word; DIGITS])
    }

    #[inline(always)]
    fn lowest((): (), word: u64) -> Self {
        Self([word, 0, 0, 0])
    }

    #[inline(always)]
    fn pairs((): (), &[a, b]: &[u64; 2]) -> Self {
        Self([a, a, b, b])
    }

    #[inline(always)]
    fn store(self, words: &mut Words) {
        *words = self.0;
    }

    #[inline(always)]
    fn words(self) -> Words {
        self.0
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self.zip(b, u64::wrapping_add)
    }

    #[inline(always)]
    fn add_one_at(self, places: u8) -> Self {
        self.add(Self(std::array::from_fn(|i| u64::from(places >> i & 1))))
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        self.zip(b, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        self.zip(b, |a, b| a | b)
    }

    #[inline(always)]
    fn shift_right_digit(self) -> Self {
        Self(self.0.map(|word| word >> DIGIT_BITS))
    }

    #[inline(always)]
    fn move_up<const BY: usize>(self, below: Self) -> Self {
        let at = |i: usize| {
            i.checked_sub(BY)
                .map_or(below.0[(i + DIGITS - BY) % DIGITS], |i| self.0[i])
        };
        Self(std::array::from_fn(at))
    }

    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        self.add(a.zip(b, |a, b| a.wrapping_mul(b) & DIGIT_MASK))
    }

    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        self.add(a.zip(b, |a, b| (product(a, b) >> DIGIT_BITS) as u64))
    }

    #[inline(always)]
    fn add_low_at<const PLACES: u8>(self, a: Self, b: Self) -> Self {
        self.replace(self.add_low(a, b), PLACES)
    }

    #[inline(always)]
    fn add_high_at<const PLACES: u8>(self, a: Self, b: Self) -> Self {
        self.replace(self.add_high(a, b), PLACES)
    }

    #[inline(always)]
    fn exceeds(self, b: Self) -> u8 {
        // What b - a borrows.
        self.zip(b, |a, b| (!b & a | (!b | a) & b.wrapping_sub(a)) >> 63)
            .bits()
    }

    #[inline(always)]
    fn equals(self, b: Self) -> u8 {
        // Of a number that is not zero, it or its negative has the top bit set.
        self.zip(b, |a, b| ((a ^ b | (a ^ b).wrapping_neg()) >> 63) ^ 1)
            .bits()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Every operation of a form against the portable one, on patterns and edges; rows of every count of columns.
    pub(crate) fn agrees_with_the_portable_form<V: Quad>(token: V::Token) {
        struct Check;
        impl Work for Check {
            #[inline(always)]
            fn run<V: Quad>(self, token: V::Token) {
                const EDGES: [u64; 6] = [
                    0,
                    1,
                    DIGIT_MASK,
                    DIGIT_MASK + 1,
                    u64::MAX,
                    0x9e37_79b9_7f4a_7c15,
                ];
                let mut at = 0;
                let mut words = || -> Words {
                    std::array::from_fn(|_| {
                        at += 1;
                        EDGES[at % 6].rotate_left((at / 7) as u32 % 3 * 20)
                    })
                };
                for _ in 0..100 {
                    let (a, b, c) = (words(), words(), words());
                    let [x, y, z] = [a, b, c].map(|words| V::load(token, &words));
                    let [p, q, r] = [a, b, c].map(Portable);
                    for (what, got, expected) in [
                        ("add", x.add(y), p.add(q)),
                        ("and", x.and(y), p.and(q)),
                        ("or", x.or(y), p.or(q)),
                        ("shift", x.shift_right_digit(), p.shift_right_digit()),
                        ("up by 1", x.move_up::<1>(y), p.move_up::<1>(q)),
                        ("up by 2", x.move_up::<2>(y), p.move_up::<2>(q)),
                        ("up by 3", x.move_up::<3>(y), p.move_up::<3>(q)),
                        ("low", x.add_low(y, z), p.add_low(q, r)),
                        ("high", x.add_high(y, z), p.add_high(q, r)),
                        (
                            "low at",
                            x.add_low_at::<0b1010>(y, z),
                            p.add_low_at::<0b1010>(q, r),
                        ),
                        (
                            "high at",
                            x.add_high_at::<0b1100>(y, z),
                            p.add_high_at::<0b1100>(q, r),
                        ),
                        ("one at", x.add_one_at(0b0110), p.add_one_at(0b0110)),
                        ("splat", V::splat(token, a[0]), Portable::splat((), a[0])),
                        ("lowest", V::lowest(token, a[0]), Portable::lowest((), a[0])),
                        (
                            "pairs",
                            V::pairs(token, &[a[0], a[1]]),
                            Portable::pairs((), &[a[0], a[1]]),
                        ),
                    ] {
                        assert_eq!(
                            got.words(),
                            expected.words(),
                            "{what}: {a:x?}, {b:x?}, {c:x?}"
                        );
                        let mut stored = [0; 4];
                        got.store(&mut stored);
                        assert_eq!(stored, expected.words(), "stored");
                    }
                    assert_eq!(
                        (x.exceeds(y), x.equals(y)),
                        (p.exceeds(q), p.equals(q)),
                        "{a:x?}, {b:x?}"
                    );
                    let same = V::load(token, &[a[0], b[1], a[2], b[3]]);
                    let same_p = Portable([a[0], b[1], a[2], b[3]]);
                    assert_eq!(
                        (x.exceeds(same), x.equals(same)),
                        (p.exceeds(same_p), p.equals(same_p))
                    );
                }
                for len in 0..30 {
                    let shifted: Vec<Shifted> = (0..=len)
                        .map(|_| [words(), words(), words(), words()])
                        .collect();
                    let digits = words();
                    let mut columns: Vec<Words> = (0..len).map(|_| words()).collect();
                    let mut expected = columns.clone();
                    V::add_rows(
                        token,
                        &mut columns,
                        &shifted,
                        &digits.map(|digit| V::splat(token, digit)),
                    );
                    Portable::add_rows(
                        (),
                        &mut expected,
                        &shifted,
                        &digits.map(|digit| Portable::splat((), digit)),
                    );
                    assert_eq!(columns, expected, "rows of {len} quads");
                }
            }
        }
        V::run(token, Check);
    }

    #[test]
    fn the_portable_form_is_what_it_says() {
        let (a, b) = (Portable([1, 2, 3, 4]), Portable([5, 6, 7, 8]));
        assert_eq!(a.move_up::<1>(b).words(), [8, 1, 2, 3]);
        assert_eq!(a.move_up::<3>(b).words(), [6, 7, 8, 1]);
        assert_eq!(a.exceeds(Portable([0, 2, u64::MAX, 3])), 0b1001);
        assert_eq!(
            Portable([u64::MAX, 0, 1 << 63, 0]).exceeds(Portable([0, u64::MAX, 1, 0])),
            0b0101
        );
        assert_eq!(a.equals(Portable([0, 2, 0, 4])), 0b1010);
        let ones = Portable::splat((), DIGIT_MASK);
        assert_eq!(ones.add_low(ones, ones).words(), [DIGIT_MASK + 1; 4]);
        assert_eq!(ones.add_high(ones, ones).words(), [2 * DIGIT_MASK - 1; 4]);
        agrees_with_the_portable_form::<Portable>(());
    }
}

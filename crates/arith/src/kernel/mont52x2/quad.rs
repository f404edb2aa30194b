//! Four neighbouring digits of each of N numbers: the type the kernel is written over.
//!
//! It has a portable form ([`Portable`], for every machine and for tests) and those of 256-bit registers, for one
//! number, and of 512-bit registers, for two (`x86_64::ifma_quads`). As with [`Lanes`](crate::kernel::lanes::Lanes),
//! the kernel's body is generic and `#[inline(always)]`, and [`Quads::run`] compiles it with the instructions that the
//! form needs.

use super::layout::{DIGITS, Shifted, Words};
use super::rows::{NoRows, Rows};
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use std::hint::black_box;

/// Four 64-bit words for each of N numbers. A value can only be made with a [`Token`](Self::Token), so having one
/// proves that this CPU can work on it. What is said of places holds for the four of each number.
pub(crate) trait Quads<const N: usize>: Copy + Send + Sync + 'static {
    /// The proof that this CPU has the instructions.
    type Token: Copy + Send + Sync + 'static;
    /// The form that works on the first number and leaves the others as they are, where that is faster; else this one.
    type First: Quads<N, Token = Self::Token>;
    /// Products digit by digit, where there is code for that; elsewhere they are made quad by quad.
    type Rows: Rows<N, Token = Self::Token>;

    /// Does `work` compiled for this form.
    fn run<W: Work<N>>(token: Self::Token, work: W);
    /// The words of memory.
    fn load(token: Self::Token, words: &Words<N>) -> Self;
    /// One word, everywhere.
    fn splat(token: Self::Token, word: u64) -> Self;
    /// To memory.
    fn store(self, words: &mut Words<N>);
    /// self + b mod 2^64.
    fn add(self, b: Self) -> Self;
    /// self + 1 where a bit is set: four for each number, the first number's lowest.
    fn add_one_at(self, places: u8) -> Self;
    /// Bitwise and.
    fn and(self, b: Self) -> Self;
    /// Bitwise or.
    fn or(self, b: Self) -> Self;
    /// All bits set where words are equal, and elsewhere none: the compiler does not know that. They are below 2^63.
    fn equal(self, b: Self) -> Self;
    /// self / 2^52.
    fn shift_right_digit(self) -> Self;
    /// Moved up by BY places, 1 to 3, and filled with the highest ones of `below`.
    fn move_up<const BY: usize>(self, below: Self) -> Self;
    /// The word of one place in all four.
    fn broadcast<const PLACE: usize>(self) -> Self;
    /// The words of the lower half, or the upper one, twice each.
    fn pairs<const HALF: usize>(self) -> Self;
    /// Carries within the quad: its digits, and what it carries out, at the lowest place.
    fn carry(self) -> (Self, Self);
    /// self + (the low digit of the product of a's and b's low digits) mod 2^64.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// self + (the high digit of the product of a's and b's low digits) mod 2^64.
    fn add_high(self, a: Self, b: Self) -> Self;
    /// The words at the places whose bits are set, of four, and zero elsewhere.
    fn at<const PLACES: u8>(self) -> Self;
    /// A bit for each word that exceeds b's, of words without sign; four for each number, the first number's lowest.
    fn exceeds(self, b: Self) -> u8;
    /// A bit for each word that equals b's, likewise.
    fn equals(self, b: Self) -> u8;

    /// columns += four rows: `digits`, each in all places, times the quads of `shifted` behind the first, which is what
    /// lies below them. What is `new` of the columns holds nothing yet.
    #[inline(always)]
    fn add_rows(
        token: Self::Token,
        columns: &mut [Words<N>],
        new: New,
        shifted: &[Shifted<N>],
        digits: &[Self; DIGITS],
    ) {
        let count = columns.len();
        for (i, (column, pair)) in columns.iter_mut().zip(shifted.windows(2)).enumerate() {
            let [below, here] = pair else { unreachable!() };
            let factor = |by: usize| Self::load(token, here.get(by).unwrap_or(&below[0]));
            let mut sum = match new {
                New::All => Self::splat(token, 0),
                New::Last if i + 1 == count => Self::splat(token, 0),
                _ => Self::load(token, column),
            };
            for (by, &digit) in digits.iter().enumerate() {
                // The high digit of a product belongs to the next column.
                sum = sum.add_low(factor(by), digit).add_high(factor(by + 1), digit);
            }
            sum.store(column);
        }
    }
}

/// The columns, of some neighbours, that hold nothing yet, whatever is in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum New {
    None,
    /// The highest one.
    Last,
    All,
}

/// Something to be done with one form.
pub(crate) trait Work<const N: usize> {
    /// Must be `#[inline(always)]`, so that it is compiled with the instructions of the form.
    fn run<V: Quads<N>>(self, token: V::Token);
}

/// The form every machine has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable<const N: usize>(Words<N>);

impl<const N: usize> Portable<N> {
    /// Words by what each place makes of its number's four of a and of b.
    #[inline(always)]
    fn places(self, b: Self, f: impl Fn(&[u64; DIGITS], &[u64; DIGITS], usize) -> u64) -> Self {
        let number = |lane: usize| std::array::from_fn(|i| f(&self.0[lane], &b.0[lane], i));
        Self(std::array::from_fn(number))
    }

    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        self.places(b, |a, b, i| f(a[i], b[i]))
    }

    /// Gathers a bit from each word.
    #[inline(always)]
    fn bits(self) -> u8 {
        // Past this point the compiler cannot know that a word is 0 or 1, and makes no branch of it.
        let words = black_box(self.0);
        let words = words.as_flattened().iter().enumerate();
        words.fold(0, |bits, (i, &word)| bits | (word as u8) << i)
    }
}

/// The product of the low digits. It never overflows; asking for the check would cost more than the product.
#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & DIGIT_MASK).wrapping_mul(u128::from(b & DIGIT_MASK))
}

/// 1 where words are equal, else 0.
#[inline(always)]
fn is_equal(a: u64, b: u64) -> u64 {
    // Of a number that is not zero, it or its negative has the top bit set.
    ((a ^ b | (a ^ b).wrapping_neg()) >> 63) ^ 1
}

impl<const N: usize> Quads<N> for Portable<N> {
    type Token = ();
    type First = Self;
    type Rows = NoRows<()>;

    fn run<W: Work<N>>((): (), work: W) {
        work.run::<Self>(());
    }

    #[inline(always)]
    fn load((): (), words: &Words<N>) -> Self {
        Self(*words)
    }

    #[inline(always)]
    fn splat((): (), word: u64) -> Self {
        Self([[word; DIGITS]; N])
    }

    #[inline(always)]
    fn store(self, words: &mut Words<N>) {
        *words = self.0;
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self.zip(b, u64::wrapping_add)
    }

    #[inline(always)]
    fn add_one_at(self, places: u8) -> Self {
        let one = |lane: usize| std::array::from_fn(|i| u64::from(places >> (DIGITS * lane + i) & 1));
        self.add(Self(std::array::from_fn(one)))
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
    fn equal(self, b: Self) -> Self {
        // Past this point the compiler cannot know that a word is all or nothing.
        Self(black_box(self.zip(b, |a, b| is_equal(a, b).wrapping_neg()).0))
    }

    #[inline(always)]
    fn shift_right_digit(self) -> Self {
        self.zip(self, |a, _| a >> DIGIT_BITS)
    }

    #[inline(always)]
    fn move_up<const BY: usize>(self, below: Self) -> Self {
        self.places(below, |a, below, i| match i.checked_sub(BY) {
            Some(i) => a[i],
            None => below[i + DIGITS - BY],
        })
    }

    #[inline(always)]
    fn broadcast<const PLACE: usize>(self) -> Self {
        self.places(self, |a, _, _| a[PLACE])
    }

    #[inline(always)]
    fn pairs<const HALF: usize>(self) -> Self {
        self.places(self, |a, _, i| a[2 * HALF + i / 2])
    }

    #[inline(always)]
    fn carry(self) -> (Self, Self) {
        let (mut digits, mut out) = (self, Self::splat((), 0));
        for (digits, out) in digits.0.iter_mut().zip(&mut out.0) {
            for digit in digits {
                let sum = digit.wrapping_add(out[0]);
                (*digit, out[0]) = (sum & DIGIT_MASK, sum >> DIGIT_BITS);
            }
        }
        (digits, out)
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
    fn at<const PLACES: u8>(self) -> Self {
        self.places(self, |a, _, i| if PLACES >> i & 1 == 1 { a[i] } else { 0 })
    }

    #[inline(always)]
    fn exceeds(self, b: Self) -> u8 {
        // What b - a borrows.
        self.zip(b, |a, b| (!b & a | (!b | a) & b.wrapping_sub(a)) >> 63).bits()
    }

    #[inline(always)]
    fn equals(self, b: Self) -> u8 {
        self.zip(b, is_equal).bits()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Every operation of a form against the portable one, on patterns and edges; rows of every count of columns. The
    /// first `numbers` of what is stored are the form's.
    pub(crate) fn agrees_with_the_portable_form<V: Quads<N>, const N: usize>(token: V::Token, numbers: usize) {
        struct Check(usize);
        impl<const N: usize> Work<N> for Check {
            #[inline(always)]
            fn run<V: Quads<N>>(self, token: V::Token) {
                let numbers = self.0;
                let bits = ((1u32 << (DIGITS * numbers)) - 1) as u8;
                const EDGES: [u64; 6] = [0, 1, DIGIT_MASK, DIGIT_MASK + 1, u64::MAX >> 1, 0x9e37_79b9_7f4a_7c15];
                let mut at = 0;
                let mut words = || -> Words<N> {
                    std::array::from_fn(|_| {
                        std::array::from_fn(|_| {
                            at += 1;
                            EDGES[at % 6].rotate_left((at / 7) as u32 % 3 * 20)
                        })
                    })
                };
                for _ in 0..200 {
                    let (a, b, c) = (words(), words(), words());
                    let [x, y, z] = [a, b, c].map(|words| V::load(token, &words));
                    let [p, q, r] = [a, b, c].map(Portable);
                    // A column leaves room for what is carried into it.
                    let columns = a.map(|number| number.map(|word| word >> 1));
                    let (digits, out) = V::load(token, &columns).carry();
                    let (expected_digits, expected_out) = Portable(columns).carry();
                    for (what, got, expected) in [
                        ("add", x.add(y), p.add(q)),
                        ("and", x.and(y), p.and(q)),
                        ("or", x.or(y), p.or(q)),
                        ("shift", x.shift_right_digit(), p.shift_right_digit()),
                        ("up by 1", x.move_up::<1>(y), p.move_up::<1>(q)),
                        ("up by 2", x.move_up::<2>(y), p.move_up::<2>(q)),
                        ("up by 3", x.move_up::<3>(y), p.move_up::<3>(q)),
                        ("place 0", x.broadcast::<0>(), p.broadcast::<0>()),
                        ("place 1", x.broadcast::<1>(), p.broadcast::<1>()),
                        ("place 2", x.broadcast::<2>(), p.broadcast::<2>()),
                        ("place 3", x.broadcast::<3>(), p.broadcast::<3>()),
                        ("lower pairs", x.pairs::<0>(), p.pairs::<0>()),
                        ("upper pairs", x.pairs::<1>(), p.pairs::<1>()),
                        ("digits", digits, expected_digits),
                        ("carried out", out, expected_out),
                        ("low", x.add_low(y, z), p.add_low(q, r)),
                        ("high", x.add_high(y, z), p.add_high(q, r)),
                        ("at", x.at::<0b1010>(), p.at::<0b1010>()),
                        ("at", x.at::<0b1100>(), p.at::<0b1100>()),
                        ("one at", x.add_one_at(0b0110_1001), p.add_one_at(0b0110_1001)),
                        ("splat", V::splat(token, a[0][0]), Portable::splat((), a[0][0])),
                    ] {
                        let mut stored = [[0; DIGITS]; N];
                        got.store(&mut stored);
                        assert_eq!(
                            stored[..numbers],
                            expected.0[..numbers],
                            "{what}: {a:x?}, {b:x?}, {c:x?}"
                        );
                    }
                    let mut same = b;
                    for (same, a) in same.iter_mut().zip(a) {
                        (same[0], same[2]) = (a[0], a[2]);
                    }
                    for other in [b, same] {
                        let halved = |words: Words<N>| words.map(|number| number.map(|word| word >> 1));
                        let [m, o] = [a, other].map(halved);
                        let mut equal = m;
                        V::load(token, &m).equal(V::load(token, &o)).store(&mut equal);
                        let expected = Portable(m).equal(Portable(o)).0;
                        assert_eq!(equal[..numbers], expected[..numbers], "{m:x?}, {o:x?}");
                        let (y, q) = (V::load(token, &other), Portable(other));
                        assert_eq!(
                            (x.exceeds(y), x.equals(y)),
                            (p.exceeds(q) & bits, p.equals(q) & bits),
                            "{a:x?}, {other:x?}"
                        );
                    }
                }
                for (len, new) in (0..30).flat_map(|len| [(len, New::None), (len, New::Last), (len, New::All)]) {
                    let shifted: Vec<Shifted<N>> = (0..=len).map(|_| [words(), words(), words(), words()]).collect();
                    let [a, b, c, d] = [words(), words(), words(), words()];
                    let mut columns: Vec<Words<N>> = (0..len).map(|_| words()).collect();
                    let mut expected = columns.clone();
                    let digits = [a, b, c, d].map(|digit| V::load(token, &digit));
                    V::add_rows(token, &mut columns, new, &shifted, &digits);
                    let digits = [a, b, c, d].map(Portable);
                    Portable::add_rows((), &mut expected, new, &shifted, &digits);
                    for (column, expected) in columns.iter().zip(&expected) {
                        assert_eq!(column[..numbers], expected[..numbers], "rows of {len} quads");
                    }
                }
            }
        }
        V::run(token, Check(numbers));
    }

    #[test]
    fn the_portable_form_is_what_it_says() {
        let (a, b) = (
            Portable([[1, 2, 3, 4], [11, 12, 13, 14]]),
            Portable([[5, 6, 7, 8], [15, 16, 17, 18]]),
        );
        assert_eq!(a.move_up::<1>(b).0, [[8, 1, 2, 3], [18, 11, 12, 13]]);
        assert_eq!(a.move_up::<3>(b).0, [[6, 7, 8, 1], [16, 17, 18, 11]]);
        assert_eq!(a.broadcast::<2>().0, [[3; 4], [13; 4]]);
        assert_eq!(a.pairs::<1>().0, [[3, 3, 4, 4], [13, 13, 14, 14]]);
        let [low, high] = [[[0, 2, u64::MAX, 3]], [[u64::MAX, 0, 1 << 63, 0]]];
        assert_eq!(Portable([[1, 2, 3, 4]]).exceeds(Portable(low)), 0b1001);
        assert_eq!(Portable(high).exceeds(Portable([[0, u64::MAX, 1, 0]])), 0b0101);
        assert_eq!(a.equals(Portable([[0, 2, 0, 4], [11, 0, 0, 0]])), 0b0001_1010);
        let ones = Portable::<1>::splat((), DIGIT_MASK);
        assert_eq!(ones.add_low(ones, ones).0, [[DIGIT_MASK + 1; 4]]);
        assert_eq!(ones.add_high(ones, ones).0, [[2 * DIGIT_MASK - 1; 4]]);
        let (digits, out) = Portable([[DIGIT_MASK + 1, DIGIT_MASK, DIGIT_MASK, 5 << DIGIT_BITS | DIGIT_MASK]]).carry();
        assert_eq!((digits.0, out.0), ([[0; 4]], [[6, 0, 0, 0]]));
        agrees_with_the_portable_form::<Portable<1>, 1>((), 1);
        agrees_with_the_portable_form::<Portable<2>, 2>((), 2);
    }
}

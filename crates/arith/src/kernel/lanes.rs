//! Eight 64-bit words worked on at once: the type the eight-lane kernels are written over.
//!
//! It has two forms: the words of an array ([`Portable`], for every machine, for valgrind and for tests) and a 512-bit
//! register (`x86_64::ifma512`). A kernel's body is generic over [`Lanes`] and `#[inline(always)]`; [`Lanes::run`]
//! compiles it once for each form, with the instructions that form needs. `#[inline(always)]` and `#[target_feature]`
//! cannot be joined on one function, so the features stand on `run`'s wrapper alone and everything under it must be
//! inlined into it; a test reads the machine code to see that it was.

use super::tens;
pub(crate) use super::vec8::Vec8;
use crate::limbs::words;
use std::hint::black_box;

/// Bits of a digit.
pub(crate) const DIGIT_BITS: usize = 52;

/// All ones in a digit.
pub(crate) const DIGIT_MASK: u64 = (1 << DIGIT_BITS) - 1;

/// Eight words. A value can only be made with a [`Token`](Self::Token), so having one proves that this CPU can work on
/// it.
pub(crate) trait Lanes: Copy + Send + Sync + 'static {
    /// The proof that this CPU has the instructions.
    type Token: Copy + Send + Sync + 'static;
    /// One truth value a lane.
    type Mask: Copy;

    /// `true` if the form has code of its own for numbers of blocks of ten digits.
    const HAS_TENS: bool = false;

    /// Does `work` compiled for this form.
    fn run<W: Work>(token: Self::Token, work: W);
    /// The words of memory.
    fn load(token: Self::Token, vec: &Vec8) -> Self;
    /// One word, in every lane.
    fn splat(token: Self::Token, word: u64) -> Self;
    /// To memory.
    fn store(self, vec: &mut Vec8);
    /// self + b mod 2^64.
    fn add(self, b: Self) -> Self;
    /// self - b mod 2^64.
    fn sub(self, b: Self) -> Self;
    /// Bitwise and.
    fn and(self, b: Self) -> Self;
    /// Bitwise or.
    fn or(self, b: Self) -> Self;
    /// The lesser, of words without sign.
    fn min(self, b: Self) -> Self;
    /// self 2^by mod 2^64, each lane by its own count below 64.
    fn shift_left(self, by: Self) -> Self;
    /// self / 2^BITS.
    fn shift_right<const BITS: u32>(self) -> Self;
    /// self / 2^52.
    #[inline(always)]
    fn shift_right_digit(self) -> Self {
        self.shift_right::<{ DIGIT_BITS as u32 }>()
    }
    /// self + (the low digit of the product of a's and b's low digits) mod 2^64.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// self + (the high digit of the product of a's and b's low digits) mod 2^64.
    fn add_high(self, a: Self, b: Self) -> Self;
    /// A mask of the lanes in which self and b are equal.
    fn equal(self, b: Self) -> Self::Mask;
    /// `b` where the mask is true, `self` elsewhere. For what has been computed: a load would become one under the
    /// mask, and a processor need not read what a mask leaves out. What is loaded is chosen by
    /// [`choose`](Self::choose).
    fn merge(self, b: Self, mask: Self::Mask) -> Self;
    /// All bits set where self and b are equal, and none elsewhere. The compiler does not know that it is all or none.
    fn equal_bits(self, b: Self) -> Self;
    /// The bits of `b` where those of `bits` are set, and of `self` elsewhere. All three are read whole.
    fn choose(self, b: Self, bits: Self) -> Self;
    /// Does the operation by the form's own code, if it has any.
    fn tens(_: Self::Token, _: tens::Operation<'_>) {
        unreachable!("this form has no code of its own");
    }
    /// Takes a power of numbers of two and more blocks of ten digits by the form's own code, if it has any.
    fn power_of_tens(_: Self::Token, _: tens::Powers<'_, 1>) {
        unreachable!("this form has no code of its own");
    }
    /// Fills tables for [`powers_of_ten`](Self::powers_of_ten), from their first two entries, by the form's own code,
    /// if it has any.
    fn tables_of_ten(_: Self::Token, _: [tens::Table<'_>; 2], _working: &mut [Vec8]) {
        unreachable!("this form has no code of its own");
    }
    /// Takes two powers of numbers of ten digits by the form's own code, if it has any.
    fn powers_of_ten(_: Self::Token, _: tens::Powers<'_, 2>) {
        unreachable!("this form has no code of its own");
    }
}

/// Something to do over any form of lanes.
pub(crate) trait Work {
    /// Does it. Implementations are `#[inline(always)]`.
    fn run<V: Lanes>(self, token: V::Token);
}

/// The form every machine has.
///
/// Kernels without vectors of their own sieve on it, so that its operations are inlined as those of registers are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable(Vec8);

impl Portable {
    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], b.0[lane])))
    }
}

/// The product of the low digits. It never overflows; asking for the check would cost more than the product.
#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & DIGIT_MASK).wrapping_mul(u128::from(b & DIGIT_MASK))
}

impl Lanes for Portable {
    type Token = ();
    type Mask = Vec8;

    fn run<W: Work>((): (), work: W) {
        work.run::<Self>(());
    }

    #[inline(always)]
    fn load((): (), vec: &Vec8) -> Self {
        Self(*vec)
    }

    #[inline(always)]
    fn splat((): (), word: u64) -> Self {
        Self([word; 8])
    }

    #[inline(always)]
    fn store(self, vec: &mut Vec8) {
        *vec = self.0;
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self.zip(b, u64::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        self.zip(b, u64::wrapping_sub)
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
    fn min(self, b: Self) -> Self {
        // All ones where a < b.
        let mask = self.zip(b, |a, b| u64::from(words::sbb(a, b, false).1).wrapping_neg());
        b.merge(self, black_box(mask.0))
    }

    #[inline(always)]
    fn shift_left(self, by: Self) -> Self {
        // A shift for each bit of the count, under a mask: not every machine shifts in a time that is the same for all
        // counts.
        let mut shifted = self;
        for bit in 0..6 {
            let mask = by.0.map(|by| (by >> bit & 1).wrapping_neg());
            let further = Self(shifted.0.map(|word| word << (1 << bit)));
            shifted = shifted.merge(further, black_box(mask));
        }
        shifted
    }

    #[inline(always)]
    fn shift_right<const BITS: u32>(self) -> Self {
        Self(self.0.map(|word| word >> BITS))
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
    fn equal(self, b: Self) -> Vec8 {
        // Of a number that is not zero, it or its negative has the top bit set.
        let mask = self.zip(b, |a, b| {
            let other = a ^ b;
            ((other | other.wrapping_neg()) >> 63).wrapping_sub(1)
        });
        // A compiler that knows a mask to be all or nothing makes a branch of it.
        black_box(mask.0)
    }

    #[inline(always)]
    fn merge(self, b: Self, mask: Vec8) -> Self {
        self.choose(b, Self(mask))
    }

    #[inline(always)]
    fn equal_bits(self, b: Self) -> Self {
        Self(self.equal(b))
    }

    #[inline(always)]
    fn choose(self, b: Self, bits: Self) -> Self {
        let changes = self.zip(b, |a, b| a ^ b).and(bits);
        self.zip(changes, |a, change| a ^ change)
    }
}

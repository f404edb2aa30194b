//! Four digits of one number in a 256-bit register, or of each of two in a 512-bit register, with AVX-512 IFMA and VL;
//! and of the first of two in a 256-bit register, where the second one is not wanted.

use super::have_ifma::HaveIfma;
use super::ifma_rows;
use super::opaque::{opaque_256, opaque_512};
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use crate::kernel::mont52x2::layout::{DIGITS, Shifted, Words};
use crate::kernel::mont52x2::quad::{New, Quads, Work};
use std::arch::asm;
use std::arch::x86_64::*;

/// A 256-bit register. Made with a [`HaveIfma`] only, so that every value is itself the proof of the instructions.
#[derive(Clone, Copy)]
pub(crate) struct OneQuad(__m256i);

/// A 512-bit register, likewise.
#[derive(Clone, Copy)]
pub(crate) struct TwoQuads(__m512i);

/// A 256-bit register for the first of two numbers.
#[derive(Clone, Copy)]
pub(crate) struct FirstQuad(__m256i);

const _: () = assert!(DIGIT_BITS == 52, "shifts below are by as much");

/// `word` at the places with a bit, and `elsewhere` at the others.
const fn words_at(places: u8, elsewhere: u64, word: u64) -> [u64; DIGITS] {
    let mut words = [elsewhere; DIGITS];
    let mut i = 0;
    while i < DIGITS {
        if places >> i & 1 == 1 {
            words[i] = word;
        }
        i += 1;
    }
    words
}

/// The operations of all forms, by the intrinsics of their registers' size.
macro_rules! form {
    (
        $form:ident, $first:ident, $digits:ident, $numbers:literal, $run:ident, $places:expr,
        $set1:ident $loadu:ident $storeu:ident $add:ident $mask_add:ident $and:ident $or:ident $srli:ident
        $permute:ident $maskz_permute:ident $bslli:ident $cmpeq:ident $cmpgt:ident $xor:ident $srai:ident
        $lo:ident $hi:ident,
        $rows:ident, $opaque:ident,
        $move_up:item
    ) => {
        /// `work`, compiled with the instructions.
        #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,bmi2")]
        fn $run<W: Work<$numbers>>(token: HaveIfma, work: W) {
            work.run::<$form>(token);
        }

        impl $form {
            /// The digits at some places, all bits elsewhere.
            #[inline(always)]
            fn digits_at<const PLACES: u8>(self) -> Self {
                let mask = const { [words_at(PLACES, u64::MAX, DIGIT_MASK); $numbers] };
                // SAFETY: the array is as long as the register, or longer; `self` proves the instructions.
                Self(unsafe { $and(self.0, $loadu(mask.as_ptr().cast())) })
            }

            /// The excess over a digit at places 0 and 2, one place further up.
            #[inline(always)]
            fn to_odd_places(self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $bslli::<8>($srli::<52>(self.0)) })
            }

            $move_up
        }

        impl Quads<$numbers> for $form {
            type Token = HaveIfma;
            type First = $first;
            type Rows = ifma_rows::$digits;

            fn run<W: Work<$numbers>>(token: HaveIfma, work: W) {
                // SAFETY: the token proves that the CPU has every feature named on the function.
                unsafe { $run(token, work) }
            }

            #[inline(always)]
            fn load(_: HaveIfma, words: &Words<$numbers>) -> Self {
                // SAFETY: the token proves the instructions; the reference makes as many bytes readable, at any
                // alignment.
                Self(unsafe { $loadu(words.as_ptr().cast()) })
            }

            #[inline(always)]
            fn splat(_: HaveIfma, word: u64) -> Self {
                // SAFETY: the token proves the instructions.
                Self(unsafe { $set1(word.cast_signed()) })
            }

            #[inline(always)]
            fn store(self, words: &mut Words<$numbers>) {
                // SAFETY: `self` proves the instructions; the reference makes as many bytes writable, at any alignment.
                unsafe { $storeu(words.as_mut_ptr().cast(), self.0) }
            }

            #[inline(always)]
            fn add(self, b: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $add(self.0, b.0) })
            }

            #[inline(always)]
            fn add_one_at(self, places: u8) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $mask_add(self.0, places, self.0, $set1(1)) })
            }

            #[inline(always)]
            fn and(self, b: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $and(self.0, b.0) })
            }

            #[inline(always)]
            fn or(self, b: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $or(self.0, b.0) })
            }

            #[inline(always)]
            fn equal(self, b: Self) -> Self {
                // Of what is below 2^63, less 1, only zero becomes negative.
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $opaque($srai::<63>($add($xor(self.0, b.0), $set1(-1)))) })
            }

            #[inline(always)]
            fn shift_right_digit(self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $srli::<52>(self.0) })
            }

            #[inline(always)]
            fn move_up<const BY: usize>(self, below: Self) -> Self {
                self.moved_up::<BY>(below)
            }

            #[inline(always)]
            fn broadcast<const PLACE: usize>(self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe {
                    match PLACE {
                        0 => $permute::<0b00_00_00_00>(self.0),
                        1 => $permute::<0b01_01_01_01>(self.0),
                        2 => $permute::<0b10_10_10_10>(self.0),
                        3 => $permute::<0b11_11_11_11>(self.0),
                        _ => unreachable!("a quad has four places"),
                    }
                })
            }

            #[inline(always)]
            fn pairs<const HALF: usize>(self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe {
                    match HALF {
                        0 => $permute::<0b01_01_00_00>(self.0),
                        _ => $permute::<0b11_11_10_10>(self.0),
                    }
                })
            }

            #[inline(always)]
            fn carry(self) -> (Self, Self) {
                // From places 0 and 2 one up, then from 1 to 2, then from 2 to 3: moves within 128 bits take one cycle.
                let sum = self.digits_at::<0b0101>().add(self.to_odd_places());
                // SAFETY: `self` proves the instructions.
                let to_2 = Self(unsafe {
                    $maskz_permute::<0b00_01_00_00>(0b0100 * $places, sum.shift_right_digit().0)
                });
                let sum = sum.digits_at::<0b0010>().add(to_2);
                let sum = sum.digits_at::<0b0100>().add(sum.to_odd_places());
                // SAFETY: `self` proves the instructions.
                let out = Self(unsafe {
                    $maskz_permute::<0b00_00_00_11>(0b0001 * $places, sum.shift_right_digit().0)
                });
                (sum.digits_at::<0b1111>(), out)
            }

            #[inline(always)]
            fn add_low(self, a: Self, b: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $lo(self.0, a.0, b.0) })
            }

            #[inline(always)]
            fn add_high(self, a: Self, b: Self) -> Self {
                // SAFETY: `self` proves the instructions.
                Self(unsafe { $hi(self.0, a.0, b.0) })
            }

            #[inline(always)]
            fn at<const PLACES: u8>(self) -> Self {
                let mask = const { [words_at(PLACES, 0, u64::MAX); $numbers] };
                // SAFETY: the array is as long as the register, or longer; `self` proves the instructions.
                Self(unsafe { $and(self.0, $loadu(mask.as_ptr().cast())) })
            }

            #[inline(always)]
            fn exceeds(self, b: Self) -> u8 {
                // SAFETY: `self` proves the instructions.
                unsafe { $cmpgt(self.0, b.0) }
            }

            #[inline(always)]
            fn equals(self, b: Self) -> u8 {
                // SAFETY: `self` proves the instructions.
                unsafe { $cmpeq(self.0, b.0) }
            }

            #[inline(always)]
            fn add_rows(
                _: HaveIfma,
                columns: &mut [Words<$numbers>],
                new: New,
                shifted: &[Shifted<$numbers>],
                digits: &[Self; DIGITS],
            ) {
                assert_eq!(shifted.len(), columns.len() + 1);
                let (mut at, mut from) = (columns.as_mut_ptr(), shifted.as_ptr());
                let mut left = columns.len();
                let fresh = new == New::All;
                // SAFETY: a form proves the instructions; `left` columns are at `at`, and one more quad than that at
                // `from`.
                unsafe {
                    // The last few in parts of nearly one size: the more columns at once, the less each product waits
                    // for the one before.
                    while left > 8 {
                        if fresh {
                            $rows::all::on5(at, from, digits);
                        } else {
                            $rows::none::on5(at, from, digits);
                        }
                        (at, from) = (at.add(5), from.add(5));
                        left -= 5;
                    }
                    if left > 6 {
                        if fresh {
                            $rows::all::on4(at, from, digits);
                        } else {
                            $rows::none::on4(at, from, digits);
                        }
                        (at, from) = (at.add(4), from.add(4));
                        left -= 4;
                    }
                    match new {
                        New::None => $rows::none::on(left, at, from, digits),
                        New::Last => $rows::last::on(left, at, from, digits),
                        New::All => $rows::all::on(left, at, from, digits),
                    }
                }
            }
        }
    };
}

/// A form in registers of 256 bits.
macro_rules! form_of_256_bits {
    ($form:ident, $digits:ident, $numbers:literal, $run:ident, $rows:ident) => {
form! {
    $form, $form, $digits, $numbers, $run, 1,
    _mm256_set1_epi64x _mm256_loadu_si256 _mm256_storeu_si256 _mm256_add_epi64 _mm256_mask_add_epi64 _mm256_and_si256 _mm256_or_si256 _mm256_srli_epi64
    _mm256_permutex_epi64 _mm256_maskz_permutex_epi64 _mm256_bslli_epi128 _mm256_cmpeq_epi64_mask _mm256_cmpgt_epu64_mask _mm256_xor_si256 _mm256_srai_epi64
    _mm256_madd52lo_epu64 _mm256_madd52hi_epu64,
    $rows, opaque_256,
    #[inline(always)]
    fn moved_up<const BY: usize>(self, below: Self) -> Self {
        // SAFETY: `self` proves the instructions.
        Self(unsafe {
            match BY {
                1 => _mm256_alignr_epi64::<3>(self.0, below.0),
                2 => _mm256_alignr_epi64::<2>(self.0, below.0),
                3 => _mm256_alignr_epi64::<1>(self.0, below.0),
                _ => unreachable!("a quad has four places"),
            }
        })
    }
}
    };
}

form_of_256_bits! { OneQuad, One, 1, run_one_quad, rows_of_one }
form_of_256_bits! { FirstQuad, FirstOfTwo, 2, run_one_of_two, rows_of_first }

form! {
    TwoQuads, FirstQuad, Two, 2, run_two_quads, 0b1_0001,
    _mm512_set1_epi64 _mm512_loadu_si512 _mm512_storeu_si512 _mm512_add_epi64 _mm512_mask_add_epi64 _mm512_and_si512 _mm512_or_si512 _mm512_srli_epi64
    _mm512_permutex_epi64 _mm512_maskz_permutex_epi64 _mm512_bslli_epi128 _mm512_cmpeq_epi64_mask _mm512_cmpgt_epu64_mask _mm512_xor_si512 _mm512_srai_epi64
    _mm512_madd52lo_epu64 _mm512_madd52hi_epu64,
    rows_of_two, opaque_512,
    #[inline(always)]
    fn moved_up<const BY: usize>(self, below: Self) -> Self {
        // Words from 8 on are the own ones.
        // SAFETY: `self` proves the instructions.
        Self(unsafe {
            let places = match BY {
                1 => _mm512_setr_epi64(3, 8, 9, 10, 7, 12, 13, 14),
                2 => _mm512_setr_epi64(2, 3, 8, 9, 6, 7, 12, 13),
                3 => _mm512_setr_epi64(1, 2, 3, 8, 5, 6, 7, 12),
                _ => unreachable!("a quad has four places"),
            };
            _mm512_permutex2var_epi64(below.0, places, self.0)
        })
    }
}

/// A column before it gets products.
macro_rules! begin {
    (old $register:literal $sum:literal $column:literal $bytes:literal) => {
        concat!(
            "vmovdqu64 ",
            $register,
            $sum,
            ", [{columns} + ",
            $column,
            "*",
            $bytes,
            "]"
        )
    };
    (new $register:literal $sum:literal $column:literal $bytes:literal) => {
        concat!("vpxorq ", $register, $sum, ", ", $register, $sum, ", ", $register, $sum)
    };
}

/// Defines four rows on up to six neighbouring columns, with the registers of its sum and of a factor for each, and its
/// place.
///
/// In assembly, because the compiler takes one column after the other, where each product waits for the one before, and
/// so few of them fit into the CPU's queues. Here each step is done for all columns before the next.
macro_rules! rows {
    ($rows:ident $form:tt) => {
        mod $rows {
            use super::*;
            rows! { none $form old old }
            rows! { last $form old new }
            rows! { all $form new new }
        }
    };
    ($new:ident $form:tt $most:tt $last:tt) => {
        pub(super) mod $new {
            use super::*;
            rows! { $form
                on1: $last 16 "zmm16" 22 "zmm22" 0;
                on2: $most 16 "zmm16" 22 "zmm22" 0, $last 17 "zmm17" 23 "zmm23" 1;
                on3: $most 16 "zmm16" 22 "zmm22" 0, $most 17 "zmm17" 23 "zmm23" 1, $last 18 "zmm18" 24 "zmm24" 2;
                on4: $most 16 "zmm16" 22 "zmm22" 0, $most 17 "zmm17" 23 "zmm23" 1, $most 18 "zmm18" 24 "zmm24" 2, $last 19 "zmm19" 25 "zmm25" 3;
                on5: $most 16 "zmm16" 22 "zmm22" 0, $most 17 "zmm17" 23 "zmm23" 1, $most 18 "zmm18" 24 "zmm24" 2, $most 19 "zmm19" 25 "zmm25" 3,
                    $last 20 "zmm20" 26 "zmm26" 4;
                on6: $most 16 "zmm16" 22 "zmm22" 0, $most 17 "zmm17" 23 "zmm23" 1, $most 18 "zmm18" 24 "zmm24" 2, $most 19 "zmm19" 25 "zmm25" 3,
                    $most 20 "zmm20" 26 "zmm26" 4, $last 21 "zmm21" 27 "zmm27" 5;
            }
        }
    };
    (
        ($form:ident $numbers:literal $register:literal $modifier:literal $bytes:literal)
        $($name:ident: $($new:tt $sum:literal $sum_out:tt $factor:literal $factor_out:tt $column:literal),*;)*
    ) => {
        /// # Safety
        /// As for the one on as many columns.
        #[inline]
        #[target_feature(enable = "avx512f,avx512vl,avx512ifma")]
        pub(in super::super) unsafe fn on(count: usize, columns: *mut Words<$numbers>, shifted: *const Shifted<$numbers>, digits: &[$form; DIGITS]) {
            // SAFETY: as the caller promises.
            unsafe {
                match count {
                    1 => on1(columns, shifted, digits),
                    2 => on2(columns, shifted, digits),
                    3 => on3(columns, shifted, digits),
                    4 => on4(columns, shifted, digits),
                    5 => on5(columns, shifted, digits),
                    6 => on6(columns, shifted, digits),
                    _ => {}
                }
            }
        }

        $(
        /// # Safety
        /// As many columns must be writable, and one more quad readable.
        #[inline]
        #[target_feature(enable = "avx512f,avx512vl,avx512ifma")]
        pub(in super::super) unsafe fn $name(columns: *mut Words<$numbers>, shifted: *const Shifted<$numbers>, digits: &[$form; DIGITS]) {
            // SAFETY: only registers that are named are written, and memory as the caller promises.
            unsafe {
                asm!(
                    $(begin!($new $register $sum $column $bytes),)*
                    $(concat!("vpmadd52luq ", $register, $sum, ", {d0:", $modifier, "}, [{here} + ", $column, "*4*", $bytes, "]"),)*
                    $(concat!("vmovdqu64 ", $register, $factor, ", [{here} + ", $column, "*4*", $bytes, " + ", $bytes, "]"),)*
                    $(concat!("vpmadd52huq ", $register, $sum, ", {d0:", $modifier, "}, ", $register, $factor),)*
                    $(concat!("vpmadd52luq ", $register, $sum, ", {d1:", $modifier, "}, ", $register, $factor),)*
                    $(concat!("vmovdqu64 ", $register, $factor, ", [{here} + ", $column, "*4*", $bytes, " + 2*", $bytes, "]"),)*
                    $(concat!("vpmadd52huq ", $register, $sum, ", {d1:", $modifier, "}, ", $register, $factor),)*
                    $(concat!("vpmadd52luq ", $register, $sum, ", {d2:", $modifier, "}, ", $register, $factor),)*
                    $(concat!("vmovdqu64 ", $register, $factor, ", [{here} + ", $column, "*4*", $bytes, " + 3*", $bytes, "]"),)*
                    $(concat!("vpmadd52huq ", $register, $sum, ", {d2:", $modifier, "}, ", $register, $factor),)*
                    $(concat!("vpmadd52luq ", $register, $sum, ", {d3:", $modifier, "}, ", $register, $factor),)*
                    $(concat!("vpmadd52huq ", $register, $sum, ", {d3:", $modifier, "}, [{here} + ", $column, "*4*", $bytes, " - 4*", $bytes, "]"),)*
                    $(concat!("vmovdqu64 [{columns} + ", $column, "*", $bytes, "], ", $register, $sum),)*
                    columns = in(reg) columns,
                    here = in(reg) shifted.add(1),
                    d0 = in(zmm_reg) digits[0].0,
                    d1 = in(zmm_reg) digits[1].0,
                    d2 = in(zmm_reg) digits[2].0,
                    d3 = in(zmm_reg) digits[3].0,
                    $(out($sum_out) _, out($factor_out) _,)*
                    options(nostack, preserves_flags),
                );
            }
        }
        )*
    };
}

rows! { rows_of_one (OneQuad 1 "ymm" "y" 32) }
rows! { rows_of_first (FirstQuad 2 "ymm" "y" 64) }
rows! { rows_of_two (TwoQuads 2 "zmm" "z" 64) }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::mont52x2::quad::tests::agrees_with_the_portable_form;

    #[test]
    fn registers_agree_with_the_portable_form() {
        match HaveIfma::check() {
            Some(token) => {
                agrees_with_the_portable_form::<OneQuad, 1>(token, 1);
                agrees_with_the_portable_form::<TwoQuads, 2>(token, 2);
                agrees_with_the_portable_form::<FirstQuad, 2>(token, 1);
            }
            None => eprintln!("SKIPPED: this CPU has no AVX-512 IFMA"),
        }
    }
}

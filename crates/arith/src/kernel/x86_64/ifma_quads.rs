//! Four digits of one number in a 256-bit register, with AVX-512 IFMA and VL.

use super::ifma512::HaveIfma;
use crate::kernel::mont52x2::quad::{Quad, Shifted, Words, Work};
use std::arch::asm;
use std::arch::x86_64::*;

/// A 256-bit register. Made with a [`HaveIfma`] only, so that every value is itself the proof of the instructions.
#[derive(Clone, Copy)]
pub(crate) struct Ymm(__m256i);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,bmi2")]
fn run_ifma256<W: Work>(token: HaveIfma, work: W) {
    work.run::<Ymm>(token);
}

impl Quad for Ymm {
    const MONT52X2: &'static str = "mont52x2_ifma256";
    type Token = HaveIfma;

    fn run<W: Work>(token: HaveIfma, work: W) {
        // SAFETY: the token proves that the CPU has every feature named on `run_ifma256`.
        unsafe { run_ifma256(token, work) }
    }

    #[inline(always)]
    fn load(_: HaveIfma, words: &Words) -> Self {
        // SAFETY: the token proves AVX-512 VL; the reference makes 32 bytes readable, at any alignment.
        Self(unsafe { _mm256_loadu_si256(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn splat(_: HaveIfma, word: u64) -> Self {
        // SAFETY: the token proves AVX-512 VL.
        Self(unsafe { _mm256_set1_epi64x(word.cast_signed()) })
    }

    #[inline(always)]
    fn lowest(_: HaveIfma, word: u64) -> Self {
        // SAFETY: the token proves AVX-512 VL.
        Self(unsafe { _mm256_set_epi64x(0, 0, 0, word.cast_signed()) })
    }

    #[inline(always)]
    fn pairs(_: HaveIfma, words: &[u64; 2]) -> Self {
        // SAFETY: the token proves AVX-512 VL; the reference makes 16 bytes readable, at any alignment.
        Self(unsafe {
            let words = _mm256_castsi128_si256(_mm_loadu_si128(words.as_ptr().cast()));
            _mm256_permute4x64_epi64::<0b01_01_00_00>(words)
        })
    }

    #[inline(always)]
    fn store(self, words: &mut Words) {
        // SAFETY: a `Ymm` proves AVX-512 VL; the reference makes 32 bytes writable, at any alignment.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn words(self) -> Words {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        unsafe {
            [
                _mm256_extract_epi64::<0>(self.0),
                _mm256_extract_epi64::<1>(self.0),
                _mm256_extract_epi64::<2>(self.0),
                _mm256_extract_epi64::<3>(self.0),
            ]
        }
        .map(i64::cast_unsigned)
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        Self(unsafe { _mm256_add_epi64(self.0, b.0) })
    }

    #[inline(always)]
    fn add_one_at(self, places: u8) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        Self(unsafe { _mm256_mask_add_epi64(self.0, places, self.0, _mm256_set1_epi64x(1)) })
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        Self(unsafe { _mm256_and_si256(self.0, b.0) })
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        Self(unsafe { _mm256_or_si256(self.0, b.0) })
    }

    #[inline(always)]
    fn shift_right_digit(self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        Self(unsafe { _mm256_srli_epi64::<52>(self.0) })
    }

    #[inline(always)]
    fn move_up<const BY: usize>(self, below: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        Self(unsafe {
            match BY {
                1 => _mm256_alignr_epi64::<3>(self.0, below.0),
                2 => _mm256_alignr_epi64::<2>(self.0, below.0),
                3 => _mm256_alignr_epi64::<1>(self.0, below.0),
                _ => unreachable!("a quad has four places"),
            }
        })
    }

    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 IFMA and VL.
        Self(unsafe { _mm256_madd52lo_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 IFMA and VL.
        Self(unsafe { _mm256_madd52hi_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn add_low_at<const PLACES: u8>(self, a: Self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 IFMA and VL.
        Self(unsafe { _mm256_mask_madd52lo_epu64(self.0, PLACES, a.0, b.0) })
    }

    #[inline(always)]
    fn add_high_at<const PLACES: u8>(self, a: Self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX-512 IFMA and VL.
        Self(unsafe { _mm256_mask_madd52hi_epu64(self.0, PLACES, a.0, b.0) })
    }

    #[inline(always)]
    fn exceeds(self, b: Self) -> u8 {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        unsafe { _mm256_cmpgt_epu64_mask(self.0, b.0) }
    }

    #[inline(always)]
    fn equals(self, b: Self) -> u8 {
        // SAFETY: a `Ymm` proves AVX-512 VL.
        unsafe { _mm256_cmpeq_epi64_mask(self.0, b.0) }
    }

    #[inline(always)]
    fn add_rows(_: HaveIfma, columns: &mut [Words], shifted: &[Shifted], digits: &[Self; 4]) {
        assert_eq!(shifted.len(), columns.len() + 1);
        let (mut at, mut from) = (columns.as_mut_ptr(), shifted.as_ptr());
        let mut left = columns.len();
        // SAFETY: a `Ymm` proves AVX-512 IFMA and VL; `left` columns are at `at`, and one more quad than that at `from`.
        unsafe {
            // The last few in parts of nearly one size: the more columns at once, the less each product waits for the one before.
            while left > 8 {
                rows5(at, from, digits);
                (at, from) = (at.add(5), from.add(5));
                left -= 5;
            }
            if left > 6 {
                rows4(at, from, digits);
                (at, from) = (at.add(4), from.add(4));
                left -= 4;
            }
            match left {
                1 => rows1(at, from, digits),
                2 => rows2(at, from, digits),
                3 => rows3(at, from, digits),
                4 => rows4(at, from, digits),
                5 => rows5(at, from, digits),
                6 => rows6(at, from, digits),
                _ => {}
            }
        }
    }
}

/// Defines four rows on M neighbouring columns, which are at these places in bytes, each with the registers of its sum and of a factor.
///
/// In assembly, because the compiler takes one column after the other, where each product waits for the one before, and so few of them fit
/// into the CPU's queues. Here each step is done for all columns before the next.
macro_rules! rows {
    ($($name:ident: $($sum:literal $sum_out:tt $factor:literal $factor_out:tt $column:literal $quad:literal),*;)*) => {$(
        /// # Safety
        /// As many columns must be writable, and one more quad readable.
        #[inline]
        #[target_feature(enable = "avx512f,avx512vl,avx512ifma")]
        unsafe fn $name(columns: *mut Words, shifted: *const Shifted, digits: &[Ymm; 4]) {
            // SAFETY: only registers that are named are written, and memory as the caller promises.
            unsafe {
                asm!(
                    $(concat!("vmovdqu64 ymm", $sum, ", [{columns} + ", $column, "]"),)*
                    $(concat!("vpmadd52luq ymm", $sum, ", {d0:y}, [{here} + ", $quad, "]"),)*
                    $(concat!("vmovdqu64 ymm", $factor, ", [{here} + ", $quad, " + 32]"),)*
                    $(concat!("vpmadd52huq ymm", $sum, ", {d0:y}, ymm", $factor),)*
                    $(concat!("vpmadd52luq ymm", $sum, ", {d1:y}, ymm", $factor),)*
                    $(concat!("vmovdqu64 ymm", $factor, ", [{here} + ", $quad, " + 64]"),)*
                    $(concat!("vpmadd52huq ymm", $sum, ", {d1:y}, ymm", $factor),)*
                    $(concat!("vpmadd52luq ymm", $sum, ", {d2:y}, ymm", $factor),)*
                    $(concat!("vmovdqu64 ymm", $factor, ", [{here} + ", $quad, " + 96]"),)*
                    $(concat!("vpmadd52huq ymm", $sum, ", {d2:y}, ymm", $factor),)*
                    $(concat!("vpmadd52luq ymm", $sum, ", {d3:y}, ymm", $factor),)*
                    $(concat!("vpmadd52huq ymm", $sum, ", {d3:y}, [{here} + ", $quad, " - 128]"),)*
                    $(concat!("vmovdqu64 [{columns} + ", $column, "], ymm", $sum),)*
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
    )*};
}

rows! {
    rows1: 16 "zmm16" 22 "zmm22" 0 0;
    rows2: 16 "zmm16" 22 "zmm22" 0 0, 17 "zmm17" 23 "zmm23" 32 128;
    rows3: 16 "zmm16" 22 "zmm22" 0 0, 17 "zmm17" 23 "zmm23" 32 128, 18 "zmm18" 24 "zmm24" 64 256;
    rows4: 16 "zmm16" 22 "zmm22" 0 0, 17 "zmm17" 23 "zmm23" 32 128, 18 "zmm18" 24 "zmm24" 64 256, 19 "zmm19" 25 "zmm25" 96 384;
    rows5: 16 "zmm16" 22 "zmm22" 0 0, 17 "zmm17" 23 "zmm23" 32 128, 18 "zmm18" 24 "zmm24" 64 256, 19 "zmm19" 25 "zmm25" 96 384, 20 "zmm20" 26 "zmm26" 128 512;
    rows6: 16 "zmm16" 22 "zmm22" 0 0, 17 "zmm17" 23 "zmm23" 32 128, 18 "zmm18" 24 "zmm24" 64 256, 19 "zmm19" 25 "zmm25" 96 384, 20 "zmm20" 26 "zmm26" 128 512, 21 "zmm21" 27 "zmm27" 160 640;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::mont52x2::quad::tests::agrees_with_the_portable_form;

    #[test]
    fn registers_agree_with_the_portable_form() {
        match HaveIfma::check() {
            Some(token) => agrees_with_the_portable_form::<Ymm>(token),
            None => eprintln!("skipped: this CPU has no AVX-512 IFMA"),
        }
    }
}

//! Eight lanes in a 512-bit register, with AVX-512 IFMA.

use super::have_ifma::HaveIfma;
use super::ifma_blocks;
use super::ifma_ten;
use super::opaque::{CHOOSE, opaque_512};
use crate::kernel::lanes::{Lanes, Vec8, Work};
use crate::kernel::tens;
use std::arch::x86_64::*;

/// A 512-bit register. Made with a [`HaveIfma`] only, so that every value is itself the proof of the instructions.
#[derive(Clone, Copy)]
pub(crate) struct Zmm(__m512i);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma")]
fn run_ifma512<W: Work>(token: HaveIfma, work: W) {
    work.run::<Zmm>(token);
}

impl Lanes for Zmm {
    type Token = HaveIfma;
    type Mask = __mmask8;

    const HAS_TENS: bool = true;

    fn run<W: Work>(token: HaveIfma, work: W) {
        // SAFETY: the token proves that the CPU has every feature named on `run_ifma512`.
        unsafe { run_ifma512(token, work) }
    }

    #[inline(always)]
    fn load(_: HaveIfma, vec: &Vec8) -> Self {
        // SAFETY: the token proves AVX-512 F; the reference makes 64 bytes readable, at any alignment.
        Self(unsafe { _mm512_loadu_si512(vec.as_ptr().cast()) })
    }

    #[inline(always)]
    fn splat(_: HaveIfma, word: u64) -> Self {
        // SAFETY: the token proves AVX-512 F.
        Self(unsafe { _mm512_set1_epi64(word as i64) })
    }

    #[inline(always)]
    fn store(self, vec: &mut Vec8) {
        // SAFETY: a `Zmm` proves AVX-512 F; the reference makes 64 bytes writable, at any alignment.
        unsafe { _mm512_storeu_si512(vec.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_add_epi64(self.0, b.0) })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_sub_epi64(self.0, b.0) })
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_or_si512(self.0, b.0) })
    }

    #[inline(always)]
    fn min(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_min_epu64(self.0, b.0) })
    }

    #[inline(always)]
    fn shift_left(self, by: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_sllv_epi64(self.0, by.0) })
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_and_si512(self.0, b.0) })
    }

    #[inline(always)]
    fn shift_right<const BITS: u32>(self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_srli_epi64::<BITS>(self.0) })
    }

    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 IFMA.
        Self(unsafe { _mm512_madd52lo_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 IFMA.
        Self(unsafe { _mm512_madd52hi_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn equal(self, b: Self) -> __mmask8 {
        // SAFETY: a `Zmm` proves AVX-512 F.
        unsafe { _mm512_cmpeq_epi64_mask(self.0, b.0) }
    }

    #[inline(always)]
    fn merge(self, b: Self, mask: __mmask8) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_mask_mov_epi64(self.0, mask, b.0) })
    }

    #[inline(always)]
    fn equal_bits(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F and DQ.
        Self(unsafe { opaque_512(_mm512_movm_epi64(self.equal(b))) })
    }

    #[inline(always)]
    fn choose(self, b: Self, bits: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_ternarylogic_epi64::<CHOOSE>(bits.0, b.0, self.0) })
    }

    #[inline(always)]
    fn tens(token: HaveIfma, operation: tens::Operation<'_>) {
        ifma_blocks::run(token, operation);
    }

    #[inline(always)]
    fn power_of_tens(token: HaveIfma, power: tens::Powers<'_, 1>) {
        ifma_blocks::power(token, power);
    }

    #[inline(always)]
    fn tables_of_ten(token: HaveIfma, tables: [tens::Table<'_>; 2], working: &mut [Vec8]) {
        ifma_ten::tables(token, tables, working);
    }

    #[inline(always)]
    fn powers_of_ten(token: HaveIfma, powers: tens::Powers<'_, 2>) {
        ifma_ten::powers(token, powers);
    }
}

//! Four doubles in a 256-bit register, with AVX2 and FMA.

use crate::kernel::doubles::{Doubles, Vector, Work};
use std::arch::x86_64::*;

/// The proof that CPU and operating system offer AVX2 and FMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HaveAvx2Fma(());

impl HaveAvx2Fma {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        let have = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        have.then_some(Self(()))
    }
}

/// A 256-bit register of doubles. Made with a [`HaveAvx2Fma`] only, so that every value is itself the proof of the instructions.
#[derive(Clone, Copy)]
pub(crate) struct Ymm(__m256d);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx2,fma")]
fn run_avx2fma<W: Work<4>>(token: HaveAvx2Fma, work: W) {
    work.run::<Ymm>(token);
}

impl Doubles<4> for Ymm {
    const MONT47: &'static str = "mont47x4_avx2fma";
    type Token = HaveAvx2Fma;
    type Mask = Self;

    fn run<W: Work<4>>(token: HaveAvx2Fma, work: W) {
        // SAFETY: the token proves that the CPU has every feature named on `run_avx2fma`.
        unsafe { run_avx2fma(token, work) }
    }

    #[inline(always)]
    fn load(_: HaveAvx2Fma, vector: &Vector<4>) -> Self {
        // SAFETY: the token proves AVX; the reference makes 32 bytes readable, at any alignment; any bits are a double.
        Self(unsafe { _mm256_loadu_pd(vector.as_ptr().cast()) })
    }

    #[inline(always)]
    fn splat(_: HaveAvx2Fma, x: f64) -> Self {
        // SAFETY: the token proves AVX.
        Self(unsafe { _mm256_set1_pd(x) })
    }

    #[inline(always)]
    fn store(self, vector: &mut Vector<4>) {
        // SAFETY: a `Ymm` proves AVX; the reference makes 32 bytes writable, at any alignment.
        unsafe { _mm256_storeu_pd(vector.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_add_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_sub_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_mul_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves FMA.
        Self(unsafe { _mm256_fmadd_pd(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn equal(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_cmp_pd::<_CMP_EQ_OQ>(self.0, b.0) })
    }

    #[inline(always)]
    fn merge(self, b: Self, mask: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_blendv_pd(self.0, b.0, mask.0) })
    }
}

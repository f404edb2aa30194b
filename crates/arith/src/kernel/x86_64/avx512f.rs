//! Eight doubles in a 512-bit register, with AVX-512 F.

use super::avx2fma::HaveAvx2Fma;
use super::opaque::{CHOOSE, opaque_512};
use crate::kernel::doubles::{Doubles, Vector, Work};
use std::arch::x86_64::*;
use std::mem::transmute;

/// The proof that CPU and operating system offer AVX-512 F, AVX2 and FMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HaveAvx512F(HaveAvx2Fma);

impl HaveAvx512F {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        let avx2fma = HaveAvx2Fma::check()?;
        is_x86_feature_detected!("avx512f").then_some(Self(avx2fma))
    }

    /// The proof of less.
    pub(crate) fn avx2fma(self) -> HaveAvx2Fma {
        self.0
    }
}

/// A 512-bit register of doubles. Made with a [`HaveAvx512F`] only, so that every value is itself the proof of the
/// instructions.
#[derive(Clone, Copy)]
pub(crate) struct ZmmDoubles(__m512d);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx512f")]
fn run_avx512f<W: Work<8>>(token: HaveAvx512F, work: W) {
    work.run::<ZmmDoubles>(token);
}

impl Doubles<8> for ZmmDoubles {
    type Token = HaveAvx512F;
    type Mask = __m512i;

    fn run<W: Work<8>>(token: HaveAvx512F, work: W) {
        // SAFETY: the token proves that the CPU has the feature named on `run_avx512f`.
        unsafe { run_avx512f(token, work) }
    }

    #[inline(always)]
    fn load(_: HaveAvx512F, vector: &Vector<8>) -> Self {
        // SAFETY: both are as many bytes, all of which are a double whatever they are.
        Self(unsafe { transmute::<Vector<8>, __m512d>(*vector) })
    }

    #[inline(always)]
    fn splat(_: HaveAvx512F, x: f64) -> Self {
        // SAFETY: the token proves AVX-512 F.
        Self(unsafe { _mm512_set1_pd(x) })
    }

    #[inline(always)]
    fn store(self, vector: &mut Vector<8>) {
        // SAFETY: both are as many bytes, all of which are a word whatever they are.
        *vector = unsafe { transmute::<__m512d, Vector<8>>(self.0) };
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a `ZmmDoubles` proves AVX-512 F.
        Self(unsafe { _mm512_add_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        // SAFETY: a `ZmmDoubles` proves AVX-512 F.
        Self(unsafe { _mm512_sub_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        // SAFETY: a `ZmmDoubles` proves AVX-512 F.
        Self(unsafe { _mm512_mul_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: a `ZmmDoubles` proves AVX-512 F.
        Self(unsafe { _mm512_fmadd_pd(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn equal(self, b: Self) -> __m512i {
        // SAFETY: a `ZmmDoubles` proves AVX-512 F.
        unsafe {
            let equal = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(self.0, b.0);
            opaque_512(_mm512_maskz_set1_epi64(equal, -1))
        }
    }

    #[inline(always)]
    fn merge(self, b: Self, mask: __m512i) -> Self {
        // SAFETY: a `ZmmDoubles` proves AVX-512 F.
        Self(unsafe {
            let [a, b] = [_mm512_castpd_si512(self.0), _mm512_castpd_si512(b.0)];
            _mm512_castsi512_pd(_mm512_ternarylogic_epi64::<CHOOSE>(mask, b, a))
        })
    }
}

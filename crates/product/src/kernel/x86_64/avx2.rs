//! Eight doubles in two 256-bit registers, with AVX2 and FMA.

use std::arch::x86_64::*;
use std::mem::transmute;

use crate::kernel::eight::{Eight, Line, Modulus, Work, digits};

/// The proof that CPU and operating system offer AVX2, FMA and BMI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HaveAvx2Fma(());

impl HaveAvx2Fma {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        let have =
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2");
        have.then_some(Self(()))
    }
}

/// Two 256-bit registers of doubles. Made with a [`HaveAvx2Fma`] only, so that every value is itself the proof of the
/// instructions.
#[derive(Clone, Copy)]
pub(crate) struct Ymms([__m256d; 2]);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx2,fma,bmi2")]
fn run_avx2<W: Work>(token: HaveAvx2Fma, work: W) -> W::Output {
    work.run::<Ymms>(token)
}

/// 2^52, whose lowest 52 bits are an integer that is added to it.
const TOP: f64 = 4_503_599_627_370_496.0;

/// The same of both halves: not a closure, which the compiler may leave out of the caller that has the instructions.
macro_rules! halves {
    ($i:ident => $block:block) => {
        Self([
            {
                let $i = 0;
                $block
            },
            {
                let $i = 1;
                $block
            },
        ])
    };
}

/// Exchanges rows and columns.
///
/// # Safety
///
/// The CPU has AVX.
#[inline(always)]
unsafe fn transpose4(r: [__m256d; 4]) -> [__m256d; 4] {
    // SAFETY: as for this function.
    unsafe {
        let (a, b) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpackhi_pd(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_pd(r[2], r[3]), _mm256_unpackhi_pd(r[2], r[3]));
        [
            _mm256_permute2f128_pd::<0x20>(a, c),
            _mm256_permute2f128_pd::<0x20>(b, d),
            _mm256_permute2f128_pd::<0x31>(a, c),
            _mm256_permute2f128_pd::<0x31>(b, d),
        ]
    }
}

/// Integers below 2^52, as doubles.
#[inline(always)]
fn from_integers(_: HaveAvx2Fma, integers: &[u64; 8]) -> Ymms {
    // SAFETY: the token proves AVX2; both types are as many bytes, all of which are valid whatever they are.
    unsafe {
        let top = _mm256_set1_pd(TOP);
        let [a, b] = transmute::<[u64; 8], [__m256d; 2]>(*integers);
        Ymms([
            _mm256_sub_pd(_mm256_or_pd(a, top), top),
            _mm256_sub_pd(_mm256_or_pd(b, top), top),
        ])
    }
}

impl Eight for Ymms {
    type Token = HaveAvx2Fma;
    type Shape = ();

    #[inline(always)]
    fn run<W: Work>(token: HaveAvx2Fma, work: W) -> W::Output {
        // SAFETY: the token proves that the CPU has every feature named on `run_avx2`.
        unsafe { run_avx2(token, work) }
    }

    #[inline(always)]
    fn load(_: HaveAvx2Fma, line: &Line) -> Self {
        // SAFETY: the token proves AVX; both types are as many bytes, all of which are valid whatever they are.
        Self(unsafe { transmute::<[f64; 8], [__m256d; 2]>(line.0) })
    }

    #[inline(always)]
    fn store(self, line: &mut Line) {
        // SAFETY: both types are as many bytes, all of which are valid whatever they are.
        line.0 = unsafe { transmute::<[__m256d; 2], [f64; 8]>(self.0) };
    }

    #[inline(always)]
    fn splat(_: HaveAvx2Fma, x: f64) -> Self {
        // SAFETY: the token proves AVX.
        Self([unsafe { _mm256_set1_pd(x) }; 2])
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        halves!(i => {
            // SAFETY: a `Ymms` proves AVX.
            unsafe { _mm256_add_pd(self.0[i], b.0[i]) }
        })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        halves!(i => {
            // SAFETY: a `Ymms` proves AVX.
            unsafe { _mm256_sub_pd(self.0[i], b.0[i]) }
        })
    }

    #[inline(always)]
    fn mul_by(self, w: Self, v: Self, modulus: &Modulus<Self>) -> Self {
        halves!(i => {
            let (a, w, v) = (self.0[i], w.0[i], v.0[i]);
            // SAFETY: a `Ymms` proves AVX2 and FMA.
            unsafe {
                let q = _mm256_sub_pd(_mm256_fmadd_pd(a, v, modulus.round.0[i]), modulus.round.0[i]);
                let high = _mm256_mul_pd(a, w);
                let low = _mm256_fmsub_pd(a, w, high);
                _mm256_add_pd(_mm256_fnmadd_pd(q, modulus.p.0[i], high), low)
            }
        })
    }

    #[inline(always)]
    fn mul(self, b: Self, modulus: &Modulus<Self>) -> Self {
        halves!(i => {
            let (a, b) = (self.0[i], b.0[i]);
            // SAFETY: a `Ymms` proves AVX2 and FMA.
            unsafe {
                let high = _mm256_mul_pd(a, b);
                let low = _mm256_fmsub_pd(a, b, high);
                let q = _mm256_fmadd_pd(high, modulus.inverse.0[i], modulus.round.0[i]);
                let q = _mm256_sub_pd(q, modulus.round.0[i]);
                _mm256_add_pd(_mm256_fnmadd_pd(q, modulus.p.0[i], high), low)
            }
        })
    }

    #[inline(always)]
    fn reduce(self, modulus: &Modulus<Self>) -> Self {
        halves!(i => {
            // SAFETY: a `Ymms` proves AVX2 and FMA.
            unsafe {
                let q = _mm256_fmadd_pd(self.0[i], modulus.inverse.0[i], modulus.round.0[i]);
                let q = _mm256_sub_pd(q, modulus.round.0[i]);
                _mm256_fnmadd_pd(q, modulus.p.0[i], self.0[i])
            }
        })
    }

    #[inline(always)]
    fn add_if_negative(self, p: Self) -> Self {
        halves!(i => {
            // SAFETY: a `Ymms` proves AVX.
            unsafe {
                let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(self.0[i], _mm256_setzero_pd());
                _mm256_add_pd(self.0[i], _mm256_and_pd(negative, p.0[i]))
            }
        })
    }

    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        let r = rows;
        // SAFETY: a `Ymms` proves AVX.
        let [a, b, c, d] = unsafe {
            [
                transpose4([r[0].0[0], r[1].0[0], r[2].0[0], r[3].0[0]]),
                transpose4([r[4].0[0], r[5].0[0], r[6].0[0], r[7].0[0]]),
                transpose4([r[0].0[1], r[1].0[1], r[2].0[1], r[3].0[1]]),
                transpose4([r[4].0[1], r[5].0[1], r[6].0[1], r[7].0[1]]),
            ]
        };
        [
            Self([a[0], b[0]]),
            Self([a[1], b[1]]),
            Self([a[2], b[2]]),
            Self([a[3], b[3]]),
            Self([c[0], d[0]]),
            Self([c[1], d[1]]),
            Self([c[2], d[2]]),
            Self([c[3], d[3]]),
        ]
    }

    #[inline(always)]
    fn shape(_: HaveAvx2Fma, _: u32) {}

    #[inline(always)]
    fn digits(token: HaveAvx2Fma, limbs: &[u64], bits: u32, line: usize, (): &()) -> [Self; 2] {
        let [low, high] = digits(limbs, bits, line);
        [from_integers(token, &low), from_integers(token, &high)]
    }

    #[inline(always)]
    fn to_integers(self) -> [u64; 8] {
        // SAFETY: a `Ymms` proves AVX; both types are as many bytes, all of which are valid whatever they are.
        unsafe {
            let top = _mm256_set1_pd(TOP);
            transmute::<[__m256d; 2], [u64; 8]>([
                _mm256_xor_pd(_mm256_add_pd(self.0[0], top), top),
                _mm256_xor_pd(_mm256_add_pd(self.0[1], top), top),
            ])
        }
    }
}

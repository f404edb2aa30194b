//! Four doubles in a 256-bit register, with AVX2 and FMA.

use super::opaque::opaque_256;
use crate::kernel::doubles::{Columns, Doubles, Vector, Work};

use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::transmute;

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

/// A 256-bit register of doubles. Made with a [`HaveAvx2Fma`] only, so that every value is itself the proof of the
/// instructions.
#[derive(Clone, Copy)]
pub(crate) struct Ymm(pub(super) __m256d);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx2,fma")]
fn run_avx2fma<W: Work<4>>(token: HaveAvx2Fma, work: W) {
    work.run::<Ymm>(token);
}

impl Doubles<4> for Ymm {
    const HAS_SHORT: bool = true;
    type Token = HaveAvx2Fma;
    type Mask = Self;

    fn run<W: Work<4>>(token: HaveAvx2Fma, work: W) {
        // SAFETY: the token proves that the CPU has every feature named on `run_avx2fma`.
        unsafe { run_avx2fma(token, work) }
    }

    #[inline(always)]
    fn load(_: HaveAvx2Fma, vector: &Vector<4>) -> Self {
        // SAFETY: both are as many bytes, all of which are a double whatever they are.
        Self(unsafe { transmute::<Vector<4>, __m256d>(*vector) })
    }

    #[inline(always)]
    fn splat(_: HaveAvx2Fma, x: f64) -> Self {
        // SAFETY: the token proves AVX.
        Self(unsafe { _mm256_set1_pd(x) })
    }

    #[inline(always)]
    fn store(self, vector: &mut Vector<4>) {
        // SAFETY: both are as many bytes, all of which are a word whatever they are.
        *vector = unsafe { transmute::<__m256d, Vector<4>>(self.0) };
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
    fn add_row<const C: usize, const REVERSED: bool>(
        _: HaveAvx2Fma,
        columns: &mut Columns<Self, C>,
        from: usize,
        x: Self,
        y: &[Vector<4>],
    ) {
        // SAFETY: a `Ymm` proves AVX2 and FMA.
        unsafe {
            match (C - from, REVERSED) {
                (1, _) => row1(part(columns, from), x, all(y)),
                (2, false) => row2(part(columns, from), x, all(y)),
                (3, false) => row3(part(columns, from), x, all(y)),
                (4, false) => row4(part(columns, from), x, all(y)),
                (5, false) => row5(part(columns, from), x, all(y)),
                (6, false) => row6(part(columns, from), x, all(y)),
                (2, true) => row2_reversed(part(columns, from), x, all(y)),
                (3, true) => row3_reversed(part(columns, from), x, all(y)),
                (4, true) => row4_reversed(part(columns, from), x, all(y)),
                (5, true) => row5_reversed(part(columns, from), x, all(y)),
                (6, true) => row6_reversed(part(columns, from), x, all(y)),
                _ => unreachable!("a tile has six columns"),
            }
        }
    }

    #[inline(always)]
    fn equal(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        let equal = unsafe { opaque_256(_mm256_castpd_si256(_mm256_cmp_pd::<_CMP_EQ_OQ>(self.0, b.0))) };
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_castsi256_pd(equal) })
    }

    #[inline(always)]
    fn merge(self, b: Self, mask: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_blendv_pd(self.0, b.0, mask.0) })
    }
}

/// The high and the low parts of M columns.
type Part<'c, const M: usize> = (&'c mut [Ymm; M], &'c mut [Ymm; M]);

/// The last M columns, which are those from `from` on.
#[inline(always)]
fn part<const C: usize, const M: usize>(columns: &mut Columns<Ymm, C>, from: usize) -> Part<'_, M> {
    let all = "a row reaches the last column";
    let high = columns.high[from..].first_chunk_mut().expect(all);
    (high, columns.low[from..].first_chunk_mut().expect(all))
}

/// A digit for each of M columns.
#[inline(always)]
fn all<const M: usize>(y: &[Vector<4>]) -> &[Vector<4>; M] {
    y.first_chunk().expect("a digit for each column")
}

/// Defines rows: products of `x` and the digits of `y`, which are at these places in bytes, onto as many columns. What
/// must be checked is checked before: the less there is to them, the surer is the compiler to inline them.
///
/// In assembly, because LLVM loads the digits long before they are used and then has too few registers: twelve are
/// columns. Up to three products are worked on at once, each step of all of them before the next, so that few
/// instructions wait in the CPU's queues.
macro_rules! rows {
    ($($name:ident: $count:literal, $([$($h:ident $l:ident $t:ident $i:literal $place:literal),*])*;)*) => {$(
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn $name((high, low): Part<'_, $count>, x: Ymm, y: &[Vector<4>; $count]) {
            $($(let (mut $h, mut $l) = (high[$i].0, low[$i].0);)*)*
            // SAFETY: only registers that are named are written, and only `y` is read.
            unsafe {
                asm!(
                    "/* temporaries: {t0} {t1} {t2} */",
                    $(
                        $(concat!("vmovapd {", stringify!($t), "}, {", stringify!($h), "}"),)*
                        $(concat!("vfmadd231pd {", stringify!($h), "}, {x}, [{y} + ", $place, "]"),)*
                        $(concat!("vsubpd {", stringify!($t), "}, {", stringify!($t), "}, {", stringify!($h), "}"),)*
                        $(concat!("vfmadd231pd {", stringify!($t), "}, {x}, [{y} + ", $place, "]"),)*
                        $(concat!("vaddpd {", stringify!($l), "}, {", stringify!($l), "}, {", stringify!($t), "}"),)*
                    )*
                    x = in(ymm_reg) x.0,
                    y = in(reg) y.as_ptr(),
                    t0 = out(ymm_reg) _,
                    t1 = out(ymm_reg) _,
                    t2 = out(ymm_reg) _,
                    $($($h = inout(ymm_reg) $h, $l = inout(ymm_reg) $l,)*)*
                    options(readonly, nostack, preserves_flags),
                );
            }
            $($((high[$i], low[$i]) = (Ymm($h), Ymm($l));)*)*
        }
    )*};
}

rows! {
    row1: 1, [h0 l0 t0 0 0];
    row2: 2, [h0 l0 t0 0 0, h1 l1 t1 1 32];
    row3: 3, [h0 l0 t0 0 0, h1 l1 t1 1 32, h2 l2 t2 2 64];
    row4: 4, [h0 l0 t0 0 0, h1 l1 t1 1 32] [h2 l2 t0 2 64, h3 l3 t1 3 96];
    row5: 5, [h0 l0 t0 0 0, h1 l1 t1 1 32, h2 l2 t2 2 64] [h3 l3 t0 3 96, h4 l4 t1 4 128];
    row6: 6, [h0 l0 t0 0 0, h1 l1 t1 1 32, h2 l2 t2 2 64] [h3 l3 t0 3 96, h4 l4 t1 4 128, h5 l5 t2 5 160];
    row2_reversed: 2, [h0 l0 t0 0 32, h1 l1 t1 1 0];
    row3_reversed: 3, [h0 l0 t0 0 64, h1 l1 t1 1 32, h2 l2 t2 2 0];
    row4_reversed: 4, [h0 l0 t0 0 96, h1 l1 t1 1 64] [h2 l2 t0 2 32, h3 l3 t1 3 0];
    row5_reversed: 5, [h0 l0 t0 0 128, h1 l1 t1 1 96, h2 l2 t2 2 64] [h3 l3 t0 3 32, h4 l4 t1 4 0];
    row6_reversed: 6, [h0 l0 t0 0 160, h1 l1 t1 1 128, h2 l2 t2 2 96] [h3 l3 t0 3 64, h4 l4 t1 4 32, h5 l5 t2 5 0];
}

//! Four doubles in two 128-bit registers, with the vector instructions that every AArch64 CPU has (Advanced SIMD,
//! "NEON").

use crate::kernel::doubles::{Doubles, Vector, Work};
use std::arch::aarch64::*;
use std::mem::transmute;

/// Two registers of two doubles: two products at a time for each of them fill the pipes of more CPUs than one would.
#[derive(Clone, Copy)]
pub(crate) struct Neon([float64x2_t; 2]);

impl Neon {
    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(float64x2_t, float64x2_t) -> float64x2_t) -> Self {
        Self([f(self.0[0], b.0[0]), f(self.0[1], b.0[1])])
    }
}

impl Doubles<4> for Neon {
    /// No proof is needed: the target's baseline has the instructions.
    type Token = ();
    type Mask = [uint64x2_t; 2];

    fn run<W: Work<4>>((): (), work: W) {
        work.run::<Self>(());
    }

    #[inline(always)]
    fn load((): (), vector: &Vector<4>) -> Self {
        // SAFETY: both are as many bytes, all of which are a double whatever they are.
        Self(unsafe { transmute::<Vector<4>, [float64x2_t; 2]>(*vector) })
    }

    #[inline(always)]
    fn splat((): (), x: f64) -> Self {
        // SAFETY: the target's baseline has the instructions.
        Self([unsafe { vdupq_n_f64(x) }; 2])
    }

    #[inline(always)]
    fn store(self, vector: &mut Vector<4>) {
        // SAFETY: both are as many bytes, all of which are a word whatever they are.
        *vector = unsafe { transmute::<[float64x2_t; 2], Vector<4>>(self.0) };
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: the target's baseline has the instructions.
        self.zip(b, |a, b| unsafe { vaddq_f64(a, b) })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        // SAFETY: the target's baseline has the instructions.
        self.zip(b, |a, b| unsafe { vsubq_f64(a, b) })
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        // SAFETY: the target's baseline has the instructions.
        self.zip(b, |a, b| unsafe { vmulq_f64(a, b) })
    }

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        let of = |pair: usize| {
            // SAFETY: the target's baseline has the instructions.
            unsafe { vfmaq_f64(b.0[pair], self.0[pair], a.0[pair]) }
        };
        Self([of(0), of(1)])
    }

    #[inline(always)]
    fn equal(self, b: Self) -> Self::Mask {
        let of = |pair: usize| {
            // SAFETY: the target's baseline has the instructions.
            unsafe { vceqq_f64(self.0[pair], b.0[pair]) }
        };
        [of(0), of(1)]
    }

    #[inline(always)]
    fn merge(self, b: Self, mask: Self::Mask) -> Self {
        let of = |pair: usize| {
            // SAFETY: the target's baseline has the instructions.
            unsafe { vbslq_f64(mask[pair], b.0[pair], self.0[pair]) }
        };
        Self([of(0), of(1)])
    }
}

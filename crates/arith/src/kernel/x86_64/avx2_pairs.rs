//! Pairs of digits of one number or of two in a 256-bit register of doubles.

use super::avx2_tiles::Plan;
use super::avx2fma::{HaveAvx2Fma, Ymm};
use crate::kernel::doubles::Doubles;
use crate::kernel::mont47::form::Form;
use crate::kernel::mont47x2::operand::{Multiplication, Pair};
use crate::kernel::mont47x2::pairs::{Pairs, Work};
use std::arch::x86_64::*;
use std::mem::transmute;

/// `work` on pairs of digits, compiled with the instructions.
#[target_feature(enable = "avx2,fma")]
fn run_avx2fma_pairs<const N: usize>(token: HaveAvx2Fma, work: impl Work<Ymm, N>) {
    work.run(token);
    // The tiles leave the upper halves as they are, which some CPUs make everything after them pay for.
    _mm256_zeroupper();
}

impl<const N: usize> Pairs<N> for Ymm {
    type Plan = Plan;

    fn run_pairs(token: HaveAvx2Fma, work: impl Work<Self, N>) {
        // SAFETY: the token proves that the CPU has every feature named on `run_avx2fma_pairs`.
        unsafe { run_avx2fma_pairs(token, work) }
    }

    #[inline(always)]
    fn load_pair(token: HaveAvx2Fma, pair: &Pair<N>) -> Self {
        match pair.as_flattened().as_chunks() {
            ([vector], []) => Self::load(token, vector),
            // SAFETY: the token proves AVX, and both are as many bytes, all of which are a double whatever they are.
            _ => Self(unsafe { _mm256_broadcast_pd(&transmute::<[u64; 2], __m128d>(pair[0])) }),
        }
    }

    #[inline(always)]
    fn store_pair(self, pair: &mut Pair<N>) {
        if let ([vector], []) = pair.as_flattened_mut().as_chunks_mut() {
            return self.store(vector);
        }
        // SAFETY: a `Ymm` proves AVX, and both are as many bytes, all of which are a word whatever they are.
        pair[0] = unsafe { transmute::<__m128d, [u64; 2]>(_mm256_castpd256_pd128(self.0)) };
    }

    #[inline(always)]
    fn shift(self, above: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_shuffle_pd::<0b0101>(self.0, above.0) })
    }

    #[inline(always)]
    fn halves(self, upper: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_blend_pd::<0b1100>(self.0, upper.0) })
    }

    fn plan(form: Form) -> Plan {
        Plan::new::<N>(form)
    }

    #[inline(always)]
    fn multiply(token: HaveAvx2Fma, plan: &Plan, multiplication: Multiplication<'_, N>) {
        plan.multiply(token, multiplication);
    }
}

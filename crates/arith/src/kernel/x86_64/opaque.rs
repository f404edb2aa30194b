//! Words by which secrets are chosen, hidden from the compiler.
//!
//! Of words that it knows to be all ones or zero it makes masks, where it may use AVX-512, and of what is loaded and
//! chosen by them, loads and stores under these masks. A processor need not touch what such a mask leaves out: the
//! cache could show a secret digit. Of words that it knows nothing of it can make no mask: what is loaded is loaded
//! whole, and chosen by logic. `tests/machine_code/` looks for what is left.

use std::arch::asm;
use std::arch::x86_64::*;

/// For ternary logic: of three bits the second one where the first is set, else the third.
pub(super) const CHOOSE: i32 = 0b1100_1010;

/// Returns the bits, unknown to the compiler.
#[inline]
#[target_feature(enable = "avx")]
pub(super) fn opaque_256(mut bits: __m256i) -> __m256i {
    // SAFETY: there is no instruction.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// Returns the bits, unknown to the compiler.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn opaque_512(mut bits: __m512i) -> __m512i {
    // SAFETY: there is no instruction.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

//! The forms of x86-64. `unsafe` stands in this folder alone: intrinsics, for which a token is the proof.

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod sha;

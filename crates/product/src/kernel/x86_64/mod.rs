//! Forms in registers of x86-64. The one folder of this crate where `unsafe` may stand.

#![allow(unsafe_code)]

pub(super) mod avx2;
pub(super) mod avx512;
pub(super) mod divisors;

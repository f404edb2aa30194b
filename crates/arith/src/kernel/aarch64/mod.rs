//! Forms of the lanes that need instructions of AArch64. One of the folders of this crate where `unsafe` may stand.

#![allow(unsafe_code)]

pub(crate) mod neon;

//! Forms of the lanes that need instructions of x86-64. The one folder of this crate where `unsafe` may stand.

#![allow(unsafe_code)]

pub(crate) mod ifma512;

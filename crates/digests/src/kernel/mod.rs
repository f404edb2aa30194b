//! Forms of [`Lanes`], one for each instruction set.

mod lanes;
pub(crate) mod one;
#[cfg(target_arch = "x86_64")]
mod words;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;

pub(crate) use lanes::Lanes;

//! RSA's arithmetic on this CPU: numbers in limbs, Montgomery kernels, and prepared keys.
//!
//! The entry points take and give bytes: big-endian integers of a fixed, public length, in contiguous batches of equal
//! stride. No limb leaves this crate.
//!
//! | question | file |
//! |---|---|
//! | How is a number held? | `limbs`: little-endian 64-bit limbs whose count is public |
//! | What is a kernel, which are there? | `kernel`: the trait and one file for each; `dispatch`: detect, list, force; `choice`: by operation, length and batch |
//! | How is a power taken? | `exp`: fixed window in constant time; sparse public exponents in variable time |
//! | What is a checked key? | `key`: public and private, checked once |
//! | What is prepared once for a key? | `context`: public, private (CRT, blinded, checked), many keys, bare (feature `hazmat`) |
//! | How is a private power taken? | `power`: `crt` (two of half the length), `plain` (one), `multi_key` (a key for each lane) |
//! | How is it protected? | `power::blinded_check`: blinding, and the check of a result before it is released; `invertible`: what blinds |
//! | Where do secrets become public? | [`declassify`](mod@declassify) |
//! | Where do random numbers come from? | [`random`]: the system's generator, after a health test |
//! | What comes of a bit that is flipped? | [`fault`]: places in memory; `campaign` (feature `faults`): bits flipped at all of them |
//! | How are keys derived and checked? | [`integer`]: constant-time inversion, gcd, reduction, CRT parameters |
//! | What if a key does not name its primes? | `recover` |
//! | How is a prime recognised? | [`candidate`]: a sieve or small factors, a test to base 2, Miller–Rabin |
//!
//! Each kernel's schedule and bounds stand in its module; measurements and rejected roads are in the crate's
//! `NOTES.md`.

#![deny(unsafe_code)]

#[cfg(test)]
mod agreement;
mod batch;
#[cfg(feature = "faults")]
pub mod campaign;
pub mod candidate;
mod choice;
mod context;
pub mod declassify;
mod dispatch;
mod error;
mod exp;
pub mod fault;
pub mod integer;
mod invertible;
mod kernel;
mod key;
mod limbs;
#[cfg(test)]
mod model;
mod power;
pub mod random;
mod recover;
#[cfg(all(test, feature = "timing"))]
mod timing;

pub use choice::{KernelRange, Operation, kernel_ranges};
#[cfg(feature = "hazmat")]
pub use context::bare;
pub use context::{
    MultiKeyContext, MultiKeyRunner, PrivateContext, PrivateScratch, ProductContext, PublicContext, PublicScratch,
    RunningProduct,
};
pub use dispatch::{Kernel, KernelInfo, disable, kernels};
pub use error::{Error, Status};
pub use integer::{OtherPrime, PrivateParts};
pub use invertible::Invertible;
pub use key::{CheckedPrivateKey, CheckedPublicKey};
pub use recover::recover_primes;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

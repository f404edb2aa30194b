//! Numbers in limb form on this CPU: the floor everything else stands on.
//!
//! The door is bytes in, bytes out: big-endian integers of a fixed, public length, in contiguous batches of equal
//! stride. No limb leaves this crate.
//!
//! | question | file |
//! |---|---|
//! | How is a number held? | `limbs`: little-endian 64-bit limbs whose count is public |
//! | What is a kernel, which are there? | `kernel`: the trait and one file for each; `dispatch`: detect, list, force |
//! | How is a power taken? | `exp`: fixed window in constant time; sparse public exponents in variable time |
//! | What is prepared once for a key? | `public`, `private` (CRT, blinded, checked), [`bare`] (neither, to be measured); for many keys: `ring` |
//! | How is a private power taken? | `crt`: two of half the length; `plain`: one, to be measured |
//! | How is it protected? | `guard`: blinding, and the check of a result before it is released; `invertible`: what blinds |
//! | Where do random numbers come from? | [`random`]: the system's generator, after a health test |
//! | How are keys derived and checked? | [`integer`]: constant-time inversion, gcd, reduction, CRT parameters |
//! | What if a key does not name its primes? | `recover` |
//! | How is a prime recognised? | [`candidate`]: a sieve or small factors, a test to base 2, Miller–Rabin |
//!
//! Algorithms with their sources, bounds, operation counts and rejected roads are in the crate's `NOTES.md`.

#![deny(unsafe_code)]

pub mod bare;
mod batch;
pub mod candidate;
mod crt;
mod dispatch;
mod error;
mod exp;
mod guard;
pub mod integer;
mod invertible;
mod kernel;
mod limbs;
#[cfg(test)]
mod model;
mod plain;
mod private;
mod public;
pub mod random;
mod recover;
mod ring;
#[cfg(test)]
mod timing;

pub use dispatch::{Kernel, KernelInfo, kernels};
pub use error::{Error, Status};
pub use invertible::Invertible;
pub use private::{PrivateContext, PrivateParts, PrivateScratch};
pub use public::{PublicContext, PublicScratch};
pub use recover::recover_primes;
pub use ring::{PrivateRing, PrivateRingRunner};

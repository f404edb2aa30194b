//! RustCrypto's crate `rsa`, as the engine `rustcrypto`.
//!
//! | question | file |
//! |---|---|
//! | which jobs are done, and under which conditions | [`engine`] |
//! | the private and the public operation | `block` |
//! | keys read from their encoding | `import` |
//! | signatures | `signature` |
//! | keys and pairs of primes | `generate` |
//! | keys, numbers and failures, from one side to the other | `convert` |
//!
//! Raw operations go through the crate's `hazmat` module, with the arguments that its own padding schemes give. The
//! crate is under MIT or Apache 2.0. `NOTES.md` has figures.
#![forbid(unsafe_code)]

mod block;
mod convert;
pub mod engine;
mod generate;
mod import;
mod signature;

pub use engine::RustCryptoEngine;

//! Files of any length in [age's format](https://age-encryption.org/v1), for RSA keys, over all CPUs.
//!
//! | question | file |
//! |---|---|
//! | who can open a file | [`Recipient`], [`Identity`] |
//! | how is a file made and opened | [`encrypt`], [`decrypt`] |
//! | what does a header look like, and what does it say | `header`, [`Outline`] |
//! | how is the payload cut and encrypted | `payload` |
//! | how do threads share that, and keep the order | `pipeline` |
//! | which keys are derived from a file's key | `derive` |
//! | how is a file written as text | [`armor`] |
//! | what can go wrong | [`Error`] |
//!
//! A file has a key of its own, of 16 bytes. Its header has that key once for each recipient, encrypted by RSAES-OAEP,
//! and a MAC by it; the payload follows, in chunks of 64 KiB under ChaCha20-Poly1305. `age` and `rage` read what is
//! made here, and the other way round, with keys of OpenSSH's type `ssh-rsa`.
//!
//! ```
//! use rsalab_rsa::PrivateKey;
//! use rsalab_sealed::{Identity, Recipient, decrypt, encrypt};
//!
//! let key = PrivateKey::generate(2048)?;
//! let mut file = Vec::new();
//! encrypt(&[Recipient::new(key.public())?], &b"of any length"[..], &mut file, 2)?;
//!
//! let mut message = Vec::new();
//! decrypt(&Identity::new(&key)?, &file[..], &mut message, 2)?;
//! assert_eq!(message, b"of any length");
//! # Ok::<(), rsalab_sealed::Error>(())
//! ```
//!
//! What [`decrypt`] writes was verified before, chunk by chunk. Whether the file is complete is known at its end: what
//! was written before an error is a beginning of the message, and must be thrown away by whoever needs all of it.
#![forbid(unsafe_code)]

pub mod armor;
mod derive;
mod error;
mod file;
mod header;
mod keys;
mod outline;
mod payload;
mod pipeline;

pub use error::{Error, Result};
pub use file::{begins, decrypt, encrypt};
pub use header::MOST_HEADER;
pub use keys::{Identity, MOST_ATTEMPTS, Recipient};
pub use outline::Outline;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod vectors;

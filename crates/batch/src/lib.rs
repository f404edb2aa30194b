//! Private RSA operations that are asked for side by side, done together.
//!
//! A server signs one message at a time, on many connections; the kernels of this CPU do four or eight private operations in hardly more
//! time than one. A [`Batcher`] stands between: whoever asks while nothing is being computed is computed for at once, on
//! the thread that asked; whoever asks meanwhile waits until that pass is over, and is then done together with all who wait. There is no timer,
//! and no thread of its own for those who block.
//!
//! | question | file |
//! |---|---|
//! | who asks for what | `batcher` |
//! | who computes, who waits, and what goes into a pass | `queue` |
//! | a request of a task, not of a thread | `operation` |
//! | what one pass computes with | `pass` |
//! | how many there were in each pass, and how long they waited | [`Statistics`] |
//! | what can go wrong | [`Error`] |
//!
//! ```
//! use rsalab_batch::Batcher;
//! use rsalab_rsa::{PrivateKey, hash::Hash, random::SystemRng, scheme::SignatureScheme, signing::VerifyingKey};
//! use std::thread;
//!
//! let key = PrivateKey::generate(2048)?;
//! let batcher = Batcher::builder().key(&key).build()?;
//!
//! // A connection each.
//! let signatures: Vec<Vec<u8>> = thread::scope(|scope| {
//!     let sign = || {
//!         let mut signer = batcher.signer(0, SignatureScheme::Pkcs1v15(Hash::Sha256))?;
//!         let mut signature = vec![0; key.modulus_len()];
//!         let digest = Hash::Sha256.digest(b"a handshake");
//!         let mut status = [rsalab_rsa::Status::Done];
//!         signer.sign(&digest, &mut signature, &mut status, &mut SystemRng)?;
//!         Ok::<_, rsalab_rsa::Error>(signature)
//!     };
//!     let connections: Vec<_> = (0..4).map(|_| scope.spawn(sign)).collect();
//!     connections.into_iter().map(|connection| connection.join().unwrap().unwrap()).collect()
//! });
//!
//! let verifying = VerifyingKey::new(key.public(), SignatureScheme::Pkcs1v15(Hash::Sha256))?;
//! assert!(signatures.iter().all(|signature| verifying.verify(b"a handshake", signature)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Raw operations are what it is made of: this crate sees the feature `hazmat` of `rsalab-rsa`.
#![forbid(unsafe_code)]

// The README's example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod batcher;
mod error;
mod handle;
mod operation;
mod pass;
mod queue;
mod statistics;

pub use batcher::{Batcher, Blocks, Builder};
pub use error::Error;
pub use operation::Operation;
pub use statistics::Statistics;

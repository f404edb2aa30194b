//! RSA keys, prime search, key formats, and work split over threads.
//!
//! | question | file |
//! |---|---|
//! | what is a key | [`keys`] |
//! | how is a key read and written | [`mod@format`] |
//! | how is a key generated, and from which randomness | [`generate`], [`random`] |
//! | what does the arithmetic | [`backend`] |
//! | how is a digest signed, and a signature verified | [`pkcs1v15`] |
//! | what is measured against bare peers | [`bare`] |
//! | how is a text encrypted and decrypted over threads | [`text`] |
//! | what can go wrong | [`error`] |
//!
//! Steps with their sources, and what is and is not promised, are in the crate's `NOTES.md`.
//!
//! ```
//! use rsalab_rsa::{CpuBackend, generate, random::SystemRng, text::{Crew, container}};
//!
//! let backend = CpuBackend::auto();
//! let key = generate::generate(1024, generate::DEFAULT_EXPONENT, &mut SystemRng, &backend)?.key;
//!
//! let text = b"raw blocks are for study only";
//! let file = container::encrypt(&backend, key.public(), Some(10), text, Crew::unpinned(2))?;
//! let back = container::decrypt(&backend, &key, &file.output, Crew::unpinned(3))?;
//! assert_eq!(back.output, text);
//! assert_eq!(back.trace.iter().map(|part| part.blocks).collect::<Vec<_>>(), [1, 1, 1]);
//! # Ok::<(), rsalab_rsa::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod backend;
pub mod bare;
pub mod error;
pub mod format;
pub mod generate;
pub mod keys;
pub mod pkcs1v15;
pub mod random;
pub mod text;

pub use backend::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Prepared, PreparedRing, RingRunner, Status,
};
pub use error::{BlockFault, Error};
pub use keys::{PrivateKey, PrivateParts, PublicKey};
pub use rsalab_arith::{Kernel, KernelInfo, kernels};

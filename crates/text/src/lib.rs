//! Texts through raw RSA blocks, the work split over threads.
//!
//! | question | file |
//! |---|---|
//! | which thread gets which blocks | [`split()`] |
//! | how threads are started, released and collected | [`work`] |
//! | what came of it | [`Outcome`], [`WorkError`] |
//! | how a text becomes blocks and a text again | [`blocks`] |
//! | how an encrypted text is kept in a file | [`container`] |
//! | what can go wrong | [`Error`] |
//!
//! ```
//! use rsalab_rsa::{CpuBackend, PrivateKey};
//! use rsalab_text::{Threads, container};
//!
//! let backend = CpuBackend::auto();
//! let key = PrivateKey::generate(1024)?;
//!
//! let text = b"raw blocks are for study only";
//! let file = container::encrypt(&backend, key.public(), Some(10), text, Threads::unpinned(2))?;
//! let back = container::decrypt(&backend, &key, &file.output, Threads::unpinned(3))?;
//! assert_eq!(back.output, text);
//! assert_eq!(back.trace.iter().map(|part| part.blocks).collect::<Vec<_>>(), [1, 1, 1]);
//! # Ok::<(), rsalab_text::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod blocks;
pub mod container;
mod error;
mod outcome;
mod split;
pub mod work;

pub use error::{BlockFault, Error};
pub use outcome::{Failure, Outcome, PartTrace, Reason, WorkError};
pub use split::{Part, split};
pub use work::{BlockWorker, MAX_THREADS, Run, Threads, Work, Workers, run, with_workers};

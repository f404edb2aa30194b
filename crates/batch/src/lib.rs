//! Private RSA operations that are asked for side by side, done together.
//!
//! A server signs one message at a time, on many connections; the kernels of this CPU do four or eight private
//! operations in hardly more time than one. A [`Batcher`] stands between: whoever asks while nothing is being computed
//! is computed for at once, on the thread that asked; whoever asks meanwhile waits until that pass is over, or so many
//! wait that they fill one, and is then done together with all who wait. There is no timer, and no thread of its own
//! for those who block.
//!
//! | question | file |
//! |---|---|
//! | who asks for what | `batcher` |
//! | how keys of `rsalab-rsa` sign and decrypt by way of it | `backend` |
//! | which keys a batcher has, added and removed | `handle` |
//! | a key made ready, for any number of queues | `keys` |
//! | which keys are made ready together | `groups`, `multi_key`, `shape` |
//! | who computes, who waits, and what goes into a pass | `queue` |
//! | a request of a task, not of a thread | `operation` |
//! | a request of a job of an event loop | `queue/jobs` |
//! | what a pass computes | `pass` |
//! | how many there were in each pass, and how long they waited | [`Statistics`] |
//! | what can go wrong | [`Error`] |
//!
//! Threads sign and decrypt with keys of `rsalab-rsa` that have the batcher as their back end:
//!
//! ```
//! use rsalab_batch::Batcher;
//! use rsalab_rsa::{PrivateKey, hash::Hash, scheme::SignatureScheme, signing::SigningKey};
//! use std::thread;
//!
//! let key = PrivateKey::generate(2048)?;
//! let batcher = Batcher::builder().key(&key).build()?;
//! let signing = SigningKey::with_backend(&key, SignatureScheme::Pkcs1v15(Hash::Sha256), &batcher)?;
//!
//! // A connection each.
//! thread::scope(|scope| {
//!     for connection in 0..4u8 {
//!         let signing = &signing;
//!         scope.spawn(move || {
//!             let signature = signing.sign(&[connection]).unwrap();
//!             assert!(signing.verifying_key().verify(&[connection], signature.as_bytes()));
//!         });
//!     }
//! });
//! assert_eq!(batcher.statistics().requests(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Tasks await what they ask for; a few threads of the batcher compute for them, on any executor:
//!
//! ```
//! # use rsalab_batch::Batcher;
//! # use rsalab_rsa::{PrivateKey, hash::Hash, scheme::SignatureScheme, signing::VerifyingKey};
//! # let key = PrivateKey::generate(2048)?;
//! # let batcher = Batcher::builder().key(&key).build()?;
//! let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
//! let digest = Hash::Sha256.digest(b"a message");
//! let signature = futures::executor::block_on(batcher.sign_async(0, scheme, &digest)?)?;
//! assert!(VerifyingKey::new(key.public(), scheme)?.verify(b"a message", &signature));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An event loop that resumes its own jobs has a [`JobQueue`] for each thread, over [`Keys`] that all of them share.
//! There is no thread of the batcher and no waker: a job that asks pauses, and the first that is resumed computes for
//! those that asked meanwhile.
//!
//! ```
//! # use rsalab_batch::{JobQueue, Keys};
//! # use rsalab_rsa::{CpuBackend, PrivateKey};
//! let keys = Keys::new(CpuBackend::auto(), 1, |_| Some(Box::new(())));
//! let key = keys.key(PrivateKey::generate(2048)?);
//! let jobs = JobQueue::new();
//!
//! // Of two jobs, one after the other: a number below the modulus.
//! let one = jobs.ask(&key, vec![1; 256].into())?;
//! let other = jobs.ask(&key, vec![2; 256].into())?;
//! // Unless one fills a pass (`is_due`), both pause. The first that is resumed has no answer yet, and computes both.
//! for job in [one, other] {
//!     let answer = job.take().unwrap_or_else(|| job.answer())?;
//!     assert_eq!(answer.len(), 256);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A server that reloads a certificate [adds](Batcher::add) the new key and [removes](Batcher::remove) the old one.
//! Nobody waits for that: requests under way are answered, and a key is wiped with the last of them.
#![forbid(unsafe_code)]

// The README's example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod backend;
mod batcher;
mod error;
mod groups;
mod handle;
mod keys;
mod multi_key;
mod operation;
mod pass;
mod queue;
mod shape;
mod statistics;
mod sync;

pub use batcher::{Batcher, Builder};
pub use error::Error;
pub use groups::Held;
pub use keys::{Key, Keys};
pub use operation::{Decryption, Operation};
pub use queue::{JobQueue, TakeBack, Ticket};
pub use statistics::Statistics;

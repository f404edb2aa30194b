//! Article (b)'s RSA, C code on the GMP that the system has, as the engine `c-openmp`.
//!
//! | question | file |
//! |---|---|
//! | the steps of RSA, and the article's program | `article/rsa.c` |
//! | what is computed of an item | `worker.c`, which includes `rsa.c` without the program; called by `shim` |
//! | which jobs are done, under which conditions, and the doing | [`engine`] |
//!
//! Where the system has no `gmp.h` when this is built, there is no engine, and the worker says how to install it. GMP
//! is under the LGPL, and is linked dynamically, but for a build with `RSALAB_PORTABLE`. `NOTES.md` says what of the
//! article is here and what is the harness's.

#[cfg(gmp)]
pub mod engine;
#[cfg(gmp)]
mod shim;

#[cfg(gmp)]
pub use engine::ArticleEngine;

/// The message of a worker without the library.
pub const ABSENT: &str = "this worker was built where GMP was not installed; install it with: apt-get install libgmp-dev && \
                          cargo build --release --package rsalab-peer-c-openmp";

//! Crypto++ as this system has it, behind a C++ shim, as the engine `cryptopp`.
//!
//! | question | file |
//! |---|---|
//! | what is called, and how errors come back | `shim.cpp`, `shim` |
//! | which jobs are done, under which conditions, and the doing | [`engine`] |
//!
//! Where the system has no headers of Crypto++ when this is built, there is no engine, and the worker says how to get
//! it. Crypto++ is under the Boost licence, its files in the public domain. `NOTES.md` has what was found out.

#[cfg(cryptopp)]
pub mod engine;
#[cfg(cryptopp)]
mod shim;

#[cfg(cryptopp)]
pub use engine::CryptoppEngine;

/// The message of a worker without the library.
pub const ABSENT: &str = "this worker was built where Crypto++ was not installed; get it with: apt-get install libcrypto++-dev && \
                          cargo build --release --package rsalab-peer-cryptopp";

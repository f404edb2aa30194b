//! Intel's Cryptography Primitives Library, loaded at run time, as two engines:
//!
//! - `ippcp`: one operation at a time, and the generation of keys;
//! - `crypto_mb`: eight operations side by side, on AVX-512 IFMA or AVX-IFMA.
//!
//! | question | file |
//! |---|---|
//! | where the libraries are, and what is missing | [`library`] |
//! | functions, jobs and blocks of crypto_mb | [`crypto_mb`] |
//! | functions, jobs, numbers, blocks and keys of ippcp | [`ippcp`] |
//!
//! `scripts/install-ipp.sh` installs the libraries into the project's prefix. This crate builds without them, and its
//! two workers then say what is missing. `NOTES.md` has what was found out about both.

pub mod crypto_mb;
pub mod ippcp;
pub mod library;

pub use crypto_mb::CryptoMb;
pub use ippcp::Ippcp;
pub use library::Absent;

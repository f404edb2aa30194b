//! TLS handshakes of rustls with rustls, in memory, as the engine `rustls`: its variants are whose signature the server
//! makes, and the version of TLS.
//!
//! | question | file |
//! |---|---|
//! | which jobs are done, and under which conditions | [`engine`] |
//! | the certificate of a key | `certificate` |
//! | both ends' configurations; whose key signs | `ends` |
//! | one handshake, step by step | `handshake` |
//! | what is timed of many | `runner` |
//!
//! Everything but the server's signature is the same in all variants, and ring's: key exchange, ciphers, the client's
//! verification. `NOTES.md` says what a time holds.
#![forbid(unsafe_code)]

mod certificate;
mod ends;
pub mod engine;
mod handshake;
mod runner;

pub use engine::RustlsEngine;

//! An OpenSSL provider: RSA over the batches of rsalab, for OpenSSL 3.0 and later.
//!
//! | question | file |
//! |---|---|
//! | how OpenSSL calls us, and we OpenSSL | `ffi` |
//! | what openssl.cnf may say | `settings` |
//! | what a key is | `key` |
//! | what a key of the type RSA-PSS is restricted to | `pss` |
//! | what a signature context holds, and what it computes | `sign` |
//! | how X9.31 signatures are made | `x931` |
//! | what certificates call a signature's algorithm | `algorithm` |
//! | what an encryption context holds, and what it computes | `encryption` |
//! | which digests there are, and what OpenSSL calls them | `digests` |
//! | how operations inside asynchronous jobs become batches | `gather` |
//! | how threads outside jobs share passes, on wish | `threads` |
//! | what computes requests together | `pass` |
//! | how keys share a pass | `shared` |
//! | how many there were in each batch | `statistics` |
//! | how much memory functions take | `memory` |
//!
//! Only `ffi` has `unsafe`. No panic crosses it: each function that OpenSSL calls catches them and fails.
#![deny(unsafe_code)]

mod algorithm;
mod digests;
mod encryption;
#[allow(unsafe_code)]
mod ffi;
mod gather;
mod key;
mod memory;
mod pass;
mod pss;
mod settings;
mod shared;
mod sign;
mod statistics;
mod threads;
mod x931;

/// What the system refuses in the middle of a function comes from a reserve that it began with (`memory`).
#[global_allocator]
static ALLOCATOR: rsalab_reserve::Allocator = rsalab_reserve::Allocator::new();

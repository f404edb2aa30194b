//! An OpenSSL provider: RSA over the batches of rsalab, for OpenSSL 3.0 and later.
//!
//! | question | file |
//! |---|---|
//! | which functions OpenSSL calls | `ffi` |
//! | layouts, parameters, errors, and jobs of OpenSSL's | `openssl` |
//! | what openssl.cnf may say | `settings` |
//! | what a key is | `key` |
//! | what a key of the type RSA-PSS is restricted to | `pss` |
//! | what a signature context holds, and what it computes | `sign` |
//! | how X9.31 signatures are made | `x931` |
//! | what certificates call a signature's algorithm | `algorithm` |
//! | what an encryption context holds, and what it computes | `encryption` |
//! | which digests there are, and what OpenSSL calls them | `digests` |
//! | who computes private operations, and how those of asynchronous jobs become batches | `requests` |
//! | how threads outside jobs share passes, on wish | `threads` |
//! | why a function failed | `failure` |
//! | how much memory functions take | `memory` |
//!
//! Passes, and keys that share them, are those of `rsalab-batch`. Only `ffi` and `openssl` have `unsafe`. No panic
//! crosses it: each function that OpenSSL calls catches them and fails.
#![deny(unsafe_code)]

mod algorithm;
mod digests;
mod encryption;
mod failure;
#[allow(unsafe_code)]
mod ffi;
mod key;
mod memory;
#[allow(unsafe_code)]
mod openssl;
mod pss;
mod requests;
mod settings;
mod sign;
mod threads;
mod x931;

/// Memory that the system refuses in the middle of a function comes from a reserve that it began with (`memory`).
#[global_allocator]
static ALLOCATOR: rsalab_reserve::Allocator = rsalab_reserve::Allocator::new();

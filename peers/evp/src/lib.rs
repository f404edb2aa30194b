//! RSA as OpenSSL's libcrypto does it, behind [`rsalab_engines::Engine`]: one implementation over a table of functions.
//!
//! Three peers stand on it. `openssl` links OpenSSL 4 statically and fills the table from the linker, `aws-lc` does so
//! with AWS-LC, which offers the same functions; `libcrypto` loads the system's library and fills the table by name.
//! What is measured, how it is prepared and what the ledger says is therefore the same code for all.
//!
//! | question | file |
//! |---|---|
//! | which functions are called, and with which signatures | [`table`] |
//! | which library this is; what it says when it fails | [`library`] |
//! | numbers (`BIGNUM`), keys (`EVP_PKEY`), operations (`EVP_PKEY_CTX`), owned | `number`, `key`, `context`, `owned` |
//! | the private and the public operation | `block` |
//! | signatures; the hash of messages that are signed | `signature`, `hash` |
//! | keys and primes; the count of primality tests | `generate`, `count` |
//! | the totient and the private exponent | `arithmetic` |
//! | which jobs are done, and under which conditions | [`engine`] |
//!
//! Everything goes through interfaces that exist from 1.1.1 to 4 (for 1.0.2 the peer `libcrypto` has stand-ins): keys
//! enter as PKCS#1 DER, operations are `EVP_PKEY_encrypt` and `EVP_PKEY_decrypt` without padding (what `openssl speed`
//! times, apart from the padding), settings are strings.

mod arithmetic;
mod block;
mod context;
mod count;
pub mod engine;
mod generate;
mod hash;
mod import;
mod key;
pub mod library;
mod number;
mod owned;
mod signature;
pub mod table;

pub use engine::EvpEngine;
pub use library::{Family, Libcrypto, NotSupported};
pub use table::{MissingFunction, Table};

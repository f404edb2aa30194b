//! The functions that OpenSSL calls.
//!
//! | question | file |
//! |---|---|
//! | how the provider is found, and what it offers | `provider` |
//! | the provider as one library context has it | `instance` |
//! | what contexts of all operations have in common | `context` |
//! | RSA keys | `keymgmt`, and `generation` of new ones |
//! | a key as OpenSSL holds it | `slot` |
//! | signatures | `signature`, and `sigalg` for those with a digest in their name |
//! | encryption | `cipher` |

mod cipher;
mod context;
mod generation;
mod instance;
mod keymgmt;
mod provider;
mod sigalg;
mod signature;
mod slot;

//! Everything that touches pointers: OpenSSL's tables and parameters, its jobs, and a stack of our own.
//!
//! | question | file |
//! |---|---|
//! | layouts and numbers of `core.h`, `core_dispatch.h` | `types` |
//! | reading and answering parameters | `param` |
//! | how the provider is found, and what it offers | `provider` |
//! | which OpenSSL has us loaded, and what depends on that | `version` |
//! | the provider as one library context has it | `instance` |
//! | OpenSSL's queue of errors | `errors` |
//! | what contexts of all operations have in common | `context` |
//! | RSA keys | `keymgmt`, and `generation` of new ones |
//! | a key as OpenSSL holds it | `slot` |
//! | signatures | `signature`, and `sigalg` for those with a digest in their name |
//! | encryption | `cipher` |
//! | asynchronous jobs | `jobs` |
//! | a stack with room for the arithmetic | `stack` |

mod cipher;
mod context;
pub(crate) mod errors;
mod generation;
mod instance;
pub(crate) mod jobs;
mod keymgmt;
pub(crate) mod param;
mod provider;
mod sigalg;
mod signature;
mod slot;
pub(crate) mod stack;
mod types;
pub(crate) mod version;

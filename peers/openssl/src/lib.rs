//! OpenSSL 4, built from the source that `openssl-src` carries and linked statically, as the engine `openssl`.
//!
//! What is done with it is in [`rsalab_peer_evp`]; this crate builds the library, names its functions to the linker,
//! and makes the worker `rsalab-peer-openssl`. OpenSSL is under the Apache licence 2.0. `NOTES.md` has build facts and
//! figures.

mod ffi;

use rsalab_peer_evp::{EvpEngine, Libcrypto};

/// Where this libcrypto came from, for the record.
const ORIGIN: &str = concat!("openssl-src ", env!("RSALAB_OPENSSL_SRC"), ", linked statically");

/// The engine.
pub fn engine() -> EvpEngine {
    let library = Libcrypto::new(ffi::table()).expect("the version that this crate builds is supported");
    EvpEngine::new("openssl", ORIGIN.to_owned(), library)
}

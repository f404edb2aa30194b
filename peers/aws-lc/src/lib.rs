//! AWS-LC, built from the source that `aws-lc-sys` carries and linked statically, as the engine `aws-lc`.
//!
//! AWS-LC offers OpenSSL's EVP functions, so that what is done with it is in [`rsalab_peer_evp`], and this crate only
//! fills the table of functions and makes the worker `rsalab-peer-aws-lc`. `NOTES.md` has build facts and figures.

mod ffi;

use rsalab_peer_evp::{EvpEngine, Libcrypto};

/// The engine.
pub fn engine() -> EvpEngine {
    let library = Libcrypto::aws_lc(ffi::table()).expect("what this crate links is AWS-LC");
    EvpEngine::new("aws-lc", "aws-lc-sys, linked statically".to_owned(), library)
}

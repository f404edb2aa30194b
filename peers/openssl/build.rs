//! Builds OpenSSL 4 from the source that `openssl-src` carries, once, and links its libcrypto statically.
//!
//! `openssl-src` asks for `-O2` whatever Cargo's profile, so a debug build of this crate still holds an optimised OpenSSL.
//! It needs a C compiler, `perl` and `make`, and takes minutes: a stamp keeps it from being built again for the same source,
//! since Cargo runs this script whenever the file's time of change moves.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = openssl_src::version();
    println!("cargo::rustc-env=RSALAB_OPENSSL_SRC={version}");

    let out_dir = env::var("OUT_DIR").expect("Cargo sets OUT_DIR");
    let libraries = Path::new(&out_dir).join("openssl-build/install/lib");
    let stamp = Path::new(&out_dir).join("built");
    if fs::read_to_string(&stamp).ok().as_deref() != Some(version) {
        let openssl = openssl_src::Build::new().build();
        assert_eq!(openssl.lib_dir(), libraries, "where openssl-src installs");
        assert!(!openssl.needs_latomic(), "a 64-bit target");
        fs::write(&stamp, version).expect("OUT_DIR can be written");
    }
    println!("cargo::rustc-link-search=native={}", libraries.display());
    // The provider code is in libcrypto; libssl speaks TLS, which nothing here does.
    println!("cargo::rustc-link-lib=static=crypto");
}

//! Gives the shared library the name that programs ask the dynamic linker for, and keeps it loaded: ends of threads
//! call its functions.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let part = |name: &str| env::var(name).expect("Cargo sets it");
        let (major, minor) = (part("CARGO_PKG_VERSION_MAJOR"), part("CARGO_PKG_VERSION_MINOR"));
        // Before version 1 a minor version may change the interface. Cargo-c and scripts/deb.sh count alike.
        let interface = match major.as_str() {
            "0" => format!("0.{minor}"),
            _ => major,
        };
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librsalab.so.{interface}");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}

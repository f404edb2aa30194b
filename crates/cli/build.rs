//! Where `RSALAB_PORTABLE` is set, the program is for other machines than this one, with an older glibc: links
//! `portable/hypot.c`, which says more.

use std::{env, path::PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=portable/hypot.c");
    println!("cargo::rerun-if-env-changed=RSALAB_PORTABLE");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|is| is == value);
    let on_glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if env::var_os("RSALAB_PORTABLE").is_none() || !on_glibc {
        return;
    }
    cc::Build::new()
        .file("portable/hypot.c")
        .extra_warnings(true)
        .cargo_metadata(false)
        .compile("rsalab_hypot");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    println!("cargo::rustc-link-arg-bins=-Wl,--wrap=hypot,--wrap=hypotf");
    // As an argument it comes after all that calls it, which matters to the older linkers.
    println!("cargo::rustc-link-arg-bins={}", out.join("librsalab_hypot.a").display());
}

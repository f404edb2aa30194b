//! Compiles the shim over Crypto++ where the system has its headers. Where it has not, the worker says so at run time.

use std::{env, path::Path};

/// Set where programs are built that others install, on systems that may lack the library.
const PORTABLE: &str = "RSALAB_PORTABLE";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/shim.cpp");
    println!("cargo::rustc-check-cfg=cfg(cryptopp)");
    // Where Debian puts them; one that appears there later has this run again. Elsewhere CXXFLAGS tells the compiler.
    println!("cargo::rerun-if-changed=/usr/include/cryptopp/rsa.h");
    println!("cargo::rerun-if-env-changed=CXXFLAGS");
    let usual = Path::new("/usr/include/cryptopp/rsa.h").is_file();
    if !usual && env::var_os("CXXFLAGS").is_none() {
        return;
    }
    println!("cargo::rerun-if-env-changed={PORTABLE}");
    let portable = env::var_os(PORTABLE).is_some();
    let mut build = cc::Build::new();
    if portable {
        // Linked below, as an archive.
        build.cpp_link_stdlib(None);
    }
    let built = build
        .cpp(true)
        .std("c++17")
        .file("src/shim.cpp")
        // The library is built with -O2 by its distribution; the shim takes no time compared with it.
        .opt_level(2)
        .try_compile("rsalab_cryptopp");
    match built {
        Ok(()) => {
            if portable {
                println!("cargo::rustc-link-arg=-l:libcryptopp.a");
                println!("cargo::rustc-link-arg=-l:libstdc++.a");
                println!(
                    "cargo::rustc-env=RSALAB_CRYPTOPP_ORIGIN=Crypto++'s archive, as the system had it that built this"
                );
            } else {
                println!("cargo::rustc-link-lib=cryptopp");
            }
            println!("cargo::rustc-cfg=cryptopp");
        }
        Err(error) => println!("cargo::warning=Crypto++ cannot be used: {error}"),
    }
}

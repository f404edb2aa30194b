//! Compiles the worker's C code where the system has GMP's header. Where it has not, the worker says so at run time.

use std::{env, fs, path::Path};

/// Set where programs are built that others install, on systems that may lack the library.
const PORTABLE: &str = "RSALAB_PORTABLE";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/worker.c");
    println!("cargo::rerun-if-changed=article/rsa.c");
    println!("cargo::rustc-check-cfg=cfg(gmp)");
    println!("cargo::rerun-if-env-changed=CFLAGS");
    if !has_header() && env::var_os("CFLAGS").is_none() {
        // One that appears later has this run again.
        println!("cargo::rerun-if-changed=/usr/include/gmp.h");
        return;
    }
    let built = cc::Build::new()
        .std("gnu11")
        .file("src/worker.c")
        .extra_warnings(true)
        // As the article compiles it.
        .opt_level(3)
        .try_compile("rsalab_openmp");
    match built {
        Ok(()) => {
            println!("cargo::rerun-if-env-changed={PORTABLE}");
            if env::var_os(PORTABLE).is_some() {
                println!("cargo::rustc-link-arg=-l:libgmp.a");
                println!("cargo::rustc-env=RSALAB_GMP_ORIGIN=GMP's archive, as the system had it that built this");
            } else {
                println!("cargo::rustc-link-lib=gmp");
            }
            println!("cargo::rustc-cfg=gmp");
        }
        Err(error) => println!("cargo::warning=the system's GMP cannot be used: {error}"),
    }
}

/// Returns whether `gmp.h` is where distributions put it: in `/usr/include`, or in the folder of an architecture there.
fn has_header() -> bool {
    let include = Path::new("/usr/include");
    let below = fs::read_dir(include).into_iter().flatten().flatten();
    [include.to_owned()]
        .into_iter()
        .chain(below.map(|entry| entry.path()))
        .any(|folder| folder.join("gmp.h").is_file())
}

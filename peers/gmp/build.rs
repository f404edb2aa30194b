//! Reads which code GMP's build compiled, so that the engine can say so and a test can refuse a generic build.
//!
//! `gmp-mpfr-sys` builds the library; `config.site` chooses the code. Needs a C compiler, `make` and `m4`.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The routines on which modular exponentiation spends its time. Those that were not compiled are left out.
const ROUTINES: [&str; 6] = [
    "mul_basecase",
    "sqr_basecase",
    "addmul_1",
    "submul_1",
    "redc_1",
    "sbpi1_bdiv_r",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let directory = |name: &str| PathBuf::from(env::var_os(name).unwrap_or_else(|| panic!("gmp-mpfr-sys sets {name}")));
    let library = directory("DEP_GMP_LIB_DIR").join("libgmp.a");
    let build = directory("DEP_GMP_OUT_DIR").join("build/gmp-build");
    println!("cargo::rerun-if-changed={}", library.display());

    let fat = is_fat(&library);
    println!("cargo::rustc-env=RSALAB_GMP_FAT={fat}");
    println!("cargo::rustc-check-cfg=cfg(gmp_fat)");
    if fat && env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|architecture| architecture == "x86_64") {
        println!("cargo::rustc-cfg=gmp_fat");
        // `src/cpuid.rs` answers in its place.
        println!("cargo::rustc-link-arg=-Wl,--wrap=__gmpn_cpuid");
    }
    println!(
        "cargo::rustc-env=RSALAB_GMP_CPU={}",
        configured_cpu(&build).unwrap_or_default()
    );
    let sources: Vec<_> = ROUTINES
        .iter()
        .filter_map(|routine| Some(format!("{routine} {}", source(&build, routine)?)))
        .collect();
    println!("cargo::rustc-env=RSALAB_GMP_SOURCES={}", sources.join(", "));
}

/// A fat library chooses its code at run time, by way of a vector of functions.
fn is_fat(library: &Path) -> bool {
    const VECTOR: &[u8] = b"__gmpn_cpuvec";
    let bytes = fs::read(library).unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    bytes.windows(VECTOR.len()).any(|window| window == VECTOR)
}

/// The CPU that configure was given or guessed, from its log.
fn configured_cpu(build: &Path) -> Option<String> {
    let log = fs::read_to_string(build.join("config.log")).ok()?;
    let line = log.lines().find_map(|line| line.strip_prefix("host_cpu="))?;
    Some(line.trim_matches('\'').to_owned())
}

/// The folder of GMP's `mpn` that a routine was compiled from: configure makes a link to the source it chose.
fn source(build: &Path, routine: &str) -> Option<String> {
    let link = ["asm", "c"]
        .iter()
        .find_map(|extension| fs::read_link(build.join("mpn").join(routine).with_extension(extension)).ok())?;
    let text = link.to_str()?;
    let (_, below_mpn) = text.rsplit_once("/mpn/")?;
    Some(below_mpn.rsplit_once('/')?.0.to_owned())
}

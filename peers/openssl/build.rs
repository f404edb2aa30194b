//! Builds the libcrypto of OpenSSL 4 from the source that `openssl-src` carries, once, and links it statically.
//!
//! Configured here and not by `openssl-src`, which builds all of OpenSSL: what RSA never calls is most of the time of a
//! build. It needs a C compiler, `perl` and `make`. OpenSSL's own optimisation (`-O3`) is kept whatever Cargo's
//! profile. A stamp keeps it from being built again for the same source and choice, since Cargo runs this script
//! whenever the file's time of change moves.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

/// How it is built: for static linking, once.
const FORM: [&str; 7] = [
    "no-shared",
    "no-module",
    "no-dso",
    "no-apps",
    "no-docs",
    "no-tests",
    "no-makedepend",
];

/// Parts that are left out. SHA, AES and the random generators stay, and every line of RSA and of its big integers.
const LEFT_OUT: &str = "argon2 aria bf blake2 camellia cast chacha cmac cmp cms comp ct des dgram dh dsa ec http idea legacy lms md4 \
    mdc2 ml-dsa ml-kem multiblock ocb ocsp poly1305 quic rc2 rc4 rfc3779 rmd160 scrypt seed siphash siv slh-dsa sm2 sm3 sm4 sock srp \
    tls ts ui-console whirlpool";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");
    let version = openssl_src::version();
    println!("cargo::rustc-env=RSALAB_OPENSSL_SRC={version}");

    let out_dir = env::var("OUT_DIR").expect("Cargo sets OUT_DIR");
    let build = Path::new(&out_dir).join("libcrypto");
    let stamp = build.join("built");
    let choice = format!("{version} {} {LEFT_OUT}", FORM.join(" "));
    if fs::read_to_string(&stamp).ok().as_deref() != Some(&choice) {
        // What another source or choice left is of no use; there may be none.
        let _ = fs::remove_dir_all(&build);
        fs::create_dir_all(&build).expect("OUT_DIR can be written");
        let configure = openssl_src::source_dir().join("Configure");
        run(Command::new("perl")
            .arg(configure)
            .args(FORM)
            .args(LEFT_OUT.split_whitespace().map(|part| format!("no-{part}")))
            .current_dir(&build));
        run(Command::new("make")
            .args(["build_generated", "libcrypto.a"])
            // Cargo's job server: make takes part in it as one more compiler.
            .env("MAKEFLAGS", env::var("CARGO_MAKEFLAGS").unwrap_or_default())
            .current_dir(&build));
        fs::write(&stamp, choice).expect("OUT_DIR can be written");
    }
    println!("cargo::rustc-link-search=native={}", build.display());
    println!("cargo::rustc-link-lib=static=crypto");
}

/// Runs a step of the build to its end; its output is Cargo's to show if it fails.
fn run(command: &mut Command) {
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?}: {status}"),
        Err(error) => panic!("{command:?}: {error}; OpenSSL needs a C compiler, perl and make"),
    }
}

//! Tells the crate what it is built with: every result names its compiler.

use std::{env, process::Command};

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("-V")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| "unknown".to_owned(), |version| version.trim().to_owned());
    println!("cargo::rustc-env=MEASURE_RUSTC={version}");

    for (name, source) in [
        ("MEASURE_OPT_LEVEL", "OPT_LEVEL"),
        ("MEASURE_TARGET", "TARGET"),
        ("MEASURE_TARGET_FEATURES", "CARGO_CFG_TARGET_FEATURE"),
    ] {
        let value = env::var(source).unwrap_or_default();
        println!("cargo::rustc-env={name}={value}");
    }

    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let target_cpu = flags
        .split(['\u{1f}', '='])
        .skip_while(|part| !part.ends_with("target-cpu"))
        .nth(1)
        .unwrap_or("generic");
    println!("cargo::rustc-env=MEASURE_TARGET_CPU={target_cpu}");

    println!("cargo::rerun-if-changed=build.rs");
}

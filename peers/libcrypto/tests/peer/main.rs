//! All tests in one program: linking each takes longer than running it.

use rsalab_engines::{Engine, Op};
use rsalab_peer_libcrypto::LibcryptoEngine;

mod engine;
mod many;
mod worker;

rsalab_engines::conformance_tests! {
    name: "libcrypto",
    engine: LibcryptoEngine::new(None),
    program: env!("CARGO_BIN_EXE_rsalab-peer-libcrypto"),
    not_offered: not_offered(),
    also_offered: also_offered(),
}

fn is_before_3_0() -> bool {
    let version = LibcryptoEngine::new(None).map(|engine| engine.info().version);
    version.is_ok_and(|version| version.starts_with("OpenSSL 1."))
}

/// From 3.0 on it does not search for primes as it tests them.
fn not_offered() -> Vec<Op> {
    match is_before_3_0() {
        true => Vec::new(),
        false => vec![Op::PrimeSearch],
    }
}

/// Before 3.0 it has no function that tells a key's modulus alone.
fn also_offered() -> Vec<Op> {
    match is_before_3_0() {
        true => vec![Op::ImportVerify, Op::SignMessage],
        false => vec![Op::ImportPrivate, Op::ImportVerify, Op::SignMessage],
    }
}

//! All tests in one program: linking each takes longer than running it.

use rsalab_engines::Op;
use rsalab_peer_rustcrypto::RustCryptoEngine;

mod engine;

rsalab_engines::conformance_tests! {
    name: "rustcrypto",
    engine: Ok::<_, String>(RustCryptoEngine),
    program: env!("CARGO_BIN_EXE_rsalab-peer-rustcrypto"),
    not_offered: [Op::Totient, Op::PrivateExponent, Op::PrimeSearch],
    also_offered: [Op::ImportPrivate, Op::ImportVerify, Op::SignMessage],
}

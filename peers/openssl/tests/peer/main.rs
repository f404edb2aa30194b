//! All tests in one program: linking each takes longer than running it.

use rsalab_engines::Op;

mod engine;

rsalab_engines::conformance_tests! {
    name: "openssl",
    engine: Ok::<_, String>(rsalab_peer_openssl::engine()),
    program: env!("CARGO_BIN_EXE_rsalab-peer-openssl"),
    not_offered: [Op::PrimeSearch],
    also_offered: [Op::ImportPrivate, Op::ImportVerify, Op::SignMessage],
}

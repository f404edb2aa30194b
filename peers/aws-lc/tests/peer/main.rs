//! All tests in one program: linking each takes longer than running it.

mod engine;

rsalab_engines::conformance_tests! {
    name: "aws-lc",
    engine: Ok::<_, String>(rsalab_peer_aws_lc::engine()),
    program: env!("CARGO_BIN_EXE_rsalab-peer-aws-lc"),
    not_offered: [],
    // It has no function that tells a key's modulus alone.
    also_offered: [rsalab_engines::Op::ImportVerify, rsalab_engines::Op::SignMessage],
}

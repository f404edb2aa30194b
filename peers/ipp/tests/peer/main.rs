//! All tests in one program: linking each takes longer than running it.

mod engine;

mod ippcp {
    use rsalab_engines::Op;

    rsalab_engines::conformance_tests! {
        name: "ippcp",
        engine: rsalab_peer_ipp::Ippcp::new(),
        program: env!("CARGO_BIN_EXE_rsalab-peer-ippcp"),
        not_offered: [Op::Totient, Op::PrivateExponent, Op::Sign, Op::Verify],
        also_offered: [],
    }
}

mod crypto_mb {
    use rsalab_engines::Op;

    rsalab_engines::conformance_tests! {
        name: "crypto_mb",
        engine: rsalab_peer_ipp::CryptoMb::new(),
        program: env!("CARGO_BIN_EXE_rsalab-peer-crypto_mb"),
        not_offered: [
            Op::Keygen,
            Op::PrimePair,
            Op::PrimeSearch,
            Op::Totient,
            Op::PrivateExponent,
            Op::Sign,
            Op::Verify,
        ],
        also_offered: [],
    }
}

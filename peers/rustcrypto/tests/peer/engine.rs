//! Tests that are particular to this engine; what every engine must do is in the conformance suite.

use rsalab_engines::{Engine, EngineError, Exponent, Job, Op, StudyKey, verify};
use rsalab_peer_rustcrypto::RustCryptoEngine;

#[test]
fn the_version_is_the_one_that_the_manifest_pins() {
    let manifest = include_str!("../../Cargo.toml");
    let version = RustCryptoEngine.info().version;
    let (name, number) = version.split_once(' ').unwrap();
    assert!(
        manifest.contains(&format!("{name} = {{ version = \"={number}\"")),
        "{version}"
    );
}

#[test]
fn each_variant_says_what_it_leaves_out() {
    for (variant, blinding, check) in [
        (None, true, true),
        (Some("blinded"), true, true),
        (Some("unblinded"), false, true),
        (Some("unchecked"), false, false),
    ] {
        let job = Job {
            variant: variant.map(str::to_owned),
            ..Job::new(Op::Private, 2048)
        };
        let ledger = RustCryptoEngine.supports(&job).unwrap();
        assert_eq!(
            (ledger.crt, ledger.blinding, ledger.result_check),
            (Some(true), Some(blinding), Some(check))
        );
    }
    let variant = Job {
        variant: Some("fast".to_owned()),
        ..Job::new(Op::Private, 2048)
    };
    let reason = RustCryptoEngine.supports(&variant).unwrap_err();
    assert!(reason.0.contains("'fast'"), "{reason}");
}

#[test]
fn short_keys_are_whole_keys_and_sign_nothing() {
    for (op, bits) in [
        (Op::Keygen, 256),
        (Op::Keygen, 384),
        (Op::PrimePair, 256),
        (Op::PrimePair, 384),
    ] {
        let job = Job::new(op, bits);
        let mut made = vec![0xA5; 3 * job.layout().output];
        let prepared = RustCryptoEngine.prepare(&job, &[]).unwrap();
        prepared.runner().unwrap().run(&[], &mut made).unwrap();
        assert_eq!(verify(&job, None, &[], &made), Ok(()), "{op} {bits}");
    }
    let reason = RustCryptoEngine.supports(&Job::new(Op::Sign, 384)).unwrap_err();
    assert!(reason.0.contains("489"), "{reason}");
}

#[test]
fn a_broken_key_and_a_large_exponent_are_refused() {
    let numbers = vec![1; 32];
    let broken = StudyKey {
        bits: 512,
        n: vec![0xFF; 64],
        e: vec![1, 0, 1],
        d: vec![1; 64],
        p: numbers.clone(),
        q: numbers.clone(),
        dp: numbers.clone(),
        dq: numbers.clone(),
        qinv: numbers,
        others: Vec::new(),
    };
    let refused = RustCryptoEngine.prepare(&Job::new(Op::Private, 512), &[broken]);
    assert!(matches!(refused.err(), Some(EngineError::Key(_))));
    let large = Job {
        exponent: Exponent::Fixed((1 << 33) + 1),
        ..Job::new(Op::Public, 1024)
    };
    let reason = RustCryptoEngine.supports(&large).unwrap_err();
    assert!(reason.0.contains("8589934591"), "{reason}");
}

#[test]
fn tests_are_counted_for_pairs_and_unknown_for_keys() {
    for (op, known) in [(Op::Keygen, false), (Op::PrimePair, true)] {
        let job = Job::new(op, 1024);
        let mut output = vec![0; job.layout().output];
        let prepared = RustCryptoEngine.prepare(&job, &[]).unwrap();
        let stats = prepared.runner().unwrap().run(&[], &mut output).unwrap();
        assert_eq!(stats.tests.is_some(), known, "{op}");
        assert!(stats.tests.is_none_or(|tests| (2..1000).contains(&tests)));
    }
}

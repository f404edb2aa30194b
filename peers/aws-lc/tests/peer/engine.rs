//! Tests that are particular to this engine; what every engine must do is in the conformance suite.

use rsalab_engines::{Engine, EngineError, Exponent, Job, OPTIMISED, Op, StudyKey};

#[test]
fn it_is_an_optimised_aws_lc() {
    let info = rsalab_peer_aws_lc::engine().info();
    assert!(info.version.starts_with("AWS-LC "), "{info:?}");
    assert_eq!(info.optimised, OPTIMISED, "{info:?}");
}

#[test]
fn the_private_operation_is_always_blinded_and_checked() {
    let engine = rsalab_peer_aws_lc::engine();
    let ledger = engine.supports(&Job::new(Op::Private, 2048)).unwrap();
    let said = (ledger.crt, ledger.blinding, ledger.result_check, ledger.constant_time);
    assert_eq!(said, (Some(true), Some(true), Some(true), Some(true)));
}

#[test]
fn keys_are_found_among_independent_candidates_with_sixteen_rounds() {
    let engine = rsalab_peer_aws_lc::engine();
    for (bits, primes) in [(1024, "512"), (2048, "512"), (4096, "1024")] {
        for op in [Op::Keygen, Op::PrimePair] {
            let ledger = engine.supports(&Job::new(op, bits)).unwrap();
            assert!(ledger.rounds.unwrap().starts_with("16 of"), "{bits}");
            let sieve = ledger.sieve.unwrap();
            assert!(sieve.contains("independent") && sieve.contains(primes), "{sieve}");
        }
    }
}

#[test]
fn tests_are_counted_for_pairs_and_unknown_for_keys() {
    let engine = rsalab_peer_aws_lc::engine();
    for (op, known) in [(Op::Keygen, false), (Op::PrimePair, true)] {
        let job = Job::new(op, 1024);
        let mut output = vec![0; job.layout().output];
        let prepared = engine.prepare(&job, &[]).unwrap();
        let stats = prepared.runner().unwrap().run(&[], &mut output).unwrap();
        assert_eq!(stats.tests.is_some(), known, "{op}");
        assert!(stats.tests.is_none_or(|tests| (2..1000).contains(&tests)));
    }
}

#[test]
fn sizes_and_exponents_that_it_would_change_are_refused() {
    let engine = rsalab_peer_aws_lc::engine();
    let reason = engine.supports(&Job::new(Op::Keygen, 1088)).unwrap_err();
    assert!(reason.0.contains("multiple of 128"), "{reason}");
    let large = Job {
        exponent: Exponent::Fixed((1 << 32) + 1),
        ..Job::new(Op::Keygen, 1024)
    };
    let reason = engine.supports(&large).unwrap_err();
    assert!(reason.0.contains("32 bits"), "{reason}");
}

#[test]
fn a_broken_key_is_an_error_with_the_librarys_words() {
    let engine = rsalab_peer_aws_lc::engine();
    let numbers = vec![1; 32];
    let broken = StudyKey {
        bits: 512,
        n: vec![0xFE; 64],
        e: vec![1, 0, 1],
        d: vec![1; 64],
        p: numbers.clone(),
        q: numbers.clone(),
        dp: numbers.clone(),
        dq: numbers.clone(),
        qinv: numbers,
        others: Vec::new(),
    };
    let prepared = engine.prepare(&Job::new(Op::Private, 512), &[broken]).unwrap();
    let error = prepared.runner().err().expect("the key is refused");
    assert!(
        matches!(&error, EngineError::Library { message, .. } if message.contains("error:")),
        "{error}"
    );
}

//! Tests that are particular to this engine; what every engine must do is in the conformance suite.

use rsalab_arith::integer;
use rsalab_engines::{Engine, EngineError, Job, OPTIMISED, Op, RunStats, StudyKey};

fn run(job: &Job, keys: &[StudyKey], inputs: &[u8], items: usize) -> Result<(Vec<u8>, RunStats), EngineError> {
    let engine = rsalab_peer_openssl::engine();
    let prepared = engine.prepare(job, keys)?;
    let mut outputs = vec![0xA5; items * job.layout().output];
    let stats = prepared.runner()?.run(inputs, &mut outputs)?;
    Ok((outputs, stats))
}

#[test]
fn it_is_an_optimised_openssl_4() {
    let info = rsalab_peer_openssl::engine().info();
    assert!(info.version.starts_with("OpenSSL 4."), "{info:?}");
    assert_eq!(info.optimised, OPTIMISED, "{info:?}");
    assert!(
        info.cpu_path
            .is_some_and(|path| path.contains("ia32cap") || cfg!(not(target_arch = "x86_64")))
    );
}

#[test]
fn the_private_operation_is_always_blinded_and_checked() {
    let engine = rsalab_peer_openssl::engine();
    let ledger = engine.supports(&Job::new(Op::Private, 2048)).unwrap();
    let said = (ledger.crt, ledger.blinding, ledger.result_check, ledger.constant_time);
    assert_eq!(said, (Some(true), Some(true), Some(true), Some(true)));
    let bare = Job {
        bare: true,
        ..Job::new(Op::Private, 2048)
    };
    assert!(engine.supports(&bare).unwrap_err().0.contains("always blinds"));
    let variant = Job {
        variant: Some("fast".to_owned()),
        ..Job::new(Op::Private, 2048)
    };
    assert!(engine.supports(&variant).unwrap_err().0.contains("'fast'"));
}

/// Below 2048 bits by random starts and 64 rounds, from there on by auxiliary primes and the rounds of FIPS 186-5.
#[test]
fn keys_are_valid_and_the_ledger_tells_how_they_were_found() {
    let engine = rsalab_peer_openssl::engine();
    for (bits, rounds, sieve) in [
        (512, "64 of", "random start"),
        (1024, "64 of", "random start"),
        (2048, "5 of", "auxiliary primes"),
    ] {
        let job = Job::new(Op::Keygen, bits);
        let ledger = engine.supports(&job).unwrap();
        assert!(
            ledger.rounds.as_ref().is_some_and(|text| text.starts_with(rounds)),
            "{ledger:?}"
        );
        assert!(
            ledger.sieve.as_ref().is_some_and(|text| text.contains(sieve)),
            "{ledger:?}"
        );

        let (out, stats) = run(&job, &[], &[], 2).unwrap();
        for key in out.chunks_exact(job.layout().output) {
            let (p, rest) = key.split_at(bits / 16);
            let (q, d) = rest.split_at(bits / 16);
            let parts = integer::derive(&[p, q], &[1, 0, 1]).expect("two primes fit for a key");
            assert_eq!(integer::bits_vartime(&parts.n), bits);
            let (_, phi) = integer::totient(p, q);
            // Up to 1024 bits modulo φ(n), above modulo its smaller sibling: both are private exponents.
            let smallest = parts.d.to_vec();
            let largest = integer::private_exponent(&[1, 0, 1], &phi).unwrap().to_vec();
            assert!(d == smallest || d == largest, "{bits} bits");
        }
        // Four primes were found, each with a test at least; candidates that trial division had refused are not
        // counted.
        assert!(
            (4..2 * bits as u64).contains(&stats.tests.unwrap()),
            "{bits} bits: {stats:?}"
        );
    }
}

#[test]
fn odd_sizes_and_broken_keys_are_errors() {
    let reason = rsalab_peer_openssl::engine()
        .supports(&Job::new(Op::Keygen, 1025))
        .unwrap_err();
    assert!(reason.0.contains("even"), "{reason}");
    assert!(matches!(
        run(&Job::new(Op::Private, 512), &[], &[0; 64], 1),
        Err(EngineError::Key(_))
    ));
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
    let error = run(&Job::new(Op::Private, 512), &[broken], &[0; 64], 1).unwrap_err();
    assert!(matches!(error, EngineError::Library { .. }), "{error}");
}

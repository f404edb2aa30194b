//! Tests that are particular to this engine; what every engine must do is in the conformance suite.

use rsalab_arith::integer;
use rsalab_engines::{
    Engine, EngineError, Exponent, Job, Op, RunStats, StudyKey, conformance::test_seed, inputs, verify,
};
use rsalab_peer_gmp::GmpEngine;

use crate::{found_key, job, key_of};

fn run(job: &Job, keys: &[StudyKey], inputs: &[u8], items: usize) -> Result<(Vec<u8>, RunStats), EngineError> {
    let prepared = GmpEngine.prepare(job, keys)?;
    let mut outputs = vec![0xA5; items * job.layout().output];
    let stats = prepared.runner()?.run(inputs, &mut outputs)?;
    Ok((outputs, stats))
}

#[test]
fn every_variant_of_the_private_operation_inverts_the_public_one() {
    for bits in [512, 1024, 1536, 2048] {
        let keys = [found_key(bits)];
        let inputs: Vec<u8> = (0..5 * bits / 8)
            .map(|index| if index % (bits / 8) == 0 { 0 } else { index as u8 })
            .collect();
        let (blocks, _) = run(&job(Op::Public, bits, None), &keys, &inputs, 5).unwrap();
        for variant in ["powm", "powm_sec", "plain_powm_sec"] {
            let (same, _) = run(&job(Op::Public, bits, Some(variant)), &keys, &inputs, 5).unwrap();
            assert_eq!(same, blocks, "{bits} bits, {variant}");
        }
        for variant in [
            None,
            Some("powm_sec"),
            Some("powm"),
            Some("plain_powm_sec"),
            Some("plain_powm"),
        ] {
            let (back, _) = run(&job(Op::Private, bits, variant), &keys, &blocks, 5).unwrap();
            assert_eq!(back, inputs, "{bits} bits, {variant:?}");
        }
    }
}

#[test]
fn both_searches_find_keys_of_full_length_and_one_counts_its_tests() {
    for bits in [256, 384, 512, 768, 1022, 1024] {
        for variant in [None, Some("random"), Some("nextprime")] {
            let job = job(Op::Keygen, bits, variant);
            let (out, stats) = run(&job, &[], &[], 3).unwrap();
            let prime = bits.div_ceil(2).div_ceil(8);
            for key in out.chunks_exact(job.layout().output) {
                let (p, rest) = key.split_at(prime);
                let (q, d) = rest.split_at(prime);
                let expected = key_of(bits, p, q).expect("e fits");
                assert_eq!(integer::bits_vartime(&expected.n), bits);
                assert_eq!(d, expected.d, "the smallest private exponent");
            }
            // Primes are one in bits·ln 2/4 odd numbers: more tests than primes, and not a thousand times as many.
            match variant {
                Some("nextprime") => assert_eq!(stats.tests, None),
                _ => assert!((7..6 * bits as u64).contains(&stats.tests.unwrap()), "{stats:?}"),
            }
        }
    }
}

#[test]
fn random_exponents_work_both_ways() {
    let key = StudyKey::from_seed(&test_seed(), 768, Exponent::Random).unwrap();
    for (op, variant) in [
        (Op::Public, "powm"),
        (Op::Public, "powm_sec"),
        (Op::Private, "powm_sec"),
        (Op::Private, "plain_powm_sec"),
    ] {
        let job = Job {
            exponent: Exponent::Random,
            ..job(op, 768, Some(variant))
        };
        let given = inputs(&job, &key, &test_seed(), 1, 3);
        let (outputs, _) = run(&job, std::slice::from_ref(&key), &given, 3).unwrap();
        assert_eq!(verify(&job, &key, &given, &outputs), Ok(()), "{op} {variant}");
    }
}

#[test]
fn a_variant_of_another_operation_is_refused_with_those_that_there_are() {
    for (op, variant, offered) in [
        (Op::Private, "nextprime", "powm_sec, powm, plain_powm_sec, plain_powm"),
        (Op::Public, "plain_powm", "it has powm, powm_sec, plain_powm_sec"),
        (Op::Keygen, "powm", "random, nextprime"),
        (Op::PrimePair, "powm", "random, nextprime"),
        (Op::Totient, "powm", "one only"),
        (Op::PrivateExponent, "powm", "one only"),
    ] {
        let reason = GmpEngine.supports(&job(op, 1024, Some(variant))).unwrap_err();
        assert!(reason.0.contains(variant) && reason.0.contains(offered), "{reason}");
    }
}

#[test]
fn the_ledger_tells_the_variants_apart() {
    let ledger = |variant| GmpEngine.supports(&job(Op::Private, 2048, Some(variant))).unwrap();
    for (variant, crt, constant_time) in [
        ("powm_sec", true, true),
        ("powm", true, false),
        ("plain_powm_sec", false, true),
        ("plain_powm", false, false),
    ] {
        let ledger = ledger(variant);
        assert_eq!(
            (ledger.crt, ledger.constant_time),
            (Some(crt), Some(constant_time)),
            "{variant}"
        );
        assert_eq!(
            (ledger.blinding, ledger.result_check),
            (Some(false), Some(false)),
            "{variant}"
        );
    }
    let public = |variant| {
        let job = job(Op::Public, 2048, variant);
        GmpEngine.supports(&job).unwrap().constant_time
    };
    assert_eq!(public(None), None);
    assert_eq!(public(Some("powm_sec")), Some(true));
    let reason = GmpEngine
        .supports(&Job {
            bare: true,
            ..job(Op::Private, 2048, None)
        })
        .unwrap_err();
    assert!(reason.0.contains("bare"), "{reason}");
    let reason = GmpEngine.supports(&job(Op::Keygen, 1025, None)).unwrap_err();
    assert!(reason.0.contains("even"), "{reason}");
}

#[test]
fn a_key_that_does_not_belong_together_is_refused() {
    let whole = found_key(512);
    let mut key = whole.clone();
    key.p.clone_from(&found_key(512).p);
    assert!(matches!(
        run(&job(Op::Private, 512, None), &[key], &[0; 64], 1),
        Err(EngineError::Key(_))
    ));
    // What `mpz_powm_sec` would end the program for.
    for spoil in [
        |key: &mut StudyKey| *key.n.last_mut().unwrap() ^= 1,
        |key: &mut StudyKey| key.e = vec![0],
    ] {
        let mut key = whole.clone();
        spoil(&mut key);
        let refused = run(&job(Op::Public, 512, Some("powm_sec")), &[key], &[0; 64], 1);
        assert!(matches!(refused, Err(EngineError::Key(_))));
    }
    assert!(matches!(
        run(&job(Op::Private, 512, None), &[], &[0; 64], 1),
        Err(EngineError::Key(_))
    ));
}

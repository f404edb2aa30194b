//! The conformance suite, on the worker, and what is particular to this engine.

#[cfg(not(cryptopp))]
#[test]
fn the_suite_is_skipped_without_the_library() {
    eprintln!("SKIPPED: {}", rsalab_peer_cryptopp::ABSENT);
}

#[cfg(cryptopp)]
mod present {
    use rsalab_engines::{Engine, EngineError, Exponent, Job, Op, StudyKey, conformance::test_seed, inputs, verify};
    use rsalab_peer_cryptopp::CryptoppEngine;

    rsalab_engines::conformance_tests! {
        name: "cryptopp",
        engine: Ok::<_, String>(CryptoppEngine),
        program: env!("CARGO_BIN_EXE_rsalab-peer-cryptopp"),
        not_offered: [Op::Totient, Op::PrivateExponent],
        also_offered: [],
    }

    #[test]
    fn random_exponents_work_both_ways() {
        let key = StudyKey::from_seed(&test_seed(), 768, Exponent::Random).unwrap();
        for variant in CryptoppEngine.info().variants {
            for op in [Op::Public, Op::Private] {
                let job = Job {
                    exponent: Exponent::Random,
                    variant: Some(variant.clone()),
                    ..Job::new(op, 768)
                };
                if CryptoppEngine.supports(&job).is_err() {
                    assert!(op == Op::Public && variant != "plain", "{variant}");
                    continue;
                }
                let given = inputs(&job, &key, &test_seed(), 1, 3);
                let mut outputs = vec![0xA5; given.len()];
                let prepared = CryptoppEngine.prepare(&job, std::slice::from_ref(&key)).unwrap();
                prepared.runner().unwrap().run(&given, &mut outputs).unwrap();
                assert_eq!(verify(&job, &key, &given, &outputs), Ok(()), "{op} {variant}");
            }
        }
    }

    #[test]
    fn short_keys_are_whole_keys() {
        for bits in [256, 384] {
            let job = Job::new(Op::Keygen, bits);
            let mut key = vec![0xA5; job.layout().output];
            let prepared = CryptoppEngine.prepare(&job, &[]).unwrap();
            prepared.runner().unwrap().run(&[], &mut key).unwrap();
            // It was made of nothing: no key, no inputs.
            assert_eq!(verify(&job, None, &[], &key), Ok(()), "{bits} bits");
        }
    }

    #[test]
    fn one_variant_blinds_and_checks_and_one_does_without_the_crt() {
        for (variant, crt, done) in [
            (None, true, true),
            (Some("inverse"), true, true),
            (Some("crt"), true, false),
            (Some("plain"), false, false),
        ] {
            let job = Job {
                variant: variant.map(str::to_owned),
                ..Job::new(Op::Private, 2048)
            };
            let ledger = CryptoppEngine.supports(&job).unwrap();
            assert_eq!(
                (ledger.crt, ledger.blinding, ledger.result_check),
                (Some(crt), Some(done), Some(done))
            );
        }
    }

    /// The check is the library's own: it comes back as its exception.
    #[test]
    fn a_wrong_result_comes_back_as_the_librarys_exception() {
        let mut key = StudyKey::from_seed(&test_seed(), 768, Exponent::F4).unwrap();
        key.dp[47] ^= 2;
        let prepared = CryptoppEngine.prepare(&Job::new(Op::Private, 768), &[key]).unwrap();
        let mut input = [0; 96];
        input[95] = 2;
        let error = prepared.runner().unwrap().run(&input, &mut [0; 96]);
        assert!(
            matches!(&error, Err(EngineError::Library { call: "CalculateInverse", message }) if message.contains("error")),
            "{error:?}"
        );
    }
}

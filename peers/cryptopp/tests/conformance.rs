//! The conformance suite, on the worker, and what is particular to this engine.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.

#[cfg(not(cryptopp))]
#[test]
fn the_suite_is_skipped_without_the_library() {
    eprintln!("SKIPPED: {}", rsalab_peer_cryptopp::ABSENT);
}

#[cfg(cryptopp)]
mod present {
    use std::collections::BTreeSet;

    use rsalab_engines::{
        Engine, EngineError, Exponent, Job, Location, Mode, Op, StudyKey,
        conformance::{Scope, assert_worker_conforms, check_lengths, test_seed},
        inputs, verify,
    };
    use rsalab_peer_cryptopp::CryptoppEngine;

    fn location() -> Location {
        Location {
            engine: "cryptopp".to_owned(),
            program: env!("CARGO_BIN_EXE_rsalab-peer-cryptopp").into(),
            args: Vec::new(),
        }
    }

    fn job(op: Op, bits: usize) -> Job {
        Job {
            op,
            bits,
            threads: 1,
            batch: 1,
            mode: Mode::Latency,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            message_bits: None,
            symbols: 0,
            block_symbols: 0,
        }
    }

    #[test]
    fn cryptopp_conforms() {
        let tried = assert_worker_conforms(&location(), &Scope::of_the_environment());
        let not_offered = BTreeSet::from([Op::Totient, Op::PrivateExponent]);
        assert_eq!(tried, &BTreeSet::from(Op::ALL) - &not_offered);
    }

    #[test]
    fn every_form_conforms() {
        for form in CryptoppEngine.info().variants {
            let scope = Scope {
                sizes: Scope::of_the_environment().sizes[..2].to_vec(),
                keys: Vec::new(),
                variant: Some(form.clone()),
                ..Scope::of_the_environment()
            };
            let tried = assert_worker_conforms(&location(), &scope);
            assert!(tried.contains(&Op::Private), "{form}: {tried:?}");
            assert_eq!(tried.contains(&Op::Public), form == "plain");
        }
    }

    #[test]
    fn wrong_lengths_are_refused_by_the_runners_themselves() {
        let key = StudyKey::from_seed(&test_seed(), 768, Exponent::F4).unwrap();
        assert_eq!(check_lengths(&CryptoppEngine, &key), Ok(()));
    }

    #[test]
    fn random_exponents_work_both_ways() {
        let key = StudyKey::from_seed(&test_seed(), 768, Exponent::Random).unwrap();
        for form in CryptoppEngine.info().variants {
            for op in [Op::Public, Op::Private] {
                let job = Job {
                    exponent: Exponent::Random,
                    variant: Some(form.clone()),
                    ..job(op, 768)
                };
                if CryptoppEngine.supports(&job).is_err() {
                    assert!(op == Op::Public && form != "plain", "{form}");
                    continue;
                }
                let given = inputs(&job, &key, &test_seed(), 1, 3);
                let mut outputs = vec![0xA5; given.len()];
                let prepared = CryptoppEngine
                    .prepare(&job, std::slice::from_ref(&key))
                    .unwrap();
                prepared
                    .runner()
                    .unwrap()
                    .run(&given, &mut outputs)
                    .unwrap();
                assert_eq!(verify(&job, &key, &given, &outputs), Ok(()), "{op} {form}");
            }
        }
    }

    #[test]
    fn short_keys_are_whole_keys() {
        for bits in [256, 384] {
            let job = job(Op::Keygen, bits);
            let mut key = vec![0xA5; job.layout().output];
            let prepared = CryptoppEngine.prepare(&job, &[]).unwrap();
            prepared.runner().unwrap().run(&[], &mut key).unwrap();
            // It was made of nothing: no key, no inputs.
            assert_eq!(verify(&job, None, &[], &key), Ok(()), "{bits} bits");
        }
    }

    #[test]
    fn one_form_blinds_and_checks_and_one_does_without_the_crt() {
        for (form, crt, done) in [
            (None, true, true),
            (Some("inverse"), true, true),
            (Some("crt"), true, false),
            (Some("plain"), false, false),
        ] {
            let job = Job {
                variant: form.map(str::to_owned),
                ..job(Op::Private, 2048)
            };
            let ledger = CryptoppEngine.supports(&job).unwrap();
            assert_eq!(
                (ledger.crt, ledger.blinding, ledger.result_check),
                (Some(crt), Some(done), Some(done))
            );
        }
    }

    /// The check is the library's own: it is told as its exception.
    #[test]
    fn a_wrong_result_comes_back_as_the_librarys_exception() {
        let mut key = StudyKey::from_seed(&test_seed(), 768, Exponent::F4).unwrap();
        key.dp[47] ^= 2;
        let prepared = CryptoppEngine
            .prepare(&job(Op::Private, 768), &[key])
            .unwrap();
        let mut input = [0; 96];
        input[95] = 2;
        let error = prepared.runner().unwrap().run(&input, &mut [0; 96]);
        assert!(
            matches!(&error, Err(EngineError::Library { call: "CalculateInverse", message }) if message.contains("error")),
            "{error:?}"
        );
    }
}

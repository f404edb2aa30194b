//! The conformance suite, on the worker, and what is particular to this engine.

#[cfg(not(gmp))]
#[test]
fn the_suite_is_skipped_without_the_library() {
    eprintln!("SKIPPED: {}", rsalab_peer_c_openmp::ABSENT);
}

#[cfg(gmp)]
mod present {
    use rsalab_engines::{
        Engine, Exponent, Job, Limits, Mode, Op, Session, StudyKey, Worker,
        conformance::test_seed,
        inputs,
        ledger::{ClockOwner, ThreadOwner},
        verify,
    };
    use rsalab_measure::BlockPlan;
    use rsalab_peer_c_openmp::ArticleEngine;

    rsalab_engines::conformance_tests! {
        name: "c-openmp",
        engine: Ok::<_, String>(ArticleEngine),
        program: env!("CARGO_BIN_EXE_rsalab-peer-c-openmp"),
        not_offered: [],
        also_offered: [],
    }

    #[test]
    fn nothing_is_blinded_or_checked_and_one_variant_has_the_crt() {
        for (variant, crt) in [(None, false), (Some("plain"), false), (Some("crt"), true)] {
            let job = Job {
                variant: variant.map(str::to_owned),
                ..Job::new(Op::Private, 2048)
            };
            let ledger = ArticleEngine.supports(&job).unwrap();
            assert_eq!(ledger.crt, Some(crt));
            assert_eq!(ledger.constant_time, Some(!crt));
            let not_done = (ledger.blinding, ledger.result_check);
            assert_eq!(not_done, (Some(false), Some(false)));
            let owners = (ledger.threads, ledger.clock);
            assert_eq!(owners, (ThreadOwner::Harness, ClockOwner::Harness));
        }
        let unknown = Job {
            variant: Some("crt".to_owned()),
            ..Job::new(Op::Verify, 2048)
        };
        let reason = ArticleEngine.supports(&unknown).unwrap_err();
        assert!(reason.0.contains("one only"), "{reason}");
    }

    #[test]
    fn too_few_primes_are_an_error_and_no_read_past_the_candidates() {
        let job = Job::new(Op::PrimeSearch, 512);
        let prepared = ArticleEngine.prepare(&job, &[]).unwrap();
        let mut outputs = vec![0; job.layout().output];
        let none = vec![0xFF; job.layout().input];
        let error = prepared.runner().unwrap().run(&none, &mut outputs);
        assert!(error.is_err());
    }

    /// Article (b)'s first step: two threads at work, each of which times its own pairs.
    #[test]
    fn each_pair_of_each_thread_is_timed() {
        let mut worker = Worker::spawn(&PEER.location(), Limits::default()).expect("the worker greets");
        let plan = BlockPlan {
            discard_ns: 1_000_000,
            min_ns: 0,
            calls: Some(25),
            max_samples: 1000,
        };
        let pairs = Job {
            mode: Mode::Concurrent,
            threads: 2,
            ..Job::new(Op::PrimePair, 512)
        };
        worker.prepare(&pairs, &[], &[]).expect("it does that");
        let report = worker.block(&plan).expect("a block");
        let samples = &report.block.samples;
        assert_eq!(samples.len(), 25);
        assert!(samples.iter().all(|sample| sample.operations == 1));
        // No two pairs are found by fewer tests than there are primes.
        assert!(report.tests.len() == 25 && report.tests.iter().all(|tests| *tests >= 2));
        let pairs = 25 + report.block.discarded_operations as usize;
        assert_eq!(report.outputs.len(), pairs * 64);
        assert!(report.cpu.is_some());
    }

    /// The first call of a step is reported by itself; exponents have any length.
    #[test]
    fn random_exponents_work_both_ways() {
        let mut worker = Worker::spawn(&PEER.location(), Limits::default()).expect("the worker greets");
        let key = StudyKey::from_seed(&test_seed(), 512, Exponent::Random).expect("a key");
        let random = Job {
            exponent: Exponent::Random,
            message_bits: Some(500),
            ..Job::new(Op::Private, 512)
        };
        let ciphertexts = inputs(&random, &key, &test_seed(), 1, 3);
        let ready = worker
            .prepare(&random, std::slice::from_ref(&key), &ciphertexts)
            .expect("it takes an exponent of any length");
        assert_eq!(ready.first_call.map(|call| call.operations), Some(1));
        let messages = worker.outputs().expect("outputs");
        assert_eq!(verify(&random, &key, &ciphertexts, &messages), Ok(()));
        let encrypting = Job {
            op: Op::Public,
            ..random
        };
        worker
            .prepare(&encrypting, std::slice::from_ref(&key), &messages)
            .expect("and the other way");
        assert_eq!(worker.outputs().expect("outputs"), ciphertexts);
    }

    #[test]
    fn short_keys_are_whole_keys() {
        let job = Job::new(Op::Keygen, 256);
        let mut key = vec![0xA5; job.layout().output];
        let prepared = ArticleEngine.prepare(&job, &[]).unwrap();
        prepared.runner().unwrap().run(&[], &mut key).unwrap();
        assert_eq!(verify(&job, None, &[], &key), Ok(()));
    }
}

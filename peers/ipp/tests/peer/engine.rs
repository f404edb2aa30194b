//! Tests that are particular to these engines; what every engine must do is in the conformance suite.

use std::fs;

use rsalab_engines::{
    Engine, EngineError, Exponent, Job, Limits, Location, Op, Session, SessionError, StudyKey, Worker,
    conformance::test_seed, verify,
};
use rsalab_peer_ipp::{Absent, CryptoMb, Ippcp};

/// The engine, unless its library is not here.
fn present<E>(engine: Result<E, Absent>) -> Option<E> {
    engine.inspect_err(|absent| eprintln!("SKIPPED: {absent}")).ok()
}

fn run(engine: &dyn Engine, job: &Job, key: &StudyKey, inputs: &[u8]) -> Vec<u8> {
    let mut outputs = vec![0xA5; inputs.len()];
    let prepared = engine.prepare(job, std::slice::from_ref(key)).unwrap();
    prepared.runner().unwrap().run(inputs, &mut outputs).unwrap();
    outputs
}

#[test]
fn both_are_version_2_of_the_library_and_name_their_code_for_this_cpu() {
    if let Some(engine) = present(Ippcp::new()) {
        let info = engine.info();
        assert!(info.version.starts_with("2."), "{info:?}");
        assert!(info.cpu_path.is_some_and(|path| path.starts_with("ippCP")));
    }
    if let Some(engine) = present(CryptoMb::new()) {
        let info = engine.info();
        assert!(info.version.starts_with("2."), "{info:?}");
        assert!(info.cpu_path.is_some_and(|path| path.contains("crypto_mb")));
    }
}

#[test]
fn neither_blinds_nor_checks_and_the_ledgers_say_so() {
    let engines: [Option<Box<dyn Engine>>; 2] = [
        present(Ippcp::new()).map(|engine| Box::new(engine) as Box<dyn Engine>),
        present(CryptoMb::new()).map(|engine| Box::new(engine) as Box<dyn Engine>),
    ];
    for engine in engines.into_iter().flatten() {
        for (variant, crt) in [(None, true), (Some("crt"), true), (Some("plain"), false)] {
            let private = Job {
                variant: variant.map(str::to_owned),
                ..Job::new(Op::Private, 2048)
            };
            let ledger = engine.supports(&private).unwrap();
            assert_eq!(
                (ledger.crt, ledger.blinding, ledger.result_check),
                (Some(crt), Some(false), Some(false))
            );
        }
        let bare = Job {
            bare: true,
            ..Job::new(Op::Private, 2048)
        };
        let variant = Job {
            variant: Some("fast".to_owned()),
            ..Job::new(Op::Private, 2048)
        };
        assert!(engine.supports(&bare).unwrap_err().0.contains("bare"));
        assert!(engine.supports(&variant).unwrap_err().0.contains("'fast'"));
    }
}

#[test]
fn the_rounds_of_each_variant_of_a_search_are_told() {
    let Some(engine) = present(Ippcp::new()) else {
        return;
    };
    let rounds = |variant: Option<&str>, bits| {
        let job = Job {
            variant: variant.map(str::to_owned),
            ..Job::new(Op::Keygen, bits)
        };
        let told = engine.supports(&job).unwrap().rounds.unwrap();
        told.split(' ').next().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(rounds(None, 1024), 5);
    assert_eq!(rounds(Some("standard"), 3072), 4);
    assert_eq!(rounds(Some("trials1"), 1024), 1);
    assert_eq!(rounds(Some("trials1"), 4096), 1);
    let private = Job {
        variant: Some("trials1".to_owned()),
        ..Job::new(Op::Private, 1024)
    };
    let reason = engine.supports(&private).unwrap_err();
    assert!(reason.0.contains("crt, plain"), "{reason}");
}

/// Article (c)'s shortest keys, with its one round.
#[test]
fn ippcp_makes_whole_keys_of_256_and_384_bits() {
    let Some(engine) = present(Ippcp::new()) else {
        return;
    };
    for (op, bits) in [
        (Op::Keygen, 256),
        (Op::Keygen, 384),
        (Op::PrimePair, 256),
        (Op::PrimePair, 384),
    ] {
        let job = Job {
            variant: Some("trials1".to_owned()),
            ..Job::new(op, bits)
        };
        let mut made = vec![0xA5; 5 * job.layout().output];
        let prepared = engine.prepare(&job, &[]).unwrap();
        prepared.runner().unwrap().run(&[], &mut made).unwrap();
        // It was made of nothing: no key, no inputs.
        assert_eq!(verify(&job, None, &[], &made), Ok(()), "{op} {bits}");
    }
}

#[test]
fn crypto_mb_says_what_it_has_no_code_for() {
    let Some(engine) = present(CryptoMb::new()) else {
        return;
    };
    let refused = |job: Job, part: &str| {
        let reason = engine.supports(&job).unwrap_err();
        assert!(reason.0.contains(part), "{reason}");
    };
    refused(Job::new(Op::Private, 1536), "1024, 2048, 3072 and 4096");
    refused(Job::new(Op::Keygen, 2048), "'keygen'");
    refused(
        Job {
            exponent: Exponent::Fixed(3),
            ..Job::new(Op::Public, 2048)
        },
        "65537",
    );
    let ledger = engine.supports(&Job::new(Op::Public, 2048)).unwrap();
    assert_eq!(ledger.lanes, 8);
    assert!(ledger.setup.contains("filled up with zeros"), "{ledger:?}");
}

/// The suite takes batches up to 16 of at most nine blocks: here are all remainders, with outputs told apart by ippcp.
#[test]
fn crypto_mb_leaves_no_lane_out_and_writes_none_too_many() {
    let (Some(mb), Some(single)) = (present(CryptoMb::new()), present(Ippcp::new())) else {
        return;
    };
    let key = StudyKey::from_seed(&test_seed(), 1024, Exponent::F4).unwrap();
    for op in [Op::Private, Op::Public] {
        for count in 0..=17u8 {
            let inputs: Vec<u8> = (1..=count)
                .flat_map(|value| [vec![value; 127], vec![0]].concat())
                .map(|byte| byte / 2)
                .collect();
            let job = Job::new(op, 1024);
            let expected = run(&single, &job, &key, &inputs);
            assert_eq!(run(&mb, &job, &key, &inputs), expected, "{op}, {count}");
        }
    }
}

#[test]
fn crypto_mb_refuses_a_key_that_it_would_compute_nonsense_with() {
    let Some(engine) = present(CryptoMb::new()) else {
        return;
    };
    let key = StudyKey::from_seed(&test_seed(), 1024, Exponent::F4).unwrap();
    let mut even = key.clone();
    *even.p.last_mut().unwrap() &= 0xFE;
    let mut short = key.clone();
    short.q.pop();
    for broken in [even, short] {
        let refused = engine.prepare(&Job::new(Op::Private, 1024), &[broken]).err();
        assert!(matches!(refused, Some(EngineError::Key(_))), "{refused:?}");
    }
    let refused = engine.prepare(&Job::new(Op::Private, 1024), &[]).err();
    assert!(matches!(refused, Some(EngineError::Key(_))), "{refused:?}");
}

#[test]
fn libraries_that_pip_installed_are_found_from_where_a_wheel_puts_the_worker() {
    let Some(engine) = present(Ippcp::new()) else { return };
    let home = tempfile::tempdir().unwrap();
    let (lib, libexec) = (home.path().join("lib"), home.path().join("libexec/rsalab"));
    fs::create_dir_all(&lib).unwrap();
    fs::create_dir_all(&libexec).unwrap();
    let library = lib.join("libippcp.so.13");
    fs::copy(engine.info().origin, &library).unwrap();
    let worker = libexec.join("rsalab-peer-ippcp");
    fs::copy(env!("CARGO_BIN_EXE_rsalab-peer-ippcp"), &worker).unwrap();
    let location = Location {
        engine: "ippcp".to_owned(),
        program: worker,
        args: Vec::new(),
    };
    let worker = Worker::spawn(&location, Limits::default()).unwrap();
    assert_eq!(worker.info().origin, library.display().to_string());
}

#[test]
fn a_missing_library_is_told_at_the_greeting_with_the_command_that_brings_it() {
    for (name, program) in [
        ("ippcp", env!("CARGO_BIN_EXE_rsalab-peer-ippcp")),
        ("crypto_mb", env!("CARGO_BIN_EXE_rsalab-peer-crypto_mb")),
    ] {
        // The folder next to the program is looked into first, and there is nothing in it.
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("ipp/lib")).unwrap();
        let worker = home.path().join(name);
        fs::copy(program, &worker).unwrap();
        let location = Location {
            engine: name.to_owned(),
            program: worker,
            args: Vec::new(),
        };
        let error = Worker::spawn(&location, Limits::default())
            .err()
            .expect("there is no library");
        assert!(matches!(error, SessionError::Fault(_)), "{error:?}");
        assert!(error.to_string().contains("sh scripts/install-ipp.sh"), "{error}");
    }
}

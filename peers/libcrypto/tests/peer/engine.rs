//! Tests that are particular to this engine; what every engine must do is in the conformance suite.

use std::path::Path;

use rsalab_engines::{Engine, Exponent, Job, Op, StudyKey, conformance::test_seed, inputs, verify};
use rsalab_peer_libcrypto::{Absent, LibcryptoEngine};

fn job(op: Op) -> Job {
    Job::new(op, 2048)
}

#[test]
fn the_systems_library_says_who_it_is() {
    let engine = match LibcryptoEngine::new(None) {
        Ok(engine) => engine,
        Err(absent) => {
            eprintln!("SKIPPED: {absent}");
            return;
        }
    };
    let info = engine.info();
    assert_eq!(info.name, "libcrypto");
    assert!(info.version.starts_with("OpenSSL "), "{info:?}");
    assert!(info.origin.contains("libcrypto"), "{info:?}");
    let ledger = engine.supports(&job(Op::Private)).unwrap();
    assert_eq!((ledger.blinding, ledger.result_check), (Some(true), Some(true)));
}

#[test]
fn random_exponents_work_both_ways_or_are_refused_and_short_keys_are() {
    let engine = match LibcryptoEngine::new(None) {
        Ok(engine) => engine,
        Err(absent) => {
            eprintln!("SKIPPED: {absent}");
            return;
        }
    };
    let random = |op, bits| Job {
        bits,
        exponent: Exponent::Random,
        ..job(op)
    };
    let key = StudyKey::from_seed(&test_seed(), 1024, Exponent::Random).unwrap();
    for op in [Op::Public, Op::Private] {
        let job = random(op, 1024);
        let given = inputs(&job, &key, &test_seed(), 1, 3);
        let mut outputs = vec![0xA5; given.len()];
        let prepared = engine.prepare(&job, std::slice::from_ref(&key)).unwrap();
        prepared.runner().unwrap().run(&given, &mut outputs).unwrap();
        assert_eq!(verify(&job, &key, &given, &outputs), Ok(()), "{op}");
    }
    let reason = engine.supports(&random(Op::Public, 4096)).unwrap_err();
    assert!(reason.0.contains("64 bits at most"), "{reason}");
    let short = |op| Job { bits: 384, ..job(op) };
    let old = engine.info().version.starts_with("OpenSSL 1.0");
    assert_eq!(engine.supports(&short(Op::Keygen)).is_ok(), old);
    assert!(engine.supports(&short(Op::PrimePair)).is_ok());
    let reason = engine.supports(&short(Op::Sign)).unwrap_err();
    assert!(reason.0.contains("512 bits and more"), "{reason}");
}

#[test]
fn a_library_that_is_not_there_is_named_with_the_loaders_words() {
    let path = Path::new("/no/such/libcrypto.so");
    let absent = LibcryptoEngine::new(Some(path)).unwrap_err();
    assert!(
        matches!(&absent, Absent::NotLoaded { path, reason } if path == "/no/such/libcrypto.so" && !reason.is_empty())
    );
    assert!(Absent::NotInstalled.to_string().contains("apt-get install libssl3"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_is_no_libcrypto_is_refused() {
    let absent = LibcryptoEngine::new(Some(Path::new("libc.so.6"))).unwrap_err();
    let Absent::NotUsable { origin, reason } = absent else {
        panic!("{absent}")
    };
    assert!(
        origin.contains("libc.so.6") && reason.contains("OpenSSL_version"),
        "{origin}: {reason}"
    );
}

#[test]
fn a_job_may_name_another_library_by_its_path() {
    let engine = match LibcryptoEngine::new(None) {
        Ok(engine) => engine,
        Err(absent) => {
            eprintln!("SKIPPED: {absent}");
            return;
        }
    };
    let of = |path: &str| Job {
        variant: Some(path.to_owned()),
        ..job(Op::PrimePair)
    };
    let reason = engine.supports(&of("powm")).unwrap_err();
    assert!(reason.0.contains("path of a library"), "{reason}");
    let reason = engine.supports(&of("/no/such/libcrypto.so")).unwrap_err();
    assert!(reason.0.contains("/no/such/libcrypto.so cannot be loaded"), "{reason}");
    let info = engine.info();
    if info.origin.starts_with('/') {
        let named = of(&info.origin);
        assert_eq!(engine.supports(&named), engine.supports(&job(Op::PrimePair)));
        assert!(engine.prepare(&named, &[]).unwrap().kernel().ends_with(&info.version));
    }
}

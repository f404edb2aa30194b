//! The conformance suite, on both workers.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.

use std::collections::BTreeSet;

use rsalab_engines::{
    Engine, Exponent, Location, Op, StudyKey,
    conformance::{Scope, assert_worker_conforms, check_lengths, test_seed},
};
use rsalab_peer_ipp::{Absent, CryptoMb, Ippcp};

fn location(engine: &str) -> Location {
    let program = match engine {
        "ippcp" => env!("CARGO_BIN_EXE_rsalab-peer-ippcp"),
        _ => env!("CARGO_BIN_EXE_rsalab-peer-crypto_mb"),
    };
    Location {
        engine: engine.to_owned(),
        program: program.into(),
        args: Vec::new(),
    }
}

/// The engine, unless its library is not here.
fn present<E>(engine: Result<E, Absent>) -> Option<E> {
    engine
        .inspect_err(|absent| eprintln!("SKIPPED: {absent}"))
        .ok()
}

/// What the engine's forms do, beside its default.
fn forms_conform(engine: &dyn Engine, name: &str) {
    for form in engine.info().variants {
        let scope = Scope {
            sizes: Scope::of_the_environment().sizes[1..3].to_vec(),
            variant: Some(form.clone()),
            ..Scope::of_the_environment()
        };
        let tried = assert_worker_conforms(&location(name), &scope);
        assert!(
            tried.contains(&Op::Private) || tried.contains(&Op::Keygen),
            "{form}: {tried:?}"
        );
    }
}

#[test]
fn ippcp_conforms() {
    if let Some(engine) = present(Ippcp::new()) {
        let tried = assert_worker_conforms(&location("ippcp"), &Scope::of_the_environment());
        let all = BTreeSet::from(Op::ALL);
        let not_offered = BTreeSet::from([Op::Totient, Op::PrivateExponent, Op::Sign, Op::Verify]);
        assert_eq!(tried, &all - &not_offered);
        forms_conform(&engine, "ippcp");
    }
}

#[test]
fn crypto_mb_conforms() {
    if let Some(engine) = present(CryptoMb::new()) {
        let tried = assert_worker_conforms(&location("crypto_mb"), &Scope::of_the_environment());
        let offered = [Op::Private, Op::Public, Op::TextEncrypt, Op::TextDecrypt];
        assert_eq!(tried, BTreeSet::from(offered));
        forms_conform(&engine, "crypto_mb");
    }
}

#[test]
fn wrong_lengths_are_refused_by_the_runners_themselves() {
    let key = StudyKey::from_seed(&test_seed(), 1024, Exponent::F4).unwrap();
    if let Some(engine) = present(Ippcp::new()) {
        assert_eq!(check_lengths(&engine, &key), Ok(()));
    }
    if let Some(engine) = present(CryptoMb::new()) {
        assert_eq!(check_lengths(&engine, &key), Ok(()));
    }
}

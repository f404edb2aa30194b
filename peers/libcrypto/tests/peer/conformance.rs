//! The conformance suite, on the worker.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.

use std::collections::BTreeSet;

use rsalab_engines::{
    Exponent, Location, Op, StudyKey,
    conformance::{Scope, assert_worker_conforms, check_lengths, test_seed},
};
use rsalab_peer_libcrypto::LibcryptoEngine;

fn engine() -> Option<LibcryptoEngine> {
    LibcryptoEngine::new(None)
        .inspect_err(|absent| eprintln!("SKIPPED: {absent}"))
        .ok()
}

#[test]
fn libcrypto_conforms() {
    if engine().is_none() {
        return;
    }
    let location = Location {
        engine: "libcrypto".to_owned(),
        program: env!("CARGO_BIN_EXE_rsalab-peer-libcrypto").into(),
        args: Vec::new(),
    };
    let tried = assert_worker_conforms(&location, &Scope::of_the_environment());
    // From 3.0 on it does not search as it tests.
    let not_offered = BTreeSet::from([Op::PrimeSearch]);
    assert_eq!(&tried | &not_offered, BTreeSet::from(Op::ALL));
}

#[test]
fn wrong_lengths_are_refused_by_the_runners_themselves() {
    let key = StudyKey::from_seed(&test_seed(), 768, Exponent::F4).unwrap();
    if let Some(engine) = engine() {
        assert_eq!(check_lengths(&engine, &key), Ok(()));
    }
}

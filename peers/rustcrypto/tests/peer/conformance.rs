//! The conformance suite, on the worker.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.

use std::collections::BTreeSet;

use rsalab_engines::{
    Engine, Exponent, Location, Op, StudyKey,
    conformance::{Scope, assert_worker_conforms, check_lengths, test_seed},
};
use rsalab_peer_rustcrypto::RustCryptoEngine;

fn location() -> Location {
    Location {
        engine: "rustcrypto".to_owned(),
        program: env!("CARGO_BIN_EXE_rsalab-peer-rustcrypto").into(),
        args: Vec::new(),
    }
}

#[test]
fn rustcrypto_conforms() {
    let tried = assert_worker_conforms(&location(), &Scope::of_the_environment());
    let not_offered = BTreeSet::from([Op::Totient, Op::PrivateExponent, Op::PrimeSearch]);
    assert_eq!(tried, &BTreeSet::from(Op::ALL) - &not_offered);
}

#[test]
fn every_form_conforms() {
    for form in RustCryptoEngine.info().variants {
        let scope = Scope {
            sizes: Scope::of_the_environment().sizes[..2].to_vec(),
            keys: Vec::new(),
            variant: Some(form.clone()),
            ..Scope::of_the_environment()
        };
        let tried = assert_worker_conforms(&location(), &scope);
        assert!(tried.contains(&Op::Private), "{form}: {tried:?}");
    }
}

#[test]
fn wrong_lengths_are_refused_by_the_runners_themselves() {
    let key = StudyKey::from_seed(&test_seed(), 768, Exponent::F4).unwrap();
    assert_eq!(check_lengths(&RustCryptoEngine, &key), Ok(()));
}

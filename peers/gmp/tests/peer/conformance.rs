//! The conformance suite, on the worker.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.

use std::collections::BTreeSet;

use rsalab_engines::{
    Engine, Exponent, Location, Op, StudyKey,
    conformance::{Scope, assert_worker_conforms, check_lengths, test_seed},
};
use rsalab_peer_gmp::GmpEngine;

fn location() -> Location {
    Location {
        engine: "gmp".to_owned(),
        program: env!("CARGO_BIN_EXE_rsalab-peer-gmp").into(),
        args: Vec::new(),
    }
}

#[test]
fn gmp_conforms() {
    let tried = assert_worker_conforms(&location(), &Scope::of_the_environment());
    let not_offered = BTreeSet::from([Op::Sign, Op::Verify]);
    assert_eq!(tried, &BTreeSet::from(Op::ALL) - &not_offered);
}

/// At the sizes where they differ from the default: each works on the private operation or on the search for primes only.
#[test]
fn every_form_conforms() {
    let whole = Scope::of_the_environment();
    for form in GmpEngine.info().variants {
        let scope = Scope {
            sizes: whole.sizes[..3].to_vec(),
            variant: Some(form.clone()),
            ..Scope::of_the_environment()
        };
        let tried = assert_worker_conforms(&location(), &scope);
        assert!(
            tried.contains(&Op::Private) || tried.contains(&Op::Keygen),
            "{form}: {tried:?}"
        );
    }
}

#[test]
fn wrong_lengths_are_refused_by_the_runners_themselves() {
    let key = StudyKey::from_seed(&test_seed(), 768, Exponent::F4).unwrap();
    assert_eq!(check_lengths(&GmpEngine, &key), Ok(()));
}

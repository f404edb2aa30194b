//! The conformance suite, on the worker.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.

use std::collections::BTreeSet;

use rsalab_engines::{
    Exponent, Location, Op, StudyKey,
    conformance::{Scope, assert_worker_conforms, check_lengths, test_seed},
};

#[test]
fn aws_lc_conforms() {
    let location = Location {
        engine: "aws-lc".to_owned(),
        program: env!("CARGO_BIN_EXE_rsalab-peer-aws-lc").into(),
        args: Vec::new(),
    };
    let tried = assert_worker_conforms(&location, &Scope::of_the_environment());
    assert_eq!(tried, BTreeSet::from(Op::ALL));
}

#[test]
fn wrong_lengths_are_refused_by_the_runners_themselves() {
    let key = StudyKey::from_seed(&test_seed(), 768, Exponent::F4).unwrap();
    let engine = rsalab_peer_aws_lc::engine();
    assert_eq!(check_lengths(&engine, &key), Ok(()));
}

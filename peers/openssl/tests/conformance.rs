//! The conformance suite, on the worker.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.

use std::collections::BTreeSet;

use rsalab_engines::{
    Engine, Limits, Location, Op, StudyKey, Worker,
    conformance::{self, Outcome, Scope},
};
use rsalab_rsa::random::InsecureStudySeed;

fn seed() -> InsecureStudySeed {
    InsecureStudySeed::new(*b"the seed of the conformance keys")
}

fn scope() -> Scope {
    match std::env::var("RSALAB_CONFORMANCE").as_deref() {
        Ok("full") => Scope::full(),
        _ => Scope::quick(),
    }
}

/// Runs the suite on the worker; the operations that were tried.
fn passes(scope: &Scope) -> BTreeSet<Op> {
    let location = Location {
        engine: "openssl".to_owned(),
        program: env!("CARGO_BIN_EXE_rsalab-peer-openssl").into(),
        args: Vec::new(),
    };
    let mut worker = Worker::spawn(&location, Limits::default()).unwrap();
    let mut tried = BTreeSet::new();
    conformance::run(
        &mut worker,
        scope,
        &seed(),
        &mut |case| match case.outcome {
            Outcome::Passed { .. } => {
                tried.insert(case.op);
            }
            Outcome::Skipped { reason } => {
                eprintln!("{} at {} bits: skipped: {reason}", case.op, case.bits)
            }
            Outcome::Failed { what } => {
                panic!("{} at {} bits, {}: {what}", case.op, case.bits, case.name)
            }
        },
    )
    .unwrap();
    tried
}

#[test]
fn openssl_conforms() {
    assert_eq!(passes(&scope()), BTreeSet::from(Op::ALL));
}

#[test]
fn wrong_lengths_are_refused_by_the_runners_themselves() {
    let key = StudyKey::from_seed(&seed(), 768, 65537).unwrap();
    let engine = rsalab_peer_openssl::engine();
    assert_eq!(
        conformance::check_lengths(&engine, &key),
        Ok(()),
        "{}",
        engine.info().name
    );
}

//! The tests that every peer has: the suite on its worker, and what the worker keeps from the engine on the engine
//! itself.

use std::{collections::BTreeSet, fmt::Display, slice};

use rsalab_rsa::random::InsecureStudySeed;

use super::{
    case::{Case, Outcome},
    run::run,
    scope::Scope,
};
use crate::{
    client::{Limits, Session, Worker},
    engine::{Engine, EngineError},
    exponent::Exponent,
    job::{Job, StudyKey},
    op::Op,
    registry::Location,
};

/// The tests of a peer, each a `#[test]`: its worker passes the suite, in each of its variants too; its runners refuse
/// wrong lengths; its worker introduces itself as the engine. A peer's own tests are those of what only it does.
///
/// `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.
///
/// - `name`: the engine's.
/// - `engine`: makes it, as a `Result`; an error says why its library is not here, and the tests are skipped visibly.
/// - `program`: the worker's.
/// - `not_offered`: the operations that it does not do; all others must be tried.
/// - `also_offered`: of those that few engines do (imports, signatures of messages, screening and handshakes), the ones
///   that it does.
///
/// ```ignore
/// rsalab_engines::conformance_tests! {
///     name: "gmp",
///     engine: Ok::<_, String>(GmpEngine),
///     program: env!("CARGO_BIN_EXE_rsalab-peer-gmp"),
///     not_offered: [Op::Sign, Op::Verify],
///     also_offered: [],
/// }
/// ```
#[macro_export]
macro_rules! conformance_tests {
    (
        name: $name:literal,
        engine: $engine:expr,
        program: $program:expr,
        not_offered: $not_offered:expr,
        also_offered: $also_offered:expr $(,)?
    ) => {
        const PEER: $crate::conformance::Peer = $crate::conformance::Peer {
            name: $name,
            program: $program,
        };

        #[test]
        fn the_worker_conforms() {
            if PEER.present($engine).is_some() {
                PEER.conforms(&$not_offered, &$also_offered);
            }
        }

        #[test]
        fn every_variant_conforms() {
            if let Some(engine) = PEER.present($engine) {
                PEER.every_variant_conforms(&engine);
            }
        }

        #[test]
        fn wrong_lengths_are_refused_by_the_runners_themselves() {
            if let Some(engine) = PEER.present($engine) {
                PEER.refuses_wrong_lengths(&engine);
            }
        }

        #[test]
        fn the_worker_introduces_itself_as_the_engine() {
            if let Some(engine) = PEER.present($engine) {
                PEER.introduces_itself(&engine);
            }
        }
    };
}

/// A peer under test: what [`conformance_tests!`](crate::conformance_tests) calls.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// The engine.
    pub name: &'static str,
    /// Its worker.
    pub program: &'static str,
}

impl Peer {
    /// Where its worker is.
    pub fn location(&self) -> Location {
        Location {
            engine: self.name.to_owned(),
            program: self.program.into(),
            args: Vec::new(),
        }
    }

    /// The engine; none, and a message, if its library is not here.
    pub fn present<E>(&self, engine: Result<E, impl Display>) -> Option<E> {
        engine
            .inspect_err(|absent| eprintln!("SKIPPED: {}: {absent}", self.name))
            .ok()
    }

    /// The worker passes the suite, and offers everything but the first of these operations; of imports, signatures of
    /// messages, screening and handshakes, which few do, it offers the second and no others.
    pub fn conforms(&self, not_offered: &[Op], also_offered: &[Op]) {
        let few = [Op::ImportPrivate, Op::ImportVerify, Op::SignMessage, Op::Screen];
        let is_of_few = |op: &Op| few.contains(op) || op.is_handshake();
        assert!(also_offered.iter().all(is_of_few), "{also_offered:?}");
        let is_expected = |op: &Op| match is_of_few(op) {
            true => also_offered.contains(op),
            false => !not_offered.contains(op),
        };
        let expected: BTreeSet<Op> = Op::ALL.into_iter().filter(is_expected).collect();
        let tried = assert_worker_conforms(&self.location(), &Scope::of_the_environment());
        assert_eq!(tried, expected);
    }

    /// Each variant passes it at the smaller sizes: each differs from the default in one operation at least.
    pub fn every_variant_conforms(&self, engine: &dyn Engine) {
        let whole = Scope::of_the_environment();
        for variant in engine.info().variants {
            let scope = Scope {
                sizes: whole.sizes[..3].to_vec(),
                variant: Some(variant.clone()),
                ..whole.clone()
            };
            let tried = assert_worker_conforms(&self.location(), &scope);
            let differs = [Op::Private, Op::Public, Op::Keygen];
            assert!(differs.iter().any(|op| tried.contains(op)), "{variant}: {tried:?}");
        }
    }

    /// The engine's runners refuse buffers of wrong lengths, which the worker loop keeps from them.
    pub fn refuses_wrong_lengths(&self, engine: &dyn Engine) {
        // Of a size that every engine does.
        let key = StudyKey::from_seed(&test_seed(), 1024, Exponent::F4).expect("there is a key");
        assert_eq!(check_lengths(engine, &key), Ok(()));
    }

    /// The worker says who it is as the engine does.
    pub fn introduces_itself(&self, engine: &dyn Engine) {
        let worker = Worker::spawn(&self.location(), Limits::default()).expect("it greets");
        assert_eq!(worker.info(), &engine.info());
    }
}

/// Runs the suite on a worker, for the test of a peer; the operations that were tried. What is skipped is logged on
/// standard error, but for operations that do not have the variant of the scope.
///
/// # Panics
/// At the first case that fails, and if the worker is lost.
pub fn assert_worker_conforms(location: &Location, scope: &Scope) -> BTreeSet<Op> {
    let mut worker = Worker::spawn(location, Limits::default()).expect("the worker greets");
    let mut tried = BTreeSet::new();
    run(&mut worker, scope, &test_seed(), &mut |case| {
        let Case { op, bits, name, .. } = case;
        match case.outcome {
            Outcome::Passed { answers } => {
                // A text of 0 symbols has no answers either.
                if answers == 0 && !op.is_text() {
                    eprintln!("REFUSED by the library: {op} at {bits} bits of {name}");
                }
                tried.insert(op);
            }
            Outcome::Skipped { reason } if scope.variant.is_none() => {
                eprintln!("SKIPPED: {op} at {bits} bits: {reason}")
            }
            // Most operations have no such variant: nothing is left untested.
            Outcome::Skipped { .. } => {}
            Outcome::Failed { what } => panic!("{op} at {bits} bits, {name}: {what}"),
        }
    })
    .expect("the worker lives to the end");
    tried
}

/// The seed of the keys that tests of peers use.
pub fn test_seed() -> InsecureStudySeed {
    InsecureStudySeed::new(*b"the seed of the conformance keys")
}

/// Checks that the runners of an engine refuse buffers of wrong lengths, which the worker loop keeps from them: to be
/// called where the engine itself can be reached.
///
/// # Errors
/// What the engine accepted or answered instead.
pub fn check_lengths(engine: &dyn Engine, key: &StudyKey) -> Result<(), String> {
    for op in Op::ALL.into_iter().filter(|op| !op.is_text()) {
        let job = Job::new(op, key.bits);
        if engine.supports(&job).is_err() {
            continue;
        }
        let failed = |error: EngineError| format!("{op}: {error}");
        let prepared = engine.prepare(&job, slice::from_ref(key)).map_err(failed)?;
        let mut runner = prepared.runner().map_err(failed)?;
        let (input, output) = (job.layout().input, job.layout().output);
        for (inputs, outputs) in [
            (input + 1, output),
            (input, output + 1),
            (input, output - 1),
            (input, 2 * output),
            (2 * input + 1, output),
        ] {
            // One item without input is one whatever the outputs.
            if input == 0 && inputs == 0 && outputs % output == 0 {
                continue;
            }
            match runner.run(&vec![0; inputs], &mut vec![0; outputs]) {
                Err(EngineError::Length { .. }) => {}
                other => {
                    return Err(format!(
                        "{op}: {inputs} bytes in and {outputs} out were answered with {other:?}"
                    ));
                }
            }
        }
    }
    Ok(())
}

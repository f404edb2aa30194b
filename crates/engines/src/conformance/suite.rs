//! The suite at one size: what its cases are made of.

use std::slice;

use rsalab_measure::BlockPlan;
use rsalab_rsa::random::InsecureStudySeed;

use super::{
    case::{Case, Outcome, RANDOM_INPUTS},
    scope::Scope,
};
use crate::{
    client::{Session, SessionError},
    inputs::{inputs, inputs_under},
    job::{Job, Mode, StudyKey},
    op::Op,
    protocol::{Fault, FaultKind},
    verify::{verify, verify_under},
};

/// An engine under test, at one size.
pub(super) struct Suite<'a> {
    pub(super) session: &'a mut dyn Session,
    pub(super) scope: &'a Scope,
    pub(super) seed: &'a InsecureStudySeed,
    pub(super) key: &'a StudyKey,
    report: &'a mut dyn FnMut(Case),
}

/// The answers that were looked at, or why a case did not pass.
pub(super) type Tried = Result<usize, Failure>;

/// Why a case did not pass.
pub(super) enum Failure {
    /// This was wrong.
    Wrong(String),
    /// There is no worker any more.
    Lost(SessionError),
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Fault(fault) => Failure::Wrong(fault.to_string()),
            lost => Failure::Lost(lost),
        }
    }
}

/// A case that did not pass.
pub(super) fn wrong<T>(what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Wrong(what.into()))
}

impl<'a> Suite<'a> {
    pub(super) fn new(
        session: &'a mut dyn Session,
        scope: &'a Scope,
        seed: &'a InsecureStudySeed,
        key: &'a StudyKey,
        report: &'a mut dyn FnMut(Case),
    ) -> Self {
        Suite {
            session,
            scope,
            seed,
            key,
            report,
        }
    }

    /// One item on one thread.
    pub(super) fn job(&self, op: Op) -> Job {
        Job {
            mode: Mode::Throughput,
            variant: self.scope.variant.clone(),
            bare: self.scope.bare,
            primes: match op.uses_primes() {
                true => 2 + self.key.others.len(),
                false => 2,
            },
            ..Job::new(op, self.key.bits)
        }
    }

    /// Tries one thing and reports how it went; an error only if the worker is gone.
    pub(super) fn case(
        &mut self,
        job: &Job,
        name: &str,
        tried: impl FnOnce(&mut Self) -> Tried,
    ) -> Result<(), SessionError> {
        let outcome = match tried(self) {
            Ok(answers) => Outcome::Passed { answers },
            Err(Failure::Wrong(what)) => Outcome::Failed { what },
            Err(Failure::Lost(error)) => return Err(error),
        };
        self.report(job, name, outcome);
        Ok(())
    }

    /// Returns whether the engine offers a job; if not, that is reported with its reason.
    pub(super) fn offers(&mut self, job: &Job) -> Result<bool, SessionError> {
        match self.session.supports(job)? {
            Ok(_) => Ok(true),
            Err(reason) => {
                self.report(job, "support", Outcome::Skipped { reason: reason.0 });
                Ok(false)
            }
        }
    }

    fn report(&mut self, job: &Job, name: &str, outcome: Outcome) {
        (self.report)(Case {
            op: job.op,
            bits: job.bits,
            name: name.to_owned(),
            outcome,
        });
    }

    /// Returns the outputs of a job.
    pub(super) fn outputs(&mut self, job: &Job, inputs: &[u8]) -> Result<Vec<u8>, SessionError> {
        self.session.prepare(job, slice::from_ref(self.key), inputs)?;
        self.session.outputs()
    }

    /// Returns the outputs of a job, verified.
    pub(super) fn verified(&mut self, job: &Job, inputs: &[u8]) -> Tried {
        let outputs = self.outputs(job, inputs)?;
        match verify(job, self.key, inputs, &outputs) {
            Ok(()) => Ok(outputs.len().div_ceil(job.layout().output)),
            Err(error) => wrong(error.to_string()),
        }
    }

    /// Inputs that must be refused with the right fault.
    pub(super) fn refused(&mut self, job: &Job, inputs: &[u8], is_right: impl FnOnce(&Fault) -> bool) -> Tried {
        match self.outputs(job, inputs) {
            Err(SessionError::Fault(fault)) if is_right(&fault) => Ok(1),
            Err(SessionError::Fault(fault)) => wrong(format!(
                "refused, but as {:?} of item {:?}: {fault}",
                fault.kind, fault.item
            )),
            Err(lost) => Err(Failure::Lost(lost)),
            Ok(_) => wrong("accepted"),
        }
    }

    /// Random inputs over threads, in batches that do not divide them. Whether the operation is offered.
    pub(super) fn random_inputs(&mut self, op: Op, items: usize) -> Result<bool, SessionError> {
        let job = Job {
            threads: self.scope.threads,
            batch: 7,
            ..self.job(op)
        };
        if !self.offers(&job)? {
            return Ok(false);
        }
        let given = inputs(&job, self.key, self.seed, op as u64, items);
        self.case(&job, RANDOM_INPUTS, |suite| suite.verified(&job, &given))?;
        Ok(true)
    }

    /// Random inputs under the suite's key and others by turns, of engines that say that they do so.
    pub(super) fn several_keys(&mut self, op: Op, others: &[StudyKey], items: usize) -> Result<(), SessionError> {
        let keys: Vec<StudyKey> = [self.key].into_iter().chain(others).cloned().collect();
        let job = Job {
            threads: self.scope.threads,
            batch: 2 * keys.len(),
            keys: keys.len(),
            ..self.job(op)
        };
        if self.session.supports(&job)?.is_err() {
            return Ok(());
        }
        let given = inputs_under(&job, &keys, self.seed, op as u64, items);
        self.case(&job, &format!("batches under {} keys", keys.len()), |suite| {
            suite.session.prepare(&job, &keys, &given)?;
            let outputs = suite.session.outputs()?;
            match verify_under(&job, &keys, &given, &outputs) {
                Ok(()) => Ok(items),
                Err(error) => wrong(error.to_string()),
            }
        })
    }

    /// As [`Suite::random_inputs`], of what few engines do: no word of those that do not.
    pub(super) fn where_offered(&mut self, op: Op, items: usize) -> Result<(), SessionError> {
        match self.session.supports(&self.job(op))? {
            Ok(_) => self.random_inputs(op, items).map(|_| ()),
            Err(_) => Ok(()),
        }
    }

    /// Compares outputs of equal inputs in batches of any size.
    pub(super) fn batches(&mut self, op: Op, items: usize) -> Result<(), SessionError> {
        let inputs = inputs(&self.job(op), self.key, self.seed, 16 + op as u64, items);
        let mut first = None;
        for batch in [1, 2, 3, 5, 8, 16] {
            let job = Job { batch, ..self.job(op) };
            self.case(&job, &format!("batches of {batch}"), |suite| {
                let outputs = suite.outputs(&job, &inputs)?;
                match *first.get_or_insert(outputs.clone()) == outputs {
                    true => Ok(items),
                    false => wrong(format!("batches of {batch} give other outputs than batches of 1")),
                }
            })?;
        }
        Ok(())
    }

    /// Inputs that are no whole items.
    pub(super) fn lengths(&mut self, op: Op) -> Result<(), SessionError> {
        let job = self.job(op);
        let item = job.layout().input;
        for length in [0, 1, item - 1, item + 1, 3 * item - 1] {
            self.case(&job, &format!("{length} bytes of input"), |suite| {
                suite.refused(&job, &vec![0; length], |fault| fault.kind == FaultKind::Length)
            })?;
        }
        Ok(())
    }

    /// A measured call, compared by the worker with its first answers.
    pub(super) fn timed(&mut self, op: Op) -> Result<(), SessionError> {
        let job = Job {
            mode: Mode::Latency,
            batch: 2,
            ..self.job(op)
        };
        let inputs = inputs(&job, self.key, self.seed, 48 + op as u64, 2);
        self.case(&job, "a measured call", |suite| {
            suite.session.prepare(&job, slice::from_ref(suite.key), &inputs)?;
            let report = suite.session.block(&BlockPlan::SINGLE_CALL)?;
            match report.block.operations() {
                2 => Ok(2),
                other => wrong(format!("{other} operations were timed instead of 2")),
            }
        })
    }
}

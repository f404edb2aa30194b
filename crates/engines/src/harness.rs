//! Runs and times a prepared job: the same for every engine.
//!
//! | question | file |
//! |---|---|
//! | what the worker loop sees of a job that is ready | `driver` |
//! | how threads are started, and get requests | `threads` |
//! | who reads the clock | `timing` |
//! | what one thread does, and whether it is right | `partition` |
//! | how a text is measured | `text` |
//! | how items are done whose keys differ, by an engine that takes one | `one_by_one` |

mod driver;
mod one_by_one;
mod partition;
mod text;
mod threads;
mod timing;

use crate::{
    engine::Engine,
    job::{Job, StudyKey},
    ledger::{Ledger, Reason},
    protocol::{Fault, FaultKind},
};

use driver::Driver;
use text::TextDriver;

/// Asks the engine about the job, after the harness has had its say.
pub(crate) fn supports(engine: &dyn Engine, job: &Job) -> Result<Ledger, Reason> {
    job.check()?;
    let ledger = engine.supports(&job.engine_job())?;
    let ledger = match is_one_by_one(job, &ledger) {
        true => ledger.one_by_one(job.keys),
        false => ledger,
    };
    ledger.checked_for(job.primes, job.keys)
}

/// Returns whether the items of a job are under several keys of which the engine takes one.
fn is_one_by_one(job: &Job, ledger: &Ledger) -> bool {
    job.keys > 1 && ledger.keys.is_none()
}

/// Prepares a job, hands it to `body`, and takes everything down again.
pub(crate) fn with_driver<T>(
    engine: &dyn Engine,
    job: &Job,
    keys: &[StudyKey],
    inputs: &[u8],
    body: impl FnOnce(&mut dyn Driver) -> T,
) -> Result<T, Fault> {
    let ledger = supports(engine, job).map_err(|reason| Fault::new(FaultKind::Unsupported, reason.0))?;
    check_inputs(job, inputs)?;
    if let Some(key) = keys.iter().find(|key| key.bits != job.bits) {
        return Err(Fault::new(
            FaultKind::Key,
            format!("a key of {} bits came with a job of {} bits", key.bits, job.bits),
        ));
    }
    if job.keys > 1 && keys.len() < job.keys {
        let message = format!("{} keys came with a job of {}", keys.len(), job.keys);
        return Err(Fault::new(FaultKind::Key, message));
    }
    let is_one_by_one = job.keys > 1
        && engine
            .supports(&job.engine_job())
            .is_ok_and(|own| is_one_by_one(job, &own));
    let prepared = match is_one_by_one {
        true => one_by_one::prepare(engine, job, keys)?,
        false => engine.prepare(&job.engine_job(), keys)?,
    };
    if job.op.is_text() {
        Ok(body(&mut TextDriver::new(
            job,
            prepared.as_ref(),
            ledger.lanes,
            inputs,
        )?))
    } else {
        threads::with_threads(job, prepared.as_ref(), inputs, |threads| body(threads))
    }
}

/// Checks that the inputs are whole items, at least one, or a whole text.
fn check_inputs(job: &Job, inputs: &[u8]) -> Result<(), Fault> {
    let fault = |message| Err(Fault::new(FaultKind::Length, message));
    let item = job.layout().input;
    match job.input_len() {
        Some(expected) if inputs.len() != expected => fault(format!(
            "the inputs have {} bytes where '{}' takes {expected}",
            inputs.len(),
            job.op
        )),
        None if inputs.is_empty() || !inputs.len().is_multiple_of(item) => fault(format!(
            "the inputs have {} bytes, which is not one or more items of {item} bytes",
            inputs.len()
        )),
        _ => Ok(()),
    }
}

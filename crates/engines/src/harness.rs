//! What runs and times a prepared job: the same for every engine.
//!
//! | question | file |
//! |---|---|
//! | how are threads started, released and parked | `crew`, `gate` |
//! | who reads the clock | `leader` |
//! | what does one thread do, and is it right | `share` |
//! | how is a text measured | `text` |

mod crew;
pub(crate) mod gate;
mod leader;
mod share;
mod text;

use rsalab_measure::BlockPlan;

use crate::{
    engine::Engine,
    job::{Job, StudyKey},
    ledger::{Ledger, Reason},
    protocol::{BlockReport, Fault, FaultKind, Readiness},
};

use text::TextRig;

/// A job ready to run.
pub(crate) trait Rig {
    /// How it will run.
    fn readiness(&self) -> Readiness;

    /// One untimed run over all inputs; later runs are compared with it.
    fn outputs(&mut self) -> Result<Vec<u8>, Fault>;

    /// One block of samples, every run compared with the first.
    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault>;
}

/// What the engine says to the job, after the harness has had its say.
pub(crate) fn supports(engine: &dyn Engine, job: &Job) -> Result<Ledger, Reason> {
    job.check()?;
    engine.supports(&job.engine_job())
}

/// Prepares a job, hands it to `body`, and takes everything down again.
pub(crate) fn with_rig<T>(
    engine: &dyn Engine,
    job: &Job,
    keys: &[StudyKey],
    inputs: &[u8],
    body: impl FnOnce(&mut dyn Rig) -> T,
) -> Result<T, Fault> {
    let ledger =
        supports(engine, job).map_err(|reason| Fault::new(FaultKind::Unsupported, reason.0))?;
    check_inputs(job, inputs)?;
    if let Some(key) = keys.iter().find(|key| key.bits != job.bits) {
        return Err(Fault::new(
            FaultKind::Key,
            format!(
                "a key of {} bits came with a job of {} bits",
                key.bits, job.bits
            ),
        ));
    }
    let prepared = engine.prepare(&job.engine_job(), keys)?;
    if job.op.is_text() {
        Ok(body(&mut TextRig::new(
            job,
            prepared.as_ref(),
            ledger.lanes,
            inputs,
        )?))
    } else {
        crew::with_crew(job, prepared.as_ref(), inputs, |crew| body(crew))
    }
}

/// Whether the inputs are whole items, at least one, or a whole text.
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

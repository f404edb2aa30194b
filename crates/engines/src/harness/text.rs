//! Texts: the engine's block operation under `text`'s work over threads.
//!
//! A sample is one whole text. Its time runs from the release of all threads to the last finish, as the work over
//! threads takes it; starting the threads and making their runners is not in it. It is the same for every engine.

use rsalab_measure::{BlockPlan, CpuTime, Monotonic, Sample, sample_block};
use rsalab_rsa::{BlockRunner, Error, Status};
use rsalab_text::{
    self as text, Outcome, WorkError,
    blocks::{self, BlockCipher, Direction},
};

use super::{
    driver::{Driver, readiness},
    partition::compare,
};
use crate::{
    engine::{EngineError, Prepared, Runner},
    job::Job,
    op::Op,
    protocol::{BlockReport, Fault, FaultKind, PartTrace, Readiness},
};

/// A text job ready to run.
pub(super) struct TextDriver<'a> {
    job: &'a Job,
    prepared: &'a dyn Prepared,
    lanes: usize,
    inputs: &'a [u8],
    blocks: blocks::Blocks,
    readiness: Readiness,
    /// The output of the first run.
    reference: Option<Vec<u8>>,
}

impl<'a> TextDriver<'a> {
    pub(super) fn new(job: &'a Job, prepared: &'a dyn Prepared, lanes: usize, inputs: &'a [u8]) -> Result<Self, Fault> {
        let layout = job.engine_job().layout();
        let blocks = blocks::Blocks::new(layout.output, Some(job.block_symbols))
            .map_err(|error| Fault::new(FaultKind::Unsupported, error.to_string()))?;
        Ok(TextDriver {
            job,
            prepared,
            lanes,
            inputs,
            blocks,
            readiness: readiness(job, prepared),
            reference: None,
        })
    }

    /// Bytes of one block of output.
    fn output_block(&self) -> usize {
        self.job.layout().output
    }

    fn run(&self) -> Result<Outcome, Fault> {
        let threads = text::Threads {
            count: self.job.threads,
            cpus: (!self.readiness.cpus.is_empty()).then_some(&self.readiness.cpus[..]),
            done: None,
        };
        let direction = match self.job.op {
            Op::TextEncrypt => Direction::Encrypt,
            _ => Direction::Decrypt,
        };
        let work = self.blocks.work(direction, self.inputs, self.job.symbols);
        let done = text::run(work, threads, |_| match self.prepared.runner() {
            Ok(runner) => {
                let runner = EngineBlocks(runner);
                Ok(BlockCipher::new(runner, self.blocks, direction, self.lanes))
            }
            Err(error) => Err(text::Error::from(backend_error(&error))),
        });
        done.map_err(|error| match error {
            WorkError::Layout(message) => Fault::new(FaultKind::Length, message),
            workers => Fault::new(FaultKind::Library, workers.to_string()),
        })
    }
}

impl Driver for TextDriver<'_> {
    fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    fn outputs(&mut self) -> Result<Vec<u8>, Fault> {
        let outcome = self.run()?;
        if let Some(first) = &self.reference {
            compare(&outcome.output, first, self.output_block(), 0)?;
        }
        self.reference = Some(outcome.output.clone());
        Ok(outcome.output)
    }

    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        if self.reference.is_none() {
            self.outputs()?;
        }
        let mut trace = Vec::new();
        let before = CpuTime::of_this_process();
        let block = sample_block(Monotonic::get(), plan, || {
            let outcome = self.run()?;
            if let Some(first) = &self.reference {
                compare(&outcome.output, first, self.output_block(), 0)?;
            }
            trace = outcome.trace;
            Ok::<_, Fault>(Sample {
                elapsed_ns: outcome.elapsed_ns,
                tsc_ticks: None,
                operations: 1,
            })
        })?;
        Ok(BlockReport {
            block,
            tests: Vec::new(),
            outputs: Vec::new(),
            trace: trace.into_iter().map(PartTrace::from).collect(),
            cpu: before.and_then(|before| Some(CpuTime::of_this_process()?.since(before))),
        })
    }
}

/// An engine's runner as the block operation that `rsa` works with.
struct EngineBlocks<'a>(Box<dyn Runner + 'a>);

impl BlockRunner for EngineBlocks<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        status.fill(Status::Done);
        match self.0.run(inputs, outputs) {
            Ok(_) => Ok(()),
            Err(EngineError::InputOutOfRange { index }) if index < status.len() => {
                status[index] = Status::OutOfRange;
                Ok(())
            }
            Err(error) => Err(backend_error(&error)),
        }
    }
}

fn backend_error(error: &EngineError) -> Error {
    Error::Backend {
        backend: "the engine",
        reason: error.to_string(),
    }
}

impl From<text::PartTrace> for PartTrace {
    fn from(part: text::PartTrace) -> Self {
        PartTrace {
            id: part.id,
            bytes: part.bytes,
            blocks: part.blocks,
            cpu: part.cpu,
            start_ns: part.start_ns,
            end_ns: part.end_ns,
        }
    }
}

//! Texts: the engine's block operation under `text`'s work over threads.
//!
//! A sample is one whole text. Its time runs from the release of all threads until the caller has every part: what
//! somebody waits for who wants the text. The threads and their runners are there for a whole block; starting them is
//! not in it. It is the same for every engine.
//!
//! Between two texts, threads sleep, and a machine that is busy lets them wait when they are woken. Both wakings, that
//! of the threads and that of their caller, are in the time of a text. What is between two texts is the comparison
//! only, so that the speed is what was done over the time that it took.

use rsalab_measure::{BlockPlan, CpuTime, Monotonic, Sample, sample_block};
use rsalab_rsa::{BlockRunner, Error, Status};
use rsalab_text::{
    self as text, WorkError,
    blocks::{self, BlockCipher, Direction},
};

use super::{
    driver::{Driver, readiness},
    partition::{OVERWRITTEN, compare},
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

    /// Starts the threads, hands them to `body`, and ends them.
    fn with_workers<T>(&self, body: impl FnOnce(&mut TextWorkers<'_, '_>) -> Result<T, Fault>) -> Result<T, Fault> {
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
        let mut output = vec![0; work.output_len];
        let factory = |_: &text::Part| match self.prepared.runner() {
            Ok(runner) => {
                let runner = EngineBlocks(runner);
                Ok(BlockCipher::new(runner, self.blocks, direction, self.lanes))
            }
            Err(error) => Err(text::Error::from(backend_error(&error))),
        };
        let done = text::with_workers(work, &mut output, threads, factory, body);
        done.map_err(fault)?
    }

    /// One text, and what became of it compared with the first.
    fn run(&self, workers: &mut TextWorkers<'_, '_>) -> Result<text::Run, Fault> {
        // A thread that writes nothing must not pass on what the text before has left.
        workers.each_region(|region| region.fill(OVERWRITTEN));
        let run = workers.run().map_err(fault)?;
        if let Some(first) = &self.reference {
            let (mut place, block) = (0, self.output_block());
            let compared = workers.each_region(|region| {
                let expected = first.get(place..place + region.len()).unwrap_or_default();
                let first_block = place / block;
                place += region.len();
                compare(region, expected, block, first_block)
            });
            compared.into_iter().collect::<Result<(), Fault>>()?;
        }
        Ok(run)
    }
}

/// The threads of a text.
type TextWorkers<'a, 'w> = text::Workers<'a, 'w, text::Error>;

fn fault(error: WorkError<text::Error>) -> Fault {
    match error {
        WorkError::Layout(message) => Fault::new(FaultKind::Length, message),
        workers => Fault::new(FaultKind::Library, workers.to_string()),
    }
}

impl Driver for TextDriver<'_> {
    fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    fn outputs(&mut self) -> Result<Vec<u8>, Fault> {
        let output = self.with_workers(|workers| {
            self.run(workers)?;
            Ok(workers.each_region(|region| region.to_vec()).concat())
        })?;
        self.reference = Some(output.clone());
        Ok(output)
    }

    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        if self.reference.is_none() {
            self.outputs()?;
        }
        let mut trace = Vec::new();
        let before = CpuTime::of_this_process();
        let block = self.with_workers(|workers| {
            sample_block(Monotonic::get(), plan, || {
                let run = self.run(workers)?;
                trace = run.trace;
                Ok::<_, Fault>(Sample {
                    elapsed_ns: run.collected_ns,
                    tsc_ticks: None,
                    operations: 1,
                })
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

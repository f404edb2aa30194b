//! Private blocks that lie on a device before the clock starts, and whose results are fetched after it has stopped.

use rsalab_gpu::backend::{Resident, ResidentRunner};
use rsalab_rsa::Status;

use super::{block::all_done, keys::library};
use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::Job,
    op::Layout,
};

/// A private key made ready.
pub(crate) struct ResidentBlocks {
    key: Box<dyn Resident>,
    layout: Layout,
}

impl ResidentBlocks {
    pub(crate) fn new(key: Box<dyn Resident>, job: &Job) -> Self {
        ResidentBlocks {
            key,
            layout: job.layout(),
        }
    }
}

impl Prepared for ResidentBlocks {
    fn kernel(&self) -> String {
        self.key.kernel().to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(ResidentBlocksRunner {
            runner: self.key.runner().map_err(library("preparing a thread"))?,
            layout: self.layout,
            kept: 0,
            status: Vec::new(),
        }))
    }
}

struct ResidentBlocksRunner<'a> {
    runner: Box<dyn ResidentRunner + 'a>,
    layout: Layout,
    kept: usize,
    status: Vec<Status>,
}

impl ResidentBlocksRunner<'_> {
    fn fetch(&mut self, batch: usize, outputs: &mut [u8]) -> Result<(), EngineError> {
        self.status.clear();
        self.status.resize(outputs.len() / self.layout.output, Status::Fault);
        self.runner
            .collect(batch, outputs, &mut self.status)
            .map_err(library("fetching results"))?;
        all_done(&self.status)
    }
}

impl Runner for ResidentBlocksRunner<'_> {
    /// Blocks that were not kept are brought, and fetched at once.
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        if outputs.is_empty() {
            return Ok(RunStats::default());
        }
        let batch = self.kept;
        self.keep(&mut [inputs].into_iter())?;
        self.runner.run(batch).map_err(library("the block operation"))?;
        self.fetch(batch, outputs)?;
        Ok(RunStats::default())
    }

    fn keep(&mut self, batches: &mut dyn Iterator<Item = &[u8]>) -> Result<(), EngineError> {
        for inputs in batches {
            self.runner.keep(inputs).map_err(library("keeping a batch"))?;
            self.kept += 1;
        }
        Ok(())
    }

    fn run_kept(&mut self, batch: usize, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        self.runner.run(batch).map_err(library("the block operation"))?;
        Ok(RunStats::default())
    }

    fn collect(&mut self, batch: usize, outputs: &mut [u8]) -> Result<(), EngineError> {
        self.fetch(batch, outputs)
    }
}

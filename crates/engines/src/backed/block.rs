//! Raw blocks: the private operation, protected or bare, and the public one.

use rsalab_rsa::{BlockRunner, Status};

use super::keys::library;
use crate::{
    engine::{EngineError, RunStats, Runner, check_items},
    job::Job,
    op::Layout,
};

/// The first item that was not done, as an error.
pub(super) fn all_done(status: &[Status]) -> Result<(), EngineError> {
    match status.iter().position(|status| *status != Status::Done) {
        None => Ok(()),
        Some(index) if status[index] == Status::OutOfRange => Err(EngineError::InputOutOfRange { index }),
        Some(index) => Err(EngineError::library(
            "the check of the result",
            format!("the result of block {index} was wrong, and was not released"),
        )),
    }
}

/// One thread's runner.
pub(super) struct BlocksRunner<'a> {
    runner: Box<dyn BlockRunner + 'a>,
    layout: Layout,
    status: Vec<Status>,
}

impl<'a> BlocksRunner<'a> {
    pub(super) fn new(runner: Box<dyn BlockRunner + 'a>, job: &Job) -> Self {
        BlocksRunner {
            runner,
            layout: job.layout(),
            status: Vec::with_capacity(job.batch),
        }
    }
}

impl Runner for BlocksRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let blocks = check_items(self.layout, inputs, outputs)?;
        self.status.resize(blocks, Status::Done);
        self.runner
            .run(inputs, outputs, &mut self.status)
            .map_err(library("the block operation"))?;
        all_done(&self.status)?;
        Ok(RunStats::default())
    }
}

//! Raw blocks: the private operation, protected or bare, and the public one.

use rsalab_rsa::{BlockRunner, Status};

use super::library;
use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::Job,
    op::Layout,
};

/// A key made ready for one of its two operations.
pub(crate) struct Blocks {
    key: Box<dyn rsalab_rsa::Prepared>,
    layout: Layout,
    batch: usize,
}

impl Blocks {
    pub(crate) fn new(key: Box<dyn rsalab_rsa::Prepared>, job: &Job) -> Result<Self, EngineError> {
        let layout = job.layout();
        if key.modulus_len() != layout.input {
            return Err(EngineError::Length {
                what: "the modulus",
                expected: layout.input,
                got: key.modulus_len(),
            });
        }
        Ok(Blocks {
            key,
            layout,
            batch: job.batch,
        })
    }
}

/// The first item that was not done, as an error.
pub(super) fn all_done(status: &[Status]) -> Result<(), EngineError> {
    match status.iter().position(|status| *status != Status::Done) {
        None => Ok(()),
        Some(index) if status[index] == Status::OutOfRange => {
            Err(EngineError::InputOutOfRange { index })
        }
        Some(index) => Err(EngineError::Library {
            call: "the check of the result",
            message: format!("the result of block {index} was wrong, and was not released"),
        }),
    }
}

impl Prepared for Blocks {
    fn kernel(&self) -> String {
        self.key.kernel().to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(BlocksRunner {
            runner: self.key.runner().map_err(library("preparing a thread"))?,
            layout: self.layout,
            status: Vec::with_capacity(self.batch),
        }))
    }
}

struct BlocksRunner<'a> {
    runner: Box<dyn BlockRunner + 'a>,
    layout: Layout,
    status: Vec<Status>,
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

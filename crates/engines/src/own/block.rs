//! Raw blocks: the private operation, protected or bare, and the public one.

use rsalab_rsa::{Backend, BlockRunner, Status};

use super::{CpuBackend, ForMeasurement, PrivateKey, PrivateParts, PublicKey, has_crt, library};
use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::{Job, StudyKey},
    op::{Layout, Op},
};

/// A key made ready for one of its two operations.
pub(super) struct Blocks {
    key: Box<dyn rsalab_rsa::Prepared>,
    layout: Layout,
    batch: usize,
}

impl Blocks {
    pub(super) fn new(
        backend: &CpuBackend,
        job: &Job,
        key: &StudyKey,
    ) -> Result<Self, EngineError> {
        let prepared = match job.op {
            Op::Public => prepared_public(backend, key)?,
            _ => prepared_private(backend, key, job)?,
        };
        let layout = job.layout();
        if prepared.modulus_len() != layout.input {
            return Err(EngineError::Length {
                what: "the modulus",
                expected: layout.input,
                got: prepared.modulus_len(),
            });
        }
        Ok(Blocks {
            key: prepared,
            layout,
            batch: job.batch,
        })
    }
}

/// The key for its public operation.
pub(super) fn prepared_public(
    backend: &CpuBackend,
    key: &StudyKey,
) -> Result<Box<dyn rsalab_rsa::Prepared>, EngineError> {
    PublicKey::new(&key.n, &key.e)
        .and_then(|key| backend.prepare_public(&key))
        .map_err(refused)
}

/// The key for its private operation, in the job's form.
pub(super) fn prepared_private(
    backend: &CpuBackend,
    key: &StudyKey,
    job: &Job,
) -> Result<Box<dyn rsalab_rsa::Prepared>, EngineError> {
    let key = PrivateKey::from_parts(&PrivateParts {
        n: &key.n,
        e: &key.e,
        d: &key.d,
        p: &key.p,
        q: &key.q,
        dp: &key.dp,
        dq: &key.dq,
        qinv: &key.qinv,
    })
    .map_err(refused)?;
    match (has_crt(job), job.bare) {
        (true, false) => backend.prepare_private(&key),
        (true, true) => backend.prepare_bare_private(&key, ForMeasurement),
        (false, false) => backend.prepare_private_without_crt(&key),
        (false, true) => backend.prepare_bare_private_without_crt(&key, ForMeasurement),
    }
    .map_err(refused)
}

fn refused(error: rsalab_rsa::Error) -> EngineError {
    EngineError::Key(error.to_string())
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

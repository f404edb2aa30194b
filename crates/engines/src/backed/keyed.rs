//! An operation with a key, made ready on a backend: raw blocks and signatures.

use rsalab_rsa::{Prepared as _, backend::Pooled};

use super::{block::BlocksRunner, keys::library, signature};
use crate::{
    engine::{EngineError, Prepared, Runner},
    job::Job,
    op::Op,
};

/// A key made ready for the job's operation: private, public, sign (a digest or a message) or verify.
pub(crate) struct Keyed {
    /// Each thread of each text takes a runner, as programs do for each message: blinding is kept from one to the next,
    /// as peers keep it in their keys.
    key: Pooled,
    job: Job,
}

impl Keyed {
    pub(crate) fn new(key: Box<dyn rsalab_rsa::Prepared>, job: &Job) -> Result<Self, EngineError> {
        let expected = job.bits.div_ceil(8);
        match key.modulus_len() {
            got if got == expected => Ok(Keyed {
                key: Pooled::new(key),
                job: job.clone(),
            }),
            got => Err(EngineError::Length {
                what: "the modulus",
                expected,
                got,
            }),
        }
    }
}

impl Prepared for Keyed {
    fn kernel(&self) -> String {
        self.key.kernels_for(self.job.batch).join(" and ")
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let runner = self.key.runner().map_err(library("preparing a thread"))?;
        Ok(match self.job.op {
            Op::Sign => Box::new(signature::SigningRunner::new(runner, &self.job)?),
            Op::SignMessage => Box::new(signature::HashingRunner::new(runner, &self.job)?),
            Op::Verify => Box::new(signature::VerifyingRunner::new(runner, &self.job)?),
            _ => Box::new(BlocksRunner::new(runner, &self.job)),
        })
    }
}

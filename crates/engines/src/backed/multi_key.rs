//! Several keys made ready together, as if they were one: item `i` of a batch is under key `i` modulo their number.

use rsalab_rsa::{
    Backend, BlockRunner, Prepared, Result, Status,
    backend::{MultiKeyRunner, PreparedMultiKey},
};

use super::keys::{private_of, refused};
use crate::{
    engine::EngineError,
    job::{Job, StudyKey},
};

/// The private keys of a job on a backend.
pub(crate) fn private_by_turns(
    backend: &dyn Backend,
    job: &Job,
    keys: &[StudyKey],
) -> std::result::Result<Box<dyn Prepared>, EngineError> {
    let keys = keys.iter().take(job.keys).map(private_of);
    let keys: Vec<_> = keys.collect::<std::result::Result<_, _>>()?;
    Ok(Box::new(ByTurns {
        prepared: backend.prepare_multi_key(&keys).map_err(refused)?,
        keys: keys.len(),
    }))
}

struct ByTurns {
    prepared: Box<dyn PreparedMultiKey>,
    keys: usize,
}

struct ByTurnsRunner<'p> {
    runner: Box<dyn MultiKeyRunner + Send + 'p>,
    keys: usize,
    places: Vec<usize>,
}

impl Prepared for ByTurns {
    fn modulus_len(&self) -> usize {
        self.prepared.modulus_len()
    }

    fn kernel(&self) -> &str {
        self.prepared.kernel()
    }

    fn lanes(&self) -> usize {
        self.prepared.lanes()
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>> {
        Ok(Box::new(ByTurnsRunner {
            runner: self.prepared.runner(),
            keys: self.keys,
            places: Vec::new(),
        }))
    }
}

impl BlockRunner for ByTurnsRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        self.places.clear();
        self.places.extend((0..status.len()).map(|item| item % self.keys));
        self.runner.run(&self.places, inputs, outputs, status)
    }
}

//! Signatures that are screened, a batch by its product.

use rsalab_rsa::{Backend, CpuBackend, PublicKey, signing::VerifyingKey};

use super::{keys::library, signature::SCHEME};
use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::Job,
    op::{DIGEST_BYTES, Layout},
};

/// A key made ready to screen.
pub(crate) struct Screened {
    key: VerifyingKey,
    kernel: String,
    layout: Layout,
}

impl Screened {
    /// On a backend: its kernel multiplies, and raises the one product of a batch.
    pub(crate) fn new(key: &PublicKey, backend: &CpuBackend, job: &Job) -> Result<Self, EngineError> {
        let kernel = backend.kernel().to_owned();
        let key = VerifyingKey::with_backend(key, SCHEME, backend);
        Ok(Screened {
            key: key.map_err(library("preparing the key"))?,
            kernel,
            layout: job.layout(),
        })
    }
}

impl Prepared for Screened {
    fn kernel(&self) -> String {
        self.kernel.clone()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(self))
    }
}

impl Runner for &Screened {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let items = inputs.chunks_exact(self.layout.input);
        let pairs: Vec<_> = items.map(|item| item.split_at(DIGEST_BYTES)).collect();
        let accepted = self.key.screen_digests(&pairs).map_err(library("screening"))?;
        for (verdict, is_accepted) in outputs.iter_mut().zip(accepted) {
            *verdict = u8::from(is_accepted);
        }
        Ok(RunStats::default())
    }
}

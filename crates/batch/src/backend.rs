//! A batcher in the place of a back end: whole keys of `rsalab-rsa` sign and decrypt by way of it.

use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, Error, Prepared, PreparedMultiKey, PrivateKey, PublicKey, Result, Status,
    backend::{Sieve, check_batch},
};

use crate::{Batcher, handle::Handle, keys};
use std::sync::Arc;

/// Private operations are batched; public ones and tests of candidates run on the back end beneath, as if the batcher
/// were not there.
impl Backend for Batcher {
    fn name(&self) -> &str {
        "batch"
    }

    fn kernel(&self) -> &str {
        self.handle.backend().kernel()
    }

    fn lanes(&self) -> usize {
        self.handle.backend().lanes()
    }

    /// Finds the key among the batcher's. What is prepared holds on to it: it may be removed from the batcher, and is
    /// wiped with the last one that was prepared.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the batcher does not have it, or after a fork.
    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>> {
        let found = self.handle.last(|known| known.private_key().public() == key.public());
        let key = found.ok_or_else(|| Error::Unsupported {
            reason: "this key is not among the batcher's".to_owned(),
        })?;
        Ok(Box::new(Key {
            handle: Arc::clone(&self.handle),
            key,
        }))
    }

    /// Keys share passes by themselves.
    ///
    /// # Errors
    ///
    /// The errors of the back end beneath, on which these run.
    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>> {
        self.handle.backend().prepare_multi_key(keys)
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>> {
        self.handle.backend().prepare_public(key)
    }

    fn prepare_public_for_secrets(&self, key: &PublicKey) -> Result<Box<dyn Prepared>> {
        self.handle.backend().prepare_public_for_secrets(key)
    }

    fn sieve(&self, bits: usize) -> Sieve {
        self.handle.backend().sieve(bits)
    }

    fn searches(&self) -> usize {
        self.handle.backend().searches()
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>> {
        self.handle.backend().tester(bits)
    }
}

/// A key's private operation, by way of a batcher.
#[derive(Clone)]
struct Key {
    handle: Arc<Handle>,
    key: Arc<keys::Key>,
}

impl Prepared for Key {
    fn modulus_len(&self) -> usize {
        self.key.modulus_len()
    }

    fn kernel(&self) -> &str {
        self.handle.backend().kernel()
    }

    fn lanes(&self) -> usize {
        self.handle.backend().lanes()
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>> {
        Ok(Box::new(self.clone()))
    }
}

impl BlockRunner for Key {
    /// # Errors
    ///
    /// [`Error::Unsupported`] with the words of [`crate::Error`] as well.
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        let queue = &self.handle.queue;
        check_batch(self.key.modulus_len(), inputs, outputs, status)?;
        let items = self.key.items()?;
        let len = items * self.key.modulus_len();
        let done = inputs
            .chunks(len)
            .zip(outputs.chunks_mut(len))
            .zip(status.chunks_mut(items))
            .try_for_each(|((inputs, outputs), status)| queue.run(&self.key, inputs, outputs, status, true));
        done.map_err(|error| {
            outputs.fill(0);
            Error::Unsupported {
                reason: error.to_string(),
            }
        })
    }
}

//! A batcher in the place of a back end: whole keys of `rsalab-rsa` sign and decrypt by way of it.

use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, Error, Prepared, PreparedMultiKey, PrivateKey,
    PublicKey, Result, Status, backend::check_batch,
};

use crate::{Batcher, handle::Handle};
use std::sync::Arc;

/// Private operations are batched; public ones and tests of candidates run on the back end beneath, as if the batcher were not there.
impl Backend for Batcher {
    fn name(&self) -> &str {
        "batch"
    }

    fn kernel(&self) -> &str {
        self.handle.backend.kernel()
    }

    fn lanes(&self) -> usize {
        self.handle.backend.lanes()
    }

    /// Finds the key among the batcher's.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if it has another.
    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>> {
        let mut keys = self.handle.keys.iter();
        let Some(key) = keys.find(|known| known.public == *key.public()) else {
            return Err(Error::Unsupported {
                reason: "the batcher was not made with this key".to_owned(),
            });
        };
        Ok(Box::new(Key {
            handle: Arc::clone(&self.handle),
            size: key.size,
            place: key.place,
        }))
    }

    /// Keys share passes by themselves.
    ///
    /// # Errors
    ///
    /// Those of the back end beneath, on which these run.
    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>> {
        self.handle.backend.prepare_multi_key(keys)
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>> {
        self.handle.backend.prepare_public(key)
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>> {
        self.handle.backend.tester(bits)
    }
}

/// A key's private operation, by way of a batcher.
#[derive(Clone)]
struct Key {
    handle: Arc<Handle>,
    size: usize,
    place: usize,
}

impl Prepared for Key {
    fn modulus_len(&self) -> usize {
        self.handle.queue.sizes[self.size].modulus_len
    }

    fn kernel(&self) -> &str {
        self.handle.backend.kernel()
    }

    fn lanes(&self) -> usize {
        self.handle.backend.lanes()
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
        let size = &queue.sizes[self.size];
        check_batch(size.modulus_len, inputs, outputs, status)?;
        let len = size.items * size.modulus_len;
        let done = inputs
            .chunks(len)
            .zip(outputs.chunks_mut(len))
            .zip(status.chunks_mut(size.items))
            .try_for_each(|((inputs, outputs), status)| {
                queue.run(self.size, self.place, inputs, outputs, status, true)
            });
        done.map_err(|error| {
            outputs.fill(0);
            Error::Unsupported {
                reason: error.to_string(),
            }
        })
    }
}

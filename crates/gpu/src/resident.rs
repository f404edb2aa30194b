//! Batches that lie on the device before they are run, and whose results stay there: for measuring what the copies
//! cost.

use std::sync::Arc;

use rsalab_rsa::{Error, Status, error::check_len};

use crate::{
    BatchError,
    driver::{Device, DriverError},
    key::Keys,
    work::{Kept, Worker},
};

/// A private key ready for batches that lie on the device.
pub trait Resident: Send + Sync {
    /// The kernel that will run, for the record.
    fn kernel(&self) -> &str;

    /// One thread's runner.
    ///
    /// # Errors
    ///
    /// The driver's.
    fn runner(&self) -> Result<Box<dyn ResidentRunner + '_>, Error>;
}

/// One thread's runner on batches that lie on the device.
pub trait ResidentRunner {
    /// Uploads one more batch to the device: the next by number, from 0.
    ///
    /// # Errors
    ///
    /// If it does not fit; the driver's.
    fn keep(&mut self, inputs: &[u8]) -> Result<(), Error>;

    /// Does the private operation on a batch.
    ///
    /// # Errors
    ///
    /// If there is no such batch; the driver's.
    fn run(&mut self, batch: usize) -> Result<(), Error>;

    /// Fetches the results of a batch, which must have been run.
    ///
    /// # Errors
    ///
    /// If there is no such batch, or the buffers have other lengths than it; the driver's.
    fn collect(&mut self, batch: usize, outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error>;
}

/// A private key with the batches that were brought.
pub(crate) struct ResidentBatches<D: Device> {
    worker: Worker<D>,
    batches: Vec<Kept<D>>,
}

impl<D: Device> ResidentBatches<D> {
    pub(crate) fn new(keys: &Arc<Keys<D>>) -> Result<Self, DriverError> {
        Ok(ResidentBatches {
            worker: Worker::new(keys)?,
            batches: Vec::new(),
        })
    }
}

impl<D: Device> ResidentRunner for ResidentBatches<D> {
    fn keep(&mut self, inputs: &[u8]) -> Result<(), Error> {
        let worker = &mut self.worker;
        let length = worker.keys.length();
        let (count, most) = (inputs.len() / length, worker.keys.most_items());
        check_len("the input buffer", inputs.len(), count * length)?;
        if count > most {
            let reason = format!("a batch of {count} does not fit the device at once; {most} do");
            return Err(BatchError::Refused(reason).into());
        }
        let kept = worker.keep(inputs, count).map_err(BatchError::from)?;
        self.batches.push(kept);
        Ok(())
    }

    fn run(&mut self, batch: usize) -> Result<(), Error> {
        let kept = found(&self.batches, batch)?;
        let done = self.worker.run_kept(kept);
        if done.is_err() {
            self.worker.abandon();
        }
        Ok(done?)
    }

    fn collect(&mut self, batch: usize, outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        let kept = found(&self.batches, batch)?;
        let length = self.worker.keys.length();
        check_len("the output buffer", outputs.len(), kept.count * length)?;
        check_len("the list of statuses", status.len(), kept.count)?;
        let collected = self.worker.collect_kept(kept, outputs, status);
        Ok(collected.map_err(BatchError::from)?)
    }
}

fn found<D: Device>(batches: &[Kept<D>], batch: usize) -> Result<&Kept<D>, BatchError> {
    let missing = || BatchError::Refused("there is no such batch on the device".to_owned());
    batches.get(batch).ok_or_else(missing)
}

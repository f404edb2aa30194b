//! The backend on a device.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, Error, MultiKeyRunner, Prepared, PreparedMultiKey,
    PrivateKey, PublicKey, Status, backend::check_batch, error::check_len,
};

use crate::{
    Failed, NAME,
    candidates::Tester,
    driver::{Description, Device, Failure},
    kernel::{Launch, MAX_LIMBS},
    key::Keys,
    unit::Unit,
    work::{Blocks, Operation, ResidentThreadRunner, ThreadRunner},
};

/// RSA on one device.
pub struct GpuBackend<D: Device> {
    unit: Arc<Unit<D>>,
    launch: Launch,
    kernel: String,
}

impl<D: Device> Clone for GpuBackend<D> {
    fn clone(&self) -> Self {
        GpuBackend {
            unit: Arc::clone(&self.unit),
            launch: self.launch,
            kernel: self.kernel.clone(),
        }
    }
}

/// How the record of a kernel ends that ran on a CPU, and not on a graphics processor.
pub const ON_A_CPU: &str = " on a CPU";

/// A backend on some device, whoever drives it.
pub trait Gpu: Backend {
    /// What the device says of itself.
    fn description(&self) -> &Description;

    /// The same device with another launch geometry.
    fn with_launch(&self, launch: Launch) -> Box<dyn Gpu>;

    /// Makes a private key ready without the CRT, blinded and checked as ever: to be measured beside programs that do
    /// without.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    fn prepare_private_without_crt(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error>;

    /// Makes a private key ready for batches that lie on the device already, and whose results stay there: to be measured beside batches that
    /// are brought and fetched.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    fn prepare_resident(&self, key: &PrivateKey) -> Result<Box<dyn Resident>, Error>;
}

/// A private key ready for batches that lie on the device.
pub trait Resident: Send + Sync {
    /// Bytes of the modulus, and so of each block.
    fn modulus_len(&self) -> usize;

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
    fn collect(
        &mut self,
        batch: usize,
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error>;
}

impl<D: Device> GpuBackend<D> {
    /// On a device that is open.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(device: D, launch: Launch) -> Result<Self, Failure> {
        let Description { driver, is_cpu, .. } = device.description();
        let place = if *is_cpu { ON_A_CPU } else { "" };
        let kernel = format!("mont32x1-{}{place}", driver.name());
        Ok(GpuBackend {
            unit: Arc::new(Unit::new(device)?),
            launch,
            kernel,
        })
    }

    fn prepare(&self, keys: Keys<D>, operation: Operation) -> Box<dyn Prepared> {
        Box::new(Ready {
            keys: Arc::new(keys),
            idle: Mutex::default(),
            operation,
            kernel: self.kernel.clone(),
            lanes: self.lanes(),
        })
    }

    fn private_keys(&self, keys: &[PrivateKey], has_crt: bool) -> Result<Keys<D>, Error> {
        for key in keys {
            check_size(key.bits())?;
        }
        Keys::private(&self.unit, self.launch, keys, has_crt).map_err(failed)
    }
}

impl<D: Device> Gpu for GpuBackend<D> {
    fn description(&self) -> &Description {
        self.unit.device.description()
    }

    fn with_launch(&self, launch: Launch) -> Box<dyn Gpu> {
        Box::new(GpuBackend {
            launch,
            ..self.clone()
        })
    }

    fn prepare_private_without_crt(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        let keys = self.private_keys(std::slice::from_ref(key), false)?;
        Ok(self.prepare(keys, Operation::Private))
    }

    fn prepare_resident(&self, key: &PrivateKey) -> Result<Box<dyn Resident>, Error> {
        let keys = self.private_keys(std::slice::from_ref(key), true)?;
        Ok(Box::new(ReadyResident {
            keys: Arc::new(keys),
            kernel: self.kernel.clone(),
        }))
    }
}

struct ReadyResident<D: Device> {
    keys: Arc<Keys<D>>,
    kernel: String,
}

impl<D: Device> Resident for ReadyResident<D> {
    fn modulus_len(&self) -> usize {
        self.keys.length()
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn runner(&self) -> Result<Box<dyn ResidentRunner + '_>, Error> {
        let thread = ResidentThreadRunner::new(&self.keys).map_err(failed)?;
        Ok(Box::new(ResidentBatches {
            thread,
            length: self.keys.length(),
        }))
    }
}

struct ResidentBatches<D: Device> {
    thread: ResidentThreadRunner<D>,
    length: usize,
}

impl<D: Device> ResidentBatches<D> {
    fn items(&self, batch: usize) -> Result<usize, Error> {
        let items = self.thread.items(batch);
        items.ok_or_else(|| failed_with("there is no such batch on the device"))
    }
}

impl<D: Device> ResidentRunner for ResidentBatches<D> {
    fn keep(&mut self, inputs: &[u8]) -> Result<(), Error> {
        let whole = inputs.len() / self.length * self.length;
        check_len("the input buffer", inputs.len(), whole)?;
        Ok(self.thread.keep(inputs)?)
    }

    fn run(&mut self, batch: usize) -> Result<(), Error> {
        self.items(batch)?;
        Ok(self.thread.run(batch)?)
    }

    fn collect(
        &mut self,
        batch: usize,
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let items = self.items(batch)?;
        check_len("the output buffer", outputs.len(), items * self.length)?;
        check_len("the list of statuses", status.len(), items)?;
        Ok(self.thread.collect(batch, outputs, status)?)
    }
}

impl<D: Device> Backend for GpuBackend<D> {
    fn name(&self) -> &str {
        NAME
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Numbers that give every unit of the device enough to do: more are welcome.
    fn lanes(&self) -> usize {
        /// Work-items of a unit, so that some compute while others wait for memory.
        const OF_A_UNIT: usize = 256;
        /// Enough for starting kernels not to matter.
        const OF_A_CPU: usize = 32;
        let device = self.description();
        let of_a_unit = if device.is_cpu { OF_A_CPU } else { OF_A_UNIT };
        device.units * of_a_unit
    }

    fn searches(&self) -> usize {
        self.lanes().clamp(64, 4096)
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        let keys = self.private_keys(std::slice::from_ref(key), true)?;
        Ok(self.prepare(keys, Operation::Private))
    }

    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>, Error> {
        let bits = |key: &PrivateKey| key.bits();
        match keys.first().map(bits) {
            Some(first) if keys.iter().all(|key| bits(key) == first) => {}
            _ => {
                return Err(failed_with(
                    "keys that are worked on side by side must be of one size, and there must be one at least",
                ));
            }
        }
        let count = keys.len();
        let keys = self.private_keys(keys, true)?;
        Ok(Box::new(ReadyRing {
            keys: Arc::new(keys),
            count,
            kernel: self.kernel.clone(),
            lanes: self.lanes(),
        }))
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        check_size(key.bits())?;
        let keys = Keys::public(&self.unit, self.launch, key).map_err(failed)?;
        Ok(self.prepare(keys, Operation::Public))
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        check_size(bits)?;
        let tester = Tester::new(&self.unit, self.launch, bits).map_err(failed)?;
        Ok(Box::new(tester))
    }
}

/// A key that is resident, for one of its operations.
struct Ready<D: Device> {
    keys: Arc<Keys<D>>,
    /// ThreadRunner that a runner has left: their memory, and what blinds, serve the next.
    idle: Mutex<Vec<ThreadRunner<D>>>,
    operation: Operation,
    kernel: String,
    lanes: usize,
}

impl<D: Device> Prepared for Ready<D> {
    fn modulus_len(&self) -> usize {
        self.keys.length()
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + '_>, Error> {
        let thread = match self.idle().pop() {
            Some(thread) => thread,
            None => ThreadRunner::new(&self.keys, self.operation).map_err(failed)?,
        };
        Ok(Box::new(Runner {
            ready: self,
            thread: Some(thread),
        }))
    }
}

impl<D: Device> Ready<D> {
    fn idle(&self) -> MutexGuard<'_, Vec<ThreadRunner<D>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Runner<'key, D: Device> {
    ready: &'key Ready<D>,
    /// There until it is dropped.
    thread: Option<ThreadRunner<D>>,
}

impl<D: Device> Drop for Runner<'_, D> {
    fn drop(&mut self) {
        self.ready.idle().extend(self.thread.take());
    }
}

impl<D: Device> BlockRunner for Runner<'_, D> {
    fn run(
        &mut self,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        check_batch(self.ready.keys.length(), inputs, outputs, status)?;
        let thread = self.thread.as_mut().expect("they are there until the end");
        let mut blocks = Blocks {
            keys: None,
            inputs,
            outputs,
            status,
        };
        Ok(thread.run(&mut blocks)?)
    }
}

/// Keys of one size that are resident.
struct ReadyRing<D: Device> {
    keys: Arc<Keys<D>>,
    count: usize,
    kernel: String,
    lanes: usize,
}

impl<D: Device> PreparedMultiKey for ReadyRing<D> {
    fn modulus_len(&self) -> usize {
        self.keys.length()
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn runner(&self) -> Box<dyn MultiKeyRunner + '_> {
        Box::new(RingThreadRunner {
            ring: self,
            thread: None,
        })
    }

    fn check(&self, inputs: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let length = self.keys.length();
        let mut outputs = zeroize::Zeroizing::new(vec![0; inputs.len()]);
        let mut status = vec![Status::Fault; passed.len()];
        check_batch(length, inputs, &outputs, &status)?;
        check_len("the list of keys", passed.len(), self.count)?;
        let places: Vec<usize> = (0..self.count).collect();
        let mut thread = ThreadRunner::new(&self.keys, Operation::CheckKey).map_err(failed)?;
        thread.run(&mut Blocks {
            keys: Some(&places),
            inputs,
            outputs: &mut outputs,
            status: &mut status,
        })?;
        let results = inputs
            .chunks_exact(length)
            .zip(outputs.chunks_exact(length));
        for ((passed, status), (input, output)) in passed.iter_mut().zip(status).zip(results) {
            *passed = status == Status::Done && input != output;
        }
        Ok(())
    }
}

/// Made when they are first used: a ring gives its runners out without a chance to fail.
struct RingThreadRunner<'ring, D: Device> {
    ring: &'ring ReadyRing<D>,
    thread: Option<ThreadRunner<D>>,
}

impl<D: Device> MultiKeyRunner for RingThreadRunner<'_, D> {
    fn run(
        &mut self,
        keys: &[usize],
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        check_batch(self.ring.keys.length(), inputs, outputs, status)?;
        check_len("the list of keys", keys.len(), status.len())?;
        if keys.iter().any(|&key| key >= self.ring.count) {
            return Err(failed_with(
                "the place of a key in its ring is out of range",
            ));
        }
        let thread = match &mut self.thread {
            Some(thread) => thread,
            thread => {
                let new = ThreadRunner::new(&self.ring.keys, Operation::Private).map_err(failed)?;
                thread.insert(new)
            }
        };
        let mut blocks = Blocks {
            keys: Some(keys),
            inputs,
            outputs,
            status,
        };
        Ok(thread.run(&mut blocks)?)
    }
}

/// Refuses numbers that do not fit the kernels' arrays.
fn check_size(bits: usize) -> Result<(), Error> {
    let most = 32 * MAX_LIMBS;
    match bits <= most {
        true => Ok(()),
        false => Err(Error::KeySize {
            bits,
            reason: format!("kernels on a device take numbers of up to {most} bits"),
        }),
    }
}

fn failed(failure: Failure) -> Error {
    Failed::from(failure).into()
}

fn failed_with(reason: &str) -> Error {
    Failed::Refused(reason.to_owned()).into()
}

//! The backend on a device.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Error, MultiKeyRunner, Prepared, PreparedMultiKey, PrivateKey,
    PublicKey, Status, backend::check_batch, error::check_len,
};

use crate::{
    BatchError, NAME,
    candidates::Tester,
    driver::{Description, Device, DriverError, PORTABLE},
    kernel::{Kernel, Launch, MAX_LIMBS},
    key::Keys,
    open_device::{OpenDevice, filling},
    resident::ResidentBatches,
    work::{Operation, ThreadRunner},
};

pub use crate::resident::{Resident, ResidentRunner};

/// RSA on one device.
pub struct GpuBackend<D: Device> {
    open: Arc<OpenDevice<D>>,
    launch: Launch,
    kernel: String,
}

impl<D: Device> Clone for GpuBackend<D> {
    fn clone(&self) -> Self {
        GpuBackend {
            open: Arc::clone(&self.open),
            launch: self.launch,
            kernel: self.kernel.clone(),
        }
    }
}

/// How the record of a kernel ends that ran on a CPU, and not on a graphics processor.
pub const ON_A_CPU: &str = " on a CPU";

/// A backend on some device, whoever drives it.
pub trait Gpu: Backend {
    /// The device's description.
    fn description(&self) -> &Description;

    /// This device with another launch geometry.
    fn with_launch(&self, launch: Launch) -> Box<dyn Gpu>;

    /// Makes a private key ready without the CRT, blinded and checked as ever: to be measured beside programs that do
    /// without.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    fn prepare_private_without_crt(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error>;

    /// Makes a private key ready without the CRT, blinding and check, as article (d) has it: to be measured beside
    /// programs that do without. Not for keys that protect anything.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    fn prepare_private_bare(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error>;

    /// Makes a private key ready for batches that lie on the device already, and whose results stay there: to be
    /// measured beside batches that are brought and fetched.
    ///
    /// # Errors
    ///
    /// As for [`prepare_private`](Backend::prepare_private).
    fn prepare_resident(&self, key: &PrivateKey) -> Result<Box<dyn Resident>, Error>;

    /// The kernel that tests candidates for primes of so many bits, for the record.
    fn tester_kernel(&self, bits: usize) -> String;
}

impl<D: Device> GpuBackend<D> {
    /// On a device that is open.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(device: D, launch: Launch) -> Result<Self, DriverError> {
        let kernel = name_of_kernels(device.description(), PORTABLE);
        Ok(GpuBackend {
            open: Arc::new(OpenDevice::new(device)?),
            launch,
            kernel,
        })
    }

    fn ready(&self, keys: Keys<D>, operation: Operation) -> Ready<D> {
        // Where powers are raised, most of the time goes.
        let (kernel, limbs) = match (&keys.layout.power, operation) {
            (_, Operation::Public) => (Kernel::PublicBits, keys.layout.limbs),
            (Some(power), _) => (Kernel::PowerDigits, power.limbs),
            (None, _) => (Kernel::PowerDigits, keys.layout.limbs),
        };
        let device = &self.open.device;
        Ready {
            kernel: name_of_kernels(device.description(), device.kernel(kernel, limbs)),
            keys: Arc::new(keys),
            idle: Mutex::default(),
            operation,
            lanes: self.lanes(),
        }
    }

    fn private_keys(&self, keys: &[PrivateKey], has_crt: bool) -> Result<Keys<D>, Error> {
        for key in keys {
            check_size(key.bits())?;
            if key.primes() > 2 {
                return Err(Error::Unsupported {
                    reason: format!(
                        "kernels on a device work with keys of two primes, and this one has {}",
                        key.primes()
                    ),
                });
            }
        }
        Keys::private(&self.open, self.launch, keys, has_crt).map_err(failed)
    }
}

impl<D: Device> Gpu for GpuBackend<D> {
    fn description(&self) -> &Description {
        self.open.device.description()
    }

    fn with_launch(&self, launch: Launch) -> Box<dyn Gpu> {
        Box::new(GpuBackend { launch, ..self.clone() })
    }

    fn prepare_private_without_crt(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        let keys = self.private_keys(std::slice::from_ref(key), false)?;
        Ok(Box::new(self.ready(keys, Operation::Private)))
    }

    fn prepare_private_bare(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        let keys = self.private_keys(std::slice::from_ref(key), false)?;
        Ok(Box::new(self.ready(keys, Operation::Bare)))
    }

    fn prepare_resident(&self, key: &PrivateKey) -> Result<Box<dyn Resident>, Error> {
        let keys = self.private_keys(std::slice::from_ref(key), true)?;
        Ok(Box::new(self.ready(keys, Operation::Private)))
    }

    fn tester_kernel(&self, bits: usize) -> String {
        let device = &self.open.device;
        name_of_kernels(device.description(), device.kernel(Kernel::TwoBits, bits.div_ceil(32)))
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
        filling(self.description())
    }

    fn searches(&self) -> usize {
        self.lanes().clamp(64, 4096)
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        let keys = self.private_keys(std::slice::from_ref(key), true)?;
        Ok(Box::new(self.ready(keys, Operation::Private)))
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
        let keys = self.private_keys(keys, true)?;
        Ok(Box::new(self.ready(keys, Operation::Private)))
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        check_size(key.bits())?;
        let keys = Keys::public(&self.open, self.launch, key).map_err(failed)?;
        Ok(Box::new(self.ready(keys, Operation::Public)))
    }

    /// On the CPU: a device's public operation is made for public inputs.
    fn prepare_public_for_secrets(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        CpuBackend::auto().prepare_public_for_secrets(key)
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        check_size(bits)?;
        let tester = Tester::new(&self.open, self.launch, bits).map_err(failed)?;
        Ok(Box::new(tester))
    }
}

/// A key that is resident, for one of its operations; or several of one size.
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

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>, Error> {
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

impl<D: Device> Resident for Ready<D> {
    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn runner(&self) -> Result<Box<dyn ResidentRunner + '_>, Error> {
        let batches = ResidentBatches::new(&self.keys).map_err(failed)?;
        Ok(Box::new(batches))
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
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        check_batch(self.ready.keys.length(), inputs, outputs, status)?;
        let thread = self.thread.as_mut().expect("they are there until the end");
        Ok(thread.run(None, inputs, outputs, status)?)
    }
}

impl<D: Device> PreparedMultiKey for Ready<D> {
    fn modulus_len(&self) -> usize {
        self.keys.length()
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn runner(&self) -> Box<dyn MultiKeyRunner + Send + '_> {
        Box::new(MultiKeyBatches {
            keys: &self.keys,
            thread: None,
        })
    }

    fn check(&self, inputs: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let length = self.keys.length();
        let mut outputs = zeroize::Zeroizing::new(vec![0; inputs.len()]);
        let mut status = vec![Status::Fault; passed.len()];
        check_batch(length, inputs, &outputs, &status)?;
        let places: Vec<usize> = (0..self.keys.count()).collect();
        check_len("the list of keys", passed.len(), places.len())?;
        let mut thread = ThreadRunner::new(&self.keys, Operation::CheckKey).map_err(failed)?;
        thread.run(Some(&places), inputs, &mut outputs, &mut status)?;
        let results = inputs.chunks_exact(length).zip(outputs.chunks_exact(length));
        for ((passed, status), (input, output)) in passed.iter_mut().zip(status).zip(results) {
            *passed = status == Status::Done && input != output;
        }
        Ok(())
    }
}

/// Its thread is made when it is first used: runners of several keys are given out without a chance to fail.
struct MultiKeyBatches<'keys, D: Device> {
    keys: &'keys Arc<Keys<D>>,
    thread: Option<ThreadRunner<D>>,
}

impl<D: Device> MultiKeyRunner for MultiKeyBatches<'_, D> {
    fn run(&mut self, keys: &[usize], inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        check_batch(self.keys.length(), inputs, outputs, status)?;
        check_len("the list of keys", keys.len(), status.len())?;
        if keys.iter().any(|&key| key >= self.keys.count()) {
            return Err(failed_with("the place of a key in its ring is out of range"));
        }
        let thread = match &mut self.thread {
            Some(thread) => thread,
            thread => thread.insert(ThreadRunner::new(self.keys, Operation::Private).map_err(failed)?),
        };
        Ok(thread.run(Some(keys), inputs, outputs, status)?)
    }
}

/// The record of kernels: their name, and where they run.
fn name_of_kernels(device: &Description, kernels: &str) -> String {
    let place = if device.is_cpu { ON_A_CPU } else { "" };
    format!("{kernels}-{}{place}", device.driver.name())
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

fn failed(failure: DriverError) -> Error {
    BatchError::from(failure).into()
}

fn failed_with(reason: &str) -> Error {
    BatchError::Refused(reason.to_owned()).into()
}

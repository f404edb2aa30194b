//! A device that fails when it is told to: what tests, and whoever wants to see what becomes of a study, put in a
//! device's place.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use super::{Argument, Description, Device, Download, DriverError, Queue};
use crate::kernel::{Grid, Kernel};

/// The faults to come, and when. Shared between a device and whoever breaks it.
#[derive(Clone, Debug)]
pub struct Faults {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Kernels that may still start.
    kernels_left: AtomicUsize,
    /// Once lost, it stays lost.
    is_lost: AtomicBool,
    /// Bytes that may still be had.
    bytes_left: AtomicUsize,
    /// `true` if the next recombination is to be left out.
    omits_recombination: AtomicBool,
}

impl Default for Faults {
    /// None.
    fn default() -> Self {
        Faults {
            inner: Arc::new(Inner {
                kernels_left: AtomicUsize::new(usize::MAX),
                is_lost: AtomicBool::new(false),
                bytes_left: AtomicUsize::new(usize::MAX),
                omits_recombination: AtomicBool::new(false),
            }),
        }
    }
}

impl Faults {
    /// The device is lost when it has started so many more kernels.
    pub fn lose_after(&self, kernels: usize) {
        self.inner.kernels_left.store(kernels, Relaxed);
    }

    /// The device has so many bytes left, and gets none back.
    pub fn leave_memory(&self, bytes: usize) {
        self.inner.bytes_left.store(bytes, Relaxed);
    }

    /// The next recombination is left out, so that what follows works on what was there before.
    pub fn leave_out_recombination(&self) {
        self.inner.omits_recombination.store(true, Relaxed);
    }

    /// Refuses a call that cannot be made.
    fn call(&self) -> Result<(), DriverError> {
        match self.inner.is_lost.load(Relaxed) {
            true => Err(DriverError::Lost {
                call: FAULT,
                code: "lost".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Refuses a kernel that cannot start.
    fn kernel(&self) -> Result<(), DriverError> {
        self.call()?;
        let has_started = take(&self.inner.kernels_left, 1);
        self.inner.is_lost.fetch_or(!has_started, Relaxed);
        self.call()
    }

    fn take_memory(&self, bytes: usize) -> Result<(), DriverError> {
        match take(&self.inner.bytes_left, bytes) {
            true => Ok(()),
            false => Err(DriverError::OutOfMemory {
                bytes,
                call: FAULT,
                code: "no memory".to_owned(),
            }),
        }
    }
}

/// The call that failed.
const FAULT: &str = "a fault that was asked for";

/// Takes from what is left, unless it is too much.
fn take(left: &AtomicUsize, count: usize) -> bool {
    let taken = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(count));
    taken.is_ok()
}

/// A device with faults.
pub struct FaultyDevice<D> {
    device: D,
    faults: Faults,
}

impl<D: Device> FaultyDevice<D> {
    /// This device, failing as it is told.
    pub fn new(device: D, faults: Faults) -> Self {
        FaultyDevice { device, faults }
    }
}

impl<D: Device> Device for FaultyDevice<D> {
    type Buffer = D::Buffer;
    type Program = D::Program;
    type Queue = FaultyQueue<D::Queue>;

    fn description(&self) -> &Description {
        self.device.description()
    }

    fn allocate(&self, bytes: usize) -> Result<D::Buffer, DriverError> {
        self.faults.call()?;
        self.faults.take_memory(bytes)?;
        self.device.allocate(bytes)
    }

    fn program(&self, limbs: usize) -> Result<D::Program, DriverError> {
        self.faults.call()?;
        self.device.program(limbs)
    }

    fn kernel(&self, kernel: Kernel, limbs: usize) -> &'static str {
        self.device.kernel(kernel, limbs)
    }

    fn queue(&self) -> Result<FaultyQueue<D::Queue>, DriverError> {
        self.faults.call()?;
        Ok(FaultyQueue {
            queue: self.device.queue()?,
            faults: self.faults.clone(),
        })
    }
}

/// A queue of a device with faults.
pub struct FaultyQueue<Q> {
    queue: Q,
    faults: Faults,
}

impl<Q: Queue> Queue for FaultyQueue<Q> {
    type Buffer = Q::Buffer;
    type Program = Q::Program;

    fn upload(&mut self, to: &Q::Buffer, bytes: &[u8]) -> Result<(), DriverError> {
        self.faults.call()?;
        self.queue.upload(to, bytes)
    }

    fn download(&mut self, from: &Q::Buffer, bytes: usize) -> Result<Download, DriverError> {
        self.faults.call()?;
        self.queue.download(from, bytes)
    }

    fn wipe(&mut self, buffer: &Q::Buffer) -> Result<(), DriverError> {
        self.faults.call()?;
        self.queue.wipe(buffer)
    }

    fn launch(
        &mut self,
        program: &Q::Program,
        kernel: Kernel,
        grid: Grid,
        arguments: &[Argument<'_, Q::Buffer>],
    ) -> Result<(), DriverError> {
        self.faults.kernel()?;
        if kernel == Kernel::Recombine && self.faults.inner.omits_recombination.swap(false, Relaxed) {
            return Ok(());
        }
        self.queue.launch(program, kernel, grid, arguments)
    }

    fn submit(&mut self) -> Result<(), DriverError> {
        self.faults.call()?;
        self.queue.submit()
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.faults.call()?;
        self.queue.finish()
    }

    fn downloaded(&self, download: &Download) -> &[u8] {
        self.queue.downloaded(download)
    }
}

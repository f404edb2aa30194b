//! The interface of a device, whatever drives it: memory, queues of work, and programs that are compiled for it.
//!
//! | question | file |
//! |---|---|
//! | how is OpenCL loaded and called | `opencl` |
//! | how is NVIDIA's driver loaded and called | `cuda` |
//! | what if a device fails | `faulty`, which makes any device fail when it is told to |
//!
//! Each driver is a library that is looked for when it is first asked, so that one program runs with and without.

pub(crate) mod cuda;
pub(crate) mod description;
pub mod faulty;
pub(crate) mod opencl;
mod stages;

use crate::kernel::{Grid, Kernel};

pub use cuda::CudaDevice;
pub use description::{Description, Driver};
pub use opencl::OpenClDevice;

/// Why a device cannot be had, or what became of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// There is none, or none that was asked for.
    #[error("no device, because {reason}")]
    NoDevice {
        /// The reason of each driver.
        reason: String,
    },
    /// It has no room for so much.
    #[error("the device has no room for {bytes} bytes more ({call}: {code})")]
    OutOfMemory {
        /// Bytes asked for; 0 where a call took what it needed by itself.
        bytes: usize,
        /// The driver's function.
        call: &'static str,
        /// The code that it returned.
        code: String,
    },
    /// It does not answer any more.
    #[error("the device is lost ({call}: {code})")]
    Lost {
        /// The driver's function.
        call: &'static str,
        /// The code that it returned.
        code: String,
    },
    /// The kernels could not be compiled for it.
    #[error("the device's compiler refused the kernels: {log}")]
    Build {
        /// The compiler's log.
        log: String,
    },
    /// Anything else that a driver refuses.
    #[error("the driver refused {call}: {code}")]
    Call {
        /// The driver's function.
        call: &'static str,
        /// The code that it returned.
        code: String,
    },
}

/// A kernel's argument.
pub enum Argument<'a, B> {
    /// Memory of the device.
    Buffer(&'a B),
    /// A number.
    Word(u32),
}

/// The name of kernels that work on numbers of any length, in memory.
pub const PORTABLE: &str = "mont32x1";

/// And those that are written for a length, and keep numbers in registers.
pub const IN_REGISTERS: &str = "mont32x1_registers";

/// The name of kernels with private powers in doubles.
pub const IN_DOUBLES: &str = "mont52x1_doubles";

/// How many instructions of a kind a device does in a second, of all threads together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The kind.
    pub name: &'static str,
    /// Instructions a second.
    pub per_second: f64,
}

/// A kernel of somebody else's, to be measured beside ours: it takes the address of memory and a count.
#[derive(Clone, Copy, Debug)]
pub struct PeerKernel<'a> {
    /// PTX.
    pub text: &'a str,
    /// Its name in there.
    pub entry: &'a str,
    /// Blocks of a run.
    pub blocks: usize,
    /// Threads of a block.
    pub threads: usize,
    /// The count.
    pub count: u32,
}

/// Which kernels run, where a driver has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernels {
    /// Kernels written for a length, where there are some; the private power in words or in doubles, whichever a short
    /// measurement finds faster on the device.
    #[default]
    Fastest,
    /// Kernels written for a length, all in words.
    Words,
    /// Kernels written for a length, with the private power in doubles where it can be.
    Doubles,
    /// Kernels for any length, everywhere: to be compared with.
    Portable,
}

/// A device that is open.
pub trait Device: Send + Sync + 'static {
    /// Memory of the device, given back when it is dropped.
    type Buffer: Send + Sync;
    /// The kernels, compiled.
    type Program: Send + Sync;
    /// Work that is done in order.
    type Queue: Queue<Buffer = Self::Buffer, Program = Self::Program> + Send;

    /// Its description.
    fn description(&self) -> &Description;

    /// Memory, with whatever it holds.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], at the latest when it is first used.
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, DriverError>;

    /// The kernels for numbers of so many limbs.
    ///
    /// # Errors
    /// [`DriverError::Build`].
    fn program(&self, limbs: usize) -> Result<Self::Program, DriverError>;

    /// The name of the code that a kernel has for numbers of so many limbs.
    fn kernel(&self, _kernel: Kernel, _limbs: usize) -> &'static str {
        PORTABLE
    }

    /// A queue of its own for whoever asks.
    ///
    /// # Errors
    /// The driver's.
    fn queue(&self) -> Result<Self::Queue, DriverError>;
}

/// Work for a device, done in order while the caller goes on. Copies go by way of page-locked memory that belongs to
/// the queue and is wiped when it is dropped.
pub trait Queue {
    /// Memory of the device.
    type Buffer;
    /// The kernels, compiled.
    type Program;

    /// Copies bytes to the beginning of a buffer.
    ///
    /// # Errors
    /// The driver's.
    fn upload(&mut self, to: &Self::Buffer, bytes: &[u8]) -> Result<(), DriverError>;

    /// Copies the first bytes of a buffer, to be had from [`downloaded`](Self::downloaded) once the queue is finished.
    ///
    /// # Errors
    /// The driver's.
    fn download(&mut self, from: &Self::Buffer, bytes: usize) -> Result<Download, DriverError>;

    /// Overwrites a buffer with zeros.
    ///
    /// # Errors
    /// The driver's.
    fn wipe(&mut self, buffer: &Self::Buffer) -> Result<(), DriverError>;

    /// Runs a kernel.
    ///
    /// # Errors
    /// The driver's.
    fn launch(
        &mut self,
        program: &Self::Program,
        kernel: Kernel,
        grid: Grid,
        arguments: &[Argument<'_, Self::Buffer>],
    ) -> Result<(), DriverError>;

    /// Sees to it that what was asked for is begun.
    ///
    /// # Errors
    /// The driver's.
    fn submit(&mut self) -> Result<(), DriverError>;

    /// Waits until all of it is done. What was downloaded before can be had until the next upload or download.
    ///
    /// # Errors
    /// The driver's.
    fn finish(&mut self) -> Result<(), DriverError>;

    /// The bytes of a download; the queue must have been finished since.
    fn downloaded(&self, download: &Download) -> &[u8];
}

/// A download on its way.
#[derive(Debug)]
pub struct Download {
    /// Where in the queue's memory it goes.
    pub stage: usize,
    /// How many bytes.
    pub bytes: usize,
}

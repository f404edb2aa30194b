//! The description of a device, and its driver.

use std::fmt;

/// The description of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The driver.
    pub driver: Driver,
    /// The device's name.
    pub name: String,
    /// The platform that it belongs to, with its version.
    pub platform: String,
    /// Compute units, or multiprocessors.
    pub units: usize,
    /// Bytes of its memory.
    pub memory: usize,
    /// The most bytes that one buffer may have.
    pub largest_buffer: usize,
    /// The most work-items of a group.
    pub largest_group: usize,
    /// `true` if it is a CPU, which runs kernels as PoCL does and not as a graphics processor.
    pub is_cpu: bool,
    /// Its address on the PCI bus, where the driver tells: by this `nvidia-smi` is asked about the same device.
    pub pci: Option<String>,
}

impl Default for Description {
    /// A small device of nobody's.
    fn default() -> Self {
        Description {
            driver: Driver::OpenCl,
            name: String::new(),
            platform: String::new(),
            units: 1,
            memory: 1 << 30,
            largest_buffer: 1 << 28,
            largest_group: 1024,
            is_cpu: false,
            pci: None,
        }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {} ({})", self.name, self.driver, self.platform)?;
        if self.is_cpu {
            f.write_str(", which is a CPU and no graphics processor")?;
        }
        Ok(())
    }
}

/// A driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Driver {
    /// NVIDIA's own.
    Cuda,
    /// OpenCL.
    OpenCl,
}

impl Driver {
    /// Its name in selections: `cuda`, `opencl`.
    pub fn name(self) -> &'static str {
        match self {
            Driver::Cuda => "cuda",
            Driver::OpenCl => "opencl",
        }
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Driver::Cuda => "CUDA",
            Driver::OpenCl => "OpenCL",
        })
    }
}

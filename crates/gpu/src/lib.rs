//! RSA on graphics processors, and on whatever else runs OpenCL or CUDA.
//!
//! | question | file |
//! |---|---|
//! | which devices are there | [`devices`] |
//! | what computes on them | [`kernel`], with `kernel/rsa.cl` |
//! | what computes on NVIDIA's devices, in registers | [`ptx`] |
//! | how is a device driven | [`driver`] |
//! | what is a backend on one | [`backend`] |
//! | how is a key uploaded | `layout`, `key` |
//! | how does a batch run | `work`, in `steps`; `pairs` (blinding), `open_device` (memory, programs, launches) |
//! | how do batches stay on a device, to be measured | `resident` |
//! | how are candidates for primes tested | `candidates` |
//! | how do a device and this CPU share a batch | [`split`] |
//!
//! Drivers are looked for at run time: one program runs with a device and without, and says why there is none.

#![deny(unsafe_code)]

pub mod backend;
mod candidates;
pub mod devices;
#[allow(unsafe_code)]
pub mod driver;
pub mod kernel;
mod key;
mod layout;
mod open_device;
mod pairs;
pub mod ptx;
mod resident;
pub mod split;
mod steps;
mod work;

pub use backend::{Gpu, GpuBackend};
pub use devices::{Choice, Survey};
pub use driver::{Description, Driver, DriverError};
pub use kernel::{Grid, Launch};
pub use split::SplitBackend;

/// The name of the backends.
const NAME: &str = "gpu";

/// Why a batch was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchError {
    #[error(transparent)]
    Device(#[from] DriverError),
    #[error(transparent)]
    Arithmetic(#[from] rsalab_arith::Error),
    #[error("{0}")]
    Refused(String),
}

impl From<BatchError> for rsalab_rsa::Error {
    fn from(failed: BatchError) -> Self {
        match failed {
            BatchError::Arithmetic(rsalab_arith::Error::Randomness(reason)) => rsalab_rsa::Error::Randomness { reason },
            other => rsalab_rsa::Error::Backend {
                backend: NAME,
                reason: other.to_string(),
            },
        }
    }
}

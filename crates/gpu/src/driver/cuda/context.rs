//! The context in which NVIDIA's driver works, and what its errors mean.

use cudarc::driver::{
    result::{self, DriverError as CudaError},
    sys,
};

use crate::driver::DriverError;

/// The context that the process has for a device. It is retained once and for all.
#[derive(Clone, Copy)]
pub(super) struct Context(sys::CUcontext);

// SAFETY: a context may be current to any number of threads.
unsafe impl Send for Context {}
// SAFETY: As above.
unsafe impl Sync for Context {}

impl Context {
    /// One that was retained, and is never released.
    pub(super) fn new(context: sys::CUcontext) -> Self {
        Context(context)
    }

    /// Makes it the calling thread's, which all calls below ask for.
    pub(super) fn enter(self) -> Result<(), DriverError> {
        // SAFETY: it was retained, and never released.
        unsafe { result::ctx::set_current(self.0) }.map_err(failed("cuCtxSetCurrent", 0))
    }
}

/// The driver's name of an error.
pub(super) fn name_of(error: CudaError) -> String {
    match error.error_name() {
        Ok(name) => name.to_string_lossy().into_owned(),
        Err(_) => format!("{}", error.0 as u32),
    }
}

/// The error that a failed call means.
pub(super) fn failed(call: &'static str, bytes: usize) -> impl Fn(CudaError) -> DriverError {
    use sys::CUresult as Code;
    move |error| {
        let code = name_of(error);
        match error.0 {
            Code::CUDA_ERROR_OUT_OF_MEMORY => DriverError::OutOfMemory { bytes, call, code },
            Code::CUDA_ERROR_DEINITIALIZED
            | Code::CUDA_ERROR_DEVICE_UNAVAILABLE
            | Code::CUDA_ERROR_ECC_UNCORRECTABLE
            | Code::CUDA_ERROR_ILLEGAL_ADDRESS
            | Code::CUDA_ERROR_LAUNCH_TIMEOUT
            | Code::CUDA_ERROR_HARDWARE_STACK_ERROR
            | Code::CUDA_ERROR_LAUNCH_FAILED
            | Code::CUDA_ERROR_UNKNOWN => DriverError::Lost { call, code },
            _ => DriverError::Call { call, code },
        }
    }
}

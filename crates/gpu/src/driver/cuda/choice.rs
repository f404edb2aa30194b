//! The choice between private powers in words and in doubles: both are tried for a moment.

use std::{ffi::c_void, ptr, time::Duration};

use cudarc::driver::{result, sys};

use super::{
    context::{Context, failed},
    single::time_of_a_run,
};
use crate::{
    driver::DriverError,
    ptx::{THREADS, Trial},
};

/// Threads of a multiprocessor: more than any of the kernels has room for.
const OF_A_UNIT: usize = 768;

/// Runs a kernel of private powers of so many limbs on zeros, and says how long that takes, the second time.
pub(super) fn time_of(
    context: Context,
    units: usize,
    limbs: usize,
    function: sys::CUfunction,
) -> Result<Duration, DriverError> {
    context.enter()?;
    let trial = Trial::new(limbs, OF_A_UNIT * units);
    let mut buffers = Vec::new();
    for &bytes in &trial.buffers {
        buffers.push(Zeros::new(bytes)?);
    }
    let addresses = buffers.iter().map(|zeros| ptr::from_ref(&zeros.0));
    let words = trial.words.iter().map(ptr::from_ref);
    let mut values: Vec<*mut c_void> = addresses
        .map(|address| address.cast_mut().cast())
        .chain(words.map(|word| word.cast_mut().cast()))
        .collect();
    let blocks = (OF_A_UNIT * units).div_ceil(THREADS);
    let mut taken = Duration::MAX;
    for _ in 0..2 {
        // SAFETY: a trial has the sizes that the kernel reaches on it, as a test shows that runs both on an
        // interpreter.
        taken = unsafe { time_of_a_run(function, blocks, THREADS, &mut values) }?;
    }
    Ok(taken)
}

/// Memory full of zeros.
struct Zeros(sys::CUdeviceptr);

impl Zeros {
    fn new(bytes: usize) -> Result<Self, DriverError> {
        // SAFETY: the context is entered; the memory is written before anything reads it.
        let zeros = Zeros(unsafe { result::malloc_sync(bytes) }.map_err(failed("cuMemAlloc", bytes))?);
        // SAFETY: it has so many bytes.
        unsafe { result::memset_d8_sync(zeros.0, 0, bytes) }.map_err(failed("cuMemsetD8", bytes))?;
        Ok(zeros)
    }
}

impl Drop for Zeros {
    fn drop(&mut self) {
        // SAFETY: the memory is ours, and nothing uses it any more.
        let _ = unsafe { result::memory_free(self.0) };
    }
}

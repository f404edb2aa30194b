//! How many instructions of a kind a device does in a second.

use std::{
    ffi::CString,
    ptr,
    time::{Duration, Instant},
};

use cudarc::driver::result;

use super::{
    CudaDevice,
    context::{failed, name_of},
};
use crate::{
    driver::{Device, Failure, Rate},
    ptx::rates::{self, Kind},
};

impl CudaDevice {
    /// Measures each kind of instruction for a while.
    pub(crate) fn rates(&self) -> Result<Vec<Rate>, Failure> {
        let measured = Kind::ALL.map(|kind| self.rate(kind));
        measured.into_iter().collect()
    }

    fn rate(&self, kind: Kind) -> Result<Rate, Failure> {
        /// Enough threads of a multiprocessor for its instructions to be all that there is to wait for.
        const BLOCKS_OF_A_UNIT: usize = 16;
        const LONG_ENOUGH: Duration = Duration::from_millis(200);
        self.context.enter()?;
        let text = CString::new(rates::module(kind)).expect("there is no zero in it");
        // SAFETY: the text ends with a zero, as the driver wants it.
        let module =
            unsafe { result::module::load_data(text.as_ptr().cast()) }.map_err(|error| {
                Failure::Build {
                    log: format!("{} ({})", name_of(error), kind.name()),
                }
            })?;
        let name = CString::new(rates::NAME).expect("there is no zero in it");
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(module, name) }
            .map_err(failed("cuModuleGetFunction", 0))?;
        let threads = crate::ptx::THREADS;
        let blocks = BLOCKS_OF_A_UNIT * self.description.units;
        let out = self.allocate(4 * threads * blocks)?;
        let mut turns: u32 = 1000;
        let seconds = loop {
            let mut values = [
                ptr::from_ref(&out.address).cast_mut().cast(),
                ptr::from_ref(&turns).cast_mut().cast(),
            ];
            let start = Instant::now();
            // SAFETY: the kernel takes an address and a number, and writes a word of each thread, for which there is memory.
            unsafe {
                result::launch_kernel(
                    function,
                    (blocks as u32, 1, 1),
                    (threads as u32, 1, 1),
                    0,
                    ptr::null_mut(),
                    &mut values,
                )
            }
            .map_err(failed("cuLaunchKernel", 0))?;
            // SAFETY: the default stream of the context.
            unsafe { result::stream::synchronize(ptr::null_mut()) }
                .map_err(failed("cuStreamSynchronize", 0))?;
            let taken = start.elapsed();
            if taken >= LONG_ENOUGH || turns > 1 << 28 {
                break taken.as_secs_f64();
            }
            turns *= 4;
        };
        // SAFETY: the module is ours, and nothing of it runs.
        unsafe { result::module::unload(module) }.map_err(failed("cuModuleUnload", 0))?;
        let done = threads as f64 * blocks as f64 * f64::from(turns) * rates::OF_A_TURN as f64;
        Ok(Rate {
            name: kind.name(),
            per_second: done / seconds,
        })
    }
}

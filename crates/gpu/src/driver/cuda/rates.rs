//! How many instructions of a kind a device does in a second.

use std::{ptr, time::Duration};

use super::{
    CudaDevice,
    single::{Single, time_of_a_run},
};
use crate::{
    driver::{Device, DriverError, Rate},
    ptx::rates::{self, Kind},
};

impl CudaDevice {
    /// Measures each kind of instruction for a while.
    pub(crate) fn rates(&self) -> Result<Vec<Rate>, DriverError> {
        let measured = Kind::ALL.map(|kind| self.rate(kind));
        measured.into_iter().collect()
    }

    fn rate(&self, kind: Kind) -> Result<Rate, DriverError> {
        /// Enough threads of a multiprocessor for its instructions to be all that there is to wait for.
        const BLOCKS_OF_A_UNIT: usize = 16;
        const LONG_ENOUGH: Duration = Duration::from_millis(200);
        let single = Single::load(self.context, &rates::module(kind), rates::NAME)?;
        let threads = crate::ptx::THREADS;
        let blocks = BLOCKS_OF_A_UNIT * self.description.units;
        let out = self.allocate(4 * threads * blocks)?;
        let mut turns: u32 = 1000;
        let seconds = loop {
            let mut values = [
                ptr::from_ref(&out.address).cast_mut().cast(),
                ptr::from_ref(&turns).cast_mut().cast(),
            ];
            // SAFETY: the kernel takes an address and a number, and writes a word of each thread, for which there is
            // memory.
            let taken = unsafe { time_of_a_run(single.function, blocks, threads, &mut values) }?;
            if taken >= LONG_ENOUGH || turns > 1 << 28 {
                break taken.as_secs_f64();
            }
            turns *= 4;
        };
        let done = threads as f64 * blocks as f64 * f64::from(turns) * rates::OF_A_TURN as f64;
        Ok(Rate {
            name: kind.name(),
            per_second: done / seconds,
        })
    }
}

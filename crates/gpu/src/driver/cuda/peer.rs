//! Kernels of others, to be measured beside ours.

use std::{ptr, time::Duration};

use super::{
    CudaDevice,
    single::{Single, time_of_a_run},
};
use crate::driver::{Device, DriverError, PeerKernel, Queue};

impl CudaDevice {
    /// Runs a kernel on memory that begins with `bytes`, again and again for a while, and says how long the fastest run
    /// took. `bytes` is what the last one left.
    pub(crate) fn time_of_peer(
        &self,
        peer: &PeerKernel<'_>,
        bytes: &mut [u8],
        time: Duration,
    ) -> Result<Duration, DriverError> {
        let single = Single::load(self.context, peer.text, peer.entry)?;
        let memory = self.allocate(bytes.len())?;
        let mut queue = self.queue()?;
        queue.upload(&memory, bytes)?;
        queue.finish()?;
        let (mut fastest, mut total, mut runs) = (Duration::MAX, Duration::ZERO, 0);
        // The first one warms up.
        while runs < 2 || total < time {
            let mut values = [
                ptr::from_ref(&memory.address).cast_mut().cast(),
                ptr::from_ref(&peer.count).cast_mut().cast(),
            ];
            // SAFETY: the kernel takes an address and a number, and keeps to that memory: whoever gives one vouches for
            // it, as for any library that is loaded.
            let taken = unsafe { time_of_a_run(single.function, peer.blocks, peer.threads, &mut values) }?;
            if runs > 0 {
                fastest = fastest.min(taken);
                total += taken;
            }
            runs += 1;
        }
        let download = queue.download(&memory, bytes.len())?;
        queue.finish()?;
        bytes.copy_from_slice(queue.downloaded(&download));
        Ok(fastest)
    }
}

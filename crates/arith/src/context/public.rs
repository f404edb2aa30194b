//! The public operation: x^e mod n, on public data.

use super::unprotected::{Unprotected, UnprotectedScratch};
use crate::{CheckedPublicKey, Error, Kernel, Status};

/// A public key (n, e), prepared once for one kernel. Shared by any number of threads.
pub struct PublicContext {
    kernel: Kernel,
    power: Unprotected,
}

/// Working memory of one thread for one [`PublicContext`].
pub struct PublicScratch(UnprotectedScratch);

impl PublicContext {
    /// Prepares a key.
    pub fn new(key: &CheckedPublicKey, kernel: Kernel) -> Self {
        let modulus = key.modulus();
        let power = kernel.public(&modulus, &key.exponent());
        Self {
            kernel,
            power: Unprotected { modulus, power },
        }
    }

    /// Length of n, in bits.
    pub fn modulus_bits(&self) -> usize {
        self.power.modulus.bits()
    }

    /// Length of n, and of each input and output, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.power.modulus_len()
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Working memory for one thread.
    pub fn scratch(&self) -> PublicScratch {
        PublicScratch(self.power.scratch())
    }

    /// Raises every input to e, in time that depends on e, n and which inputs are in range, so on public data.
    ///
    /// `inputs` and `outputs` hold one number of [`modulus_len`](Self::modulus_len) big-endian bytes for each entry of
    /// `status`. An input that is not below n gets [`Status::OutOfRange`] and a zero output, and harms no neighbour.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers disagree; nothing is written then.
    pub fn apply_vartime(
        &self,
        scratch: &mut PublicScratch,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        self.power.apply(&mut scratch.0, inputs, outputs, status)
    }
}

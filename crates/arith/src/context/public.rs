//! The public operation: x^e mod n.

use crate::limbs::aligned::Aligned;
use crate::power::PublicExponentiation;
use crate::{CheckedPublicKey, Error, Kernel, Status, batch};

/// A public key (n, e), prepared once for one kernel. Shared by any number of threads.
pub struct PublicContext {
    kernel: Kernel,
    power: Box<dyn PublicExponentiation>,
}

/// Working memory of one thread for one [`PublicContext`].
pub struct PublicScratch(Aligned);

impl PublicContext {
    /// Prepares a key.
    pub fn new(key: &CheckedPublicKey, kernel: Kernel) -> Self {
        let power = kernel.public(key.modulus(), &key.exponent());
        Self { kernel, power }
    }

    /// Length of n, in bits.
    pub fn modulus_bits(&self) -> usize {
        self.power.modulus_bits()
    }

    /// Length of n, and of each input and output, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.modulus_bits().div_ceil(8)
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Working memory for one thread.
    pub fn scratch(&self) -> PublicScratch {
        PublicScratch(Aligned::zero(self.power.working_words()))
    }

    /// Raises every input to e, in time that depends on e, n, which inputs are in range and, where they are close to n,
    /// on what inputs and outputs are: so on public data.
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
        let raise = |inputs: &[u8], outputs: &mut [u8], status: &mut [Status], working: &mut [u64]| {
            self.power.raise_vartime(inputs, outputs, status, working);
        };
        self.in_passes(scratch, inputs, outputs, status, raise)
    }

    /// As [`apply_vartime`](Self::apply_vartime), for secret inputs and outputs: in time that depends on e, n, and
    /// which inputs are in range.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers disagree; nothing is written then.
    pub fn apply(
        &self,
        scratch: &mut PublicScratch,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let raise = |inputs: &[u8], outputs: &mut [u8], status: &mut [Status], working: &mut [u64]| {
            self.power.raise(inputs, outputs, status, working);
        };
        self.in_passes(scratch, inputs, outputs, status, raise)
    }

    fn in_passes(
        &self,
        scratch: &mut PublicScratch,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
        raise: impl Fn(&[u8], &mut [u8], &mut [Status], &mut [u64]),
    ) -> Result<(), Error> {
        let len = self.modulus_len();
        batch::check_layout(len, inputs, outputs, status)?;
        let step = self.power.items();
        for ((inputs, outputs), status) in inputs
            .chunks(step * len)
            .zip(outputs.chunks_mut(step * len))
            .zip(status.chunks_mut(step))
        {
            raise(inputs, outputs, status, &mut scratch.0);
        }
        Ok(())
    }
}

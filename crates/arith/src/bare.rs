//! The private operation without its protections, for measurement only.
//!
//! Peers such as GMP's `mpz_powm_sec` do a bare CRT: no blinding, no check of the result. To compare like with like, our
//! own engine can be run bare too. Nothing that handles a user's key may: `cargo xtask tidy` lets only `engines` name
//! this module.

use crate::batch::{self, Raise};
use crate::limbs::Modulus;
use crate::limbs::aligned::Aligned;
use crate::private::{PreparePower, PrivateParts, crt_power, plain_power};
use crate::public::public_key;
use crate::{Error, Kernel, Status};

/// A private key prepared without blinding and without a check of the result. **With the CRT, a fault in one half
/// reveals the key.** For measurement only.
pub struct BarePrivateContext {
    kernel: Kernel,
    modulus: Modulus,
    power: Box<dyn Raise>,
}

/// Working memory of one thread for one [`BarePrivateContext`]. Wiped on drop.
pub struct BarePrivateScratch {
    values: Aligned,
    working: Aligned,
}

impl BarePrivateContext {
    /// Prepares a key after checking every relation between its parts.
    ///
    /// # Errors
    /// Those of [`PrivateContext::new`](crate::PrivateContext::new).
    pub fn new(parts: &PrivateParts<'_>, kernel: Kernel) -> Result<Self, Error> {
        Self::with_power(parts, kernel, crt_power)
    }

    /// The same without the CRT: one power by the whole of d.
    ///
    /// # Errors
    /// Those of [`PrivateContext::without_crt`](crate::PrivateContext::without_crt).
    pub fn without_crt(parts: &PrivateParts<'_>, kernel: Kernel) -> Result<Self, Error> {
        Self::with_power(parts, kernel, plain_power)
    }

    fn with_power(
        parts: &PrivateParts<'_>,
        kernel: Kernel,
        power: PreparePower,
    ) -> Result<Self, Error> {
        let (modulus, _) = public_key(parts.n, parts.e)?;
        let power = power(kernel, &modulus, parts)?;
        Ok(Self {
            kernel,
            modulus,
            power,
        })
    }

    /// Length of n, in bits.
    pub fn modulus_bits(&self) -> usize {
        self.modulus.bits()
    }

    /// Length of n, and of each input and output, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.modulus.bits().div_ceil(8)
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Working memory for one thread.
    ///
    /// # Errors
    /// None today; the same shape as [`PrivateContext::scratch`](crate::PrivateContext::scratch).
    pub fn scratch(&self) -> Result<BarePrivateScratch, Error> {
        Ok(BarePrivateScratch {
            values: Aligned::zero(self.power.items() * self.modulus.limbs()),
            working: Aligned::zero(self.power.working_words()),
        })
    }

    /// Raises every input to d, with the layout and statuses of
    /// [`PrivateContext::apply`](crate::PrivateContext::apply), but never [`Status::Fault`].
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers disagree; nothing is written then.
    pub fn apply(
        &self,
        scratch: &mut BarePrivateScratch,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let len = self.modulus_len();
        batch::check_layout(len, inputs, outputs, status)?;
        let step = self.power.items();
        for ((inputs, outputs), status) in inputs
            .chunks(step * len)
            .zip(outputs.chunks_mut(step * len))
            .zip(status.chunks_mut(step))
        {
            let values = &mut scratch.values[..status.len() * self.modulus.limbs()];
            batch::read(&self.modulus, inputs, values, status);
            self.power.raise(values, &mut scratch.working);
            batch::write(&self.modulus, values, outputs, status);
        }
        Ok(())
    }
}

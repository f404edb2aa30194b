//! Bare mode, for measurement only: the private operation without its protections.
//!
//! Peers such as GMP's `mpz_powm_sec` do a bare CRT: no blinding, no check of the result. To compare like with like,
//! our own engine can be run bare too. Nothing that handles a user's key may, and so all of this takes the feature
//! `hazmat`.

use super::private::plain_power;
use super::unprotected::{Unprotected, UnprotectedScratch};
use crate::power::crt::CrtParts;
use crate::{CheckedPrivateKey, Error, Kernel, Status};

/// A private key prepared without blinding and without a check of the result. **With the CRT, a fault in one half
/// reveals the key.** For measurement only.
pub struct BarePrivateContext {
    kernel: Kernel,
    power: Unprotected,
}

/// Working memory of one thread for one [`BarePrivateContext`]. Wiped on drop.
pub struct BarePrivateScratch(UnprotectedScratch);

impl BarePrivateContext {
    /// Prepares a key.
    pub fn new(key: &CheckedPrivateKey, kernel: Kernel) -> Self {
        let modulus = key.public().modulus();
        let power = kernel.private(&CrtParts::new(&modulus, key));
        Self {
            kernel,
            power: Unprotected { modulus, power },
        }
    }

    /// [`new`](Self::new) without the CRT: one power by the whole of d.
    ///
    /// # Errors
    /// [`Error::InconsistentKey`] for a d that is not below n.
    pub fn without_crt(key: &CheckedPrivateKey, kernel: Kernel) -> Result<Self, Error> {
        let modulus = key.public().modulus();
        let power = plain_power(&modulus, key, kernel)?;
        Ok(Self {
            kernel,
            power: Unprotected { modulus, power },
        })
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
    pub fn scratch(&self) -> BarePrivateScratch {
        BarePrivateScratch(self.power.scratch())
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
        self.power.apply(&mut scratch.0, inputs, outputs, status)
    }
}

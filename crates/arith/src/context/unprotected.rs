//! A power over a whole batch, without protections: what bare contexts share.

use crate::batch;
use crate::limbs::Modulus;
use crate::limbs::aligned::Aligned;
use crate::power::Exponentiation;
use crate::{Error, Status};

/// A power without blinding and without a check, to be compared with peers that have neither.
pub(crate) struct Unprotected {
    pub(crate) modulus: Modulus,
    pub(crate) power: Box<dyn Exponentiation>,
}

/// Working memory of one thread for one [`Unprotected`] power. Wiped on drop.
pub(crate) struct UnprotectedScratch {
    values: Aligned,
    working: Aligned,
}

impl Unprotected {
    /// Length of n, and of each input and output, in bytes.
    pub(crate) fn modulus_len(&self) -> usize {
        self.modulus.bits().div_ceil(8)
    }

    /// Working memory for one thread.
    pub(crate) fn scratch(&self) -> UnprotectedScratch {
        UnprotectedScratch {
            values: Aligned::zero(self.power.items() * self.modulus.limbs()),
            working: Aligned::zero(self.power.working_words()),
        }
    }

    /// Raises every input. One that is not below n gets [`Status::OutOfRange`] and a zero output.
    pub(crate) fn apply(
        &self,
        scratch: &mut UnprotectedScratch,
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

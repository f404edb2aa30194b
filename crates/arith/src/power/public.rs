//! x^e mod n by one power, on public data, from bytes to bytes.

use super::PublicExponentiation;
use crate::Status;
use crate::exp::{self, PublicExponent};
use crate::kernel::LaneKernel;
use crate::limbs::{Modulus, words};

/// x^e mod n with one kernel, n and e the same in every lane.
pub(crate) struct PublicPower<K: LaneKernel> {
    kernel: K,
    moduli: K::Moduli,
    exponent: PublicExponent,
    modulus: Modulus,
}

impl<K: LaneKernel> PublicPower<K> {
    pub(crate) fn new(kernel: K, modulus: Modulus, e: &[u64]) -> Self {
        Self {
            kernel,
            moduli: kernel.prepare(&vec![&modulus; K::LANES]),
            exponent: PublicExponent::new_vartime::<K>(e, modulus.limbs()),
            modulus,
        }
    }
}

impl<K: LaneKernel> PublicExponentiation for PublicPower<K> {
    fn items(&self) -> usize {
        K::LANES
    }

    fn modulus_bits(&self) -> usize {
        self.modulus.bits()
    }

    fn working_words(&self) -> usize {
        let limbs = self.modulus.limbs();
        K::words(limbs) + self.exponent.working_words::<K>(limbs) + limbs
    }

    fn raise_vartime(&self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status], working: &mut [u64]) {
        let len = self.modulus.bits().div_ceil(8);
        let (value, working) = working.split_at_mut(K::words(self.modulus.limbs()));
        let (working, limbs) = working.split_at_mut(working.len() - self.modulus.limbs());
        value.fill(0);
        for (lane, (input, status)) in inputs.chunks_exact(len).zip(&mut *status).enumerate() {
            *status = match words::is_less_be_vartime(input, self.modulus.n()) {
                true => Status::Done,
                false => Status::OutOfRange,
            };
            // The others stay zero.
            if *status == Status::Done {
                self.kernel.load_bytes(&self.moduli, lane, input, limbs, value);
            }
        }
        exp::exp_public_vartime(self.kernel, &self.moduli, &self.exponent, value, working);
        for (lane, (output, status)) in outputs.chunks_exact_mut(len).zip(status).enumerate() {
            match status {
                Status::Done => self
                    .kernel
                    .store_bytes_vartime(&self.moduli, lane, value, limbs, output),
                Status::OutOfRange | Status::Fault => output.fill(0),
            }
        }
    }
}

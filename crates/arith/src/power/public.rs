//! x^e mod n by one power, from bytes to bytes, on public data or on secret.

use super::PublicExponentiation;
use crate::Status;
use crate::declassify::declassify;
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

    /// Raises numbers, as far as they are below n; in a time that depends on what they are if they are public.
    fn pass<const ARE_PUBLIC: bool>(
        &self,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
        working: &mut [u64],
    ) {
        let (kernel, moduli, n) = (self.kernel, &self.moduli, self.modulus.n());
        let len = self.modulus.bits().div_ceil(8);
        let (value, working) = working.split_at_mut(K::words(self.modulus.limbs()));
        let (working, limbs) = working.split_at_mut(working.len() - self.modulus.limbs());
        value.fill(0);
        for (lane, (input, status)) in inputs.chunks_exact(len).zip(&mut *status).enumerate() {
            let is_less = match ARE_PUBLIC {
                true => words::is_less_be_vartime(input, n),
                false => {
                    words::read_be(limbs, input);
                    declassify(words::is_less(limbs, n))
                }
            };
            *status = match is_less {
                true => Status::Done,
                false => Status::OutOfRange,
            };
            // The others stay zero.
            match (is_less, ARE_PUBLIC) {
                (false, _) => {}
                (true, true) => kernel.load_bytes(moduli, lane, input, limbs, value),
                (true, false) => kernel.load(moduli, lane, limbs, value),
            }
        }
        exp::exp_public_vartime(kernel, moduli, &self.exponent, value, working);
        for (lane, (output, status)) in outputs.chunks_exact_mut(len).zip(status).enumerate() {
            match (status, ARE_PUBLIC) {
                (Status::Done, true) => kernel.store_bytes_vartime(moduli, lane, value, limbs, output),
                (Status::Done, false) => {
                    kernel.store(moduli, lane, value, limbs);
                    words::write_be(limbs, output);
                }
                (Status::OutOfRange | Status::Fault, _) => output.fill(0),
            }
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
        self.pass::<true>(inputs, outputs, status, working);
    }

    fn raise(&self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status], working: &mut [u64]) {
        self.pass::<false>(inputs, outputs, status, working);
    }
}

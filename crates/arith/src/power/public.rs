//! x^e mod n by one power, on public data.

use super::Exponentiation;
use crate::exp::{self, PublicExponent};
use crate::kernel::LaneKernel;
use crate::limbs::Modulus;

/// x^e mod n with one kernel, n and e the same in every lane.
pub(crate) struct PublicPower<K: LaneKernel> {
    kernel: K,
    moduli: K::Moduli,
    exponent: PublicExponent,
    limbs: usize,
}

impl<K: LaneKernel> PublicPower<K> {
    pub(crate) fn new(kernel: K, modulus: &Modulus, e: &[u64]) -> Self {
        Self {
            kernel,
            moduli: kernel.prepare(&vec![modulus; K::LANES]),
            exponent: PublicExponent::new_vartime::<K>(e, modulus.limbs()),
            limbs: modulus.limbs(),
        }
    }
}

impl<K: LaneKernel> Exponentiation for PublicPower<K> {
    fn items(&self) -> usize {
        K::LANES
    }

    fn working_words(&self) -> usize {
        K::words(self.limbs) + self.exponent.working_words::<K>(self.limbs)
    }

    fn raise(&self, values: &mut [u64], working: &mut [u64]) {
        let (value, working) = working.split_at_mut(K::words(self.limbs));
        value.fill(0);
        for (lane, limbs) in values.chunks_exact(self.limbs).enumerate() {
            self.kernel.load(&self.moduli, lane, limbs, value);
        }
        exp::exp_public_vartime(self.kernel, &self.moduli, &self.exponent, value, working);
        for (lane, limbs) in values.chunks_exact_mut(self.limbs).enumerate() {
            self.kernel.store(&self.moduli, lane, value, limbs);
        }
    }
}

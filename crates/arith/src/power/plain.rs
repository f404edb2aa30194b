//! x^d mod n by one full-length power, without the CRT: four times the work of [`crt`](super::crt). For a key whose
//! primes are not known yet; and to be compared with programs that do it so.

use super::Exponentiation;
use crate::exp::{self, Digits, Power, Windows};
use crate::fault::{self, Place};
use crate::kernel::LaneKernel;
use crate::limbs::Modulus;

/// The private power with one kernel: each number fills one lane.
pub(crate) struct PlainPower<K: LaneKernel> {
    kernel: K,
    moduli: K::Moduli,
    digits: Digits,
    limbs: usize,
    windows: Windows,
}

impl<K: LaneKernel> PlainPower<K> {
    /// For a `d` of at most `bits` bits, all of which are worked through, however long `d` is.
    pub(crate) fn new(kernel: K, modulus: &Modulus, d: &[u64], bits: usize) -> Self {
        let windows = Windows::new::<K>(modulus.limbs(), bits);
        let mut power = Self {
            kernel,
            moduli: kernel.prepare(&vec![modulus; K::LANES]),
            digits: Digits::new(&vec![d; K::LANES], windows),
            limbs: modulus.limbs(),
            windows,
        };
        fault::pass_moduli(Place::Primes, kernel, &mut power.moduli);
        power.digits.pass_fault(Place::Exponents);
        power
    }
}

impl<K: LaneKernel> Exponentiation for PlainPower<K> {
    fn items(&self) -> usize {
        K::LANES
    }

    fn working_words(&self) -> usize {
        K::words(self.limbs) + self.windows.working_words::<K>(self.limbs)
    }

    fn raise(&self, values: &mut [u64], working: &mut [u64]) {
        let (value, working) = working.split_at_mut(K::words(self.limbs));
        value.fill(0);
        for (lane, limbs) in values.chunks_exact(self.limbs).enumerate() {
            self.kernel.load(&self.moduli, lane, limbs, value);
        }
        self.kernel.enter(&self.moduli, value, working);
        let power = Power {
            moduli: &self.moduli,
            digits: &self.digits,
            value: &mut *value,
            working: &mut *working,
        };
        exp::exp(self.kernel, [power]);
        fault::pass(Place::Half, value);
        self.kernel.leave(&self.moduli, value, working);
        for (lane, limbs) in values.chunks_exact_mut(self.limbs).enumerate() {
            self.kernel.store(&self.moduli, lane, value, limbs);
        }
    }
}

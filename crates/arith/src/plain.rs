//! x^d mod n by one full-length power, without the CRT: four times the work of [`crt`](crate::crt), to be measured beside
//! programs that do it so; and for a
//! key whose primes are not known yet.

use crate::Error;
use crate::batch::Raise;
use crate::exp::{self, Digits, Power, Windows};
use crate::integer;
use crate::kernel::LaneKernel;
use crate::limbs::{Modulus, Nat};
use crate::private::PrivateParts;

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
        Self {
            kernel,
            moduli: kernel.prepare(&vec![modulus; K::LANES]),
            digits: Digits::new(&vec![d; K::LANES], windows),
            limbs: modulus.limbs(),
            windows,
        }
    }
}

impl<K: LaneKernel> Raise for PlainPower<K> {
    fn kernel(&self) -> &'static str {
        K::NAME
    }

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
        self.kernel.leave(&self.moduli, value, working);
        for (lane, limbs) in values.chunks_exact_mut(self.limbs).enumerate() {
            self.kernel.store(&self.moduli, lane, value, limbs);
        }
    }
}

/// Checks a private key and brings its exponent into limb form, of the modulus's length.
// Never inlined: `tracking/verdicts.supp` knows it by its name.
#[inline(never)]
pub(crate) fn exponent(modulus: &Modulus, parts: &PrivateParts<'_>) -> Result<Nat, Error> {
    integer::check(parts)?;
    // Larger exponents are right too, but the window is as long as n.
    match integer::is_less(parts.d, parts.n) {
        true => Ok(Nat::from_be(parts.d).resized(modulus.limbs())),
        false => Err(Error::InconsistentKey("d is not below n")),
    }
}

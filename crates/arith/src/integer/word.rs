//! Inverses of a number that fits a limb, modulo one that does not: what a key with the usual public exponent takes.

use super::divide::divide_exact;
use super::safegcd::Inverter;
use crate::Error;
use crate::limbs::modulus::inverse_word;
use crate::limbs::nat::product;
use crate::limbs::{Nat, words};
use subtle::Choice;

/// A public odd number above 1 that fits a limb.
pub(super) struct Word {
    value: u64,
    /// value^-1 mod 2^64.
    inverse: u64,
}

impl Word {
    /// None for numbers that are even, 1, or longer.
    pub(super) fn new(number: &[u64]) -> Option<Self> {
        let [value, above @ ..] = number else {
            return None;
        };
        let fits = above.iter().all(|&limb| limb == 0) && value & 1 == 1 && *value > 1;
        fits.then(|| Self {
            value: *value,
            inverse: inverse_word(*value),
        })
    }

    /// The inverse of this number mod m, in as many limbs as m: with k = -1 / m mod e it is (k m + 1) / e, which is
    /// below m and a division without remainder.
    pub(super) fn inverse_mod(&self, m: &Nat) -> Result<Nat, Error> {
        // m over 2^64 for each of its limbs, negative; and without that.
        let rest = m.iter().fold(0, |rest, &limb| {
            let (difference, borrow) = words::sbb(limb, rest, false);
            self.reduced(difference) + u64::from(borrow)
        });
        let factor =
            (0..64 * (m.len() + 1)).fold(1, |factor, _| (u128::from(factor) * 2 % u128::from(self.value)) as u64);
        let (low, high) = words::mac(rest, factor, 0, 0);
        let (negative, borrow) = words::sbb(high, self.reduced(low), false);
        let negative = negative.wrapping_add(self.value & words::mask(Choice::from(u8::from(borrow))));
        let mut k = Nat::from_word(negative, 1);
        words::reduce_once(&mut k, &[self.value]);
        if !Inverter::new(1).invert(&mut k, &[self.value]) {
            return Err(Error::NotInvertible);
        }
        let mut multiple = product(m, &k);
        words::add_carry(&mut multiple, Choice::from(1));
        let quotient = divide_exact(&multiple, &[self.value]);
        Ok(quotient.resized(m.len()))
    }

    /// The high word of the multiple of this number whose low word is `low`.
    fn reduced(&self, low: u64) -> u64 {
        words::mac(low.wrapping_mul(self.inverse), self.value, 0, 0).1
    }
}

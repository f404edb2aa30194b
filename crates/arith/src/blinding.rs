//! Blinding (Kocher 1996): the private power is taken of x r^e, never of x, so that its timing says nothing about x.

use crate::Error;
use crate::batch::Raise;
use crate::integer::safegcd::Inverter;
use crate::kernel::mont64x1_portable;
use crate::limbs::{Modulus, Nat, words};
use zeroize::Zeroizing;

/// Items served by one random r. In between, factors are squared, which keeps the pair a pair.
const USES: u32 = 32;

/// The pair (r^e, r^-1) mod n of one thread, both in Montgomery form.
pub(crate) struct Blinding {
    factor: Nat,
    inverse: Nat,
    uses: u32,
    process: u32,
    inverter: Inverter,
    bytes: Zeroizing<Vec<u8>>,
}

impl Blinding {
    /// A pair that is drawn when it is first used.
    pub(crate) fn new(modulus: &Modulus) -> Self {
        Self {
            factor: Nat::zero(modulus.limbs()),
            inverse: Nat::zero(modulus.limbs()),
            uses: USES,
            process: 0,
            inverter: Inverter::new(modulus.limbs()),
            bytes: Zeroizing::new(vec![0; modulus.bits().div_ceil(8)]),
        }
    }

    /// Throws the pair away if it was drawn by another process: after a fork, two processes must not share one.
    pub(crate) fn check_process(&mut self) {
        let process = std::process::id();
        if self.process != process {
            self.process = process;
            self.discard();
        }
    }

    /// Throws the pair away: the next item gets a fresh one.
    pub(crate) fn discard(&mut self) {
        self.uses = USES;
    }

    /// Makes the pair fresh for one item: the last one squared, or a new one.
    pub(crate) fn advance(
        &mut self,
        modulus: &Modulus,
        public: &dyn Raise,
        working: &mut [u64],
    ) -> Result<(), Error> {
        if self.uses < USES {
            self.uses += 1;
            for value in [&mut self.factor, &mut self.inverse] {
                mont64x1_portable::sqr(modulus, value, &mut working[..2 * modulus.limbs()]);
                words::reduce_once(value, modulus.n());
            }
            return Ok(());
        }
        loop {
            self.draw(modulus)?;
            self.inverse.copy_from_slice(&self.factor);
            if self.inverter.invert(&mut self.inverse, modulus.n()) {
                break;
            }
        }
        public.raise(&mut self.factor, working);
        for value in [&mut self.factor, &mut self.inverse] {
            modulus.mul_reduced(value, modulus.rr(), &mut working[..2 * modulus.limbs()]);
        }
        self.uses = 1;
        Ok(())
    }

    /// x = x r^e.
    pub(crate) fn blind(&self, modulus: &Modulus, x: &mut [u64], working: &mut [u64]) {
        modulus.mul_reduced(x, &self.factor, working);
    }

    /// Makes the pair not a pair, as a fault would.
    #[cfg(test)]
    pub(crate) fn break_pair(&mut self) {
        self.inverse[0] ^= 2;
    }

    /// r^-1 in Montgomery form: a result times this is the result without r.
    pub(crate) fn inverse(&self) -> &[u64] {
        &self.inverse
    }

    /// A uniform number below n, by rejection.
    fn draw(&mut self, modulus: &Modulus) -> Result<(), Error> {
        loop {
            getrandom::fill(&mut self.bytes).map_err(|e| Error::Randomness(e.to_string()))?;
            self.bytes[0] &= 0xff >> (8 * self.bytes.len() - modulus.bits());
            words::read_be(&mut self.factor, &self.bytes);
            if words::is_less(&self.factor, modulus.n()).into() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;
    use crate::model::{number, over_r};
    use num_bigint::BigUint;

    /// A modulus, its public power, and working memory for them.
    fn setting() -> (Modulus, Box<dyn Raise>, Vec<u64>) {
        // 2^521 - 1 is prime: every r but zero has an inverse.
        let n = [vec![u64::MAX; 8], vec![0x1ff]].concat();
        let modulus = Modulus::new(&n, 521, 9);
        let public = Kernel::auto().public(&modulus, &[65537]);
        let working = vec![0; public.working_words().max(18)];
        (modulus, public, working)
    }

    fn plain(value: &[u64], modulus: &Modulus) -> BigUint {
        over_r(&number(value), &number(modulus.n()), value.len())
    }

    #[test]
    fn every_pair_is_a_pair_and_none_comes_twice() {
        let (modulus, public, mut working) = setting();
        let n = number(modulus.n());
        let mut blinding = Blinding::new(&modulus);
        let mut seen = Vec::new();
        for use_count in 0..3 * USES {
            blinding.advance(&modulus, &*public, &mut working).unwrap();
            let (factor, inverse) = (
                plain(&blinding.factor, &modulus),
                plain(&blinding.inverse, &modulus),
            );
            assert_eq!(
                factor * inverse.modpow(&65537u32.into(), &n) % &n,
                BigUint::from(1u8),
                "use {use_count}"
            );
            assert!(!seen.contains(&inverse));
            seen.push(inverse);
        }
        // A fresh r follows exactly every USES items: there the new inverse is not the square of the one before.
        for (i, pair) in seen.windows(2).enumerate() {
            let squared = &pair[0] * &pair[0] % &n == pair[1];
            assert_eq!(
                squared,
                !(i as u32 + 1).is_multiple_of(USES),
                "after use {i}"
            );
        }
    }

    #[test]
    fn blinding_multiplies_and_its_inverse_takes_it_back() {
        let (modulus, public, mut working) = setting();
        let n = number(modulus.n());
        let mut blinding = Blinding::new(&modulus);
        blinding.advance(&modulus, &*public, &mut working).unwrap();
        let mut x = vec![3; 9];
        let before = number(&x) % &n;
        blinding.blind(&modulus, &mut x, &mut working[..18]);
        assert_eq!(number(&x), &before * plain(&blinding.factor, &modulus) % &n);
        public.raise(&mut x, &mut working);
        let expected = before.modpow(&65537u32.into(), &n)
            * plain(&blinding.factor, &modulus).modpow(&65537u32.into(), &n)
            % &n;
        assert_eq!(number(&x), expected);
    }

    #[test]
    fn a_pair_of_another_process_is_not_used() {
        let (modulus, public, mut working) = setting();
        let mut blinding = Blinding::new(&modulus);
        blinding.check_process();
        blinding.advance(&modulus, &*public, &mut working).unwrap();
        blinding.check_process();
        assert_eq!(blinding.uses, 1);
        // As the child of a fork sees what its parent left.
        blinding.process = blinding.process.wrapping_add(1);
        let parents = plain(&blinding.inverse, &modulus);
        blinding.check_process();
        blinding.advance(&modulus, &*public, &mut working).unwrap();
        assert_ne!(
            plain(&blinding.inverse, &modulus),
            &parents * &parents % number(modulus.n())
        );
    }

    #[test]
    fn draws_stay_below_the_modulus() {
        // 2^512 + 1: nearly half of all draws of 513 bits are rejected.
        let modulus = Modulus::new(&[1, 0, 0, 0, 0, 0, 0, 0, 1], 513, 9);
        let mut blinding = Blinding::new(&modulus);
        for _ in 0..50 {
            blinding.draw(&modulus).unwrap();
            assert!(number(&blinding.factor) < number(modulus.n()));
        }
    }
}

//! Protection of a private power: blinding (Kocher 1996), so that its timing says nothing about its input, and the
//! check of a result before it is released, for a faulty CRT half would reveal the factors of n (Boneh, DeMillo and
//! Lipton 1997).

use crate::declassify::declassify;
use crate::exp::{self, PublicExponent};
use crate::fault::{self, Place};
use crate::invertible::Draws;
use crate::kernel::LaneKernel;
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, words};
use crate::{Error, Status};

/// Steps served by one random r in each lane. In between, factors are squared, which keeps a pair a pair.
const USES: u32 = 32;

/// The pairs (r^e, r^-1) mod n of one thread, one for each lane, in Montgomery form.
pub(crate) struct Blinding {
    factors: Aligned,
    inverses: Aligned,
    uses: u32,
    process: u32,
    /// An r for each lane.
    draws: Draws,
}

impl Blinding {
    /// Throws the pairs away if they were drawn by another process: after a fork, two processes must not share one.
    pub(crate) fn check_process(&mut self) {
        let process = std::process::id();
        if self.process != process {
            self.process = process;
            self.discard();
        }
    }

    /// Throws the pairs away: the next step gets fresh ones.
    pub(crate) fn discard(&mut self) {
        self.uses = USES;
    }

    /// The inverses, as they are in memory.
    #[cfg(test)]
    pub(crate) fn inverses(&self) -> &[u64] {
        &self.inverses
    }

    /// Makes the pairs not pairs, as a fault would.
    #[cfg(test)]
    pub(crate) fn break_pairs(&mut self) {
        self.inverses[..8].fill(0);
    }
}

/// Blinding and check for one modulus, whatever the kernel.
pub(crate) trait BlindedCheck: Send + Sync {
    /// Numbers that one step takes.
    fn items(&self) -> usize;
    /// Words of working memory.
    fn working_words(&self) -> usize;
    /// Room for a thread's pairs, which are drawn when they are first used.
    fn blinding(&self) -> Blinding;
    /// Makes the pairs fresh for one step: the last ones squared, or new ones.
    fn advance(&self, blinding: &mut Blinding, working: &mut [u64]) -> Result<(), Error>;
    /// Multiplies each of a step's numbers with the r^e of its own pair.
    fn blind(&self, blinding: &Blinding, values: &mut [u64], working: &mut [u64]);
    /// Takes the r out of each of a step's powers, and marks and wipes every item whose result^e is not its input mod
    /// n.
    ///
    /// Constant time in the numbers; the verdicts are released, as they must be.
    fn release(
        &self,
        blinding: &Blinding,
        inputs: &[u64],
        values: &mut [u64],
        working: &mut [u64],
        status: &mut [Status],
    );
}

/// [`BlindedCheck`] with one kernel, n in every lane.
#[derive(Clone)]
pub(crate) struct LaneBlindedCheck<K: LaneKernel> {
    kernel: K,
    modulus: Modulus,
    moduli: K::Moduli,
    exponent: PublicExponent,
}

impl<K: LaneKernel> LaneBlindedCheck<K> {
    pub(crate) fn new(kernel: K, modulus: &Modulus, e: &[u64]) -> Self {
        let exponent = PublicExponent::new_vartime::<K>(e, modulus.limbs());
        Self::with_exponent(kernel, modulus, exponent)
    }

    /// For an exponent that is cut up already.
    pub(crate) fn with_exponent(kernel: K, modulus: &Modulus, exponent: PublicExponent) -> Self {
        let mut check = Self {
            kernel,
            modulus: modulus.clone(),
            moduli: kernel.prepare(&vec![modulus; K::LANES]),
            exponent,
        };
        check
            .modulus
            .for_each_number(&mut |words| fault::pass(Place::CheckModulus, words));
        fault::pass_moduli(Place::CheckModulus, kernel, &mut check.moduli);
        check.exponent.pass_fault(Place::PublicExponent);
        check
    }

    /// Pairs that change nothing: (1, 1).
    pub(crate) fn without_blinding(&self) -> Blinding {
        let mut blinding = self.blinding();
        for value in [&mut blinding.factors, &mut blinding.inverses] {
            self.kernel.one(&self.moduli, value);
        }
        blinding
    }

    fn words(&self) -> usize {
        K::words(self.modulus.limbs())
    }

    /// Puts one number into each lane, as many as there are.
    fn load(&self, numbers: &[u64], value: &mut [u64]) {
        value.fill(0);
        let numbers = numbers.chunks_exact(self.modulus.limbs());
        for (lane, number) in numbers.enumerate() {
            self.kernel.load(&self.moduli, lane, number, value);
        }
    }

    fn store(&self, value: &[u64], numbers: &mut [u64]) {
        let numbers = numbers.chunks_exact_mut(self.modulus.limbs());
        for (lane, number) in numbers.enumerate() {
            self.kernel.store(&self.moduli, lane, value, number);
        }
    }

    /// Puts the modulus of another check, which is of the same size, into a lane.
    pub(crate) fn gather(&mut self, lane: usize, from: &Self) {
        self.kernel.copy_modulus(&mut self.moduli, lane, &from.moduli, lane);
        self.exponent.copy_lane(lane, &from.exponent, lane);
    }

    /// Copies the pair of one lane.
    pub(crate) fn gather_pair(&self, to: &mut Blinding, from: &Blinding, lane: usize) {
        for (to, from) in [(&mut to.factors, &from.factors), (&mut to.inverses, &from.inverses)] {
            self.kernel.copy_lane(to, lane, from, lane);
        }
    }

    /// Draws fresh pairs.
    fn draw(&self, blinding: &mut Blinding, working: &mut [u64]) -> Result<(), Error> {
        blinding.draws.renew(&self.modulus, working)?;
        for lane in 0..K::LANES {
            let (draw, inverse) = (blinding.draws.number(lane), blinding.draws.inverse(lane));
            self.kernel.load(&self.moduli, lane, draw, &mut blinding.factors);
            self.kernel.load(&self.moduli, lane, inverse, &mut blinding.inverses);
        }
        let factors = &mut blinding.factors;
        exp::exp_public_vartime(self.kernel, &self.moduli, &self.exponent, factors, working);
        for value in [&mut blinding.factors, &mut blinding.inverses] {
            self.kernel.enter(&self.moduli, value, working);
        }
        blinding.uses = 1;
        Ok(())
    }
}

impl<K: LaneKernel> BlindedCheck for LaneBlindedCheck<K> {
    fn items(&self) -> usize {
        K::LANES
    }

    fn working_words(&self) -> usize {
        let limbs = self.modulus.limbs();
        let lanes = self.words() + self.exponent.working_words::<K>(limbs);
        lanes.max(3 * limbs) + K::LANES * limbs
    }

    fn blinding(&self) -> Blinding {
        Blinding {
            factors: Aligned::zero(self.words()),
            inverses: Aligned::zero(self.words()),
            uses: USES,
            process: 0,
            draws: Draws::new(&self.modulus, K::LANES),
        }
    }

    fn advance(&self, blinding: &mut Blinding, working: &mut [u64]) -> Result<(), Error> {
        if blinding.uses == USES {
            self.draw(blinding, working)?;
        } else {
            blinding.uses += 1;
            for value in [&mut blinding.factors, &mut blinding.inverses] {
                self.kernel.sqr(&self.moduli, value, 1, working);
            }
        }
        fault::pass(Place::BlindingFactor, &mut blinding.factors);
        fault::pass(Place::BlindingInverse, &mut blinding.inverses);
        Ok(())
    }

    fn blind(&self, blinding: &Blinding, values: &mut [u64], working: &mut [u64]) {
        let (value, working) = working.split_at_mut(self.words());
        self.load(values, value);
        // One factor is in Montgomery form, so the product is not.
        self.kernel.mul(&self.moduli, value, &blinding.factors, working);
        self.store(value, values);
        fault::pass(Place::Blinded, values);
    }

    fn release(
        &self,
        blinding: &Blinding,
        inputs: &[u64],
        values: &mut [u64],
        working: &mut [u64],
        status: &mut [Status],
    ) {
        let limbs = self.modulus.limbs();
        let (value, working) = working.split_at_mut(self.words());
        self.load(values, value);
        self.kernel.mul(&self.moduli, value, &blinding.inverses, working);
        self.store(value, values);
        fault::pass(Place::Result, values);
        // A kernel whose values may exceed n is given the reduced ones.
        self.load(values, value);
        fault::pass(Place::CheckBase, value);
        exp::exp_public_vartime(self.kernel, &self.moduli, &self.exponent, value, working);
        let powers = &mut working[..values.len()];
        self.store(value, powers);
        fault::pass(Place::CheckPower, powers);
        let powers = powers.chunks_exact(limbs).zip(inputs.chunks_exact(limbs));
        for ((result, (power, input)), status) in values.chunks_exact_mut(limbs).zip(powers).zip(status) {
            if !declassify(words::is_equal(power, input)) {
                result.fill(0);
                *status = Status::Fault;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::mont47::Mont47;
    use crate::kernel::mont52x8::Mont52x8;
    use crate::kernel::mont64x1::Mont64x1;
    use crate::kernel::{doubles, lanes};
    use crate::limbs::montgomery::Portable;
    use crate::model::number;
    use num_bigint::BigUint;

    const E: u32 = 65537;

    /// 2^521 - 1, a prime: every r but zero has an inverse.
    fn prime() -> Modulus {
        let n = [vec![u64::MAX; 8], vec![0x1ff]].concat();
        Modulus::new(&n, 521, 9)
    }

    fn blinded_check<K: LaneKernel>(kernel: K, modulus: &Modulus) -> (LaneBlindedCheck<K>, Aligned) {
        let check = LaneBlindedCheck::new(kernel, modulus, &[u64::from(E)]);
        let working = Aligned::zero(check.working_words());
        (check, working)
    }

    /// The numbers of all lanes.
    fn plain<K: LaneKernel>(check: &LaneBlindedCheck<K>, value: &[u64], working: &mut [u64]) -> Vec<BigUint> {
        let mut value = value.to_vec();
        check.kernel.leave(&check.moduli, &mut value, working);
        let limbs = check.modulus.limbs();
        let mut numbers = vec![0; K::LANES * limbs];
        check.store(&value, &mut numbers);
        numbers.chunks(limbs).map(number).collect()
    }

    fn pairs_are_pairs_and_none_comes_twice<K: LaneKernel>(kernel: K) {
        let modulus = prime();
        let n = number(modulus.n());
        let (check, mut working) = blinded_check(kernel, &modulus);
        let mut blinding = check.blinding();
        let mut seen: Vec<Vec<BigUint>> = Vec::new();
        for step in 0..3 * USES {
            check.advance(&mut blinding, &mut working).unwrap();
            let factors = plain(&check, &blinding.factors, &mut working);
            let inverses = plain(&check, &blinding.inverses, &mut working);
            for (lane, (factor, inverse)) in factors.iter().zip(&inverses).enumerate() {
                let product = factor * inverse.modpow(&E.into(), &n) % &n;
                assert_eq!(product, BigUint::from(1u8), "step {step}, lane {lane}");
                assert!(!seen.iter().flatten().any(|other| other == inverse));
                assert!(!inverses[..lane].contains(inverse));
            }
            seen.push(inverses);
        }
        // Fresh numbers follow exactly every USES steps: there no lane holds the square of the one before.
        for (step, pair) in seen.windows(2).enumerate() {
            for (before, after) in pair[0].iter().zip(&pair[1]) {
                assert_eq!(
                    before * before % &n == *after,
                    !(step as u32 + 1).is_multiple_of(USES),
                    "after step {step}"
                );
            }
        }
    }

    #[test]
    fn pairs_of_one_lane() {
        pairs_are_pairs_and_none_comes_twice(Mont64x1::new(Portable));
    }

    #[test]
    fn pairs_of_four_lanes() {
        pairs_are_pairs_and_none_comes_twice(Mont47::<doubles::Portable<4>, 4, 6>::new(()));
    }

    #[test]
    fn pairs_of_eight_lanes() {
        pairs_are_pairs_and_none_comes_twice(Mont52x8::<lanes::Portable>::new(()));
    }

    fn blinds_releases_and_withholds<K: LaneKernel>(kernel: K) {
        let modulus = prime();
        let n = number(modulus.n());
        let limbs = modulus.limbs();
        let (check, mut working) = blinded_check(kernel, &modulus);
        let mut blinding = check.blinding();
        for items in 1..=K::LANES {
            // Results y, their inputs y^e, and y r as a power of a blinded input would be.
            let results: Vec<BigUint> = (0..items).map(|i| (BigUint::from(3u8) << (60 * i + 7)) + i).collect();
            let words = |numbers: &[BigUint]| -> Vec<u64> {
                numbers
                    .iter()
                    .flat_map(|number| crate::model::limbs(number, limbs))
                    .collect()
            };
            let powers: Vec<BigUint> = results.iter().map(|result| result.modpow(&E.into(), &n)).collect();
            let mut values = words(&powers);
            check.advance(&mut blinding, &mut working).unwrap();
            check.blind(&blinding, &mut values, &mut working);
            let inverses = plain(&check, &blinding.inverses, &mut working);
            let draws: Vec<BigUint> = inverses.iter().map(|inverse| inverse.modpow(&(&n - 2u8), &n)).collect();
            for (i, value) in values.chunks(limbs).enumerate() {
                let blinded = &powers[i] * draws[i].modpow(&E.into(), &n) % &n;
                assert_eq!(number(value), blinded, "item {i} of {items}");
            }
            let mut values: Vec<BigUint> = (0..items).map(|i| &results[i] * &draws[i] % &n).collect();
            let wrong = items - 1;
            values[wrong] = (&values[wrong] + 1u8) % &n;
            let mut values = words(&values);
            let mut status = vec![Status::Done; items];
            check.release(&blinding, &words(&powers), &mut values, &mut working, &mut status);
            for (i, value) in values.chunks(limbs).enumerate() {
                let (expected, verdict) = match i == wrong {
                    true => (BigUint::ZERO, Status::Fault),
                    false => (results[i].clone(), Status::Done),
                };
                assert_eq!((number(value), status[i]), (expected, verdict), "item {i}");
            }
        }
    }

    #[test]
    fn one_lane_blinds_releases_and_withholds() {
        blinds_releases_and_withholds(Mont64x1::new(Portable));
    }

    #[test]
    fn four_lanes_blind_release_and_withhold() {
        blinds_releases_and_withholds(Mont47::<doubles::Portable<4>, 4, 6>::new(()));
    }

    #[test]
    fn eight_lanes_blind_release_and_withhold() {
        blinds_releases_and_withholds(Mont52x8::<lanes::Portable>::new(()));
    }

    #[test]
    fn pairs_of_another_process_are_not_used() {
        let (check, mut working) = blinded_check(Mont64x1::new(Portable), &prime());
        let mut blinding = check.blinding();
        blinding.check_process();
        check.advance(&mut blinding, &mut working).unwrap();
        blinding.check_process();
        assert_eq!(blinding.uses, 1);
        // As the child of a fork sees what its parent left.
        blinding.process = blinding.process.wrapping_add(1);
        let parents = plain(&check, &blinding.inverses, &mut working);
        blinding.check_process();
        check.advance(&mut blinding, &mut working).unwrap();
        let squared = &parents[0] * &parents[0] % number(check.modulus.n());
        assert_ne!(plain(&check, &blinding.inverses, &mut working)[0], squared);
    }
}

//! Private powers in lanes that each have a key of their own.

use super::Exponentiation;
use super::blinded_check::{BlindedCheck, Blinding, LaneBlindedCheck};
use super::crt::{CrtParts, CrtPower};
use crate::batch;
use crate::exp::PublicExponent;
use crate::fault::{self, Place};
use crate::kernel::LaneKernel;
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, words};
use crate::{Error, Status};

/// A checked key, before a kernel has it.
pub(crate) struct SizedKey {
    pub(crate) parts: CrtParts,
    pub(crate) e: Vec<u64>,
}

/// Keys prepared for some kernel.
pub(crate) trait Keys: Send + Sync {
    fn count(&self) -> usize;
    fn lanes(&self, is_blinded: bool) -> Box<dyn LaneGroup + '_>;
}

/// LaneGroup that are given the keys of the items at hand.
pub(crate) trait LaneGroup: Send {
    /// Begins a call with these keys; how many items a step takes.
    fn begin(&mut self, keys: &[usize]) -> Result<usize, Error>;
    /// Does one step.
    fn step(&mut self, keys: &[usize], inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error>;
}

/// [`Keys`] for one kernel.
pub(crate) struct LaneKeys<K: LaneKernel> {
    keys: Vec<LaneKey<K>>,
}

/// One key, prepared for all lanes of a kernel.
struct LaneKey<K: LaneKernel> {
    modulus: Modulus,
    power: CrtPower<K>,
    check: LaneBlindedCheck<K>,
}

impl<K: LaneKernel> LaneKeys<K> {
    pub(crate) fn new(kernel: K, keys: &[SizedKey]) -> Self {
        // Exponents that are all the same, as they mostly are, can be short.
        let mixed = keys.iter().any(|key| key.e != keys[0].e);
        let e_bits = keys.iter().map(|key| words::bits_vartime(&key.e)).max();
        let keys = keys.iter().map(|SizedKey { parts, e }| {
            let exponent = match (mixed, e_bits) {
                (true, Some(bits)) => PublicExponent::one_of_many::<K>(e, parts.modulus.limbs(), bits),
                _ => PublicExponent::new_vartime::<K>(e, parts.modulus.limbs()),
            };
            LaneKey {
                modulus: parts.modulus.clone(),
                power: CrtPower::new(kernel, parts),
                check: LaneBlindedCheck::with_exponent(kernel, &parts.modulus, exponent),
            }
        });
        Self { keys: keys.collect() }
    }
}

impl<K: LaneKernel> Keys for LaneKeys<K> {
    fn count(&self) -> usize {
        self.keys.len()
    }

    fn lanes(&self, is_blinded: bool) -> Box<dyn LaneGroup + '_> {
        let first = &self.keys[0];
        // Any key will do to begin with: before an item is worked on, its own is put into its lanes.
        let (power, check) = (first.power.clone(), first.check.clone());
        let limbs = first.modulus.limbs();
        let values = check.items() * limbs;
        let working = power.working_words().max(check.working_words());
        Box::new(LaneRunner {
            keys: &self.keys,
            is_blinded,
            pairs: check.blinding(),
            in_lane: vec![None; check.items()],
            blindings: self.keys.iter().map(|_| None).collect(),
            inputs: Aligned::zero(values),
            values: Aligned::zero(values),
            working: Aligned::zero(working),
            power,
            check,
        })
    }
}

/// [`LaneGroup`] of one kernel.
struct LaneRunner<'keys, K: LaneKernel> {
    keys: &'keys [LaneKey<K>],
    is_blinded: bool,
    /// With the keys of the items at hand in their lanes.
    power: CrtPower<K>,
    check: LaneBlindedCheck<K>,
    pairs: Blinding,
    /// The key whose modulus is in each lane of the check.
    in_lane: Vec<Option<usize>>,
    /// Each key's own pairs, once it was used.
    blindings: Vec<Option<Blinding>>,
    inputs: Aligned,
    values: Aligned,
    working: Aligned,
}

impl<K: LaneKernel> LaneGroup for LaneRunner<'_, K> {
    fn begin(&mut self, keys: &[usize]) -> Result<usize, Error> {
        if keys.iter().any(|&key| key >= self.keys.len()) {
            return Err(Error::OutOfRange {
                what: "the index of a key",
            });
        }
        for &key in keys {
            let check = &self.keys[key].check;
            self.blindings[key]
                .get_or_insert_with(|| match self.is_blinded {
                    true => check.blinding(),
                    false => check.without_blinding(),
                })
                .check_process();
        }
        Ok(self.check.items())
    }

    fn step(&mut self, keys: &[usize], inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        let len = inputs.len() / keys.len();
        let prepared = self.keys;
        let limbs = prepared[0].modulus.limbs();
        let given = &mut self.inputs[..keys.len() * limbs];
        let values = &mut self.values[..keys.len() * limbs];
        let read = |given: &mut [u64], status: &mut [Status]| {
            for (item, &key) in keys.iter().enumerate() {
                batch::read(
                    &prepared[key].modulus,
                    &inputs[item * len..][..len],
                    &mut given[item * limbs..][..limbs],
                    &mut status[item..=item],
                );
            }
        };
        read(given, status);
        fault::pass(Place::Input, given);
        values.copy_from_slice(given);
        for (item, &key) in keys.iter().enumerate() {
            let own = self.blindings[key].as_mut().expect("made when the call began");
            if self.is_blinded && !keys[..item].contains(&key) {
                self.keys[key].check.advance(own, &mut self.working)?;
            }
            // Items of one key take the pairs of different lanes.
            self.check.gather_pair(&mut self.pairs, own, item);
            if self.in_lane[item] != Some(key) {
                self.check.gather(item, &self.keys[key].check);
                self.in_lane[item] = Some(key);
            }
        }
        self.check.blind(&self.pairs, values, &mut self.working);
        let power_items = self.power.items();
        for (keys, values) in keys.chunks(power_items).zip(values.chunks_mut(power_items * limbs)) {
            for (item, &key) in keys.iter().enumerate() {
                self.power.gather(item, &self.keys[key].power);
            }
            self.power.raise(values, &mut self.working);
        }
        // Read once more: what the power was taken of is compared with what the caller gave.
        read(given, status);
        self.check
            .release(&self.pairs, given, values, &mut self.working, status);
        for (item, &key) in keys.iter().enumerate() {
            batch::withhold_unreduced(
                &self.keys[key].modulus,
                &mut values[item * limbs..][..limbs],
                &mut status[item..=item],
            );
            if status[item] == Status::Fault {
                self.blindings[key].as_mut().expect("as above").discard();
            }
            batch::write(
                &self.keys[key].modulus,
                &values[item * limbs..][..limbs],
                &mut outputs[item * len..][..len],
                &status[item..=item],
            );
        }
        Ok(())
    }
}

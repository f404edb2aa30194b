//! Private operations under many keys of one size, side by side: each item brings its own key.

use crate::batch::{self, Raise};
use crate::crt::{CrtParts, CrtPower};
use crate::exp::PublicExponent;
use crate::guard::{Blinding, Guard, LaneGuard};
use crate::kernel::LaneKernel;
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, words};
use crate::private::{PrivateParts, crt_parts};
use crate::public::public_key;
use crate::{Error, Kernel, Status};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Private keys of one size, prepared to share the lanes of a kernel: with CRT, blinded, checked, in constant time as
/// [`PrivateContext`](crate::PrivateContext) is. Which key an item has is not a secret. Shared by any number of threads;
/// wiped on drop.
pub struct PrivateRing {
    kernel: Kernel,
    bits: usize,
    keys: Box<dyn Keys>,
}

/// One thread's lanes, working memory and blinding for a [`PrivateRing`]. Wiped on drop.
pub struct PrivateRingRunner<'ring> {
    len: usize,
    lanes: Box<dyn Lanes + 'ring>,
}

impl PrivateRing {
    /// Prepares keys, at least one, after checking every relation between the parts of each.
    ///
    /// # Errors
    /// [`Error::MixedSizes`] unless all moduli have equally many bits, and so the longer primes; and those of
    /// [`PrivateContext::new`](crate::PrivateContext::new).
    pub fn new(keys: &[PrivateParts<'_>], kernel: Kernel) -> Result<Self, Error> {
        let mut prepared = Vec::with_capacity(keys.len());
        for parts in keys {
            let (modulus, e) = public_key(parts.n, parts.e)?;
            prepared.push(RingKey {
                parts: crt_parts(modulus, parts)?,
                e,
            });
        }
        let sizes = |key: &RingKey| (key.parts.modulus.bits(), key.parts.prime_bits());
        let Some(first) = prepared.first().map(sizes) else {
            return Err(Error::MixedSizes);
        };
        if prepared.iter().any(|key| sizes(key) != first) {
            return Err(Error::MixedSizes);
        }
        Ok(Self {
            kernel,
            bits: first.0,
            keys: kernel.ring(&prepared),
        })
    }

    /// Length of every n, in bits.
    pub fn modulus_bits(&self) -> usize {
        self.bits
    }

    /// Length of every n, and of each input and output, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// One thread's hands on the keys.
    pub fn runner(&self) -> PrivateRingRunner<'_> {
        PrivateRingRunner {
            len: self.modulus_len(),
            lanes: self.keys.lanes(true),
        }
    }

    /// Whether each key, by its place, does what it is for: of a number that is raised to its d, and that to its e, the first
    /// must differ from the number, and the second be it. For keys that are new, and numbers that nobody else has seen: there
    /// is no blinding, which protects against inputs of others', and no result is given out. Otherwise in constant time.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one number of [`modulus_len`](Self::modulus_len) bytes for each key.
    pub fn check(&self, inputs: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let len = self.modulus_len();
        let mut outputs = Zeroizing::new(vec![0; inputs.len()]);
        let mut status = vec![Status::Done; passed.len()];
        let places: Vec<usize> = (0..self.keys.count()).collect();
        PrivateRingRunner {
            len,
            lanes: self.keys.lanes(false),
        }
        .apply(&places, inputs, &mut outputs, &mut status)?;
        let results = inputs.chunks_exact(len).zip(outputs.chunks_exact(len));
        for ((passed, status), (input, output)) in passed.iter_mut().zip(status).zip(results) {
            *passed = status == Status::Done && !bool::from(input.ct_eq(output));
        }
        Ok(())
    }
}

impl PrivateRingRunner<'_> {
    /// Raises every input to the d of its own key: `keys` names, for each entry of `status`, the place of a key in the
    /// ring. Layout, statuses and promises are those of [`PrivateContext::apply`](crate::PrivateContext::apply).
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers disagree, [`Error::OutOfRange`] if there is no such key, both before anything is
    /// written; [`Error::Randomness`]: the outputs are all zero then, and `status` means nothing.
    pub fn apply(
        &mut self,
        keys: &[usize],
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        batch::check_layout(self.len, inputs, outputs, status)?;
        if keys.len() != status.len() {
            return Err(Error::Length {
                what: "keys",
                expected: status.len(),
                got: keys.len(),
            });
        }
        let step = self.lanes.begin(keys)?;
        let applied = keys
            .chunks(step)
            .zip(inputs.chunks(step * self.len))
            .zip(outputs.chunks_mut(step * self.len))
            .zip(status.chunks_mut(step))
            .try_for_each(|(((keys, inputs), outputs), status)| {
                self.lanes.step(keys, inputs, outputs, status)
            });
        if applied.is_err() {
            outputs.fill(0);
        }
        applied
    }
}

/// A checked key, before a kernel has it.
pub(crate) struct RingKey {
    parts: CrtParts,
    e: Vec<u64>,
}

/// The keys of a ring, prepared for some kernel.
pub(crate) trait Keys: Send + Sync {
    fn count(&self) -> usize;
    fn lanes(&self, is_blinded: bool) -> Box<dyn Lanes + '_>;
}

/// Lanes that are given the keys of the items at hand.
pub(crate) trait Lanes {
    /// Begins a call with these keys; how many items a step takes.
    fn begin(&mut self, keys: &[usize]) -> Result<usize, Error>;
    /// Does one step.
    fn step(
        &mut self,
        keys: &[usize],
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error>;
}

/// [`Keys`] for one kernel.
pub(crate) struct LaneKeys<K: LaneKernel> {
    keys: Vec<LaneKey<K>>,
}

/// What a kernel needs of one key, in all its lanes.
struct LaneKey<K: LaneKernel> {
    modulus: Modulus,
    power: CrtPower<K>,
    guard: LaneGuard<K>,
}

impl<K: LaneKernel> LaneKeys<K> {
    pub(crate) fn new(kernel: K, keys: &[RingKey]) -> Self {
        // Exponents that are all the same, as they mostly are, can be short.
        let mixed = keys.iter().any(|key| key.e != keys[0].e);
        let e_bits = keys.iter().map(|key| words::bits_vartime(&key.e)).max();
        let keys = keys.iter().map(|RingKey { parts, e }| {
            let exponent = match (mixed, e_bits) {
                (true, Some(bits)) => {
                    PublicExponent::one_of_many::<K>(e, parts.modulus.limbs(), bits)
                }
                _ => PublicExponent::new_vartime::<K>(e, parts.modulus.limbs()),
            };
            LaneKey {
                modulus: parts.modulus.clone(),
                power: CrtPower::new(kernel, parts),
                guard: LaneGuard::with_exponent(kernel, &parts.modulus, exponent),
            }
        });
        Self {
            keys: keys.collect(),
        }
    }
}

impl<K: LaneKernel> Keys for LaneKeys<K> {
    fn count(&self) -> usize {
        self.keys.len()
    }

    fn lanes(&self, is_blinded: bool) -> Box<dyn Lanes + '_> {
        let first = &self.keys[0];
        // Any key will do to begin with: before an item is worked on, its own is put into its lanes.
        let (power, guard) = (first.power.clone(), first.guard.clone());
        let limbs = first.modulus.limbs();
        let values = guard.items() * limbs;
        let working = power.working_words().max(guard.working_words());
        Box::new(LaneRunner {
            keys: &self.keys,
            is_blinded,
            pairs: guard.blinding(),
            held: vec![None; guard.items()],
            blindings: self.keys.iter().map(|_| None).collect(),
            inputs: Aligned::zero(values),
            values: Aligned::zero(values),
            working: Aligned::zero(working),
            power,
            guard,
        })
    }
}

/// [`Lanes`] of one kernel.
struct LaneRunner<'ring, K: LaneKernel> {
    keys: &'ring [LaneKey<K>],
    is_blinded: bool,
    /// With the keys of the items at hand in their lanes.
    power: CrtPower<K>,
    guard: LaneGuard<K>,
    pairs: Blinding,
    /// Whose modulus is in each lane of the guard.
    held: Vec<Option<usize>>,
    /// Each key's own pairs, once it was used.
    blindings: Vec<Option<Blinding>>,
    inputs: Aligned,
    values: Aligned,
    working: Aligned,
}

impl<K: LaneKernel> Lanes for LaneRunner<'_, K> {
    fn begin(&mut self, keys: &[usize]) -> Result<usize, Error> {
        if keys.iter().any(|&key| key >= self.keys.len()) {
            return Err(Error::OutOfRange {
                what: "the place of a key in its ring",
            });
        }
        for &key in keys {
            let guard = &self.keys[key].guard;
            self.blindings[key]
                .get_or_insert_with(|| match self.is_blinded {
                    true => guard.blinding(),
                    false => guard.without_blinding(),
                })
                .check_process();
        }
        Ok(self.guard.items())
    }

    fn step(
        &mut self,
        keys: &[usize],
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let len = inputs.len() / keys.len();
        let limbs = self.keys[0].modulus.limbs();
        let given = &mut self.inputs[..keys.len() * limbs];
        let values = &mut self.values[..keys.len() * limbs];
        for (item, &key) in keys.iter().enumerate() {
            batch::read(
                &self.keys[key].modulus,
                &inputs[item * len..][..len],
                &mut given[item * limbs..][..limbs],
                &mut status[item..=item],
            );
        }
        values.copy_from_slice(given);
        for (item, &key) in keys.iter().enumerate() {
            let own = self.blindings[key]
                .as_mut()
                .expect("made when the call began");
            if self.is_blinded && !keys[..item].contains(&key) {
                self.keys[key].guard.advance(own, &mut self.working)?;
            }
            // Items of one key take the pairs of different lanes.
            self.guard.gather_pair(&mut self.pairs, own, item);
            if self.held[item] != Some(key) {
                self.guard.gather(item, &self.keys[key].guard);
                self.held[item] = Some(key);
            }
        }
        self.guard.blind(&self.pairs, values, &mut self.working);
        let power_items = self.power.items();
        for (keys, values) in keys
            .chunks(power_items)
            .zip(values.chunks_mut(power_items * limbs))
        {
            for (item, &key) in keys.iter().enumerate() {
                self.power.gather(item, &self.keys[key].power);
            }
            self.power.raise(values, &mut self.working);
        }
        self.guard
            .release(&self.pairs, given, values, &mut self.working, status);
        for (item, &key) in keys.iter().enumerate() {
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

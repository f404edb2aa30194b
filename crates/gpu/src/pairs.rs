//! Which blinding pairs the items of a batch get, and when a pair is due to be drawn anew.
//!
//! Pairs lie in slots on the device. A slot belongs to a key; two items of a batch never share one.

use std::collections::HashMap;

use rsalab_arith::{Error, Invertible};
use zeroize::Zeroizing;

/// Batches that a pair serves, squared before each, until it is drawn anew.
const USES: u32 = 32;

/// The slots of one queue.
pub(crate) struct Slots {
    /// How many the device has memory for.
    capacity: usize,
    /// Which key each belongs to, and how many batches it has served.
    slots: Vec<Slot>,
    /// Slots of each key.
    of_key: HashMap<usize, Vec<usize>>,
    /// The source of random numbers for each key.
    sources: HashMap<usize, Invertible>,
}

struct Slot {
    key: usize,
    uses: u32,
}

/// The slots that a batch needs.
pub(crate) struct Assigned {
    /// The slot of each item.
    pub(crate) slots: Vec<u32>,
    /// Slots whose pairs must be drawn first.
    pub(crate) due: Vec<usize>,
    /// The number of slots for which there must be new memory; none if there is enough.
    pub(crate) needs_memory: Option<usize>,
}

impl Slots {
    pub(crate) fn new() -> Self {
        Slots {
            capacity: 0,
            slots: Vec::new(),
            of_key: HashMap::new(),
            sources: HashMap::new(),
        }
    }

    /// Finds a slot for each item of a batch, given its key.
    pub(crate) fn assign(&mut self, keys: impl ExactSizeIterator<Item = usize>) -> Assigned {
        /// Slots for each item of a batch, after which those of keys that are not used any more are forgotten.
        const KEPT: usize = 4;
        if self.slots.len() > KEPT * keys.len().max(256) {
            self.slots.clear();
            self.of_key.clear();
        }
        let mut taken: HashMap<usize, usize> = HashMap::new();
        let mut slots = Vec::with_capacity(keys.len());
        let mut due = Vec::new();
        for key in keys {
            let of_key = self.of_key.entry(key).or_default();
            let next = taken.entry(key).or_default();
            if *next == of_key.len() {
                of_key.push(self.slots.len());
                self.slots.push(Slot { key, uses: USES });
            }
            let slot = of_key[*next];
            *next += 1;
            let state = &mut self.slots[slot];
            if state.uses == USES {
                state.uses = 0;
                due.push(slot);
            }
            state.uses += 1;
            slots.push(slot as u32);
        }
        let mut needs_memory = None;
        if self.slots.len() > self.capacity {
            // Nothing of the old memory is kept: every pair is due, those of this batch now and the others when they
            // are used.
            self.capacity = self.slots.len().next_power_of_two();
            needs_memory = Some(self.capacity);
            for slot in &mut self.slots {
                slot.uses = USES;
            }
            due = slots.iter().map(|&slot| slot as usize).collect();
            for &slot in &due {
                self.slots[slot].uses = 1;
            }
        }
        Assigned {
            slots,
            due,
            needs_memory,
        }
    }

    /// Slots that the device has memory for.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The key that a slot belongs to.
    pub(crate) fn key(&self, slot: usize) -> usize {
        self.slots[slot].key
    }

    /// All pairs are due: one of them may have been at fault, or none has come to the device.
    pub(crate) fn discard(&mut self) {
        for slot in &mut self.slots {
            slot.uses = USES;
        }
    }

    /// A number and its inverse for each of some slots, as blocks.
    pub(crate) fn draw(&mut self, slots: &[usize], moduli: &[Vec<u8>]) -> Result<[Zeroizing<Vec<u8>>; 2], Error> {
        let length = moduli[0].len();
        let mut numbers = Zeroizing::new(vec![0; slots.len() * length]);
        let mut inverses = numbers.clone();
        // Slots of one key that stand together share an inversion.
        let mut first = 0;
        for run in slots.chunk_by(|&left, &right| self.slots[left].key == self.slots[right].key) {
            let key = self.slots[run[0]].key;
            let source = match self.sources.entry(key) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => entry.insert(Invertible::new(&moduli[key])?),
            };
            let bytes = first * length..(first + run.len()) * length;
            source.draw(&mut numbers[bytes.clone()], &mut inverses[bytes])?;
            first += run.len();
        }
        Ok([numbers, inverses])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_items_share_a_slot_and_each_slot_keeps_its_key() {
        let mut slots = Slots::new();
        for keys in [vec![0, 1, 0, 2, 1, 0], vec![2, 2, 2], vec![], vec![1]] {
            let assigned = slots.assign(keys.iter().copied());
            let mut seen = assigned.slots.clone();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), keys.len());
            for (&slot, &key) in assigned.slots.iter().zip(&keys) {
                assert_eq!(slots.key(slot as usize), key);
                assert!((slot as usize) < slots.capacity());
            }
        }
    }

    #[test]
    fn a_pair_is_drawn_first_and_after_its_uses_and_when_memory_is_new() {
        let mut slots = Slots::new();
        let assigned = slots.assign([0, 0].into_iter());
        assert_eq!((assigned.due, assigned.needs_memory), (vec![0, 1], Some(2)));
        for _ in 1..USES {
            let assigned = slots.assign([0, 0].into_iter());
            assert!(assigned.due.is_empty() && assigned.needs_memory.is_none());
        }
        assert_eq!(slots.assign([0].into_iter()).due, [0]);
        // The other is due when it is used again.
        assert_eq!(slots.assign([0, 0].into_iter()).due, [1]);
        let assigned = slots.assign([0, 0, 0].into_iter());
        assert_eq!((assigned.due, assigned.needs_memory), (vec![0, 1, 2], Some(4)));
        slots.discard();
        assert_eq!(slots.assign([0].into_iter()).due, [0]);
    }

    #[test]
    fn slots_of_keys_long_gone_are_forgotten() {
        let mut slots = Slots::new();
        for key in 0..100 {
            slots.assign((0..200).map(|_| key));
            assert!(slots.capacity() <= 2048, "{}", slots.capacity());
        }
    }

    #[test]
    fn each_slot_gets_numbers_of_its_own_key() {
        // Two primes of one length, 2^521 - 1 and 2^521 - 1 less what makes it another odd number.
        let prime = [vec![1], vec![0xff; 65]].concat();
        let mut other = prime.clone();
        other[65] = 0xf1;
        let moduli = [prime, other];
        let mut slots = Slots::new();
        let assigned = slots.assign([0, 1, 1, 0].into_iter());
        let [numbers, inverses] = slots.draw(&assigned.due, &moduli).unwrap();
        for ((slot, number), inverse) in assigned.due.iter().zip(numbers.chunks(66)).zip(inverses.chunks(66)) {
            let modulus = num_bigint::BigUint::from_bytes_be(&moduli[slots.key(*slot)]);
            let product = num_bigint::BigUint::from_bytes_be(number) * num_bigint::BigUint::from_bytes_be(inverse);
            assert_eq!(product % modulus, num_bigint::BigUint::from(1u8));
        }
    }
}

//! Which blinding pairs the items of a batch get, and when a pair is due to be drawn anew.
//!
//! Pairs lie in slots on the device. A slot belongs to a key; two items of a batch never share one.

use std::{collections::HashMap, sync::Mutex};

use rsalab_arith::{Error, Invertible};
use zeroize::Zeroizing;

/// Batches that a pair serves at most, squared before each, until it is drawn anew.
const USES: u32 = 32;

/// The slots of one queue.
pub(crate) struct Slots {
    /// How many the device has memory for.
    capacity: usize,
    /// Which key each belongs to, and how many batches it has served.
    slots: Vec<Slot>,
    /// Slots of each key.
    of_key: HashMap<usize, Vec<usize>>,
    /// The sources of random numbers for each key, one for each thread that draws.
    sources: HashMap<usize, Vec<Invertible>>,
}

struct Slot {
    key: usize,
    /// Batches that its pair serves still.
    left: u32,
    /// `true` if it has had a pair, which no fault has put in doubt.
    is_drawn: bool,
}

impl Slot {
    fn of(key: usize) -> Self {
        Slot {
            key,
            left: 0,
            is_drawn: false,
        }
    }

    /// A pair is to be drawn for it, which serves this batch first. The first pairs of slots serve for different times:
    /// later, a few of them are due in each batch, and not all in one.
    fn draw(&mut self, place: usize) {
        self.left = match self.is_drawn {
            true => USES,
            false => USES - place as u32 % USES,
        } - 1;
        self.is_drawn = true;
    }
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
        /// Slots for each item of a batch, after which those of keys that are not used any more are forgotten. Of a
        /// single key none are: its large batches come again after small ones.
        const KEPT: usize = 4;
        if self.of_key.len() > 1 && self.slots.len() > KEPT * keys.len().max(256) {
            self.slots.clear();
            self.of_key.clear();
        }
        // Slots of each key that items of this batch have already.
        let mut taken: HashMap<usize, usize> = HashMap::new();
        let mut slots: Vec<u32> = Vec::with_capacity(keys.len());
        let mut due = Vec::new();
        let mut keys = keys.peekable();
        while let Some(key) = keys.next() {
            let of_key = self.of_key.entry(key).or_default();
            let next = taken.entry(key).or_default();
            // Items of one key mostly stand together.
            let mut items = 1;
            while keys.next_if_eq(&key).is_some() {
                items += 1;
            }
            while of_key.len() < *next + items {
                of_key.push(self.slots.len());
                self.slots.push(Slot::of(key));
            }
            for &slot in &of_key[*next..*next + items] {
                let state = &mut self.slots[slot];
                match state.left {
                    0 => {
                        state.draw(slot);
                        due.push(slot);
                    }
                    _ => state.left -= 1,
                }
                slots.push(slot as u32);
            }
            *next += items;
        }
        let mut needs_memory = None;
        if self.slots.len() > self.capacity {
            // Nothing of the old memory is kept: every pair is due, those of this batch now and the others when they
            // are used.
            self.capacity = self.slots.len().next_power_of_two();
            needs_memory = Some(self.capacity);
            self.discard();
            due = slots.iter().map(|&slot| slot as usize).collect();
            for &slot in &due {
                self.slots[slot].draw(slot);
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
            *slot = Slot::of(slot.key);
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
            let sources = self.sources.entry(key).or_default();
            let bytes = first * length..(first + run.len()) * length;
            draw_by_threads(sources, &moduli[key], &mut numbers[bytes.clone()], &mut inverses[bytes])?;
            first += run.len();
        }
        Ok([numbers, inverses])
    }
}

/// Draws numbers with their inverses, many of them by several threads, each of which has a source.
fn draw_by_threads(
    sources: &mut Vec<Invertible>,
    modulus: &[u8],
    numbers: &mut [u8],
    inverses: &mut [u8],
) -> Result<(), Error> {
    /// Pairs for which a thread pays: they take it a millisecond or more.
    const OF_A_THREAD: usize = 256;
    let count = numbers.len() / modulus.len();
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (count / OF_A_THREAD).clamp(1, most);
    while sources.len() < threads {
        sources.push(Invertible::new(modulus)?);
    }
    let part = count.div_ceil(threads) * modulus.len();
    let mut parts = numbers.chunks_mut(part).zip(inverses.chunks_mut(part)).zip(sources);
    if threads == 1 {
        return parts.try_for_each(|((numbers, inverses), source)| source.draw(numbers, inverses));
    }
    let parts = Mutex::new(parts);
    let next = || parts.lock().expect("nothing panics while it takes a part").next();
    let work = || {
        while let Some(((numbers, inverses), source)) = next() {
            source.draw(numbers, inverses)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        // Where the system gives fewer threads, these and this one draw all.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let own = work();
        let others = others
            .into_iter()
            .map(|thread| thread.join().expect("drawing does not panic"));
        // All of them end before the first failure is told.
        others.collect::<Vec<_>>().into_iter().fold(own, Result::and)
    })
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
        // The second has been drawn to serve once less, so that both are not due at once.
        for _ in 1..USES - 1 {
            let assigned = slots.assign([0, 0].into_iter());
            assert!(assigned.due.is_empty() && assigned.needs_memory.is_none());
        }
        assert_eq!(slots.assign([0, 0].into_iter()).due, [1]);
        assert_eq!(slots.assign([0].into_iter()).due, [0]);
        // A pair that is not used serves on.
        for _ in 1..USES {
            assert!(slots.assign([0].into_iter()).due.is_empty());
        }
        assert_eq!(slots.assign([0, 0].into_iter()).due, [0]);
        let assigned = slots.assign([0, 0, 0].into_iter());
        assert_eq!((assigned.due, assigned.needs_memory), (vec![0, 1, 2], Some(4)));
        slots.discard();
        assert_eq!(slots.assign([0].into_iter()).due, [0]);
    }

    #[test]
    fn of_many_slots_a_few_are_due_in_each_batch_and_none_serves_too_long() {
        const COUNT: usize = 1000;
        let mut slots = Slots::new();
        let mut ages = vec![0; COUNT];
        for batch in 0..5 * USES {
            let assigned = slots.assign((0..COUNT).map(|_| 7));
            for age in &mut ages {
                *age += 1;
            }
            for &slot in &assigned.due {
                ages[slot] = 1;
            }
            assert!(ages.iter().all(|&age| age <= USES));
            let few = COUNT.div_ceil(USES as usize);
            assert_eq!(assigned.due.len() <= few, batch > 0, "{}", assigned.due.len());
        }
    }

    #[test]
    fn many_pairs_are_drawn_by_several_threads_and_none_twice() {
        let modulus = [vec![1], vec![0xff; 65]].concat();
        let mut slots = Slots::new();
        let assigned = slots.assign((0..1500).map(|_| 0));
        let [numbers, inverses] = slots.draw(&assigned.due, std::slice::from_ref(&modulus)).unwrap();
        let n = num_bigint::BigUint::from_bytes_be(&modulus);
        let mut seen = std::collections::HashSet::new();
        for (number, inverse) in numbers.chunks(66).zip(inverses.chunks(66)) {
            let product = num_bigint::BigUint::from_bytes_be(number) * num_bigint::BigUint::from_bytes_be(inverse);
            assert_eq!(product % &n, num_bigint::BigUint::from(1u8));
            assert!(seen.insert(number));
        }
        assert_eq!(seen.len(), 1500);
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
    fn a_small_batch_of_the_only_key_costs_the_next_large_one_no_pairs() {
        let mut slots = Slots::new();
        slots.assign((0..2000).map(|_| 0));
        assert_eq!(slots.assign([0].into_iter()).slots, [0]);
        let assigned = slots.assign((0..2000).map(|_| 0));
        assert!(
            assigned.due.len() <= 2000_usize.div_ceil(USES as usize),
            "{}",
            assigned.due.len()
        );
        assert_eq!(assigned.needs_memory, None);
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

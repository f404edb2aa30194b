//! The time and memory of an audit, from a sample: said before it begins.

use std::time::{Duration, Instant};

use rsalab_product::shared_factors;
use sha2::{Digest, Sha256};

use crate::{
    audit::Audit,
    sharing::MEMORY,
    source::{Entry, Inventory},
};

/// The time and memory that an audit will take.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// Keys.
    pub keys: u64,
    /// Reading and examining them.
    pub keys_time: Duration,
    /// Searching for shared primes.
    pub shared_time: Duration,
    /// Bytes of memory.
    pub memory: u64,
}

/// Files of a sample, and bytes of each.
const FILES: usize = 24;
const BYTES: u64 = 64 << 10;
/// Moduli whose common factors are searched to know how long it takes.
const MODULI: usize = 256;
/// The time of a search grows with this power of the number of moduli: 1.12 between 4,096 and 65,536 of them.
const POWER: f64 = 1.12;

impl Audit<'_> {
    /// Examines a few keys from here and there, and concludes from them to all. None if the length of what is to be
    /// read is not known, or nothing was found in the sample.
    pub fn estimate(&self, inventory: &Inventory) -> Option<Estimate> {
        let all = inventory.bytes();
        if inventory.is_open_ended() || all == 0 {
            return None;
        }
        let step = inventory.entries.len().div_ceil(FILES).max(1);
        let entries: Vec<Entry> = inventory.entries.iter().step_by(step).map(Entry::again).collect();
        let sampled: u64 = entries
            .iter()
            .filter_map(|entry| entry.len)
            .map(|len| len.min(BYTES))
            .sum();
        let sample = Inventory {
            entries,
            unlisted: Vec::new(),
        };
        let begun = Instant::now();
        let registry = self.read(&sample, Some(BYTES), &mut |_| {});
        let taken = begun.elapsed();
        let (keys, moduli) = (registry.keys() as u64, registry.moduli());
        if moduli.is_empty() || sampled == 0 {
            return None;
        }
        // Where a file is longer than its sample, by bytes; elsewhere by files, most of which are as long as others.
        let factor = (all as f64 / sampled as f64).max(1.0);
        let len = moduli.iter().map(Vec::len).sum::<usize>() as f64 / moduli.len() as f64;
        let distinct = (moduli.len() as f64 * factor).min(inventory_limit(all));
        let search = (distinct * len * MEMORY as f64) as u64;
        let kept = (distinct * (len + PER_KEY)) as u64 + BASE;
        let time =
            |moduli: f64| search_time(len as usize, self.options.threads).mul_f64((moduli / MODULI as f64).powf(POWER));
        // As `sharing` divides it.
        let (search, shared_time) = match self.options.memory {
            Some(most) if search > most => {
                let parts = (2 * search).div_ceil(most.max(1)) as f64;
                (most, time(2.0 * distinct / parts).mul_f64(parts * (parts - 1.0) / 2.0))
            }
            _ => (search, time(distinct)),
        };
        Some(Estimate {
            keys: (keys as f64 * factor) as u64,
            keys_time: taken.mul_f64(factor),
            shared_time,
            memory: search + kept,
        })
    }
}

/// Bytes of what is known of a key, besides its modulus.
const PER_KEY: f64 = 700.0;
/// Bytes of the program.
const BASE: u64 = 24 << 20;

/// More moduli than there are bytes for are not there.
fn inventory_limit(bytes: u64) -> f64 {
    (bytes / 32).max(1) as f64
}

/// The time of a search in [`MODULI`] numbers of so many bytes.
fn search_time(len: usize, threads: usize) -> Duration {
    let number = |place: usize| -> Vec<u8> {
        let blocks = (0..len.div_ceil(32)).map(|block| Sha256::digest(format!("{place} {block}")));
        let mut bytes: Vec<u8> = blocks.flat_map(|block| block.to_vec()).take(len.max(1)).collect();
        bytes[0] |= 0x80;
        bytes.last_mut().into_iter().for_each(|last| *last |= 1);
        bytes
    };
    let numbers: Vec<Vec<u8>> = (0..MODULI).map(number).collect();
    let begun = Instant::now();
    shared_factors(&numbers, threads, &mut |_| {});
    begun.elapsed()
}

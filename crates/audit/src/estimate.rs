//! The time and memory of an audit, from a sample: said before it begins.

use std::time::{Duration, Instant};

use rsalab_product::shared_factors;
use sha2::{Digest, Sha256};

use crate::{
    audit::Audit,
    examined::{BASE, PER_KEY, search_memory},
    search::{self, MEMORY, SPILLED},
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
    /// Bytes of the scratch folder, at most at a time.
    pub scratch: u64,
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
            ..Inventory::default()
        };
        let begun = Instant::now();
        let registry = self.read(&sample, Some(BYTES), &mut |_| {}).ok()?;
        let taken = begun.elapsed();
        let (keys, moduli) = (registry.keys() as u64, registry.moduli());
        if moduli.is_empty() || sampled == 0 {
            return None;
        }
        // Where a file is longer than its sample, by bytes; elsewhere by files, most of which are as long as others.
        let factor = (all as f64 / sampled as f64).max(1.0);
        let len = moduli.iter().map(|(_, modulus)| modulus.len()).sum::<usize>() as f64 / moduli.len() as f64;
        let distinct = (moduli.len() as f64 * factor).min(inventory_limit(all));
        let kept = (distinct * (len + PER_KEY)) as u64 + BASE;
        let time =
            |moduli: f64| search_time(len as usize, self.options.threads).mul_f64((moduli / MODULI as f64).powf(POWER));
        // As `search` divides it.
        let options = self.options;
        let (count, bytes, shares) = (distinct as u64, (distinct * len) as u64, options.share.of);
        let most = options
            .memory
            .map(|memory| search_memory(memory, (keys as f64 * factor) as u64, bytes));
        let is_spilled = options.scratch.is_some();
        let subsets = search::subsets(count, bytes, most, is_spilled, shares);
        let each = bytes / subsets * if is_spilled { SPILLED } else { MEMORY };
        let products = if is_spilled || subsets == 1 { 0 } else { bytes };
        // Its trees; the products of all; and each with the products of all others, about a level of its tree each.
        let of_trees = time(distinct / subsets as f64).mul_f64(subsets as f64 / shares as f64);
        let more = match subsets {
            1 => 0.0,
            _ => 0.27 * shares as f64 + (subsets - 1) as f64 / (distinct / subsets as f64).max(2.0).log2() * 1.1 / 2.0,
        };
        let shared_time = of_trees.mul_f64(1.0 + more);
        let search = each + products;
        Some(Estimate {
            keys: (keys as f64 * factor) as u64,
            keys_time: taken.mul_f64(factor),
            shared_time,
            memory: search + kept,
            scratch: if is_spilled {
                search::spilled(count, bytes, subsets)
            } else {
                0
            },
        })
    }
}

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

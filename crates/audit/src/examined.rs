//! Keys that were examined and compared: what is reported of them, and what is saved.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use num_bigint::BigUint;
use rsalab_product::{Product, Subset};
use sha2::{Digest, Sha256};

use crate::{
    error::AuditError,
    finding::Report,
    options::{Options, Progress},
    part::Part,
    record::Record,
    registry::Registry,
    search::{self, Others, Search, Share},
    sharing::{SharedPrime, is_shared_prime, shared_primes},
    store::{Block, Store},
    threads::on_threads,
};

/// Bytes of what is known of a key, besides its modulus.
pub(crate) const PER_KEY: f64 = 700.0;
/// Bytes of the program.
pub(crate) const BASE: u64 = 24 << 20;

/// Bytes that a search may take, of those of an audit, besides what is known of the keys. An eighth of all at least.
pub(crate) fn search_memory(memory: u64, keys: u64, bytes: u64) -> u64 {
    let kept = (keys as f64 * PER_KEY) as u64 + bytes + BASE;
    memory.saturating_sub(kept).max(memory / 8)
}

/// The keys of an audit, with all that is known of them.
#[derive(Debug)]
pub struct Examined {
    registry: Registry,
    threads: usize,
    share: Share,
    /// The moduli that share a factor, those of earlier audits among them.
    hits: Vec<usize>,
    /// Moduli of this audit that the store has.
    known: BTreeSet<[u8; 32]>,
}

impl Examined {
    /// Compares the keys with each other, and with those of earlier audits.
    pub(crate) fn of(
        registry: Registry,
        options: &Options<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Examined, AuditError> {
        let moduli = registry.moduli();
        let count = moduli.len();
        let bytes = moduli.iter().map(|(_, modulus)| modulus.len() as u64).sum();
        let search = Search {
            threads: options.threads,
            memory: options
                .memory
                .map(|memory| search_memory(memory, registry.keys() as u64, bytes)),
            scratch: options.scratch,
            share: options.share,
        };
        let progress = &mut |done| progress(Progress::Shared { moduli: count, done });
        let Some(store) = options.against else {
            let hits = search::hits(&moduli, &search, None, progress)?;
            drop(moduli);
            return Ok(Examined {
                registry,
                threads: options.threads,
                share: options.share,
                hits,
                known: BTreeSet::new(),
            });
        };
        let again = &Again {
            registry: &registry,
            seen: Cell::new(false),
            records: RefCell::default(),
        };
        let old = Others {
            digest: store.digest(),
            products: &|| {
                let is_first = !again.seen.replace(true);
                Box::new(store.blocks().map(move |block| {
                    let block = block?;
                    if is_first {
                        again.look(&block);
                    }
                    block.product()
                }))
            },
        };
        let mut hits = search::hits(&moduli, &search, Some(&old), progress)?;
        if !again.seen.get() {
            for block in store.blocks() {
                again.look(&block?);
            }
        }
        let again = again.records.take();
        // A modulus that is there already has itself in common with the store. Whether it shares a prime is known.
        hits.retain(|&place| !again.contains_key(&moduli[place].0) || store.has_shared(&moduli[place].0));
        let chosen: Vec<&[u8]> = hits.iter().map(|&place| moduli[place].1).collect();
        let sharing = sharing(&chosen, store, options.threads)?;
        drop(moduli);
        let known = again.keys().copied().collect();
        let mut examined = Examined {
            registry,
            threads: options.threads,
            share: options.share,
            hits,
            known,
        };
        let name = store.folder().display().to_string();
        examined.adopt(&name, again.into_values().flatten());
        // Those that are in this audit, too, are entered already.
        let digest = |record: &Record| Sha256::digest(&record.n).into();
        let (entered, others): (Vec<Record>, Vec<Record>) = sharing
            .into_iter()
            .partition(|record| examined.known.contains(&digest(record)));
        let places = examined.adopt(&name, others.into_iter());
        let entered = entered
            .iter()
            .filter_map(|record| examined.registry.modulus(&digest(record)));
        examined
            .hits
            .extend(places.into_iter().chain(entered).collect::<Vec<_>>());
        examined.hits.sort_unstable();
        examined.hits.dedup();
        Ok(examined)
    }

    /// Enters keys of a store. Returns the places of their moduli.
    fn adopt(&mut self, store: &str, records: impl Iterator<Item = Record>) -> Vec<usize> {
        let named = records.map(|mut record| {
            for used in &mut record.uses {
                used.file = format!("{store}:{}", used.file).into();
            }
            record
        });
        named.filter_map(|record| self.registry.adopt(&record)).collect()
    }

    fn shared(&self) -> Vec<SharedPrime> {
        let moduli: Vec<&[u8]> = self.registry.moduli().into_iter().map(|(_, modulus)| modulus).collect();
        shared_primes(&moduli, &self.hits, self.threads)
    }

    /// Everything that was found.
    pub fn report(&self) -> Report {
        self.registry.report(self.shared(), Share::WHOLE)
    }

    /// The findings of this share of the keys, to be merged with the others.
    pub fn part(&self) -> Part {
        let report = self.registry.report(Vec::new(), self.share);
        Part::of(report, self.share, self.inputs(), self.registry.records_of(&self.hits))
    }

    /// A digest of all moduli and names of files.
    fn inputs(&self) -> String {
        let mut digest = Sha256::new();
        let mut moduli: Vec<[u8; 32]> = self.registry.moduli().into_iter().map(|(digest, _)| digest).collect();
        moduli.sort_unstable();
        digest.update(moduli.as_flattened());
        for name in self.registry.names_of_files() {
            digest.update((name.len() as u64).to_le_bytes());
            digest.update(name.as_bytes());
        }
        hex::encode(digest.finalize())
    }

    /// Saves the keys where nothing is yet, for later audits.
    ///
    /// # Errors
    /// Something is there, or the disk is full.
    pub fn save(&self, folder: &Path) -> Result<Store, AuditError> {
        let keys = self.registry.records().map(|(digest, keys)| (digest, keys, false));
        Store::create(folder, keys, self.sharing(), self.threads)
    }

    /// Adds the keys to those that they were compared with.
    ///
    /// # Errors
    /// They were compared with others, or the disk is full.
    pub fn add_to(&self, store: &mut Store) -> Result<(), AuditError> {
        let keys = self.registry.records();
        let keys = keys.map(|(digest, keys)| (digest, keys, self.known.contains(&digest)));
        store.add(keys, self.sharing(), self.threads)
    }

    /// The digests of the moduli that share a prime.
    fn sharing(&self) -> Vec<[u8; 32]> {
        let moduli = self.registry.moduli();
        let members = self.shared().into_iter().flat_map(|shared| shared.members);
        let digests: BTreeSet<[u8; 32]> = members.map(|place| moduli[place].0).collect();
        digests.into_iter().collect()
    }
}

/// Keys of a store whose moduli are in this audit, too.
struct Again<'a> {
    registry: &'a Registry,
    /// All blocks were looked at, or are being.
    seen: Cell<bool>,
    records: RefCell<BTreeMap<[u8; 32], Vec<Record>>>,
}

impl Again<'_> {
    fn look(&self, block: &Block) {
        for record in &block.records {
            let digest = Sha256::digest(&record.n).into();
            if self.registry.modulus(&digest).is_some() {
                let mut records = self.records.borrow_mut();
                records.entry(digest).or_default().push(record.clone());
            }
        }
    }
}

/// The keys of a store that share a prime with one of these moduli.
fn sharing(moduli: &[&[u8]], store: &Store, threads: usize) -> Result<Vec<Record>, AuditError> {
    let mut sharing = Vec::new();
    if moduli.is_empty() {
        return Ok(sharing);
    }
    // One thread takes a block: blocks are many, and small.
    let tree = Subset::grow(moduli, 1, Vec::new(), &mut |_| {})?;
    let is_prime = |factor: &Vec<u8>| is_shared_prime(BigUint::from_bytes_be(factor));
    let of_block = |block: Block| -> Result<Vec<Record>, AuditError> {
        let factors = tree.common_factors(&block.product()?).into_iter().flatten();
        let factors: Vec<Vec<u8>> = factors.filter(is_prime).collect();
        if factors.is_empty() {
            return Ok(Vec::new());
        }
        let product = Product::of(&factors, 1, &mut |_| {});
        let shares = |record: &Record| product.common_factor(&record.n).as_ref().is_some_and(is_prime);
        Ok(block.records.into_iter().filter(shares).collect())
    };
    let mut blocks = store.blocks();
    loop {
        let next: Vec<Block> = blocks.by_ref().take(threads.max(1)).collect::<Result<_, _>>()?;
        if next.is_empty() {
            return Ok(sharing);
        }
        for records in on_threads(next, &of_block) {
            sharing.extend(records?);
        }
    }
}

#[cfg(test)]
mod measured;

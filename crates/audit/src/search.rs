//! Which moduli share a factor with another one, however many there are.
//!
//! ```text
//! one subset:   one tree of all (rsalab_product)
//! several:      the product of each subset; then of each its tree, with the products of all others (Hastings, Fried
//!               and Heninger 2016 compare subsets by twos; here each meets the products of all others at once)
//! ```
//!
//! A modulus belongs to the subset that the leading bits of its SHA-256 name, so that subsets are the same in every
//! process. What is found are moduli, and no factors: those are computed again from the moduli that were found, which
//! are few, so that nothing secret is written.

use std::{ops::Range, path::Path};

use num_bigint::BigUint;
use rsalab_product::{Levels, Product, Subset};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{error::AuditError, scratch::Scratch, sharing::is_shared_prime};

/// Bytes of memory that a search takes for each byte of its moduli (measured: 62, at 4,000 and at 32,000 of 2048 bits).
pub(crate) const MEMORY: u64 = 64;
/// Bytes where the levels of the tree are in a scratch folder (measured: 45, of 1,000,000 moduli of 2048 bits).
pub(crate) const SPILLED: u64 = 46;
/// Moduli of the smallest subset: below that nothing is saved.
const FEWEST: u64 = 4;

/// The part of the moduli that a process compares with all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which one, from 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

impl Share {
    /// All moduli.
    pub const WHOLE: Share = Share { number: 1, of: 1 };

    /// Returns whether a modulus of this SHA-256 belongs to it.
    pub fn has(self, digest: &[u8; 32]) -> bool {
        slot(digest, self.of) + 1 == self.number
    }
}

impl Default for Share {
    fn default() -> Self {
        Share::WHOLE
    }
}

/// Which of so many subsets a digest belongs to.
fn slot(digest: &[u8; 32], of: u64) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *digest;
    let prefix = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    ((u128::from(prefix) * u128::from(of)) >> 64) as u64
}

/// A modulus with its SHA-256.
pub(crate) type Numbered<'a> = ([u8; 32], &'a [u8]);

/// How a search is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) threads: usize,
    /// Bytes that it may take.
    pub(crate) memory: Option<u64>,
    /// Where levels of the tree and what is done are kept.
    pub(crate) scratch: Option<&'a Path>,
    pub(crate) share: Share,
}

/// The subsets that moduli of so many bytes are searched in; a multiple of the shares.
pub(crate) fn subsets(count: u64, bytes: u64, memory: Option<u64>, is_spilled: bool, shares: u64) -> u64 {
    let (each, besides) = match is_spilled {
        true => (SPILLED, 0),
        // The products of all subsets.
        false => (MEMORY, bytes),
    };
    let needed = bytes.saturating_mul(each);
    let subsets = match memory {
        Some(memory) if needed > memory => {
            let room = memory.saturating_sub(besides).max(memory / 4).max(1);
            needed.div_ceil(room).min(count / FEWEST).max(1)
        }
        _ => 1,
    };
    subsets.div_ceil(shares) * shares
}

/// Bytes that a search writes to its scratch folder, at most at a time.
pub(crate) fn spilled(count: u64, bytes: u64, subsets: u64) -> u64 {
    let of_subset = bytes.div_ceil(subsets);
    let levels = u64::from((count / subsets).max(1).ilog2()) + 1;
    let products = if subsets > 1 { bytes } else { 0 };
    products + levels * of_subset
}

/// Products of moduli that are no longer compared with each other.
pub(crate) struct Others<'a> {
    /// A digest of them.
    pub(crate) digest: [u8; 32],
    /// All of them, as often as it is called.
    pub(crate) products: &'a (dyn Fn() -> Products<'a> + 'a),
}

/// Products that are read one after the other.
pub(crate) type Products<'a> = Box<dyn Iterator<Item = Result<Product, AuditError>> + 'a>;

/// The places of the moduli of this share that have a factor with another modulus, or with one of the others, in
/// common: one that is no small factor, nor a product of such.
pub(crate) fn hits<'a>(
    moduli: &[Numbered<'_>],
    search: &Search<'_>,
    old: Option<&Others<'a>>,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<usize>, AuditError> {
    let mut order: Vec<usize> = (0..moduli.len()).collect();
    order.sort_unstable_by_key(|&place| moduli[place].0);
    let bytes = moduli.iter().map(|(_, modulus)| modulus.len() as u64).sum();
    let share = search.share;
    let count = subsets(
        moduli.len() as u64,
        bytes,
        search.memory,
        search.scratch.is_some(),
        share.of,
    );
    let open = |base: &Path| Scratch::open(base, &name(moduli, &order, share, old), share.number);
    let scratch = search.scratch.map(open).transpose()?;
    let work = Work {
        moduli,
        order,
        count,
        threads: search.threads,
        scratch: scratch.as_ref(),
        old,
    };
    let each = count / share.of;
    let found = work.hits((share.number - 1) * each..share.number * each, progress)?;
    match scratch {
        Some(scratch) if share == Share::WHOLE => scratch.remove_all(),
        Some(scratch) => scratch.leave(),
        None => {}
    }
    Ok(found)
}

/// The name of a search: a digest of all moduli.
fn name(moduli: &[Numbered<'_>], order: &[usize], share: Share, old: Option<&Others<'_>>) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(b"rsalab audit 1");
    digest.update(share.of.to_le_bytes());
    for &place in order {
        digest.update(moduli[place].0);
    }
    digest.update(old.map_or([0; 32], |old| old.digest));
    digest.finalize().into()
}

struct Work<'a, 'b> {
    moduli: &'a [Numbered<'a>],
    /// Places, by digest.
    order: Vec<usize>,
    /// Of subsets.
    count: u64,
    threads: usize,
    scratch: Option<&'a Scratch>,
    old: Option<&'a Others<'b>>,
}

impl Work<'_, '_> {
    /// The places of a subset.
    fn places(&self, subset: u64) -> &[usize] {
        let from = |subset| {
            let is_below = |&place: &usize| slot(&self.moduli[place].0, self.count) < subset;
            self.order.partition_point(is_below)
        };
        &self.order[from(subset)..from(subset + 1)]
    }

    fn numbers(&self, subset: u64) -> Vec<&[u8]> {
        self.places(subset).iter().map(|&place| self.moduli[place].1).collect()
    }

    fn hits(&self, mine: Range<u64>, progress: &mut dyn FnMut(f64)) -> Result<Vec<usize>, AuditError> {
        // In levels of a tree, roughly: products, and the way up, through the others, and down.
        let depth = f64::from((self.order.len() as u64 / self.count).max(2).ilog2());
        let products = if self.count > 1 {
            0.27 * depth * self.count as f64
        } else {
            0.0
        };
        let of_subset = depth + 1.1 * (self.count - 1) as f64;
        let all = products + of_subset * (mine.end - mine.start) as f64;
        let mut kept = Vec::new();
        if self.count > 1 {
            // Its own first: other parts may make theirs meanwhile.
            let others = (mine.end..self.count).chain(0..mine.start);
            for (done, subset) in mine.clone().chain(others).enumerate() {
                let before = done as f64 / self.count as f64;
                let product = self.product(subset, &mut |share| {
                    progress(products / all * (before + share / self.count as f64));
                })?;
                kept.extend(product.map(|product| (subset, product)));
            }
        }
        let mut found = Vec::new();
        for subset in mine.clone() {
            let before = products + of_subset * (subset - mine.start) as f64;
            found.extend(self.found(subset, &kept, &mut |share| {
                progress((before + of_subset * share) / all);
            })?);
        }
        found.sort_unstable();
        Ok(found)
    }

    fn name(&self, kind: &str, subset: u64) -> String {
        format!("{kind}-{}-of-{}", subset + 1, self.count)
    }

    /// Has the product of a subset made, unless it is in the scratch folder; returned where there is no such folder.
    fn product(&self, subset: u64, progress: &mut dyn FnMut(f64)) -> Result<Option<Product>, AuditError> {
        let name = self.name("product", subset);
        if self.scratch.is_some_and(|scratch| scratch.has(&name)) {
            return Ok(None);
        }
        let product = Product::of(&self.numbers(subset), self.threads, progress);
        match self.scratch {
            None => Ok(Some(product)),
            Some(scratch) => scratch.write(&name, &product.to_bytes()).map(|()| None),
        }
    }

    /// The product of a subset that was made; made again if it was damaged since.
    fn product_again(&self, subset: u64) -> Result<Product, AuditError> {
        let read = self
            .scratch
            .and_then(|scratch| scratch.read(&self.name("product", subset)));
        match read.as_deref().and_then(Product::from_bytes) {
            Some(product) => Ok(product),
            None => {
                let product = Product::of(&self.numbers(subset), self.threads, &mut |_| {});
                if let Some(scratch) = self.scratch {
                    scratch.write(&self.name("product", subset), &product.to_bytes())?;
                }
                Ok(product)
            }
        }
    }

    /// The places of a subset's moduli that share a factor.
    fn found(
        &self,
        subset: u64,
        kept: &[(u64, Product)],
        progress: &mut dyn FnMut(f64),
    ) -> Result<Vec<usize>, AuditError> {
        let name = self.name("found", subset);
        let places = self.places(subset);
        if let Some(found) = self.scratch.and_then(|scratch| scratch.read(&name)) {
            let (digests, _) = found.as_chunks::<32>();
            let of_digest = |digest: &[u8; 32]| {
                let place = places.binary_search_by_key(digest, |&place| self.moduli[place].0);
                place.ok().map(|place| places[place])
            };
            return Ok(digests.iter().filter_map(of_digest).collect());
        }
        let others = (0..self.count).filter(|&other| other != subset).map(|other| {
            match kept.iter().find(|(number, _)| *number == other) {
                Some((_, product)) => Ok(product.clone()),
                None => self.product_again(other),
            }
        });
        let others = others.chain(self.old.into_iter().flat_map(|old| (old.products)()));
        let factors = match self.scratch {
            None => self.shared(subset, Vec::new(), others, progress)?,
            Some(scratch) => {
                // With its end: a number may begin another.
                scratch.remove(&format!("{}-", self.name("level", subset)));
                self.shared(subset, scratch.levels(&self.name("", subset)[1..]), others, progress)?
            }
        };
        let mut found = Vec::new();
        for (&place, factor) in places.iter().zip(factors) {
            let factor = factor.map(Zeroizing::new);
            if factor.is_some_and(|factor| is_shared_prime(BigUint::from_bytes_be(&factor))) {
                found.push(place);
            }
        }
        if let Some(scratch) = self.scratch
            && self.count > 1
        {
            let digests: Vec<[u8; 32]> = found.iter().map(|&place| self.moduli[place].0).collect();
            scratch.write(&name, digests.as_flattened())?;
        }
        Ok(found)
    }

    fn shared<L: Levels>(
        &self,
        subset: u64,
        levels: L,
        others: impl Iterator<Item = Result<Product, AuditError>>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Vec<Option<Vec<u8>>>, AuditError>
    where
        AuditError: From<L::Error>,
    {
        let numbers = self.numbers(subset);
        let tree = Subset::grow(&numbers, self.threads, levels, &mut |share| progress(0.4 * share))?;
        drop(numbers);
        tree.shared_factors(others, &mut |share| progress(0.6 + 0.4 * share))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Moduli of which some share one of six numbers of 129 bits and more, with their digests.
    fn moduli(count: u32) -> Vec<Vec<u8>> {
        let offsets = [51_u64, 17, 229, 169, 47, 47];
        let primes: Vec<BigUint> = (1_u8..)
            .zip(offsets)
            .map(|(place, offset)| (BigUint::from(place) << 128_u32) + offset)
            .collect();
        let filler = |place: u32| (BigUint::from(1_u8) << 400) + BigUint::from(2 * place + 1);
        let mut moduli: Vec<Vec<u8>> = (0..count)
            .map(|place| match place % 5 {
                0 => &primes[place as usize / 5 % 3] * &primes[3 + place as usize / 5 % 2],
                1 => filler(place) * &primes[place as usize % 6],
                _ => filler(place) * filler(place + 1000),
            })
            .map(|modulus: BigUint| modulus.to_bytes_be())
            .collect();
        moduli.sort();
        moduli.dedup();
        moduli
    }

    fn numbered(moduli: &[Vec<u8>]) -> Vec<Numbered<'_>> {
        let digest = |modulus: &Vec<u8>| Sha256::digest(modulus).into();
        moduli
            .iter()
            .map(|modulus| (digest(modulus), modulus.as_slice()))
            .collect()
    }

    const SEARCH: Search<'static> = Search {
        threads: 1,
        memory: None,
        scratch: None,
        share: Share::WHOLE,
    };

    #[test]
    fn memory_scratch_and_shares_change_nothing() {
        let moduli = moduli(60);
        let moduli = numbered(&moduli);
        let found = |search: Search<'_>| {
            let mut last = 0.0;
            hits(&moduli, &search, None, &mut |done| {
                assert!((last..=1.0).contains(&done), "{done} after {last}");
                last = done;
            })
            .expect("there is room")
        };
        let all = found(SEARCH);
        assert!(all.len() > 15, "{}", all.len());
        let folder = tempfile::tempdir().expect("a folder");
        for memory in [Some(1), Some(20_000), Some(60_000), Some(100_000), None] {
            for scratch in [None, Some(folder.path())] {
                let search = Search {
                    memory,
                    scratch,
                    ..SEARCH
                };
                assert_eq!(found(search), all, "{memory:?} {scratch:?}");
                assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
                for of in [2, 3, 40] {
                    let share = |number| Share { number, of };
                    let mut parts: Vec<usize> = (1..=of)
                        .flat_map(|number| {
                            found(Search {
                                share: share(number),
                                ..search
                            })
                        })
                        .collect();
                    parts.sort_unstable();
                    assert_eq!(parts, all, "{of} parts");
                    for left in fs::read_dir(folder.path()).expect("it is there").flatten() {
                        fs::remove_dir_all(left.path()).expect("it can be removed");
                    }
                }
            }
        }
    }

    /// A search goes on after any of its steps, and makes again what was damaged.
    #[test]
    fn what_is_done_is_not_done_again() {
        let moduli = moduli(60);
        let moduli = numbered(&moduli);
        let folder = tempfile::tempdir().expect("a folder");
        let search = Search {
            memory: Some(60_000),
            scratch: Some(folder.path()),
            ..SEARCH
        };
        let all = hits(&moduli, &SEARCH, None, &mut |_| {}).expect("in memory");
        // The whole of a scratch folder, from a share of two that leaves its products.
        let share = Share { number: 1, of: 2 };
        let one = hits(&moduli, &Search { share, ..search }, None, &mut |_| {}).expect("there is room");
        let left = fs::read_dir(folder.path())
            .expect("a folder")
            .next()
            .expect("it is left");
        let left = left.expect("a name").path();
        let names = || {
            let mut names: Vec<String> = fs::read_dir(&left)
                .expect("a folder")
                .map(|entry| entry.expect("a name").file_name().into_string().expect("text"))
                .collect();
            names.sort();
            names
        };
        let before = names();
        assert!(before.iter().any(|name| name.starts_with("product-")), "{before:?}");
        assert!(before.iter().any(|name| name.starts_with("found-1-of-")), "{before:?}");
        assert!(!before.iter().any(|name| name.starts_with("level-")), "{before:?}");
        // Again, from what is there; then with each file damaged, and with none.
        let again = |share| hits(&moduli, &Search { share, ..search }, None, &mut |_| {}).expect("there is room");
        assert_eq!(again(share), one);
        for name in &before {
            fs::write(left.join(name), "nothing of the kind").expect("a file");
            assert_eq!(again(share), one, "{name}");
        }
        fs::write(left.join("level-1-of-2-0"), "of a killed process").expect("a file");
        let other = again(Share { number: 2, of: 2 });
        let mut both = [one, other].concat();
        both.sort_unstable();
        assert_eq!(both, all);
    }

    #[test]
    fn subsets_fit_the_memory() {
        // 10^6 moduli of 2048 bits.
        let (count, bytes) = (1_000_000, 256_000_000);
        let of = |memory, is_spilled, shares| subsets(count, bytes, memory, is_spilled, shares);
        assert_eq!(of(None, false, 1), 1);
        assert_eq!(of(None, true, 3), 3);
        assert_eq!(of(Some(MEMORY * bytes), false, 1), 1);
        assert_eq!(of(Some(MEMORY * bytes - 1), false, 1), 2);
        for memory in [1_000_000_000, 2_000_000_000, 8_000_000_000] {
            let spilled = of(Some(memory), true, 1);
            assert!(bytes / spilled * SPILLED <= memory);
            let kept = of(Some(memory), false, 1);
            assert!(bytes / kept * MEMORY + bytes <= memory + memory / 100, "{kept}");
        }
        assert_eq!(of(Some(2_000_000_000), true, 3) % 3, 0);
        assert_eq!(subsets(7, 7, Some(1), true, 1), 1);
        assert_eq!(subsets(0, 0, Some(1), true, 1), 1);
        assert!((0..1000_u64).all(|number| {
            let digest = Sha256::digest(number.to_le_bytes()).into();
            slot(&digest, 7) == slot(&digest, 7 * 5) / 5 && slot(&digest, 7) < 7
        }));
    }
}

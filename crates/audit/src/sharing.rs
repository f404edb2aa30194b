//! Faults of keys together: primes that several of them share, and moduli that are the same (Lenstra and others 2012;
//! Heninger and others 2012).
//!
//! ```text
//! batch GCD:  g_i = gcd(n_i, product of all others), by trees of products and remainders, for distinct moduli
//! for each g_i > 1, without its small factors:
//!     g_i prime            it is a shared prime
//!     g_i composite        every prime of this modulus is shared: split by the shared primes that are known,
//!                          and what is left of it by the others that are left
//! for each shared prime: its moduli are those that it divides
//! ```
//!
//! The factors are secrets: who has one has the private keys. They are wiped, and in nothing that is printed.

use std::{collections::BTreeMap, mem, ops::Range};

use num_bigint::BigUint;
use rsalab_product::shared_factors;
use rsalab_rsa::{CpuBackend, PublicKey, primality::are_probable_primes_on, random::SystemRng};
use zeroize::Zeroizing;

/// A prime, or a product of primes that are always together, which divides several moduli.
#[derive(Debug)]
pub struct SharedPrime {
    /// The secret, big-endian.
    pub factor: Zeroizing<Vec<u8>>,
    /// The places of the moduli that it divides, in order.
    pub members: Vec<usize>,
}

/// Numbers that two keys share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// A factor of different moduli.
    Factor,
    /// The modulus, with different public exponents: each private exponent gives the primes, and so the other one.
    Modulus,
}

/// Factors below this are no shared primes, but small factors of a modulus, which are found in another way.
const SMALL_BITS: u64 = 64;

/// Bytes of memory that a search takes for each byte of its moduli (measured: 62, at 4,000 and at 32,000 of 2048 bits).
pub(crate) const MEMORY: u64 = 64;

/// The primes that distinct moduli share. `progress` is told how much of the work is done, 0 to 1.
///
/// If so many bytes of `memory` do not hold a search in all moduli, each two parts of them are searched by themselves,
/// so that every two moduli meet (as the subsets of Hastings, Fried and Heninger 2016): with k parts that takes about
/// k times as long, and finds the same.
pub fn shared_primes(
    moduli: &[Vec<u8>],
    threads: usize,
    memory: Option<u64>,
    progress: &mut dyn FnMut(f64),
) -> Vec<SharedPrime> {
    let mut hit: Vec<(usize, BigUint)> = Vec::new();
    let mut small = None;
    let mut search = |places: Vec<usize>, progress: &mut dyn FnMut(f64)| {
        let moduli: Vec<Vec<u8>> = places.iter().map(|&place| moduli[place].clone()).collect();
        for (place, factor) in places.into_iter().zip(shared_factors(&moduli, threads, progress)) {
            let Some(factor) = factor.map(Zeroizing::new) else {
                continue;
            };
            let small = small.get_or_insert_with(small_primes);
            let factor = without(small, BigUint::from_bytes_be(&factor));
            if factor.bits() > SMALL_BITS {
                hit.push((place, factor));
            }
        }
    };
    let parts = parts(moduli, memory);
    let all: Vec<Vec<usize>> = match parts.as_slice() {
        [] => Vec::new(),
        [only] => vec![only.clone().collect()],
        _ => all_pairs(&(0..parts.len()).collect::<Vec<_>>())
            .map(|(one, other)| parts[one].clone().chain(parts[other].clone()).collect())
            .collect(),
    };
    let count = all.len() as f64;
    for (number, places) in all.into_iter().enumerate() {
        if places.len() > 1 {
            search(places, &mut |done| progress((number as f64 + done) / count));
        }
    }
    if hit.is_empty() {
        return Vec::new();
    }
    // Several searches may find the same.
    hit.sort();
    hit.dedup();
    let mut hit_places: Vec<usize> = hit.iter().map(|(place, _)| *place).collect();
    hit_places.dedup();
    let base = coprime_base(hit.iter().map(|(_, factor)| factor));
    let mut shared = Vec::new();
    for factor in base {
        let divides = |place: &usize| BigUint::from_bytes_be(&moduli[*place]) % &factor == BigUint::ZERO;
        let members: Vec<usize> = hit_places.iter().copied().filter(divides).collect();
        // What is left of a modulus when its shared primes are taken out belongs to it alone.
        if members.len() > 1 {
            shared.push(SharedPrime {
                factor: Zeroizing::new(factor.to_bytes_be()),
                members,
            });
        }
    }
    shared.sort_by(|one, other| one.members.cmp(&other.members));
    shared
}

/// Parts of the moduli, of which any two fit into so many bytes; one of all of them if they fit together.
fn parts(moduli: &[Vec<u8>], memory: Option<u64>) -> Vec<Range<usize>> {
    let bytes: u64 = moduli.iter().map(|modulus| modulus.len() as u64).sum();
    let needed = bytes.saturating_mul(MEMORY);
    let count = match memory {
        Some(memory) if needed > memory => usize::try_from((2 * needed).div_ceil(memory.max(1))).unwrap_or(usize::MAX),
        _ => 1,
    };
    // No part is smaller than some moduli: below that nothing is saved.
    let each = moduli.len().div_ceil(count).max(LEAST_PART);
    let starts = (0..moduli.len()).step_by(each);
    starts.map(|start| start..moduli.len().min(start + each)).collect()
}

/// Moduli of the smallest part.
const LEAST_PART: usize = 4;

/// The pairs of keys that share a factor or a modulus, by their places. The same key twice is no pair.
pub fn pairs(keys: &[&PublicKey], threads: usize) -> Vec<(usize, usize, Sharing)> {
    let mut by_modulus: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (place, key) in keys.iter().enumerate() {
        by_modulus.entry(key.n()).or_default().push(place);
    }
    let mut pairs = Vec::new();
    for places in by_modulus.values() {
        for (one, other) in all_pairs(places) {
            if keys[one].e() != keys[other].e() {
                pairs.push((one, other, Sharing::Modulus));
            }
        }
    }
    let (moduli, places): (Vec<Vec<u8>>, Vec<Vec<usize>>) = by_modulus
        .into_iter()
        .map(|(modulus, places)| (modulus.to_vec(), places))
        .unzip();
    for shared in shared_primes(&moduli, threads, None, &mut |_| {}) {
        for (one, other) in all_pairs(&shared.members) {
            for &one in &places[one] {
                pairs.extend(
                    places[other]
                        .iter()
                        .map(|&other| (one.min(other), one.max(other), Sharing::Factor)),
                );
            }
        }
    }
    pairs.sort_by_key(|&(one, other, sharing)| (one, other, sharing == Sharing::Factor));
    pairs.dedup();
    pairs
}

fn all_pairs(places: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let each = places.iter().enumerate();
    each.flat_map(|(index, &one)| places[index + 1..].iter().map(move |&other| (one, other)))
}

/// Numbers without a common factor, of which the given ones are products: the primes among them, and parts of the
/// others.
fn coprime_base<'a>(factors: impl Iterator<Item = &'a BigUint>) -> Vec<BigUint> {
    let mut distinct: Vec<&BigUint> = factors.collect();
    distinct.sort();
    distinct.dedup();
    let bytes: Vec<Zeroizing<Vec<u8>>> = distinct
        .iter()
        .map(|factor| Zeroizing::new(factor.to_bytes_be()))
        .collect();
    let slices: Vec<&[u8]> = bytes.iter().map(|bytes| &bytes[..]).collect();
    // Without randomness all are refined, which is slower and gives the same.
    let are_prime = are_probable_primes_on(&slices, 1, &mut SystemRng, &CpuBackend::auto());
    let are_prime = are_prime.unwrap_or_else(|_| vec![false; slices.len()]);
    let mut base: Vec<BigUint> = Vec::new();
    let mut composite: Vec<BigUint> = Vec::new();
    for (factor, is_prime) in distinct.into_iter().zip(are_prime) {
        match is_prime {
            true => base.push(factor.clone()),
            false => composite.push(factor.clone()),
        }
    }
    let primes = base.len();
    for mut left in composite {
        for prime in &base[..primes] {
            while &left % prime == BigUint::ZERO {
                left /= prime;
            }
        }
        refine(&mut base, primes, left);
    }
    base
}

/// Adds a number to a base of coprime numbers, of which those before `from` are prime and do not divide it.
fn refine(base: &mut Vec<BigUint>, from: usize, number: BigUint) {
    let one = BigUint::from(1_u8);
    let mut waiting = vec![number];
    'next: while let Some(number) = waiting.pop() {
        if number == one {
            continue;
        }
        for place in from..base.len() {
            let common = gcd(number.clone(), base[place].clone());
            if common == one {
                continue;
            }
            if common == base[place] {
                waiting.push(&number / &common);
            } else {
                let other = base.swap_remove(place);
                waiting.extend([&other / &common, &number / &common, common]);
            }
            continue 'next;
        }
        base.push(number);
    }
}

/// Euclid's algorithm.
fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        a %= &b;
        mem::swap(&mut a, &mut b);
    }
    a
}

/// The product of the primes below 2^16.
fn small_primes() -> BigUint {
    let is_prime = |n: &u32| {
        (2..)
            .take_while(|divisor| divisor * divisor <= *n)
            .all(|divisor| !n.is_multiple_of(divisor))
    };
    (2..1_u32 << 16).filter(is_prime).map(BigUint::from).product()
}

/// The rest of a factor without these primes.
fn without(primes: &BigUint, mut factor: BigUint) -> BigUint {
    loop {
        let common = gcd(primes % &factor, factor.clone());
        if common == BigUint::from(1_u8) {
            return factor;
        }
        factor /= common;
        if factor == BigUint::from(1_u8) {
            return factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of 129 bits and more that are prime: the least primes above 2^128 k for small k.
    fn prime(place: usize) -> BigUint {
        let offsets = [51_u64, 17, 229, 169, 47, 47];
        (BigUint::from(place + 1) << 128_u32) + offsets[place]
    }

    fn modulus(primes: &[usize]) -> Vec<u8> {
        primes
            .iter()
            .map(|&place| prime(place))
            .product::<BigUint>()
            .to_bytes_be()
    }

    fn shared(moduli: &[Vec<u8>]) -> Vec<(BigUint, Vec<usize>)> {
        let found = shared_primes(moduli, 1, None, &mut |_| {});
        found
            .into_iter()
            .map(|shared| (BigUint::from_bytes_be(&shared.factor), shared.members))
            .collect()
    }

    #[test]
    fn each_shared_prime_is_found_with_all_of_its_moduli() {
        // The first and the last have both of their primes elsewhere.
        let moduli = [
            modulus(&[0, 1]),
            modulus(&[2, 3]),
            modulus(&[1, 4]),
            modulus(&[0, 5]),
            modulus(&[1, 5]),
        ];
        let found = shared(&moduli);
        assert_eq!(
            found,
            [
                (prime(1), vec![0, 2, 4]),
                (prime(0), vec![0, 3]),
                (prime(5), vec![3, 4])
            ]
        );
        assert_eq!(shared(&moduli[1..3]), []);
        assert_eq!(shared(&moduli[..1]), []);
        assert_eq!(shared(&[]), []);
    }

    #[test]
    fn moduli_whose_primes_are_all_shared_are_split() {
        let moduli = [modulus(&[0, 1]), modulus(&[1, 2]), modulus(&[2, 0])];
        assert_eq!(
            shared(&moduli),
            [(prime(1), vec![0, 1]), (prime(0), vec![0, 2]), (prime(2), vec![1, 2])]
        );
        // Two primes that are always together need no splitting.
        let moduli = [modulus(&[0, 1, 2]), modulus(&[0, 1, 3])];
        assert_eq!(shared(&moduli), [(prime(0) * prime(1), vec![0, 1])]);
        let moduli = [modulus(&[0, 1, 2]), modulus(&[0, 1, 3]), modulus(&[1, 4])];
        assert_eq!(shared(&moduli), [(prime(0), vec![0, 1]), (prime(1), vec![0, 1, 2])]);
    }

    #[test]
    fn little_memory_changes_nothing_but_the_time() {
        // Primes of 100 bits and more, each of which is in one to three moduli.
        let primes: Vec<BigUint> = (0..6).map(prime).collect();
        let filler = |place: u32| (BigUint::from(1_u8) << 400) + BigUint::from(2 * place + 1);
        let moduli: Vec<Vec<u8>> = (0..40_u32)
            .map(|place| match place % 5 {
                0 => &primes[place as usize / 5 % 3] * &primes[3 + place as usize / 5 % 2],
                1 => filler(place) * &primes[place as usize % 6],
                _ => filler(place) * filler(place + 100),
            })
            .map(|modulus: BigUint| modulus.to_bytes_be())
            .collect();
        let mut distinct = moduli.clone();
        distinct.sort();
        distinct.dedup();
        let found = |memory| {
            let mut last = 0.0;
            let found = shared_primes(&distinct, 1, memory, &mut |done| {
                assert!((last..=1.0).contains(&done), "{done} after {last}");
                last = done;
            });
            let found = found.into_iter().map(|shared| (shared.factor.to_vec(), shared.members));
            found.collect::<Vec<_>>()
        };
        let all = found(None);
        assert!(all.len() >= 5, "{}", all.len());
        for memory in [1, 20_000, 60_000, 100_000, 1 << 40] {
            assert_eq!(found(Some(memory)), all, "{memory}");
        }
        assert_eq!(parts(&distinct, Some(1 << 40)).len(), 1);
        let needed = MEMORY * distinct.iter().map(|modulus| modulus.len() as u64).sum::<u64>();
        assert_eq!(parts(&distinct, Some(needed - 1)).len(), 3);
        assert!(parts(&[], Some(1)).is_empty());
    }

    #[test]
    fn small_factors_are_no_shared_primes() {
        let times = |n: u32, modulus: Vec<u8>| (BigUint::from_bytes_be(&modulus) * n).to_bytes_be();
        let moduli = [times(15, modulus(&[0, 1])), times(105, modulus(&[2, 3]))];
        assert_eq!(shared(&moduli), []);
        let moduli = [times(15, modulus(&[0, 1])), times(105, modulus(&[0, 3]))];
        assert_eq!(shared(&moduli), [(prime(0), vec![0, 1])]);
    }

    #[test]
    fn pairs_that_share_are_found_and_no_others() {
        let key = |primes: &[usize], e: u8| PublicKey::new(&modulus(primes), &[e]).expect("it is one");
        let keys = [
            key(&[0, 1], 3),
            key(&[2, 3], 3),
            key(&[0, 1], 3),
            key(&[1, 4], 3),
            key(&[2, 3], 5),
            key(&[4, 5], 3),
        ];
        let keys: Vec<&PublicKey> = keys.iter().collect();
        let expected = [
            (0, 3, Sharing::Factor),
            (1, 4, Sharing::Modulus),
            (2, 3, Sharing::Factor),
            (3, 5, Sharing::Factor),
        ];
        assert_eq!(pairs(&keys, 2), expected);
        assert_eq!(pairs(&[], 1), []);
    }
}

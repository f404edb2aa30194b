//! Faults of keys together: primes that several of them share, and moduli that are the same (Lenstra and others 2012;
//! Heninger and others 2012).
//!
//! ```text
//! batch GCD:  g_i = gcd(n_i, product of all others), by trees of products and remainders, for distinct moduli
//! for each g_i > 1, without its small factors (those moduli are compared once more, by themselves):
//!     g_i prime            it is a shared prime
//!     g_i composite        every prime of this modulus is shared: split by the shared primes that are known,
//!                          and what is left of it by the others that are left
//! for each shared prime: its moduli are those that it divides
//! ```
//!
//! The factors are secrets: who has one has the private keys. They are wiped, and in nothing that is printed.

use std::{collections::BTreeMap, mem, sync::OnceLock};

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

/// Returns whether what a modulus shares with others is more than small factors.
pub(crate) fn is_shared_prime(factor: BigUint) -> bool {
    without_small(factor).bits() > SMALL_BITS
}

/// The primes that some of these distinct moduli share: of those in `hits`, their places, each of which shares one with
/// another of them.
pub(crate) fn shared_primes(moduli: &[&[u8]], hits: &[usize], threads: usize) -> Vec<SharedPrime> {
    let chosen: Vec<&[u8]> = hits.iter().map(|&place| moduli[place]).collect();
    let mut found: Vec<BigUint> = Vec::new();
    for factor in shared_factors(&chosen, threads, &mut |_| {}) {
        let factor = factor.map(Zeroizing::new);
        let factor = factor.map(|factor| without_small(BigUint::from_bytes_be(&factor)));
        found.extend(factor.filter(|factor| factor.bits() > SMALL_BITS));
    }
    let numbers: Vec<BigUint> = chosen.iter().map(|modulus| BigUint::from_bytes_be(modulus)).collect();
    let mut shared = Vec::new();
    // Factors are split where one is a part of another, and a part may be small: one of a few of the moduli that share
    // more.
    let base = coprime_base(found.iter()).into_iter();
    for factor in base.filter(|factor| factor.bits() > SMALL_BITS) {
        let divided = hits.iter().zip(&numbers);
        let divided = divided.filter(|(_, number)| *number % &factor == BigUint::ZERO);
        let mut members: Vec<usize> = divided.map(|(&place, _)| place).collect();
        // What is left of a modulus when its shared primes are taken out belongs to it alone.
        if members.len() > 1 {
            members.sort_unstable();
            shared.push(SharedPrime {
                factor: Zeroizing::new(factor.to_bytes_be()),
                members,
            });
        }
    }
    shared.sort_by(|one, other| one.members.cmp(&other.members));
    shared
}

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
    let moduli: Vec<&[u8]> = moduli.iter().map(Vec::as_slice).collect();
    let all: Vec<usize> = (0..moduli.len()).collect();
    for shared in shared_primes(&moduli, &all, threads) {
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
fn small_primes() -> &'static BigUint {
    static PRODUCT: OnceLock<BigUint> = OnceLock::new();
    let is_prime = |n: &u32| {
        (2..)
            .take_while(|divisor| divisor * divisor <= *n)
            .all(|divisor| !n.is_multiple_of(divisor))
    };
    PRODUCT.get_or_init(|| (2..1_u32 << 16).filter(is_prime).map(BigUint::from).product())
}

/// The rest of a factor without these primes.
fn without_small(mut factor: BigUint) -> BigUint {
    let one = BigUint::from(1_u8);
    while factor > one {
        let common = gcd(small_primes() % &factor, factor.clone());
        if common == one {
            break;
        }
        factor /= common;
    }
    factor
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
        let moduli: Vec<&[u8]> = moduli.iter().map(Vec::as_slice).collect();
        let all: Vec<usize> = (0..moduli.len()).collect();
        let found = shared_primes(&moduli, &all, 1);
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
    fn small_factors_are_no_shared_primes() {
        let times = |n: u32, modulus: Vec<u8>| (BigUint::from_bytes_be(&modulus) * n).to_bytes_be();
        let moduli = [times(15, modulus(&[0, 1])), times(105, modulus(&[2, 3]))];
        assert_eq!(shared(&moduli), []);
        let moduli = [times(15, modulus(&[0, 1])), times(105, modulus(&[0, 3]))];
        assert_eq!(shared(&moduli), [(prime(0), vec![0, 1])]);
        // The least prime above 2^20 divides moduli of both pairs: it is too long to be divided by at once, and too
        // short for a shared prime.
        let long = (1 << 20) + 7;
        let moduli = [
            times(long, modulus(&[0, 1])),
            modulus(&[0, 2]),
            times(long, modulus(&[3, 4])),
            modulus(&[3, 5]),
        ];
        assert_eq!(shared(&moduli), [(prime(0), vec![0, 1]), (prime(3), vec![2, 3])]);
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

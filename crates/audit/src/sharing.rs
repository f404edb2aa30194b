//! Faults of keys together: primes that several of them share, and moduli that are the same (Lenstra and others 2012;
//! Heninger and others 2012).
//!
//! ```text
//! batch GCD:  g_i = gcd(n_i, product of all others), by trees of products and remainders, for distinct moduli
//! for each g_i > 1, without its small factors (those moduli are compared once more, by themselves):
//!     g_i prime            it is a shared prime, of all moduli with this g_i
//!     g_i composite        every prime of this modulus is shared: it is divided by the primes that are known, and what
//!                          is left of it is split by the others that are left
//! for each modulus whose g_i is composite: the shared primes that divide it
//! ```
//!
//! What is left is split by the product of a part of it: a half, a quarter and so on, by digests. A number that shares
//! one of its primes with that part and another one with none of it is split; with a part of the right size every
//! fourth is, whatever shares with whom. Each step takes the time of a batch GCD. (To compare each two takes the square
//! of their number: of moduli p_1 p_2, p_2 p_3, p_3 p_4, ... each g_i is composite.)
//!
//! The factors are secrets: who has one has the private keys. They are wiped, and in nothing that is printed.

use std::{collections::BTreeMap, mem};

use num_bigint::BigUint;
use once_cell::race::OnceBox;
use rsalab_product::{Product, Subset, shared_factors};
use rsalab_rsa::{CpuBackend, PublicKey, primality::are_probable_primes_on, random::SystemRng};
use sha2::{Digest, Sha256};
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

/// What a key shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The number.
    pub sharing: Sharing,
    /// The place of the first key that it shares it with.
    pub other: usize,
    /// How many keys more it shares it with.
    pub more: usize,
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
    let mut by_factor: BTreeMap<BigUint, Vec<usize>> = BTreeMap::new();
    for (&place, factor) in hits.iter().zip(shared_factors(&chosen, threads, &mut |_| {})) {
        let factor = factor.map(Zeroizing::new);
        let factor = factor.map(|factor| without_small(BigUint::from_bytes_be(&factor)));
        if let Some(factor) = factor.filter(|factor| factor.bits() > SMALL_BITS) {
            by_factor.entry(factor).or_default().push(place);
        }
    }
    let (factors, places): (Vec<BigUint>, Vec<Vec<usize>>) = by_factor.into_iter().unzip();
    // The shared primes, with their moduli; and what others share that is composite, with its moduli.
    let (mut base, mut members) = (Vec::new(), Vec::new());
    let (mut composite, mut places_of) = (Vec::new(), Vec::new());
    let are_prime = are_prime(&factors);
    for ((factor, places), is_prime) in factors.into_iter().zip(places).zip(are_prime) {
        let (factors, members) = match is_prime {
            true => (&mut base, &mut members),
            false => (&mut composite, &mut places_of),
        };
        factors.push(factor);
        members.push(places);
    }
    let mut left = composite.clone();
    divide(&mut left, &base, threads);
    base.extend(split(left, threads));
    members.resize_with(base.len(), Vec::new);
    for (factor, number) in divisors(&base, &composite, threads) {
        members[factor].extend(&places_of[number]);
    }
    // Factors are split where one is a part of another, and a part may be small: one of a few of the moduli that share
    // more. What is left of a modulus when its shared primes are taken out belongs to it alone.
    let found = base.into_iter().zip(members);
    let found = found.filter(|(factor, members)| factor.bits() > SMALL_BITS && members.len() > 1);
    let mut shared: Vec<SharedPrime> = found
        .map(|(factor, mut members)| {
            members.sort_unstable();
            SharedPrime {
                factor: Zeroizing::new(factor.to_bytes_be()),
                members,
            }
        })
        .collect();
    shared.sort_by(|one, other| one.members.cmp(&other.members));
    shared
}

/// What keys share with others, each with the place of its key, in their order: of each key one for the modulus, and
/// one for each shared prime. The same key twice shares nothing.
pub fn shared(keys: &[&PublicKey], threads: usize) -> Vec<(usize, Shared)> {
    let mut by_modulus: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (place, key) in keys.iter().enumerate() {
        by_modulus.entry(key.n()).or_default().push(place);
    }
    let mut found = Vec::new();
    for places in by_modulus.values() {
        let mut by_exponent: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for &place in places {
            by_exponent.entry(keys[place].e()).or_default().push(place);
        }
        let groups: Vec<&[usize]> = by_exponent.values().map(Vec::as_slice).collect();
        add_groups(&groups, Sharing::Modulus, &mut found);
    }
    let (moduli, places): (Vec<&[u8]>, Vec<Vec<usize>>) = by_modulus.into_iter().unzip();
    let all: Vec<usize> = (0..moduli.len()).collect();
    for shared in shared_primes(&moduli, &all, threads) {
        let groups: Vec<&[usize]> = shared.members.iter().map(|&member| &places[member][..]).collect();
        add_groups(&groups, Sharing::Factor, &mut found);
    }
    found.sort_by_key(|&(place, shared)| (place, shared.sharing == Sharing::Factor, shared.other));
    found
}

/// Adds what the keys of groups share with those of the other groups; the places of each group are in order.
fn add_groups(groups: &[&[usize]], sharing: Sharing, found: &mut Vec<(usize, Shared)>) {
    let mut firsts: Vec<usize> = groups.iter().filter_map(|places| places.first()).copied().collect();
    firsts.sort_unstable();
    let [first, second, ..] = firsts[..] else {
        return;
    };
    let all: usize = groups.iter().map(|places| places.len()).sum();
    for places in groups {
        let shared = Shared {
            sharing,
            other: if places[0] == first { second } else { first },
            more: all - places.len() - 1,
        };
        found.extend(places.iter().map(|&place| (place, shared)));
    }
}

/// Numbers as bytes, which are wiped.
fn to_bytes(numbers: &[BigUint]) -> Vec<Zeroizing<Vec<u8>>> {
    let bytes = numbers.iter().map(|number| Zeroizing::new(number.to_bytes_be()));
    bytes.collect()
}

fn slices(bytes: &[Zeroizing<Vec<u8>>]) -> Vec<&[u8]> {
    bytes.iter().map(|bytes| &bytes[..]).collect()
}

/// What each number shares with the product of others.
fn in_common(numbers: &[&[u8]], others: &[&[u8]], threads: usize) -> Vec<Option<BigUint>> {
    let levels: Vec<Vec<Vec<u64>>> = Vec::new();
    let Ok(tree) = Subset::grow(numbers, threads, levels, &mut |_| {});
    let found = tree.common_factors(&Product::of(others, threads, &mut |_| {}));
    let found = found.into_iter().map(|factor| factor.map(Zeroizing::new));
    found
        .map(|factor| factor.map(|factor| BigUint::from_bytes_be(&factor)))
        .collect()
}

/// Returns of each number whether it is prime, by one round of the Miller–Rabin test. Without randomness none is known
/// to be: all are split, which is slower and gives the same.
fn are_prime(numbers: &[BigUint]) -> Vec<bool> {
    let bytes = to_bytes(numbers);
    let are_prime = are_probable_primes_on(&slices(&bytes), 1, &mut SystemRng, &CpuBackend::auto());
    are_prime.unwrap_or_else(|_| vec![false; numbers.len()])
}

/// The places of factors, and of numbers that they divide. Half of the factors are looked at together, and a half of
/// those, as long as they have something in common with a number.
fn divisors(factors: &[BigUint], numbers: &[BigUint], threads: usize) -> Vec<(usize, usize)> {
    /// Divisions that take no longer than trees.
    const MOST_DIVISIONS: usize = 256;
    let (factor_bytes, number_bytes) = (to_bytes(factors), to_bytes(numbers));
    let (factor_slices, number_slices) = (slices(&factor_bytes), slices(&number_bytes));
    let mut found = Vec::new();
    let mut waiting = vec![(0..factors.len(), (0..numbers.len()).collect::<Vec<usize>>())];
    while let Some((range, candidates)) = waiting.pop() {
        if range.len() <= 1 || range.len() * candidates.len() <= MOST_DIVISIONS {
            for factor in range {
                let divided = candidates
                    .iter()
                    .filter(|&&number| is_divided(&numbers[number], &factors[factor]));
                found.extend(divided.map(|&number| (factor, number)));
            }
            continue;
        }
        let chosen: Vec<&[u8]> = candidates.iter().map(|&number| number_slices[number]).collect();
        let middle = range.start + range.len() / 2;
        for half in [range.start..middle, middle..range.end] {
            let shared = in_common(&chosen, &factor_slices[half.clone()], threads);
            let those = candidates.iter().zip(shared).filter(|(_, shared)| shared.is_some());
            waiting.push((half, those.map(|(&number, _)| number).collect()));
        }
    }
    found
}

fn is_divided(number: &BigUint, factor: &BigUint) -> bool {
    number % factor == BigUint::ZERO
}

/// Divides numbers by all of these factors, as often as can be.
fn divide(numbers: &mut [BigUint], factors: &[BigUint], threads: usize) {
    for (factor, number) in divisors(factors, numbers, threads) {
        while is_divided(&numbers[number], &factors[factor]) {
            numbers[number] /= &factors[factor];
        }
    }
}

/// Numbers that are few enough to compare each two.
const FEW: usize = 32;

/// Numbers without a common factor, of which the given ones are products: the primes among them, and parts of the
/// others.
fn split(mut left: Vec<BigUint>, threads: usize) -> Vec<BigUint> {
    let mut base: Vec<BigUint> = Vec::new();
    let sizes = left.len().max(2).ilog2();
    // Each size often enough that what is split in one of four cases is split nearly for certain.
    for round in 0..16 * sizes {
        left.retain(|number| number.bits() > 1);
        left.sort_unstable();
        left.dedup();
        if left.len() <= FEW {
            break;
        }
        let bits = 1 + round % sizes;
        let is_chosen = |number: &BigUint| {
            let digest = Sha256::digest([&round.to_be_bytes()[..], &number.to_bytes_be()].concat());
            u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]).leading_zeros() >= bits
        };
        let (chosen, others): (Vec<BigUint>, Vec<BigUint>) = left.into_iter().partition(is_chosen);
        let (chosen_bytes, other_bytes) = (to_bytes(&chosen), to_bytes(&others));
        let shared = in_common(&slices(&other_bytes), &slices(&chosen_bytes), threads);
        let mut parts = chosen;
        for (number, common) in others.into_iter().zip(shared) {
            match common.filter(|common| *common != number) {
                Some(common) => parts.extend([&number / &common, common]),
                None => parts.push(number),
            }
        }
        let are_prime = are_prime(&parts);
        let (mut primes, mut composite) = (Vec::new(), Vec::new());
        for (part, is_prime) in parts.into_iter().zip(are_prime) {
            match is_prime {
                true => primes.push(part),
                false => composite.push(part),
            }
        }
        primes.sort_unstable();
        primes.dedup();
        divide(&mut composite, &primes, threads);
        left = composite;
        base.extend(primes);
    }
    let mut rest = Vec::new();
    left.into_iter().for_each(|number| refine(&mut rest, number));
    base.extend(rest);
    base
}

/// Adds a number to a base of coprime numbers.
fn refine(base: &mut Vec<BigUint>, number: BigUint) {
    let one = BigUint::from(1_u8);
    let mut waiting = vec![number];
    'next: while let Some(number) = waiting.pop() {
        if number == one {
            continue;
        }
        for place in 0..base.len() {
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
    // Nobody waits for another thread, which in a child of a fork may be one of its parent's.
    static PRODUCT: OnceBox<BigUint> = OnceBox::new();
    let is_prime = |n: &u32| {
        (2..)
            .take_while(|divisor| divisor * divisor <= *n)
            .all(|divisor| !n.is_multiple_of(divisor))
    };
    PRODUCT.get_or_init(|| Box::new((2..1_u32 << 16).filter(is_prime).map(BigUint::from).product()))
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

    fn shared_of(moduli: &[Vec<u8>]) -> Vec<(BigUint, Vec<usize>)> {
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
        let found = shared_of(&moduli);
        assert_eq!(
            found,
            [
                (prime(1), vec![0, 2, 4]),
                (prime(0), vec![0, 3]),
                (prime(5), vec![3, 4])
            ]
        );
        assert_eq!(shared_of(&moduli[1..3]), []);
        assert_eq!(shared_of(&moduli[..1]), []);
        assert_eq!(shared_of(&[]), []);
    }

    #[test]
    fn moduli_whose_primes_are_all_shared_are_split() {
        let moduli = [modulus(&[0, 1]), modulus(&[1, 2]), modulus(&[2, 0])];
        assert_eq!(
            shared_of(&moduli),
            [(prime(1), vec![0, 1]), (prime(0), vec![0, 2]), (prime(2), vec![1, 2])]
        );
        // Two primes that are always together need no splitting.
        let moduli = [modulus(&[0, 1, 2]), modulus(&[0, 1, 3])];
        assert_eq!(shared_of(&moduli), [(prime(0) * prime(1), vec![0, 1])]);
        let moduli = [modulus(&[0, 1, 2]), modulus(&[0, 1, 3]), modulus(&[1, 4])];
        assert_eq!(shared_of(&moduli), [(prime(0), vec![0, 1]), (prime(1), vec![0, 1, 2])]);
    }

    #[test]
    fn small_factors_are_no_shared_primes() {
        let times = |n: u32, modulus: Vec<u8>| (BigUint::from_bytes_be(&modulus) * n).to_bytes_be();
        let moduli = [times(15, modulus(&[0, 1])), times(105, modulus(&[2, 3]))];
        assert_eq!(shared_of(&moduli), []);
        let moduli = [times(15, modulus(&[0, 1])), times(105, modulus(&[0, 3]))];
        assert_eq!(shared_of(&moduli), [(prime(0), vec![0, 1])]);
        // The least prime above 2^20 divides moduli of both pairs: it is too long to be divided by at once, and too
        // short for a shared prime.
        let long = (1 << 20) + 7;
        let moduli = [
            times(long, modulus(&[0, 1])),
            modulus(&[0, 2]),
            times(long, modulus(&[3, 4])),
            modulus(&[3, 5]),
        ];
        assert_eq!(shared_of(&moduli), [(prime(0), vec![0, 1]), (prime(3), vec![2, 3])]);
    }

    #[test]
    fn what_keys_share_is_told_once_a_key() {
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
        let told = |place, sharing, other, more| (place, Shared { sharing, other, more });
        let expected = [
            told(0, Sharing::Factor, 3, 0),
            told(1, Sharing::Modulus, 4, 0),
            told(2, Sharing::Factor, 3, 0),
            told(3, Sharing::Factor, 0, 1),
            told(3, Sharing::Factor, 5, 0),
            told(4, Sharing::Modulus, 1, 0),
            told(5, Sharing::Factor, 3, 0),
        ];
        assert_eq!(shared(&keys, 2), expected);
        assert_eq!(shared(&[], 1), []);
        // As many words as keys, and not as pairs of them.
        let many: Vec<PublicKey> = (1..1000_u16)
            .map(|e| PublicKey::new(&modulus(&[0, 1]), &(2 * e + 1).to_be_bytes()).expect("it is one"))
            .collect();
        let many: Vec<&PublicKey> = many.iter().collect();
        let found = shared(&many, 1);
        assert_eq!(found.len(), many.len());
        assert_eq!(found[0], told(0, Sharing::Modulus, 1, 997));
        assert_eq!(found[7], told(7, Sharing::Modulus, 0, 997));
    }

    /// Primes of 80 bits, each of two moduli, and a prime of many: what each modulus shares is all of it.
    #[test]
    fn rings_and_stars_of_moduli_are_split() {
        let first = BigUint::from(1_u8) << 80_u32;
        let odd: Vec<BigUint> = (0..6000_u32).map(|k| &first + (2 * k + 1)).collect();
        let are_prime = are_prime(&odd);
        let primes = odd.into_iter().zip(are_prime).filter(|(_, is_prime)| *is_prime);
        let primes: Vec<BigUint> = primes.map(|(prime, _)| prime).take(121).collect();
        let (hub, ring) = primes.split_last().expect("there are some");
        let next = |place: usize| &ring[(place + 1) % ring.len()];
        let moduli: Vec<Vec<u8>> = (0..ring.len())
            .map(|place| (&ring[place] * next(place)).to_bytes_be())
            .collect();
        let found = shared_of(&moduli);
        assert_eq!(found.len(), ring.len());
        for (factor, members) in found {
            let of_factor = |modulus: &Vec<u8>| is_divided(&BigUint::from_bytes_be(modulus), &factor);
            let known: Vec<usize> = (0..moduli.len()).filter(|&place| of_factor(&moduli[place])).collect();
            assert!(ring.contains(&factor) && members == known && members.len() == 2);
        }
        // Each prime but that of the hub is of the ring, too.
        let star: Vec<Vec<u8>> = ring.iter().map(|prime| (prime * hub).to_bytes_be()).collect();
        let found = shared_of(&[moduli, star].concat());
        assert_eq!(found.len(), ring.len() + 1);
        let of_hub = found.iter().find(|(factor, _)| factor == hub).expect("it is shared");
        assert_eq!(of_hub.1, (ring.len()..2 * ring.len()).collect::<Vec<_>>());
        assert!(
            found
                .iter()
                .all(|(factor, members)| factor == hub || members.len() == 3)
        );
    }
}

//! Weaknesses that several public keys show together: primes that two of them share (Lenstra and others 2012; Heninger
//! and others 2012).
//!
//! Each modulus is tried against the product of those before it: one long division and one gcd. Only where that finds
//! something, the moduli before it are tried one by one. So the work is a division by each modulus of a number as long
//! as all before it, which is quick up to some thousands of keys.

use std::collections::BTreeMap;

use rsalab_arith::integer;

use super::PublicKey;

/// Numbers that two keys share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// A factor of different moduli.
    Factor,
    /// The modulus, with different public exponents: each private exponent gives the primes, and so the other one.
    Modulus,
}

/// The pairs of keys that share a factor or a modulus, by their places. The same key twice is no pair.
pub fn shared_factors(keys: &[&PublicKey]) -> Vec<(usize, usize, Sharing)> {
    let mut by_modulus: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (place, key) in keys.iter().enumerate() {
        by_modulus.entry(key.n()).or_default().push(place);
    }
    let mut pairs = Vec::new();
    for places in by_modulus.values() {
        for (index, &one) in places.iter().enumerate() {
            let others = places[index + 1..].iter().copied();
            let others = others.filter(|&other| keys[other].e() != keys[one].e());
            pairs.extend(others.map(|other| (one, other, Sharing::Modulus)));
        }
    }
    let moduli: Vec<(&[u8], &Vec<usize>)> = by_modulus.iter().map(|(modulus, places)| (*modulus, places)).collect();
    let mut product = vec![1];
    for (index, (modulus, places)) in moduli.iter().enumerate() {
        if has_common_factor(modulus, &product) {
            for (other, others) in &moduli[..index] {
                if has_common_factor(modulus, other) {
                    let each = |&one: &usize| others.iter().map(move |&other| (other.min(one), other.max(one)));
                    let found = places.iter().flat_map(each);
                    pairs.extend(found.map(|(one, other)| (one, other, Sharing::Factor)));
                }
            }
        }
        product = integer::multiply(&product, modulus).to_vec();
    }
    pairs.sort_by_key(|&(one, other, _)| (one, other));
    pairs
}

/// Returns whether an odd modulus and a number have a factor in common.
fn has_common_factor(modulus: &[u8], number: &[u8]) -> bool {
    let rest = integer::modulo(number, modulus).expect("a modulus is not zero");
    integer::bits_vartime(&integer::gcd(&rest, modulus)) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of primes of 128 bits and more.
    fn key(primes: [u64; 2], e: u8) -> PublicKey {
        // The least primes above 2^128 k for small k.
        let prime = |place: u64| {
            let offsets = [51_u64, 21, 23, 67, 37, 45];
            let mut bytes = vec![0; 17];
            bytes[0] = u8::try_from(place).expect("few") + 1;
            bytes[9..].copy_from_slice(&offsets[usize::try_from(place).expect("few")].to_be_bytes());
            bytes
        };
        let n = integer::multiply(&prime(primes[0]), &prime(primes[1]));
        PublicKey::new(&n, &[e]).expect("it is one")
    }

    #[test]
    fn pairs_that_share_are_found_and_no_others() {
        let keys = [
            key([0, 1], 3),
            key([2, 3], 3),
            key([0, 1], 3),
            key([1, 4], 3),
            key([2, 3], 5),
            key([4, 5], 3),
        ];
        let keys: Vec<&PublicKey> = keys.iter().collect();
        // Numbers that share a factor, whether the others are prime or not.
        let shares = |one: usize, other: usize| {
            let divisor = integer::gcd(keys[one].n(), keys[other].n());
            keys[one].n() != keys[other].n() && integer::bits_vartime(&divisor) > 1
        };
        let mut expected = Vec::new();
        for one in 0..keys.len() {
            for other in one + 1..keys.len() {
                if shares(one, other) {
                    expected.push((one, other, Sharing::Factor));
                }
            }
        }
        expected.push((1, 4, Sharing::Modulus));
        expected.sort_by_key(|&(one, other, _)| (one, other));
        assert_eq!(shared_factors(&keys), expected);
        assert!(expected.contains(&(0, 3, Sharing::Factor)));
        assert!(expected.contains(&(2, 3, Sharing::Factor)));
        assert!(expected.contains(&(3, 5, Sharing::Factor)));
        assert_eq!(shared_factors(&[]), []);
    }
}

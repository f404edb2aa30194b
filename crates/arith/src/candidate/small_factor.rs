//! Trial division by small primes, without dividing.

use super::odd_primes::odd_primes;
use crate::declassify::declassify;
use crate::limbs::modulus::inverse_word;
use crate::limbs::{Nat, words};
use once_cell::race::OnceBox;
use std::array;
use subtle::Choice;

/// `true` if 2 or a small odd prime divides the candidate (big-endian) without being it. The longer the candidate, the
/// more primes are tried: those below 2^12 up to 512 bits, 2^14 up to 1024 bits, 2^16 above.
///
/// Time depends on the length and, if there is one, on the least factor: a number that has one is of no use as a secret
/// prime. For all others it depends on the length alone.
pub fn has_small_factor(candidate: &[u8]) -> bool {
    let candidate = Candidate::new(Nat::from_be(candidate));
    if declassify(Choice::from(candidate.is_even_and_not_two() as u8)) {
        return true;
    }
    let bound = match 64 * candidate.limbs.len() {
        0..=512 => 1 << 12,
        513..=1024 => 1 << 14,
        _ => BOUND,
    };
    let all = small_primes();
    let groups = &all[..all.partition_point(|group| group.primes[0].value < bound)];
    let (chunks, rest) = groups.as_chunks::<CHAINS>();
    chunks.iter().any(|groups| candidate.has_factor_in(groups))
        || rest.iter().any(|group| candidate.has_factor_in(array::from_ref(group)))
}

/// Groups whose residues are taken together: each is a chain of multiplications, which waits for its own last one.
const CHAINS: usize = 8;

struct Candidate {
    limbs: Nat,
    /// All limbs but the lowest: 0 if the candidate may be a small prime itself.
    high: u64,
}

impl Candidate {
    fn new(limbs: Nat) -> Self {
        let high = limbs[1..].iter().fold(0, |high, limb| high | limb);
        Self { limbs, high }
    }

    /// 1 if the candidate is not this small prime, else 0.
    fn is_not(&self, prime: u64) -> u64 {
        let difference = self.limbs[0] ^ prime | self.high;
        (difference | difference.wrapping_neg()) >> 63
    }

    fn is_even_and_not_two(&self) -> u64 {
        !self.limbs[0] & 1 & self.is_not(2)
    }

    /// `true` if a prime of these groups divides the candidate without being it.
    fn has_factor_in<const COUNT: usize>(&self, groups: &[Group; COUNT]) -> bool {
        let rests = rests(groups, &self.limbs);
        let mut found = 0;
        for (group, rest) in groups.iter().zip(rests) {
            for prime in &group.primes {
                found |= prime.divides(rest) & self.is_not(prime.value);
            }
        }
        declassify(Choice::from(found as u8))
    }
}

/// Primes whose product fits a limb.
struct Group {
    product: u64,
    /// product^-1 mod 2^64.
    inverse: u64,
    primes: Vec<SmallPrime>,
}

struct SmallPrime {
    value: u64,
    /// value^-1 mod 2^64.
    inverse: u64,
    /// The largest word that `value` divides, over `value`.
    largest_quotient: u64,
}

/// Primes below this are known.
const BOUND: u64 = 1 << 16;

/// The odd primes below [`BOUND`], in groups. Threads that come first side by side find them each: nobody waits for
/// another, who in a child of a fork may be a thread of the parent's.
fn small_primes() -> &'static [Group] {
    static GROUPS: OnceBox<Vec<Group>> = OnceBox::new();
    GROUPS.get_or_init(|| Box::new(groups_of(odd_primes(BOUND))))
}

/// Primes in groups, each of as many as have a product that fits a limb.
fn groups_of(primes: impl IntoIterator<Item = u64>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for value in primes {
        let prime = SmallPrime {
            value,
            inverse: inverse_word(value),
            largest_quotient: u64::MAX / value,
        };
        match groups
            .last_mut()
            .and_then(|group| Some((group.product.checked_mul(value)?, group)))
        {
            Some((product, group)) => {
                group.product = product;
                group.primes.push(prime);
            }
            None => groups.push(Group {
                product: value,
                inverse: 0,
                primes: vec![prime],
            }),
        }
    }
    for group in &mut groups {
        group.inverse = inverse_word(group.product);
    }
    groups
}

/// For each group a word that the same primes of the group divide as divide `a`: -a / 2^(64 limbs) modulo their
/// product, up to one multiple of it (Jebelean, "An algorithm for exact division", 1993; GMP's `mpn_modexact_1_odd`).
/// Two multiplications a limb, and no division, whose time could depend on its operands.
fn rests<const COUNT: usize>(groups: &[Group; COUNT], a: &[u64]) -> [u64; COUNT] {
    let factors = groups.each_ref().map(|group| (group.product, group.inverse));
    let mut rests = [0; COUNT];
    for &limb in a {
        for (rest, (product, inverse)) in rests.iter_mut().zip(factors) {
            let (difference, borrow) = words::sbb(limb, *rest, false);
            let (_, high) = words::mac(difference.wrapping_mul(inverse), product, 0, 0);
            *rest = high + u64::from(borrow);
        }
    }
    rests
}

impl SmallPrime {
    /// 1 if the prime divides `a`, else 0: only then is a / p mod 2^64 a quotient (Granlund and Montgomery 1994,
    /// section 9).
    fn divides(&self, a: u64) -> u64 {
        let quotient = a.wrapping_mul(self.inverse);
        let (_, too_large) = words::sbb(self.largest_quotient, quotient, false);
        u64::from(!too_large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    #[test]
    fn small_numbers_are_judged_exactly() {
        let is_prime = |n: u64| n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        // Below the square of the bound that eight bytes get, a number is prime or has a small factor.
        for n in (2u64..30_000).chain(16_000_000..16_001_000) {
            assert_eq!(has_small_factor(&n.to_be_bytes()), !is_prime(n), "{n}");
        }
        assert!(!has_small_factor(&[1]) && has_small_factor(&[0]) && has_small_factor(&[]));
        assert!(!has_small_factor(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 7]));
    }

    #[test]
    fn the_bound_grows_with_the_length() {
        // 4099, 16411 and 65537 are the least primes above 2^12, 2^14 and 2^16; the cofactor is a prime of 2^61 and
        // more.
        let mersenne = BigUint::from(2u8).pow(61) - 1u8;
        let multiple = |prime: u32, len: usize| {
            let bytes = (&mersenne * prime).to_bytes_be();
            [vec![0; len - bytes.len()], bytes].concat()
        };
        assert!(has_small_factor(&multiple(4093, 64)) && !has_small_factor(&multiple(16411, 64)));
        assert!(has_small_factor(&multiple(4099, 65)) && !has_small_factor(&multiple(65537, 128)));
        assert!(has_small_factor(&multiple(65521, 129)) && !has_small_factor(&multiple(65537, 129)));
    }

    proptest! {
        #[test]
        fn agrees_with_division(candidate in prop::collection::vec(any::<u8>(), 9..200)) {
            let n = BigUint::from_bytes_be(&candidate);
            let divisible = (2u32..4096).any(|d| &n % d == BigUint::ZERO);
            if divisible {
                prop_assert!(has_small_factor(&candidate));
            } else if has_small_factor(&candidate) {
                prop_assert!((4096u32..65536).any(|d| &n % d == BigUint::ZERO));
            }
        }
    }
}

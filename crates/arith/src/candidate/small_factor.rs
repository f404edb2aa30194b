//! Trial division by small primes, without dividing.

use super::odd_primes::odd_primes;
use crate::limbs::modulus::inverse_word;
use crate::limbs::{Nat, words};
use std::sync::LazyLock;
use subtle::{Choice, ConstantTimeEq};

/// `true` if 2 or a small odd prime divides the candidate (big-endian) without being it. The longer the candidate, the
/// more primes are tried: those below 2^12 up to 512 bits, 2^14 up to 1024 bits, 2^16 above.
///
/// Time depends on the length and, if there is one, on the least factor: a number that has one is of no use as a secret
/// prime. For all others it depends on the length alone.
pub fn has_small_factor(candidate: &[u8]) -> bool {
    let candidate = Nat::from_be(candidate);
    let high_is_zero = words::is_zero(&candidate[1..]);
    let is = |prime: u64| high_is_zero & candidate[0].ct_eq(&prime);
    if bool::from(Choice::from(!candidate[0] as u8 & 1) & !is(2)) {
        return true;
    }
    let bound = match 64 * candidate.len() {
        0..=512 => 1 << 12,
        513..=1024 => 1 << 14,
        _ => BOUND,
    };
    SMALL_PRIMES
        .iter()
        .take_while(|group| group.primes[0].value < bound)
        .any(|group| {
            let rest = group.rest(&candidate);
            let divides = |prime: &SmallPrime| prime.divides(rest) & !is(prime.value);
            group
                .primes
                .iter()
                .fold(Choice::from(0), |found, prime| found | divides(prime))
                .into()
        })
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

/// The odd primes below [`BOUND`], in groups.
static SMALL_PRIMES: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let mut groups: Vec<Group> = Vec::new();
    for value in odd_primes(BOUND) {
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
});

impl Group {
    /// A word that the same primes of the group divide as divide `a`: -a / 2^(64 limbs) modulo their product, up to one
    /// multiple of it (Jebelean, "An algorithm for exact division", 1993; GMP's `mpn_modexact_1_odd`). Two
    /// multiplications a limb, and no division, whose time could depend on its operands.
    fn rest(&self, a: &[u64]) -> u64 {
        a.iter().fold(0, |rest, &limb| {
            let (difference, borrow) = words::sbb(limb, rest, false);
            let (_, high) = words::mac(difference.wrapping_mul(self.inverse), self.product, 0, 0);
            high + u64::from(borrow)
        })
    }
}

impl SmallPrime {
    /// `true` if the prime divides `a`: only then is a / p mod 2^64 a quotient (Granlund and Montgomery 1994, section
    /// 9).
    fn divides(&self, a: u64) -> Choice {
        let quotient = a.wrapping_mul(self.inverse);
        let (_, too_large) = words::sbb(self.largest_quotient, quotient, false);
        !Choice::from(u8::from(too_large))
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

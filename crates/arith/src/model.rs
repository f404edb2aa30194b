//! The obvious forms that the crate is tested against, on num-bigint, and the numbers worth testing.

use num_bigint::BigUint;
use proptest::prelude::*;

pub(crate) fn number(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |n, &limb| (n << 64) + limb)
}

pub(crate) fn limbs(n: &BigUint, len: usize) -> Vec<u64> {
    let mut limbs = n.to_u64_digits();
    assert!(limbs.len() <= len);
    limbs.resize(len, 0);
    limbs
}

/// 2^exponent.
pub(crate) fn power_of_two(exponent: usize) -> BigUint {
    BigUint::from(1u8) << exponent
}

/// a / 2^(64 len) mod n.
pub(crate) fn over_r(a: &BigUint, n: &BigUint, len: usize) -> BigUint {
    let r = power_of_two(64 * len) % n;
    a * r.modinv(n).unwrap_or(BigUint::ZERO) % n
}

pub(crate) fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    if *b == BigUint::ZERO {
        a.clone()
    } else {
        gcd(b, &(a % b))
    }
}

/// Limbs of one length: random, all ones, zero, one, a single bit, or runs of ones and zeros, whose carries go far.
pub(crate) fn any_limbs(len: usize) -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        4 => prop::collection::vec(any::<u64>(), len),
        2 => prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), Just(1), Just(1 << 63)], len),
        1 => (0..64 * len).prop_map(move |bit| limbs(&power_of_two(bit), len)),
        1 => (0..=64 * len).prop_map(move |bits| limbs(&(power_of_two(bits) - 1u8), len)),
    ]
}

/// An odd number of exactly `bits` bits: random, all ones, or just above a power of two.
pub(crate) fn any_modulus(bits: usize) -> impl Strategy<Value = BigUint> {
    let top = power_of_two(bits - 1);
    let (highest, lowest) = (power_of_two(bits) - 1u8, &top + 1u8);
    prop_oneof![
        3 => prop::collection::vec(any::<u64>(), bits.div_ceil(64))
            .prop_map(move |limbs| (number(&limbs) % &top) | &top | BigUint::from(1u8)),
        1 => Just(highest),
        1 => Just(lowest),
    ]
}

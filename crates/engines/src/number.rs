//! Numbers of jobs and keys as big-endian bytes, in the arithmetic of a big-integer library that no engine of this
//! crate exponentiates with. Variable time: a study's keys are no secrets.

use num_bigint::BigUint;

use crate::{
    exponent::Exponent,
    job::{Job, StudyKey},
};

/// The public exponent of a job with this key.
pub(crate) fn exponent(job: &Job, key: Option<&StudyKey>) -> BigUint {
    match job.exponent {
        Exponent::Fixed(exponent) => BigUint::from(exponent),
        Exponent::Random => {
            let key = key.expect("a random exponent comes with its key");
            BigUint::from_bytes_be(&key.e)
        }
    }
}

/// `base^exponent mod modulus` in `length` bytes.
pub(crate) fn power_vartime(base: &[u8], exponent: &BigUint, modulus: &BigUint, length: usize) -> Vec<u8> {
    let power = BigUint::from_bytes_be(base).modpow(exponent, modulus);
    fixed(&power, length).expect("it is smaller than the modulus")
}

/// A number in `length` big-endian bytes; none if it does not fit.
pub(crate) fn fixed(value: &BigUint, length: usize) -> Option<Vec<u8>> {
    let bytes = value.to_bytes_be();
    let mut fixed = vec![0; length.checked_sub(bytes.len())?];
    fixed.extend(bytes);
    Some(fixed)
}

/// `block^d mod n`, by the Chinese remainder theorem (RFC 8017, 5.1.2, step 2.b).
pub(crate) fn private_power_vartime(block: &[u8], key: &StudyKey) -> Vec<u8> {
    let [block, p, q, dp, dq, qinv] = [block, &key.p, &key.q, &key.dp, &key.dq, &key.qinv].map(BigUint::from_bytes_be);
    let m1 = block.modpow(&dp, &p);
    let m2 = block.modpow(&dq, &q);
    let h = (&m1 + &p - &m2 % &p) * qinv % &p;
    fixed(&(m2 + q * h), key.n.len()).expect("it is smaller than the modulus")
}

/// The blocks of a text, each raised to the public exponent.
pub(crate) fn encrypted(job: &Job, key: &StudyKey, text: &[u8]) -> Vec<u8> {
    let n = BigUint::from_bytes_be(&key.n);
    let e = BigUint::from_bytes_be(&key.e);
    text.chunks(job.block_symbols)
        .flat_map(|block| power_vartime(block, &e, &n, key.n.len()))
        .collect()
}

/// Miller–Rabin to the first primes as bases (FIPS 186-5, B.3.1, with fixed bases: the candidates here were drawn
/// at random, not chosen by somebody who knows the bases). Of random numbers a composite of 600 bits passes one round
/// with less than 2^-75, one of 500 bits two rounds with less than 2^-63 (Damgård, Landrock and Pomerance 1993;
/// Handbook of Applied Cryptography, table 4.3), and a study verifies millions; shorter ones stand eight.
pub(crate) fn is_probable_prime_vartime(candidate: &BigUint) -> bool {
    let one = BigUint::from(1u32);
    let last = candidate - &one;
    let Some(twos) = last.trailing_zeros() else {
        return false;
    };
    let odd_part = &last >> twos;
    let bases = match candidate.bits() {
        600.. => 1,
        500.. => 2,
        _ => 8,
    };
    twos > 0
        && [2u32, 3, 5, 7, 11, 13, 17, 19].iter().take(bases).all(|&base| {
            let mut power = BigUint::from(base).modpow(&odd_part, candidate);
            if power == one || power == last {
                return true;
            }
            (1..twos).any(|_| {
                power = &power * &power % candidate;
                power == last
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composites_are_distinguished_from_primes() {
        let number = |text: &str| text.parse::<BigUint>().unwrap();
        // Two Carmichael numbers, a strong pseudoprime to base 2, a square, even numbers.
        for composite in [
            "561",
            "340561",
            "2047",
            "1000006000009",
            "1000000016000000063",
            "2",
            "1000",
        ] {
            // 2 is prime, and no prime of a key.
            assert!(!is_probable_prime_vartime(&number(composite)), "{composite}");
        }
        for prime in ["1000003", "170141183460469231731687303715884105727"] {
            assert!(is_probable_prime_vartime(&number(prime)), "{prime}");
        }
    }
}

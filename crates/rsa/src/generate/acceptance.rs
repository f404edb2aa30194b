//! The check that primes from elsewhere could have come from FIPS 186-5, A.1.3.

use rand_core::TryCryptoRng;
use rsalab_arith::integer;

use crate::{
    Result,
    backend::Backend,
    draw::{Size, is_root},
    primality::{ROUNDS, check_size, is_probable_prime_on},
};

/// Accepts `p` and `q` for a key of twice their length and the public exponent `e`: odd `e`
/// above 2^16 and below 2^256, both prime, at least `√2·2^(bits−1)`, further than `2^(bits−100)` apart, and neither
/// less 1 sharing a factor with `e`. Returns the first thing that is wrong.
///
/// # Errors
///
/// As for [`is_probable_prime`](crate::primality::is_probable_prime).
pub fn check_acceptance<R: TryCryptoRng + ?Sized>(
    p: &[u8],
    q: &[u8],
    e: &[u8],
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<Result<(), &'static str>> {
    // Zeros in front would take as long as other digits.
    let [p, q, e] = [p, q, e].map(significant);
    let [p_bits, q_bits, e_bits] = [p, q, e].map(integer::bits_vartime);
    if !integer::is_odd(e) || !(17..=256).contains(&e_bits) {
        return Ok(Err("e is not odd, above 2^16 and below 2^256"));
    }
    if p_bits != q_bits {
        return Ok(Err("p and q differ in length"));
    }
    check_size(p_bits)?;
    let size = Size {
        modulus: 2 * p_bits,
        primes: 2,
    };
    for (prime, small, composite, shares) in [
        (
            p,
            "p is below √2·2^(bits−1)",
            "p is not prime",
            "p − 1 and e share a factor",
        ),
        (
            q,
            "q is below √2·2^(bits−1)",
            "q is not prime",
            "q − 1 and e share a factor",
        ),
    ] {
        if !is_root(prime, size) {
            return Ok(Err(small));
        }
        if !is_probable_prime_on(prime, ROUNDS, rng, backend)? {
            return Ok(Err(composite));
        }
        if !integer::is_coprime_to_predecessor(prime, e) {
            return Ok(Err(shares));
        }
    }
    if !size.differ_enough(p, q) {
        return Ok(Err("p and q are too close"));
    }
    Ok(Ok(()))
}

/// The number without leading zeros.
fn significant(number: &[u8]) -> &[u8] {
    &number[number.len() - integer::bits_vartime(number).div_ceil(8)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuBackend, Error, PrivateKey, random::SystemRng};

    const E: [u8; 3] = [1, 0, 1];

    fn check(p: &[u8], q: &[u8], e: &[u8]) -> Result<Result<(), &'static str>> {
        check_acceptance(p, q, e, &mut SystemRng, &CpuBackend::auto())
    }

    /// Products of such numbers would take minutes.
    #[test]
    fn numbers_that_are_too_long_are_refused_before_anything_is_computed() {
        let long = vec![0xff; 4 << 20];
        assert!(matches!(check(&long, &long, &E), Err(Error::KeySize { .. })));
    }

    #[test]
    fn zeros_in_front_change_nothing() {
        let key = PrivateKey::generate(512).unwrap();
        let padded = |number: &[u8]| [&vec![0; 4 << 20][..], number].concat();
        let [p, q, e] = [key.p(), key.q(), &E].map(padded);
        assert_eq!(check(key.p(), key.q(), &E).unwrap(), Ok(()));
        assert_eq!(check(&p, &q, &e).unwrap(), Ok(()));
        assert_eq!(check(&p, &[], &e).unwrap(), Err("p and q differ in length"));
        assert!(check(&[], &[], &e).unwrap().is_err());
    }
}

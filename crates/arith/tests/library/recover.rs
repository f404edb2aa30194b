//! Primes from n, e and d.

use crate::keys::for_each_kernel;
use num_bigint::BigUint;
use rsalab_arith::{CheckedPublicKey, Error, Kernel, recover_primes};

/// The largest of 256 bits, and the first from 3·2^254 on.
fn primes() -> (BigUint, BigUint) {
    let largest = (BigUint::from(1_u8) << 256) - BigUint::from(189_u8);
    let mut other: BigUint = (BigUint::from(3_u8) << 254) + BigUint::from(1_u8);
    while !is_prime(&other) {
        other += 2_u8;
    }
    (largest, other)
}

fn is_prime(n: &BigUint) -> bool {
    let one = BigUint::from(1_u8);
    [2_u8, 3, 5, 7, 11]
        .iter()
        .all(|&base| BigUint::from(base).modpow(&(n - &one), n) == one)
}

#[test]
fn primes_come_back_from_exponents_on_every_kernel() {
    let (p, q) = primes();
    assert!(is_prime(&p));
    let one = BigUint::from(1_u8);
    let (n, phi) = (&p * &q, (&p - &one) * (&q - &one));
    for e in [65537_u64, 257, 17] {
        let e = BigUint::from(e);
        let Some(d) = e.modinv(&phi) else { continue };
        for_each_kernel(|kernel| {
            let [n, e, d] = [&n, &e, &d].map(BigUint::to_bytes_be);
            let public = CheckedPublicKey::new(&n, &e).expect("it is one");
            let found = recover_primes(&public, &d, 5, kernel).expect("a key");
            let found: Vec<BigUint> = found.iter().map(|prime| BigUint::from_bytes_be(prime)).collect();
            assert_eq!(found, [p.clone().max(q.clone()), p.clone().min(q.clone())]);
        });
    }
}

/// Primes of 128 bits, the largest first.
fn more_primes(count: usize) -> Vec<BigUint> {
    let mut next: BigUint = (BigUint::from(1_u8) << 128) - BigUint::from(1_u8);
    let mut primes = Vec::new();
    while primes.len() < count {
        if is_prime(&next) {
            primes.push(next.clone());
        }
        next -= 2_u8;
    }
    primes
}

#[test]
fn all_primes_of_a_key_come_back() {
    let one = BigUint::from(1_u8);
    let e = BigUint::from(65537_u32);
    for count in 3..=6 {
        let primes = more_primes(count);
        let n: BigUint = primes.iter().product();
        let phi: BigUint = primes.iter().map(|prime| prime - &one).product();
        let d = e.modinv(&phi).expect("coprime");
        let [bytes, e, d] = [&n, &e, &d].map(BigUint::to_bytes_be);
        let public = CheckedPublicKey::new(&bytes, &e).expect("it is one");
        for_each_kernel(|kernel| {
            let found = recover_primes(&public, &d, 5, kernel).expect("a key");
            let found: Vec<BigUint> = found.iter().map(|prime| BigUint::from_bytes_be(prime)).collect();
            assert_eq!(found.iter().product::<BigUint>(), n);
            match count {
                6 => assert!(found.len() > 5),
                _ => assert_eq!(found, primes),
            }
        });
    }
}

#[test]
fn what_is_no_key_is_refused() {
    let (p, q) = primes();
    let one = BigUint::from(1_u8);
    let e = BigUint::from(65537_u32);
    let d = e.modinv(&((&p - &one) * (&q - &one))).expect("coprime");
    let refused = |n: &BigUint, e: &BigUint, d: &BigUint| {
        let [n, e, d] = [n, e, d].map(BigUint::to_bytes_be);
        let public = CheckedPublicKey::new(&n, &e).expect("it is one");
        let error = recover_primes(&public, &d, 5, Kernel::auto()).expect_err("it is no key");
        assert!(matches!(error, Error::InconsistentKey(_)), "{error}");
    };
    let n = &p * &q;
    refused(&n, &e, &(&d + BigUint::from(2_u8)));
    refused(&n, &e, &(&d + &one));
    refused(&n, &e, &BigUint::ZERO);
    refused(&n, &e, &one);
    refused(&n, &e, &(&n << 8));
    // The square of a prime has no other root of one.
    let square = &p * &p * &q;
    let order = &p * (&p - &one) * (&q - &one);
    refused(&square, &e, &e.modinv(&order).expect("coprime"));
    // A prime, whose order e and d may well fit, has no two factors.
    let mut prime: BigUint = (BigUint::from(1_u8) << 511) + &one;
    while !is_prime(&prime) || e.modinv(&(&prime - &one)).is_none() {
        prime += 2_u8;
    }
    let of_prime = e.modinv(&(&prime - &one)).expect("coprime");
    refused(&prime, &e, &of_prime);
}

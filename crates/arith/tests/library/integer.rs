//! Whole numbers of keys, against num-bigint.

use num_bigint::BigUint;
use proptest::prelude::*;
use rsalab_arith::{Error, PrivateParts, integer};
use std::cmp::Ordering;

fn number(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(bytes)
}

fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    if *b == BigUint::ZERO {
        a.clone()
    } else {
        gcd(b, &(a % b))
    }
}

/// Byte strings of up to `len` bytes: random, with leading zeros, all ones, or a power of two.
fn any_bytes(len: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 1..=len),
        1 => prop::collection::vec(prop_oneof![Just(0), Just(0xff)], 1..=len),
        1 => (0..8 * len).prop_map(|bit| (BigUint::from(1u8) << bit).to_bytes_be()),
    ]
}

proptest! {
    #[test]
    fn arithmetic((a, b) in (any_bytes(60), any_bytes(60))) {
        let (x, y) = (number(&a), number(&b));
        let product = integer::multiply(&a, &b);
        prop_assert_eq!((number(&product), product.len()), (&x * &y, a.len() + b.len()));
        prop_assert_eq!(integer::is_less(&a, &b), x < y);
        prop_assert_eq!(integer::compare_vartime(&a, &b), x.cmp(&y));
        prop_assert_eq!(integer::bits_vartime(&a), x.bits() as usize);
        prop_assert_eq!(integer::is_odd(&a), x.bit(0));
        let common = integer::gcd(&a, &b);
        prop_assert_eq!((number(&common), common.len()), (gcd(&x, &y), a.len().max(b.len())));
        let multiple = integer::lcm(&a, &b);
        let expected = if &x * &y == BigUint::ZERO { BigUint::ZERO } else { &x * &y / gcd(&x, &y) };
        prop_assert_eq!((number(&multiple), multiple.len()), (expected, a.len() + b.len()));
        match integer::modulo(&a, &b) {
            Ok(remainder) => prop_assert_eq!((number(&remainder), remainder.len()), (x % y, b.len())),
            Err(Error::OutOfRange { .. }) => prop_assert!(y == BigUint::ZERO),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn shared_factors((a, b, c) in (any_bytes(30), any_bytes(30), any_bytes(30))) {
        let (x, y) = (number(&a) * number(&c), number(&b) * number(&c));
        prop_assert_eq!(number(&integer::gcd(&x.to_bytes_be(), &y.to_bytes_be())), gcd(&x, &y));
    }

    #[test]
    fn inverses((a, m) in (any_bytes(50), any_bytes(50))) {
        let (x, y) = (number(&a), number(&m));
        match integer::invert(&a, &m) {
            Ok(inverse) => prop_assert_eq!((Some(number(&inverse)), inverse.len()), (x.modinv(&y), m.len())),
            Err(Error::NotInvertible) => prop_assert!(gcd(&x, &y) != BigUint::from(1u8)),
            Err(Error::OutOfRange { .. }) => prop_assert!(y < BigUint::from(2u8)),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn derived_keys(
        (mut p, mut q) in (any_bytes(40), any_bytes(40)),
        e in prop_oneof![
            Just(vec![3]),
            Just(vec![1, 0, 1]),
            any_bytes(8),
            any_bytes(12),
            Just(vec![0xff; 8]),
            Just(vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 17]),
        ],
    ) {
        for prime in [&mut p, &mut q] {
            *prime.last_mut().unwrap() |= 3;
        }
        let [x, y, z] = [&p, &q, &e].map(|bytes| number(bytes));
        let one = BigUint::from(1u8);
        let (x1, y1) = (&x - &one, &y - &one);
        let lambda = &x1 * &y1 / gcd(&x1, &y1);
        match integer::derive(&[&p, &q], &e) {
            Ok(key) => {
                prop_assert_eq!(number(&key.n), &x * &y);
                prop_assert_eq!(Some(number(&key.d)), z.modinv(&lambda));
                prop_assert_eq!(number(&key.dp), number(&key.d) % &x1);
                prop_assert_eq!(number(&key.dq), number(&key.d) % &y1);
                prop_assert_eq!(Some(number(&key.qinv)), y.modinv(&x));
            }
            Err(Error::NotInvertible) => prop_assert!(gcd(&z, &lambda) != one || gcd(&x, &y) != one),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn distances((p, q) in (any_bytes(40), any_bytes(40)), n_bits in 150usize..700) {
        let (x, y) = (number(&p), number(&q));
        let distance = if x > y { x - y } else { y - x };
        let expected = match (n_bits / 2).checked_sub(100) {
            Some(least) => distance > BigUint::from(1u8) << least,
            None => distance != BigUint::ZERO,
        };
        prop_assert_eq!(integer::differ_enough(&p, &q, n_bits), expected);
    }
}

#[test]
fn distances_at_the_border() {
    // n_bits = 512: the distance must exceed 2^156.
    let q = BigUint::from(1u8) << 255usize;
    for (distance, enough) in [
        ((BigUint::from(1u8) << 156usize) - 1u8, false),
        (BigUint::from(1u8) << 156usize, false),
        ((BigUint::from(1u8) << 156usize) + 1u8, true),
        (BigUint::from(1u8) << 157usize, true),
        (BigUint::ZERO, false),
    ] {
        let (p, q) = ((&q + &distance).to_bytes_be(), q.to_bytes_be());
        assert_eq!(integer::differ_enough(&p, &q, 512), enough, "{distance}");
        assert_eq!(integer::differ_enough(&q, &p, 512), enough, "{distance}");
    }
}

#[test]
fn empty_and_padded_strings_are_numbers() {
    assert_eq!(integer::bits_vartime(&[]), 0);
    assert_eq!(integer::compare_vartime(&[0, 0, 1], &[1]), Ordering::Equal);
    assert!(!integer::is_odd(&[]) && !integer::is_less(&[], &[]));
    assert_eq!(*integer::gcd(&[], &[0, 6]), [0, 6]);
    assert_eq!(*integer::gcd(&[0], &[0]), [0]);
    assert_eq!(*integer::lcm(&[0], &[6]), [0, 0]);
}

/// A toy key: p = 61, q = 53, e = 17.
#[test]
fn a_textbook_key() {
    let (n, phi) = integer::totient(&[61], &[53]);
    assert_eq!((number(&n), number(&phi)), (3233u32.into(), 3120u32.into()));
    assert_eq!(number(&integer::private_exponent(&[17], &phi).unwrap()), 2753u32.into());
    assert_eq!(integer::private_exponent(&[15], &phi), Err(Error::NotInvertible));
    let key = integer::derive(&[&[61], &[53]], &[17]).unwrap();
    // lcm(60, 52) = 780, and 413 * 17 = 9 * 780 + 1.
    assert_eq!((&key.n[..], &key.d[..]), (&[12, 161][..], &[1, 157][..]));
    assert_eq!((key.dp[0], key.dq[0], key.qinv[0]), (53, 49, 38));
    assert!(integer::is_coprime_to_predecessor(&[61], &[17]));
    assert!(!integer::is_coprime_to_predecessor(&[61], &[15]));
    assert_eq!(
        integer::derive(&[&[61], &[53]], &[13]).err(),
        Some(Error::NotInvertible)
    );
    assert!(matches!(
        integer::derive(&[&[62], &[53]], &[17]),
        Err(Error::InconsistentKey(_))
    ));
    assert!(matches!(
        integer::derive(&[&[1], &[53]], &[17]),
        Err(Error::InconsistentKey(_))
    ));
}

#[test]
fn every_broken_relation_is_named() {
    let (p, q, e) = ([61], [53], [17]);
    let key = integer::derive(&[&p, &q], &e).unwrap();
    let good = PrivateParts {
        n: &key.n,
        e: &e,
        d: &key.d,
        p: &p,
        q: &q,
        dp: &key.dp,
        dq: &key.dq,
        qinv: &key.qinv,
        others: &key.others,
    };
    assert_eq!(integer::check(&good), Ok(()));
    // d may be the inverse modulo (p - 1)(q - 1) as well.
    let phi_d = 2753u16.to_be_bytes();
    assert_eq!(integer::check(&PrivateParts { d: &phi_d, ..good }), Ok(()));
    let reason = |parts: PrivateParts<'_>| match integer::check(&parts) {
        Err(Error::InconsistentKey(relation)) => relation,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(PrivateParts { p: &[60], ..good }), "p is not an odd prime");
    assert_eq!(reason(PrivateParts { q: &[1], ..good }), "q is not an odd prime");
    assert_eq!(reason(PrivateParts { q: &p, ..good }), "p and q are the same");
    assert_eq!(reason(PrivateParts { n: &[12, 163], ..good }), "n is not p q");
    assert_eq!(reason(PrivateParts { e: &[19], ..good }), "e d is not 1 modulo p - 1");
    // 413 + 60 is still an inverse modulo 60, not modulo 52.
    assert_eq!(
        reason(PrivateParts { d: &[1, 217], ..good }),
        "e d is not 1 modulo q - 1"
    );
    assert_eq!(reason(PrivateParts { dp: &[113], ..good }), "dp is not d modulo p - 1");
    assert_eq!(reason(PrivateParts { dq: &[50], ..good }), "dq is not d modulo q - 1");
    assert_eq!(reason(PrivateParts { qinv: &[99], ..good }), "qinv is not below p");
    assert_eq!(
        reason(PrivateParts { qinv: &[37], ..good }),
        "qinv is not the inverse of q modulo p"
    );
}

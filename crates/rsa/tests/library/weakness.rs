//! Weak keys, planted: each is found and named, by its public half where that is enough; and ordinary keys are not.

use std::time::{Duration, Instant};

use num_bigint::BigUint;
use rand_core::TryRng;
use rsalab_rsa::{
    Error, PrivateKey, PrivateParts, PublicKey,
    generate::{Generation, PublicExponent},
    keys::Weakness,
    primality::is_probable_prime,
    random::{InsecureStudyRng, InsecureStudySeed},
};

fn rng(stream: u64) -> InsecureStudyRng {
    InsecureStudySeed::new([21; 32]).stream(stream)
}

fn random(bits: u64, rng: &mut InsecureStudyRng) -> BigUint {
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    let Ok(()) = rng.try_fill_bytes(&mut bytes);
    BigUint::from_bytes_be(&bytes) % (BigUint::from(1_u8) << bits)
}

fn is_prime(n: &BigUint) -> bool {
    is_probable_prime(&n.to_bytes_be(), 8, &mut rng(0)).expect("randomness")
}

/// The first prime from here on that suits 65537.
fn prime_from(mut n: BigUint) -> BigUint {
    n.set_bit(0, true);
    while (&n - 1_u8) % 65537_u32 == BigUint::ZERO || !is_prime(&n) {
        n += 2_u8;
    }
    n
}

/// A prime of so many bits with its upper two set.
fn prime(bits: u64, rng: &mut InsecureStudyRng) -> BigUint {
    let mut n = random(bits, rng);
    n.set_bit(bits - 1, true);
    n.set_bit(bits - 2, true);
    prime_from(n)
}

fn public(n: &BigUint) -> PublicKey {
    PublicKey::new(&n.to_bytes_be(), &[1, 0, 1]).expect("well formed")
}

fn private(p: &BigUint, q: &BigUint) -> PrivateKey {
    PrivateKey::from_primes(&p.to_bytes_be(), &q.to_bytes_be(), &[1, 0, 1]).expect("a key")
}

fn names(found: Vec<Weakness>) -> Vec<&'static str> {
    found
        .into_iter()
        .map(Weakness::name)
        .filter(|name| *name != "short-modulus")
        .collect()
}

#[test]
fn close_primes_are_found_from_the_public_key() {
    let mut rng = rng(1);
    for bits in [1024, 2048] {
        let p = prime(bits / 2, &mut rng);
        // The next prime, and one as far away as the method reaches and three times as far: (p − q)² / (8 √n) steps.
        let next = prime_from(&p + 2_u8);
        let reach = &p + (BigUint::from(1_u8) << (bits / 4 + 9));
        let beyond = &p + (BigUint::from(6_u8) << (bits / 4 + 9));
        for (q, expected) in [
            (next, &["fermat-factorable", "close-primes"][..]),
            (prime_from(reach), &["fermat-factorable", "close-primes"]),
            (prime_from(beyond), &["close-primes"]),
            (prime(bits / 2, &mut rng), &[]),
        ] {
            let key = private(&p, &q);
            assert_eq!(names(key.weaknesses()), expected, "{bits}");
            let seen = expected.iter().filter(|name| **name != "close-primes");
            let seen: Vec<&str> = seen.copied().collect();
            assert_eq!(names(key.public().weaknesses()), seen, "{bits}");
        }
    }
    let p = prime(512, &mut rng);
    let key = private(&p, &prime_from(&p + 2_u8));
    let found = key.public().weaknesses();
    assert!(found.contains(&Weakness::FermatFactorable { steps: 1 }), "{found:?}");
    let sentence = Weakness::FermatFactorable { steps: 1 }.to_string();
    assert!(
        sentence.contains("Fermat's method factors its modulus in one step,"),
        "{sentence}"
    );
}

#[test]
fn a_modulus_of_8192_bits_is_looked_at_in_milliseconds() {
    let mut rng = rng(2);
    let mut n = random(8192, &mut rng);
    n.set_bit(8191, true);
    n.set_bit(0, true);
    let key = public(&n);
    let least = (0..5).map(|_| {
        let begun = Instant::now();
        assert_eq!(key.weaknesses(), []);
        begun.elapsed()
    });
    let least = least.min().expect("five times");
    eprintln!("weaknesses() at 8192 bits: {least:?}");
    assert!(least < Duration::from_millis(50), "{least:?}");
}

#[test]
fn the_square_of_a_prime_is_no_modulus() {
    let mut rng = rng(3);
    let p = prime(512, &mut rng);
    let n = &p * &p;
    let refusal = |result: Result<PrivateKey, Error>| match result {
        Err(Error::InvalidKey { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let square = "its modulus is a square";
    match public(&n).check_modulus() {
        Err(Error::InvalidKey { reason }) => assert!(reason.starts_with(square), "{reason}"),
        other => panic!("{other:?}"),
    }
    // The order of the numbers prime to p² is p (p − 1).
    let order = &p * (&p - 1_u8);
    let e = BigUint::from(65537_u32);
    let d = e.modinv(&order).expect("coprime");
    let [n, e, d, p] = [&n, &e, &d, &p].map(BigUint::to_bytes_be);
    let reason = refusal(PrivateKey::from_exponents(&n, &e, &d));
    assert!(reason.starts_with(square), "{reason}");
    assert_eq!(refusal(PrivateKey::from_primes(&p, &p, &e)), "p and q are the same");
    let parts = PrivateParts {
        n: &n,
        e: &e,
        d: &d,
        p: &p,
        q: &p,
        dp: &[1],
        dq: &[1],
        qinv: &[1],
        others: &[],
    };
    assert_eq!(refusal(PrivateKey::from_parts(&parts)), "p and q are the same");
}

/// A prime k M + (65537^a mod M), where M is the product of the first `primes` primes (Nemec and others 2017, section
/// 2.1).
fn roca_prime(bits: u64, primes: usize, rng: &mut InsecureStudyRng) -> BigUint {
    let small = (2_u32..).filter(|n| (2..*n).all(|divisor| n % divisor != 0));
    let m: BigUint = small.take(primes).map(BigUint::from).product();
    assert!(m.bits() < bits);
    let upper = (BigUint::from(3_u8) << (bits - 2)) / &m + 1_u8;
    loop {
        let k = &upper + random(bits - m.bits() - 4, rng);
        let power = BigUint::from(65537_u32).modpow(&random(256, rng), &m);
        let candidate = k * &m + power;
        if candidate.bits() == bits && is_prime(&candidate) {
            return candidate;
        }
    }
}

#[test]
fn the_form_of_roca_is_found() {
    let mut rng = rng(4);
    for (bits, primes) in [(512, 39), (1024, 71), (2048, 126)] {
        let (p, q) = (
            roca_prime(bits / 2, primes, &mut rng),
            roca_prime(bits / 2, primes, &mut rng),
        );
        let key = private(&p, &q);
        assert_eq!(names(key.weaknesses()), ["roca"], "{bits}");
        assert_eq!(names(key.public().weaknesses()), ["roca"], "{bits}");
        // One prime of the form is not enough.
        let other = private(&p, &prime(bits / 2, &mut rng));
        assert_eq!(names(other.weaknesses()), [""; 0], "{bits}");
    }
}

#[test]
fn thousands_of_ordinary_moduli_are_not_flagged() {
    let generation = Generation::new(512, PublicExponent::Fixed(65537));
    let generation = generation.expect("it can be");
    let pairs = generation
        .generator(rng(5))
        .and_then(|mut generator| generator.pairs(1000));
    let primes: Vec<BigUint> = pairs
        .expect("pairs")
        .iter()
        .flat_map(|pair| [&pair.p, &pair.q].map(|prime| BigUint::from_bytes_be(prime)))
        .collect();
    let mut looked_at = 0;
    for distance in [1, 2, 3] {
        for (p, q) in primes.iter().zip(&primes[distance..]) {
            assert_eq!(names(public(&(p * q)).weaknesses()), [""; 0], "{p} {q}");
            looked_at += 1;
        }
    }
    eprintln!("{looked_at} moduli of 512 bits, none flagged");
    assert_eq!(looked_at, 3 * 2000 - 6);
}

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

/// The next prime from a pattern of some bits, repeated, whose 16-bit words are swapped in pairs or not, and whose
/// upper two bits are set (Bernstein and others 2013, section 4).
fn patterned_prime(bits: u64, pattern: u32, period: u64, is_swapped: bool) -> BigUint {
    let mut words: Vec<u32> = vec![0; bits as usize / 32];
    for place in 0..bits {
        let bit = pattern >> (place % period) & 1;
        words[place as usize / 32] |= bit << (place % 32);
    }
    if is_swapped {
        words.iter_mut().for_each(|word| *word = word.rotate_left(16));
    }
    let mut n = BigUint::new(words);
    n.set_bit(bits - 1, true);
    n.set_bit(bits - 2, true);
    prime_from(n)
}

#[test]
fn patterns_that_repeat_are_found() {
    let mut rng = rng(6);
    for (period, pattern, other, is_swapped) in [
        (3, 0b101, 0b010, false),
        (5, 0b10110, 0b00101, false),
        (7, 0b1001011, 0b0111010, false),
        (3, 0b110, 0b001, true),
        (7, 0b1110010, 0b1001011, true),
    ] {
        let (p, q) = (
            patterned_prime(1024, pattern, period, is_swapped),
            patterned_prime(1024, other, period, is_swapped),
        );
        let key = private(&p, &q);
        let found = names(key.public().weaknesses());
        assert!(found.contains(&"patterned-modulus"), "{period} {pattern:b}: {found:?}");
        let found = names(key.weaknesses());
        assert!(found.contains(&"patterned-prime"), "{period} {pattern:b}: {found:?}");
        // One such prime shows in the private key alone.
        let half = private(&p, &prime(1024, &mut rng));
        let found = names(half.weaknesses());
        assert!(
            found.contains(&"patterned-prime") && !found.contains(&"patterned-modulus"),
            "{found:?}"
        );
    }
}

/// A prime of limbs of which only so many bits from some place on are random.
fn short_sleeve_prime(bits: u64, width: u64, from: u64, random_bits: u64, rng: &mut InsecureStudyRng) -> BigUint {
    loop {
        let limbs = (0..bits / width).map(|limb| random(random_bits, rng) << (limb * width + from));
        let mut n: BigUint = limbs.sum();
        n.set_bit(bits - 1, true);
        n.set_bit(bits - 2, true);
        let n = prime_from(n);
        if n.bits() == bits {
            return n;
        }
    }
}

#[test]
fn limbs_that_were_filled_in_part_are_found() {
    let mut rng = rng(7);
    // A byte of each word, as CompleteFTP had; 32 bits of 128, as in certificates.
    for (width, from, random_bits) in [(32, 0, 8), (32, 0, 12), (64, 0, 20), (128, 32, 32)] {
        let mut prime = || short_sleeve_prime(1024, width, from, random_bits, &mut rng);
        let key = private(&prime(), &prime());
        let found = names(key.public().weaknesses());
        assert_eq!(found, ["short-sleeve"], "{width}");
        let found = names(key.weaknesses());
        // A prime of few limbs tells no more than that it is biased.
        assert!(
            found.contains(&"short-sleeve-prime") || found.contains(&"biased-prime"),
            "{width}: {found:?}"
        );
    }
}

#[test]
fn private_exponents_that_are_short_or_sparse_are_found() {
    let mut rng = rng(8);
    let (p, q) = (prime(1024, &mut rng), prime(1024, &mut rng));
    let n = &p * &q;
    let order = (&p - 1_u8) * (&q - 1_u8);
    let exponents = |d: &BigUint| {
        let e = d.modinv(&order).expect("coprime");
        PrivateKey::from_exponents(&n.to_bytes_be(), &e.to_bytes_be(), &d.to_bytes_be()).expect("a key")
    };
    let coprime = |mut d: BigUint| {
        d.set_bit(0, true);
        while d.modinv(&order).is_none() {
            d += 2_u8;
        }
        d
    };
    // n^(1/4) / 3 has 510 bits.
    for (bits, is_found) in [(100, true), (256, true), (508, true), (600, false)] {
        let mut d = random(bits, &mut rng);
        d.set_bit(bits - 1, true);
        let key = exponents(&coprime(d));
        let found = names(key.public().weaknesses());
        assert_eq!(found.contains(&"wiener"), is_found, "{bits}: {found:?}");
        assert!(names(key.weaknesses()).contains(&"short-private-exponent"), "{bits}");
    }
    let sparse = coprime(
        (0..60)
            .map(|_| BigUint::from(1_u8) << (random(11, &mut rng).bits() * 170))
            .sum::<BigUint>()
            + (BigUint::from(1_u8) << 2040),
    );
    let found = names(exponents(&sparse).weaknesses());
    assert!(found.contains(&"sparse-private-exponent"), "{found:?}");
    // A public exponent as long as the modulus is no fault of the private one.
    let found = names(exponents(&coprime(random(2040, &mut rng))).weaknesses());
    assert_eq!(found, ["large-exponent"]);
}

#[test]
fn moduli_that_nobody_drew_are_found() {
    let n = BigUint::from_bytes_be(&[0xdb; 256]) + 4_u8;
    let found = names(public(&n).weaknesses());
    assert!(
        found
            .iter()
            .any(|name| name.ends_with("ing-modulus") || *name == "patterned-modulus"),
        "{found:?}"
    );
    let mut rng = rng(9);
    // A part of equal bits.
    let n = (random(1000, &mut rng) << 1048) + (BigUint::from(1_u8) << 2047) + (random(800, &mut rng) << 1_u8) + 1_u8;
    let found = names(public(&n).weaknesses());
    assert!(
        found.contains(&"repeating-modulus") && !found.contains(&"patterned-modulus"),
        "{found:?}"
    );
    // A name in the upper half, as people have themselves made.
    let name = BigUint::from_bytes_be(&b"a name, and ".repeat(8)) << 1100;
    let mut n: BigUint = name + random(1100, &mut rng);
    n.set_bit(0, true);
    let found = names(public(&n).weaknesses());
    assert!(
        found.contains(&"repeating-modulus") && !found.contains(&"patterned-modulus"),
        "{found:?}"
    );
    let mut n = &random(2048, &mut rng) & &random(2048, &mut rng);
    n.set_bit(2047, true);
    n.set_bit(0, true);
    assert_eq!(names(public(&n).weaknesses()), ["biased-modulus"]);
    // a b + c is 2, with the numbers in the order of SSH, and a zero before a first bit that is set.
    let mut n = random(2048, &mut rng).to_bytes_be();
    let (a, b) = (u32::from_le_bytes([0, 0x81, 2, 3]), u32::from_le_bytes([4, 5, 6, 7]));
    let c = 2_u64.wrapping_sub(u64::from(a).wrapping_mul(b.into()));
    n[..3].copy_from_slice(&[0x81, 2, 3]);
    n[3..7].copy_from_slice(&b.to_le_bytes());
    n[7..15].copy_from_slice(&c.to_le_bytes());
    *n.last_mut().expect("long") |= 1;
    let key = PublicKey::new(&n, &[1, 0, 1]).expect("well formed");
    assert_eq!(names(key.weaknesses()), ["xz-backdoor"]);
    // Half of such messages are even, and no key.
    *n.last_mut().expect("long") &= !1;
    let refused = PublicKey::new(&n, &[1, 0, 1]).expect_err("it is even").to_string();
    assert!(refused.contains("CVE-2024-3094"), "{refused}");
}

#[test]
fn moduli_of_many_lengths_are_examined_together() {
    let mut rng = rng(10);
    let p = prime(512, &mut rng);
    let q = prime(512, &mut rng);
    let long = prime(1024, &mut rng);
    let moduli = [
        &p * &q,
        &p * &p,
        long.clone(),
        &p * &q * 3_u8,
        &p * &long,
        p.clone(),
        &q * &long,
    ];
    let keys: Vec<PublicKey> = moduli.iter().map(public).collect();
    let keys: Vec<&PublicKey> = keys.iter().collect();
    use rsalab_rsa::ModulusFault::{Prime, SmallFactor, Square};
    let expected = [
        None,
        Some(Square),
        Some(Prime),
        Some(SmallFactor),
        None,
        Some(Prime),
        None,
    ];
    assert_eq!(PublicKey::modulus_faults(&keys).expect("arithmetic"), expected);
    for (key, fault) in keys.iter().zip(expected) {
        assert_eq!(key.check_modulus().is_err(), fault.is_some());
    }
}

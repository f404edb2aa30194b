//! Keys that lack something, contradict themselves, are weak, or were made to do harm.

use std::time::Instant;

use super::*;

#[test]
fn a_key_without_its_primes_gets_them() {
    for bits in [512, 1024, 2048] {
        let key = key(bits);
        let zero = [0_u8];
        let without = PrivateParts {
            p: &zero,
            q: &zero,
            dp: &zero,
            dq: &zero,
            qinv: &zero,
            ..key.parts()
        };
        let der = pkcs1_der(&without, None);
        let found = decode_private(&der).expect("the primes are found");
        assert_eq!((found.public(), found.d()), (key.public(), key.d()));
        // Another exponent is no key.
        let mut d = key.d().to_vec();
        *d.last_mut().expect("bytes") ^= 2;
        let wrong = PrivateParts { d: &d, ..without };
        assert!(reason(decode_private(&pkcs1_der(&wrong, None))).contains("e d is not 1"));
    }
}

/// A key in PKCS#1, whatever its numbers are.
fn pkcs1_der(parts: &PrivateParts<'_>, version: Option<u8>) -> Vec<u8> {
    let mut body = der(2, &[version.unwrap_or(0)]);
    for number in [
        parts.n, parts.e, parts.d, parts.p, parts.q, parts.dp, parts.dq, parts.qinv,
    ] {
        let mut minimal = BigUint::from_bytes_be(number).to_bytes_be();
        if minimal[0] & 0x80 != 0 {
            minimal.insert(0, 0);
        }
        body.extend(der(2, &minimal));
    }
    der(0x30, &body)
}

fn der(tag: u8, contents: &[u8]) -> Vec<u8> {
    let len = contents.len();
    let mut bytes = vec![tag];
    match len {
        0..128 => bytes.push(len as u8),
        _ => {
            let significant: Vec<u8> = len.to_be_bytes().into_iter().skip_while(|&byte| byte == 0).collect();
            bytes.push(0x80 | significant.len() as u8);
            bytes.extend(significant);
        }
    }
    bytes.extend_from_slice(contents);
    bytes
}

#[test]
fn keys_that_contradict_themselves_are_refused_with_the_fault() {
    let key = key(512);
    let other = self::key(520);
    let p = key.parts();
    let [n, e] = [p.n, p.e].map(BigUint::from_bytes_be);
    let even_n = (&n - 1_u32).to_bytes_be();
    let large_e = (&n + 2_u32).to_bytes_be();
    let even_e = (&e + 1_u32).to_bytes_be();
    let d_plus_one = (BigUint::from_bytes_be(p.d) + 1_u32).to_bytes_be();
    let cases = [
        (
            PrivateParts {
                dp: p.dq,
                dq: p.dp,
                ..p
            },
            "dp is not d modulo p - 1",
        ),
        (PrivateParts { dq: p.dp, ..p }, "dq is not d modulo q - 1"),
        (PrivateParts { p: p.q, q: p.p, ..p }, "dp is not d modulo p - 1"),
        (PrivateParts { qinv: p.dp, ..p }, "qinv"),
        (PrivateParts { q: p.p, ..p }, "p and q are the same"),
        (PrivateParts { d: &d_plus_one, ..p }, "e d is not 1 modulo p - 1"),
        (PrivateParts { n: &even_n, ..p }, "its modulus is even"),
        (PrivateParts { e: &[1], ..p }, "its public exponent is 1"),
        (PrivateParts { e: &[0], ..p }, "its public exponent is 0"),
        (PrivateParts { e: &even_e, ..p }, "its public exponent is even"),
        (
            PrivateParts { e: &large_e, ..p },
            "its public exponent is not smaller than its modulus",
        ),
        (
            PrivateParts {
                n: other.public().n(),
                ..p
            },
            "n is not p q",
        ),
        (PrivateParts { n: &[1; 31], ..p }, "bits is not supported"),
    ];
    for (parts, fault) in cases {
        let message = reason(decode_private(&pkcs1_der(&parts, None)));
        assert!(message.contains(fault), "{fault}: {message}");
    }
    assert!(decode_private(&pkcs1_der(&p, None)).is_ok());
    assert!(reason(decode_private(&pkcs1_der(&p, Some(7)))).contains("damaged"));
}

#[test]
fn composite_primes_and_moduli_are_found() {
    let backend = CpuBackend::auto();
    let mut rng = InsecureStudySeed::new([8; 32]).stream(0);
    // p is a product of two primes, and everything else fits it.
    let [a, b] = [256, 257].map(|stream| {
        let mut rng = InsecureStudySeed::new([4; 32]).stream(stream);
        BigUint::from_bytes_be(generate_strict(512, DEFAULT_EXPONENT, &mut rng).expect("a key").key.p())
    });
    let q = self::key(1024);
    let composite = PrivateKey::from_primes(&(a * b).to_bytes_be(), q.q(), &[1, 0, 1]);
    let composite = composite.expect("its numbers fit each other");
    assert!(reason(composite.check_primes_on(ROUNDS, &mut rng, &backend)).contains("p is not a prime"));
    q.check_primes_on(ROUNDS, &mut rng, &backend).expect("a key");
    q.public().check_modulus_on(&backend).expect("a key");
    let times_3 = BigUint::from_bytes_be(q.public().n()) * 3_u32;
    let public = rsalab_rsa::PublicKey::new(&times_3.to_bytes_be(), &[1, 0, 1]).expect("well formed");
    assert!(reason(public.check_modulus_on(&backend)).contains("a small prime divides its modulus"));
    let prime = rsalab_rsa::PublicKey::new(q.p(), &[1, 0, 1]).expect("well formed");
    assert!(reason(prime.check_modulus_on(&backend)).contains("its modulus is a prime"));
}

#[test]
fn weak_keys_are_named() {
    let names = |key: &PrivateKey| -> Vec<&str> { key.weaknesses().into_iter().map(Weakness::name).collect() };
    assert_eq!(names(&self::key(2048)), [""; 0]);
    assert_eq!(names(&self::key(1024)), ["short-modulus"]);
    let mut rng = InsecureStudySeed::new([4; 32]).stream(0);
    let three = generate_strict(2048, 3, &mut rng).expect("a key").key;
    assert_eq!(names(&three), ["small-exponent"]);
    // Two primes a few numbers apart.
    let p = BigUint::from_bytes_be(self::key(1024).p());
    let backend = CpuBackend::auto();
    let mut next = &p + 2_u32;
    while !rsalab_rsa::primality::is_probable_prime_on(&next.to_bytes_be(), 8, &mut rng, &backend).expect("randomness")
        || (&next - 1_u32) % 65537_u32 == BigUint::ZERO
    {
        next += 2_u32;
    }
    let close = PrivateKey::from_primes(&next.to_bytes_be(), &p.to_bytes_be(), &[1, 0, 1]).expect("a key");
    assert_eq!(names(&close), ["short-modulus", "fermat-factorable", "close-primes"]);
    // A private exponent of 100 bits.
    let key = self::key(1024);
    let phi = (BigUint::from_bytes_be(key.p()) - 1_u32) * (BigUint::from_bytes_be(key.q()) - 1_u32);
    let mut d: BigUint = (BigUint::from(1_u32) << 99) + 1_u32;
    let e = loop {
        match d.modinv(&phi) {
            Some(e) => break e,
            None => d += 2_u32,
        }
    };
    let short = PrivateKey::from_exponents(key.public().n(), &e.to_bytes_be(), &d.to_bytes_be()).expect("a key");
    assert_eq!(
        names(&short),
        ["short-modulus", "large-exponent", "wiener", "short-private-exponent"]
    );
}

#[test]
fn keys_made_to_do_harm_are_refused_at_once() {
    let mut nested = vec![0x30, 0x80];
    nested = nested.repeat(50_000);
    let deep: Vec<u8> = (0..50_000_u32)
        .rev()
        .flat_map(|inside| [&[0x30, 0x84][..], &(6 * inside).to_be_bytes()].concat())
        .collect();
    let four_gib = [&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff][..], &[2; 100]].concat();
    let five_bytes = [&[0x30, 0x85, 1, 0, 0, 0, 0][..], &[2; 100]].concat();
    let mbit = {
        let n = [&[0][..], &vec![0xff; 131_072]].concat();
        der(0x30, &[der(2, &n), der(2, &[1, 0, 1])].concat())
    };
    let mbit_private = {
        let n = vec![0x7f; 131_072];
        let parts = PrivateParts {
            n: &n,
            e: &[1, 0, 1],
            d: &n,
            p: &n,
            q: &n,
            dp: &n,
            dq: &n,
            qinv: &n,
            others: &[],
        };
        pkcs1_der(&parts, None)
    };
    let large_primes = {
        let key = key(512);
        let n = vec![0x7f; 100_000];
        pkcs1_der(
            &PrivateParts {
                p: &n,
                q: &n,
                ..key.parts()
            },
            None,
        )
    };
    // BER that DER forbids: a length in more bytes than it needs.
    let ber = {
        let whole = pkcs8(&key(512));
        let mut ber = vec![0x30, 0x83, 0, whole[2], whole[3]];
        assert_eq!(whole[1], 0x82);
        ber.extend_from_slice(&whole[4..]);
        ber
    };
    for (name, bytes) in [
        ("nested without lengths", nested),
        ("nested", deep),
        ("4 GiB", four_gib),
        ("a length of five bytes", five_bytes),
        ("1 Mbit", mbit),
        ("1 Mbit, private", mbit_private),
        ("large primes", large_primes),
        ("BER", ber),
        ("zeros", vec![0; 1 << 20]),
        (
            "a PEM of noise",
            [
                b"-----BEGIN PRIVATE KEY-----\n",
                &b"A".repeat(900_000)[..],
                b"\n-----END PRIVATE KEY-----\n",
            ]
            .concat(),
        ),
        (
            "an SSH line of noise",
            [b"ssh-rsa ", &b"A".repeat(900_000)[..]].concat(),
        ),
    ] {
        let started = Instant::now();
        let message = reason(load_private(&bytes, None));
        assert!(started.elapsed() < HANGS, "{name}: {:?}", started.elapsed());
        assert!(
            message.starts_with("this ") || message.contains("bits"),
            "{name}: {message}"
        );
        assert!(load_public(&bytes, None).is_err(), "{name}");
    }
}

//! Requirements on a key, and what generation makes, checked with an arithmetic of another author.

use num_bigint::BigUint;
use rsalab_rsa::{
    CpuBackend, Error, PrivateKey, PrivateParts, PublicKey,
    generate::{
        DEFAULT_EXPONENT, first_primes_of, generate_strict, generate_strict_on, miller_rabin_rounds, prime_pair_strict,
    },
    keys::{MAX_BITS, MIN_BITS},
    random::{InsecureStudySeed, SystemRng},
};

const SEED: [u8; 32] = *b"a seed that everybody may know..";

fn number(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(bytes)
}

fn study_key(bits: usize, e: u64, stream: u64) -> PrivateKey {
    let mut rng = InsecureStudySeed::new(SEED).stream(stream);
    generate_strict(bits, e, &mut rng).expect("a key").key
}

/// A Fermat test to a few bases: not the test that found the primes.
fn is_probably_prime(n: &BigUint) -> bool {
    let one = BigUint::from(1u8);
    [2u8, 3, 5, 7]
        .iter()
        .all(|&base| BigUint::from(base).modpow(&(n - &one), n) == one)
}

#[test]
fn generated_keys_are_what_the_standard_asks_for() {
    let one = BigUint::from(1u8);
    for (bits, e) in [
        (256, 65537),
        (384, 3),
        (512, 3),
        (512, 65537),
        (514, 17),
        (768, 65537),
        (1024, u64::MAX),
        (1024, 3),
        (1026, 65537),
    ] {
        let key = study_key(bits, e, 0);
        let [n, d, p, q] = [key.public().n(), key.d(), key.p(), key.q()].map(number);
        assert_eq!(key.bits(), bits);
        assert_eq!(n.bits(), bits as u64);
        assert_eq!(number(key.public().e()), BigUint::from(e));
        assert_eq!(&p * &q, n);
        assert!(p > q);
        for prime in [&p, &q] {
            assert!(is_probably_prime(prime), "{bits}");
            // p >= sqrt(2) 2^(bits/2 - 1)
            assert!(prime * prime >= &one << (bits - 1));
            assert_eq!(prime.bits(), bits as u64 / 2);
        }
        assert!(&p - &q > &one << (bits / 2 - 100));
        assert!(d > &one << (bits / 2));
        let (p1, q1) = (&p - &one, &q - &one);
        let gcd = {
            let (mut a, mut b) = (p1.clone(), q1.clone());
            while b != BigUint::ZERO {
                (a, b) = (b.clone(), a % b);
            }
            a
        };
        let lcm = &p1 * &q1 / gcd;
        assert!(d < lcm);
        assert_eq!(BigUint::from(e) * &d % lcm, one);
        assert_eq!(number(key.dp()), &d % &p1);
        assert_eq!(number(key.dq()), &d % &q1);
        assert_eq!(number(key.qinv()) * &q % &p, one);

        let lengths = [
            key.public().n(),
            key.d(),
            key.p(),
            key.q(),
            key.dp(),
            key.dq(),
            key.qinv(),
        ]
        .map(<[u8]>::len);
        let (k, h) = (key.modulus_len(), key.prime_len());
        assert_eq!(lengths, [k, k, h, h, h, h, h]);
        assert_eq!((k, h), (bits.div_ceil(8), (bits / 2).div_ceil(8)));
    }
}

#[test]
fn a_seed_gives_the_same_key_again_and_another_stream_another() {
    let again = |stream| study_key(512, DEFAULT_EXPONENT, stream).public().clone();
    assert_eq!(again(7), again(7));
    assert_ne!(again(7), again(8));
    let other = InsecureStudySeed::new([1; 32]);
    let key = generate_strict(512, DEFAULT_EXPONENT, &mut other.stream(7))
        .unwrap()
        .key;
    assert_ne!(key.public(), &again(7));
}

/// Studies store a seed, not keys. If this fails, stored studies no longer find their keys.
#[test]
fn the_keys_of_a_seed_stay_the_same() {
    assert_eq!(
        hex::encode(rsalab_rsa::format::fingerprint(
            study_key(512, DEFAULT_EXPONENT, 0).public()
        )),
        "d19a5fe1bfe92207a834aac8963d9c5489b319cde9471be0a5173a39d3c40f78"
    );
}

#[test]
fn the_system_gives_a_different_key_each_time() {
    let key = || {
        generate_strict(512, DEFAULT_EXPONENT, &mut SystemRng)
            .expect("a key")
            .key
    };
    assert_ne!(key().public(), key().public());
}

#[test]
fn work_is_counted() {
    let mut rng = InsecureStudySeed::new(SEED).stream(3);
    let pair = prime_pair_strict(512, DEFAULT_EXPONENT, &mut rng, &CpuBackend::auto()).unwrap();
    let counts = pair.counts;
    assert!(counts.candidates > counts.tests && counts.tests >= 2, "{counts:?}");
    let full = miller_rabin_rounds(256) as u64;
    assert!(counts.rounds >= counts.tests + 2 * (full - 1), "{counts:?}");
}

#[test]
fn sizes_and_exponents_that_cannot_be_are_refused() {
    let backend = CpuBackend::auto();
    let refusal = |bits, e| {
        let mut rng = InsecureStudySeed::new(SEED).stream(0);
        generate_strict_on(bits, e, &mut rng, &backend, None)
            .expect_err("refused")
            .to_string()
    };
    for bits in [0, 1, 254, 255, 513, 2047, 16386, usize::MAX] {
        assert!(
            refusal(bits, 65537).contains("even number of bits from 256 to 16384"),
            "{bits}"
        );
    }
    for e in [0, 1, 2, 4, 65536] {
        assert!(refusal(512, e).contains(&format!("odd and at least 3, not {e}")));
    }
}

#[test]
fn a_broken_generator_brings_the_search_to_an_end() {
    struct Stuck(u8);
    impl rand_core::TryRng for Stuck {
        type Error = std::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            Ok(u32::from_ne_bytes([self.0; 4]))
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(u64::from_ne_bytes([self.0; 8]))
        }
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            bytes.fill(self.0);
            Ok(())
        }
    }
    impl rand_core::TryCryptoRng for Stuck {}
    let search = |byte| {
        let pair = prime_pair_strict(512, 65537, &mut Stuck(byte), &CpuBackend::auto());
        pair.map(|_| ()).expect_err("no primes")
    };
    // 2^256 - 1 is a multiple of 3 and no prime, as often as it may come.
    let error = search(0xff);
    assert!(
        matches!(&error, Error::Generation { reason } if reason.contains("2560 candidates")),
        "{error}"
    );
    // Ones and zeros that never make a number of the right size.
    let error = search(0x55);
    assert!(
        matches!(&error, Error::Randomness { reason } if reason.contains("in a row")),
        "{error}"
    );
}

#[test]
fn a_generator_that_fails_is_an_error() {
    #[derive(Debug, thiserror::Error)]
    #[error("out of entropy")]
    struct Empty;
    impl rand_core::TryRng for Empty {
        type Error = Empty;
        fn try_next_u32(&mut self) -> Result<u32, Empty> {
            Err(Empty)
        }
        fn try_next_u64(&mut self) -> Result<u64, Empty> {
            Err(Empty)
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Empty> {
            Err(Empty)
        }
    }
    impl rand_core::TryCryptoRng for Empty {}
    let error = generate_strict(512, 65537, &mut Empty).expect_err("no randomness");
    assert_eq!(error.to_string(), "the random number generator failed: out of entropy");
}

/// The probability of FIPS 186-5, appendix C.1, that a random odd number of `k` bits with its top bit set is composite
/// although it passed `t` rounds; base-2 logarithm.
fn log2_error(k: usize, t: usize) -> f64 {
    let (kf, tf) = (k as f64, t as f64);
    let largest = (2.0 * (kf - 1.0).sqrt() - 1.0).floor() as usize;
    let mut sum = 0.0;
    let mut best = f64::INFINITY;
    for m in 3..=largest {
        let mf = m as f64;
        let inner: f64 = (2..=m).map(|j| (-(j as f64 + (kf - 1.0) / j as f64)).exp2()).sum();
        sum += (mf - (mf - 1.0) * tf).exp2() * inner;
        let bracket = (-mf * tf).exp2() + 8.0 * (std::f64::consts::PI.powi(2) - 6.0) / 3.0 * sum;
        best = best.min((2.00743 * std::f64::consts::LN_2 * kf).log2() - kf + (kf - 2.0) + bracket.log2());
    }
    best
}

#[test]
fn rounds_keep_the_error_below_2_to_the_minus_128() {
    // The formula gives the table of the standard back.
    for (k, target, rounds) in [
        (1024, 100.0, 4),
        (1024, 112.0, 5),
        (1536, 100.0, 3),
        (1536, 128.0, 4),
        (2048, 144.0, 4),
    ] {
        assert!(
            log2_error(k, rounds) <= -target && log2_error(k, rounds - 1) > -target,
            "{k} bits, 2^-{target}"
        );
    }
    // One bit more than 128, for candidates come from at least half of the numbers that the formula is for.
    for k in (128..=2048).step_by(32).chain([3072, 4096, 8192]) {
        let rounds = miller_rabin_rounds(k);
        assert!(
            log2_error(k, rounds) <= -129.0,
            "{k} bits take more than {rounds} rounds"
        );
    }
    for k in [128, 160, 192, 224, 256, 384, 512, 768, 1024, 1536] {
        assert!(
            log2_error(k, miller_rabin_rounds(k) - 1) > -129.0,
            "{k} bits take fewer rounds"
        );
    }
}

#[test]
fn every_part_of_a_key_is_checked() {
    let key = study_key(512, DEFAULT_EXPONENT, 0);
    let whole = key.parts();
    assert!(PrivateKey::from_parts(&whole).is_ok());
    let altered = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let last = bytes.len() - 1;
        bytes[last] ^= 2;
        bytes
    };
    let (n, e, d) = (altered(whole.n), altered(whole.e), altered(whole.d));
    let (p, q) = (altered(whole.p), altered(whole.q));
    let (dp, dq, qinv) = (altered(whole.dp), altered(whole.dq), altered(whole.qinv));
    for (part, parts) in [
        ("n", PrivateParts { n: &n, ..whole }),
        ("e", PrivateParts { e: &e, ..whole }),
        ("d", PrivateParts { d: &d, ..whole }),
        ("p", PrivateParts { p: &p, ..whole }),
        ("q", PrivateParts { q: &q, ..whole }),
        ("dp", PrivateParts { dp: &dp, ..whole }),
        ("dq", PrivateParts { dq: &dq, ..whole }),
        ("qinv", PrivateParts { qinv: &qinv, ..whole }),
        (
            "p and q",
            PrivateParts {
                p: whole.q,
                q: whole.p,
                ..whole
            },
        ),
        (
            "p = 1",
            PrivateParts {
                p: &[1],
                q: whole.n,
                ..whole
            },
        ),
        (
            "nothing",
            PrivateParts {
                p: &[],
                q: &[],
                ..whole
            },
        ),
        ("long dp", PrivateParts { dp: whole.n, ..whole }),
        (
            "long d",
            PrivateParts {
                d: &[0xff; 64],
                ..whole
            },
        ),
    ] {
        let error = PrivateKey::from_parts(&parts).expect_err(part);
        assert!(matches!(error, Error::InvalidKey { .. }), "{part}: {error}");
    }
    // The larger prime may also come second, if the coefficient follows.
    let swapped = PrivateKey::from_primes(whole.q, whole.p, whole.e).expect("the same key");
    assert_eq!(swapped.public(), key.public());
    // Leading zeros change nothing, and d may be any inverse below n: older software takes it modulo phi.
    let padded: Vec<u8> = [0; 9].iter().chain(whole.d).copied().collect();
    assert!(PrivateKey::from_parts(&PrivateParts { d: &padded, ..whole }).is_ok());
    let one = BigUint::from(1u8);
    let phi = (number(whole.p) - &one) * (number(whole.q) - &one);
    let by_phi = BigUint::from(DEFAULT_EXPONENT)
        .modinv(&phi)
        .expect("an inverse")
        .to_bytes_be();
    assert_ne!(
        number(&by_phi),
        number(whole.d),
        "this key does not tell the two apart: take another"
    );
    let older = PrivateKey::from_parts(&PrivateParts { d: &by_phi, ..whole }).expect("as good");
    assert_eq!(number(older.d()), number(&by_phi));
    let beyond = (number(&by_phi) + phi).to_bytes_be();
    let error = PrivateKey::from_parts(&PrivateParts { d: &beyond, ..whole })
        .expect_err("d > n")
        .to_string();
    assert!(
        error.contains("not smaller than its modulus") || error.contains("more than the 64 bytes"),
        "{error}"
    );
}

#[test]
fn primes_of_different_lengths_are_refused() {
    let (long, short) = (study_key(1024, 65537, 1), study_key(512, 65537, 1));
    let error = PrivateKey::from_primes(long.p(), short.q(), &[3])
        .map(|_| ())
        .unwrap_err();
    let error = match error {
        // 3 may divide p - 1; then another exponent is as good.
        Error::InvalidKey { reason } if reason.contains("shares a factor") => {
            PrivateKey::from_primes(long.p(), short.q(), &[1, 0, 1])
                .map(|_| ())
                .unwrap_err()
        }
        other => other,
    };
    assert!(error.to_string().contains("same length"), "{error}");
}

#[test]
fn exponents_without_an_inverse_are_refused() {
    let key = study_key(512, 65537, 2);
    for e in [&[0][..], &[2], &[1], &[0xff; 2049]] {
        assert!(
            matches!(
                PrivateKey::from_primes(key.p(), key.q(), e),
                Err(Error::InvalidKey { .. })
            ),
            "{e:?}"
        );
    }
    assert!(matches!(
        PrivateKey::from_primes(key.p(), key.p(), &[3]),
        Err(Error::InvalidKey { .. })
    ));
}

#[test]
fn public_keys_are_checked() {
    let odd = |bits: usize| {
        let mut n = vec![0xff; bits.div_ceil(8)];
        n[0] >>= n.len() * 8 - bits;
        n
    };
    for bits in [MIN_BITS, 513, 1000, MAX_BITS] {
        let key = PublicKey::new(&odd(bits), &[3]).expect("fits");
        assert_eq!(
            (key.bits(), key.modulus_len(), key.n().len()),
            (bits, bits.div_ceil(8), bits.div_ceil(8))
        );
    }
    let n = odd(512);
    for bits in [1, 255, MAX_BITS + 1] {
        assert!(matches!(PublicKey::new(&odd(bits), &[3]), Err(Error::KeySize { bits: named, .. }) if named == bits));
    }
    assert!(matches!(PublicKey::new(&[], &[3]), Err(Error::KeySize { bits: 0, .. })));
    let reason = |n: &[u8], e: &[u8]| match PublicKey::new(n, e) {
        Err(Error::InvalidKey { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let mut even = n.clone();
    even[63] = 0xfe;
    assert!(reason(&even, &[3]).contains("modulus is even"));
    assert!(reason(&n, &[]).contains("exponent is 0"));
    assert!(reason(&n, &[0, 0]).contains("exponent is 0"));
    assert!(reason(&n, &[0, 1]).contains("exponent is 1"));
    assert!(reason(&n, &[1, 0]).contains("exponent is even"));
    assert!(reason(&n, &n).contains("not smaller"));
    assert!(reason(&n, &[1; 65]).contains("not smaller"));
    let mut largest = n.clone();
    largest[63] -= 2;
    assert_eq!(PublicKey::new(&n, &largest).unwrap().e(), largest);
    let padded: Vec<u8> = [0; 5].iter().chain(&n).copied().collect();
    assert_eq!(
        PublicKey::new(&padded, &[0, 0, 3]).unwrap(),
        PublicKey::new(&n, &[3]).unwrap()
    );
}

#[test]
fn debug_shows_nothing_but_the_size() {
    let key = study_key(512, DEFAULT_EXPONENT, 0);
    assert_eq!(format!("{key:?}"), "PrivateKey { bits: 512, .. }");
    assert_eq!(format!("{:?}", key.public()), "PublicKey { bits: 512, .. }");
    assert_eq!(format!("{:?}", InsecureStudySeed::new(SEED)), "InsecureStudySeed");
}

#[test]
fn the_first_two_primes_of_a_sequence_are_found_wherever_they_are() {
    let key = study_key(512, 65537, 3);
    let composite = |stream: u64| {
        // Odd, the top bits set, a multiple of no small prime: a product of two.
        let small = [1, 2].map(|half| study_key(512, 65537, 100 * stream + half));
        let factors = small.map(|key| number(key.p()) >> 128u32 | BigUint::from(1u8) << 127u32);
        let mut product = &factors[0] * &factors[1];
        product.set_bit(0, true);
        product.set_bit(254, true);
        product.set_bit(255, true);
        let bytes = product.to_bytes_be();
        assert_eq!(bytes.len(), 32);
        (!is_probably_prime(&product)).then_some(bytes)
    };
    let composites: Vec<Vec<u8>> = (0..30).filter_map(composite).collect();
    assert!(composites.len() > 20);
    for (first, second) in [(0, 0), (0, 1), (1, 0), (3, 4), (7, 1), (8, 8), (0, 20)] {
        let mut sequence: Vec<&[u8]> = Vec::new();
        sequence.extend(composites[..first].iter().map(|one| &one[..]));
        sequence.push(key.p());
        sequence.extend(composites[..second].iter().map(|one| &one[..]));
        sequence.push(key.q());
        sequence.push(&composites[0]);
        let found = first_primes_of(&sequence.concat(), 512, 65537, &mut SystemRng, &CpuBackend::auto())
            .expect("both are there");
        assert_eq!((&found.p[..], &found.q[..]), (key.p(), key.q()));
    }
    for too_few in [
        Vec::new(),
        composites.concat(),
        [&composites.concat(), key.p()].concat(),
    ] {
        let refused = first_primes_of(&too_few, 512, 65537, &mut SystemRng, &CpuBackend::auto());
        assert!(matches!(refused, Err(Error::Generation { .. })));
    }
}

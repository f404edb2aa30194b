//! Keys of three to five primes: made, refused, written, read, and used.

use crate::kernels::kernels_here;
use num_bigint::BigUint;
use rsalab_rsa::{
    CpuBackend, Error, OtherPrime, PrivateKey, PrivateParts, PublicKey,
    backend::{Backend, Status},
    format::{
        Annotations, Encoding, PrivateFormat, Restrictions, decode_private, encode_private, jwk, load_private, openssh,
    },
    generate::{Generation, PublicExponent, most_primes},
    keys::MAX_PRIMES,
    primality::ROUNDS_BEFORE_USE,
    random::{InsecureStudySeed, SystemRng},
};

fn number(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(bytes)
}

fn keys(bits: usize, primes: usize, count: usize) -> Vec<PrivateKey> {
    let generation = Generation::new(bits, PublicExponent::Fixed(65537)).unwrap();
    let generation = generation.with_primes(primes).unwrap();
    let rng = InsecureStudySeed::new([3; 32]).stream((bits + primes) as u64);
    let made = generation.generator(rng).unwrap().keys(count).unwrap();
    made.into_iter().map(|made| made.key).collect()
}

fn primes(key: &PrivateKey) -> Vec<BigUint> {
    let others = key.others().iter().map(|other| number(&other.r));
    [number(key.p()), number(key.q())].into_iter().chain(others).collect()
}

#[test]
fn keys_are_made_of_as_many_primes_as_asked_for() {
    let one = BigUint::from(1u8);
    for (bits, count) in [(1024, 3), (1026, 3), (1028, 3), (2048, 3), (4096, 4), (8192, 5)] {
        for key in keys(bits, count, if bits > 2048 { 1 } else { 9 }) {
            assert_eq!((key.bits(), key.primes()), (bits, count));
            let primes = primes(&key);
            assert_eq!(primes.iter().product::<BigUint>(), number(key.public().n()));
            assert!(primes.is_sorted_by(|one, other| one > other));
            for prime in &primes {
                assert_eq!(prime.bits() as usize, bits.div_ceil(count));
                // Any product of such numbers is as long as the modulus.
                assert_eq!(prime.pow(count as u32).bits() as usize, bits);
                let ed = BigUint::from(65537u32) * number(key.d());
                assert_eq!(ed % (prime - 1u8), one);
            }
            assert!(number(key.d()) > &one << (bits / 2));
            key.check_primes(ROUNDS_BEFORE_USE, &mut SystemRng).unwrap();
            if bits >= 2048 {
                assert_eq!(key.weaknesses(), []);
            }
        }
    }
}

#[test]
fn the_same_randomness_gives_the_same_keys_on_every_kernel() {
    let make = |backend| {
        let generation = Generation::with_backend(1024, PublicExponent::Random, Box::new(backend)).unwrap();
        let generation = generation.with_primes(3).unwrap();
        let rng = InsecureStudySeed::new([4; 32]).stream(0);
        let made = generation.generator(rng).unwrap().keys(3).unwrap();
        made.iter().map(|made| made.key.d().to_vec()).collect::<Vec<_>>()
    };
    let expected = make(CpuBackend::auto());
    for kernel in kernels_here() {
        let backend = CpuBackend::named(kernel.name).unwrap();
        assert_eq!(make(backend), expected, "{}", kernel.name);
    }
}

#[test]
fn primes_that_would_be_too_short_are_refused() {
    for (bits, primes) in [(768, 3), (2048, 4), (4096, 5), (8192, 6), (2048, 1), (2048, 0)] {
        let generation = Generation::new(bits, PublicExponent::Fixed(65537)).unwrap();
        let Err(Error::Generation { reason }) = generation.with_primes(primes) else {
            panic!("{bits} bits, {primes} primes");
        };
        assert!(reason.contains(&format!("not {primes}")), "{reason}");
    }
    assert_eq!(most_primes(16384), MAX_PRIMES);
}

#[test]
fn a_batch_decrypts_what_was_encrypted() {
    for key in [&keys(1024, 3, 1)[0], &keys(4096, 4, 1)[0], &keys(8192, 5, 1)[0]] {
        let backend = CpuBackend::auto();
        let (private, public) = (
            backend.prepare_private(key).unwrap(),
            backend.prepare_public(key.public()).unwrap(),
        );
        let len = key.modulus_len();
        for items in [1, 2, 7, 8, 19] {
            let inputs: Vec<u8> = (0..items * len)
                .map(|i| if i % len == 0 { 0 } else { i as u8 })
                .collect();
            let run = |prepared: &dyn rsalab_rsa::backend::Prepared, inputs: &[u8]| {
                let mut outputs = vec![0; inputs.len()];
                let mut status = vec![Status::Fault; items];
                let mut runner = prepared.runner().unwrap();
                runner.run(inputs, &mut outputs, &mut status).unwrap();
                assert_eq!(status, vec![Status::Done; items]);
                outputs
            };
            let encrypted = run(&*public, &inputs);
            assert_eq!(run(&*private, &encrypted), inputs, "{} bits", key.bits());
        }
    }
}

#[test]
fn every_format_that_can_say_it_keeps_all_primes() {
    for key in [&keys(1024, 3, 1)[0], &keys(4096, 4, 1)[0]] {
        for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
            for encoding in [Encoding::Pem, Encoding::Der] {
                let written = encode_private(key, format, encoding);
                let read = decode_private(&written).unwrap();
                assert_eq!((read.d(), primes(&read)), (key.d(), primes(key)));
                assert_eq!(encode_private(&read, format, encoding), written);
            }
        }
        let written = jwk::private(key, &Restrictions::default(), &Annotations::default());
        let read = load_private(written.as_bytes(), None).unwrap().key;
        assert_eq!((read.d(), primes(&read)), (key.d(), primes(key)));
        let Err(Error::Format { reason }) = openssh::private(key, "") else {
            panic!("it was written");
        };
        assert!(reason.contains("has room for two"), "{reason}");
        // With the public half, that is no key.
        let member = written.find("\"d\":").unwrap();
        let others = written.find("\"oth\":").unwrap();
        let without_d = format!("{}{}", &written[..member], &written[others..]);
        let refused = load_private(without_d.as_bytes(), None).unwrap_err().to_string();
        assert!(refused.contains("no member \"d\""), "{refused}");
        // A prime without its coefficient.
        let cut = written.replacen(",\"t\":", ",\"u\":", 1);
        let refused = load_private(cut.as_bytes(), None).unwrap_err().to_string();
        assert!(refused.contains("no member \"t\""), "{refused}");
    }
}

#[test]
fn what_is_no_multi_prime_key_is_refused() {
    let key = &keys(1024, 3, 1)[0];
    let whole = key.parts();
    let refused = |others: &[OtherPrime]| {
        PrivateKey::from_parts(&PrivateParts { others, ..whole })
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&[]).contains("n is not p q"), "{}", refused(&[]));
    let mut others = key.others().to_vec();
    *others[0].t.last_mut().unwrap() ^= 1;
    assert!(
        refused(&others).contains("coefficient of a prime after q"),
        "{}",
        refused(&others)
    );
    let many = vec![others[0].clone(); 4];
    assert!(refused(&many).contains("6 primes"), "{}", refused(&many));
    let mut long = key.others().to_vec();
    long[0].r = vec![0xff; 65].into();
    assert!(refused(&long).contains("r3 has 520 bits"), "{}", refused(&long));
    // The primes make the modulus, and one is longer than half of it.
    let parts = [keys(1024, 3, 1), keys(1024, 2, 1)].concat();
    let mixed = PrivateKey::multi_prime(&[parts[1].p(), parts[0].p(), &[0xfb, 0xff]], &[1, 0, 1]);
    assert!(matches!(mixed, Err(Error::Unsupported { .. })), "{mixed:?}");
    // Its primes are found from its exponents, and not from another's.
    let alone = PrivateKey::from_exponents(key.public().n(), key.public().e(), key.d());
    let sorted = |key: &PrivateKey| {
        let mut primes = primes(key);
        primes.sort();
        primes
    };
    assert_eq!(sorted(&alone.unwrap()), sorted(key));
    let mut d = key.d().to_vec();
    *d.last_mut().unwrap() ^= 2;
    let other = PrivateKey::from_exponents(key.public().n(), key.public().e(), &d);
    assert!(other.is_err());
    for primes in [&[][..], &[key.p()]] {
        assert!(matches!(
            PrivateKey::multi_prime(primes, &[3]),
            Err(Error::Unsupported { .. })
        ));
    }
    let twice = PrivateKey::multi_prime(&[key.p(), key.q(), key.p()], &[1, 0, 1]);
    assert!(twice.unwrap_err().to_string().contains("the same"));
}

#[test]
fn a_composite_after_q_is_found() {
    let key = &keys(1024, 3, 1)[0];
    // p and q of one key as a single "prime" of another.
    let small = keys(1024, 3, 2);
    let composite = (number(small[1].p()) >> 171u32 | BigUint::from(1u8)) * 3u8;
    let mut composite = composite.to_bytes_be();
    let key = (0..1000).find_map(|_| {
        let last = composite.len() - 1;
        composite[last] = composite[last].wrapping_add(6);
        PrivateKey::multi_prime(&[key.p(), key.q(), &composite], &[1, 0, 1]).ok()
    });
    let refused = key.expect("one suits").check_primes(ROUNDS_BEFORE_USE, &mut SystemRng);
    assert!(refused.unwrap_err().to_string().contains("after q is not a prime"));
}

#[test]
fn short_primes_are_a_weakness() {
    let two = &keys(2048, 2, 1)[0];
    let short = keys(1024, 3, 1);
    // 1024 + 342 + 342 + 342 bits.
    let primes = [two.p(), short[0].p(), short[0].q(), &short[0].others()[0].r];
    let key = PrivateKey::multi_prime(&primes, &[1, 0, 1]).unwrap();
    let names: Vec<&str> = key.weaknesses().iter().map(|weakness| weakness.name()).collect();
    assert!(names.contains(&"short-primes"), "{names:?}");
    let public = PublicKey::new(key.public().n(), key.public().e()).unwrap();
    assert_eq!(public.weaknesses(), []);
}

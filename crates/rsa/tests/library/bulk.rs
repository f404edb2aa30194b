//! Keys in bulk, checked with an arithmetic of another author.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::kernels::kernels_here;
use num_bigint::BigUint;
use rsalab_rsa::{
    Backend, CpuBackend, Error, PrivateKey,
    generate::{Generated, Generation, Generator, PublicExponent, miller_rabin_rounds},
    random::{InsecureStudyRng, InsecureStudySeed, WorkerRng},
};

use PublicExponent::Fixed;

fn number(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(bytes)
}

fn generation(bits: usize, e: u64) -> Generation {
    Generation::new(bits, Fixed(e)).expect("it can be")
}

fn seeded(generation: &Generation, stream: u64) -> Generator<'_, InsecureStudyRng> {
    let rng = InsecureStudySeed::new([9; 32]).stream(stream);
    generation.generator(rng).expect("there is memory")
}

/// Checks what FIPS 186-5 asks of a key, and that its parts belong together.
fn check(key: &PrivateKey, bits: usize, e: u64) {
    let one = BigUint::from(1u8);
    let [n, d, p, q] = [key.public().n(), key.d(), key.p(), key.q()].map(number);
    assert_eq!((key.bits(), n.bits()), (bits, bits as u64));
    assert_eq!(&p * &q, n);
    assert!(p > q);
    for prime in [&p, &q] {
        for base in [2u8, 3, 5, 7] {
            let power = BigUint::from(base).modpow(&(prime - &one), prime);
            assert_eq!(power, one, "{prime}");
        }
        assert!(prime * prime >= &one << (bits - 1), "{prime} is too small");
        assert_eq!(prime.bits(), bits as u64 / 2);
        let [exponent, before] = [BigUint::from(e), prime - &one];
        assert!(exponent.modinv(&before).is_some(), "{prime} does not suit {e}");
    }
    assert!(&p - &q > &one << (bits / 2 - 100));
    assert!(d > &one << (bits / 2));
    let ed = BigUint::from(e) * &d;
    assert_eq!((&ed % (&p - &one), &ed % (&q - &one)), (one.clone(), one.clone()));
    assert_eq!(number(key.dp()), &d % (&p - &one));
    assert_eq!(number(key.dq()), &d % (&q - &one));
    assert_eq!(number(key.qinv()) * &q % &p, one);
}

fn check_all(made: &[Generated], count: usize, bits: usize, e: u64) {
    assert_eq!(made.len(), count);
    let mut primes = HashSet::new();
    for Generated { key, counts } in made {
        check(key, bits, e);
        assert!(primes.insert(key.p().to_vec()) && primes.insert(key.q().to_vec()));
        let rounds = 2 * miller_rabin_rounds(bits / 2) as u64;
        assert!(counts.rounds >= rounds && counts.tests >= 2, "{counts:?}");
        assert!(counts.candidates >= counts.tests, "{counts:?}");
    }
}

#[test]
fn keys_are_what_the_standard_asks_for() {
    for (bits, e, count) in [
        (256, 65537, 33),
        (384, 65537, 20),
        (512, 3, 20),
        (512, 65537, 33),
        (514, 17, 5),
        (768, 65537, 9),
        (1024, u64::MAX, 3),
        (1024, 65537, 17),
        (1026, 3, 2),
        (1536, 65537, 3),
        (2048, 65537, 2),
    ] {
        let generation = generation(bits, e);
        let made = seeded(&generation, 0).keys(count).expect("keys");
        check_all(&made, count, bits, e);
    }
}

#[test]
fn any_number_of_keys_can_be_asked_for_again_and_again() {
    let generation = generation(512, 65537);
    for looks_ahead in [false, true] {
        let mut generator = seeded(&generation, 1);
        if looks_ahead {
            generator = generator.looking_ahead();
        }
        let mut all = Vec::new();
        for count in [0, 1, 2, 7, 8, 9, 31, 1] {
            let made = generator.keys(count).expect("keys");
            assert_eq!(made.len(), count);
            all.extend(made);
        }
        check_all(&all, 59, 512, 65537);
        let counts = generator.counts();
        let tests: u64 = all.iter().map(|made| made.counts.tests).sum();
        assert!(counts.tests >= tests, "{counts:?}");
        let pairs = generator.pairs(5).expect("pairs");
        assert!(pairs.iter().all(|pair| number(&pair.p) > number(&pair.q)));
    }
}

#[test]
fn the_same_randomness_gives_the_same_keys_on_every_kernel() {
    let made = |name: &str| -> Vec<_> {
        let backend = CpuBackend::named(name).expect("it is available");
        let generation = Generation::with_backend(512, Fixed(65537), Box::new(backend)).expect("it can be");
        let made = seeded(&generation, 2).keys(10).expect("keys");
        made.iter().map(|made| made.key.public().clone()).collect()
    };
    let mut keys: Vec<_> = kernels_here().map(|kernel| made(kernel.name)).collect();
    assert!(keys.len() >= 2);
    keys.dedup();
    assert_eq!(keys.len(), 1);
}

/// An exponent that half of all primes do not suit takes no more tests than one that all of them do.
#[test]
fn what_does_not_suit_the_exponent_is_not_tested() {
    let tests = |e| {
        let generation = generation(512, e);
        let mut generator = seeded(&generation, 3).looking_ahead();
        generator.keys(200).expect("keys");
        generator.counts().tests as f64
    };
    let ratio = tests(3) / tests(65537);
    assert!((0.75..1.35).contains(&ratio), "{ratio}");
}

#[test]
fn the_system_gives_different_keys_to_each_thread() {
    let generation = generation(512, 65537);
    let key = || {
        let rng = WorkerRng::from_system().expect("the system has randomness");
        let made = generation.generator(rng).expect("memory").keys(1);
        made.expect("a key").remove(0).key.public().clone()
    };
    assert_ne!(key(), key());
}

#[test]
fn sizes_and_exponents_that_cannot_be_are_refused() {
    let refusal = |bits, e| {
        let refused = Generation::new(bits, Fixed(e));
        refused.err().expect("refused").to_string()
    };
    for bits in [0, 254, 257, 16386] {
        assert!(refusal(bits, 65537).contains("even number of bits from 256 to 16384"));
    }
    for e in [0, 1, 2, 65536] {
        assert!(refusal(512, e).contains(&format!("odd and at least 3, not {e}")));
    }
}

/// Gives the same byte for ever, or nothing.
struct Broken(Option<u8>);

#[derive(Debug, thiserror::Error)]
#[error("out of entropy")]
struct Empty;

impl rand_core::TryRng for Broken {
    type Error = Empty;
    fn try_next_u32(&mut self) -> Result<u32, Empty> {
        self.0.map(|byte| u32::from_ne_bytes([byte; 4])).ok_or(Empty)
    }
    fn try_next_u64(&mut self) -> Result<u64, Empty> {
        self.0.map(|byte| u64::from_ne_bytes([byte; 8])).ok_or(Empty)
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Empty> {
        bytes.fill(self.0.ok_or(Empty)?);
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Broken {}

#[test]
fn broken_randomness_comes_to_an_end() {
    let generation = generation(512, 65537);
    let error = |byte| {
        let mut generator = generation.generator(Broken(byte)).expect("memory");
        generator.keys(1).expect_err("no key")
    };
    // No room for a stretch; never large enough; and always the same two primes, which are too close.
    for byte in [0xff, 0x55, 0xc1] {
        let error = error(Some(byte));
        assert!(matches!(error, Error::Randomness { .. }), "{byte:x}: {error}");
    }
    let error = error(None).to_string();
    assert_eq!(error, "the random number generator failed: out of entropy");
}

#[test]
fn a_backend_tests_what_it_is_given() {
    let backend = CpuBackend::auto();
    let mut tester = backend.tester(521).expect("a tester");
    let prime: BigUint = (BigUint::from(1u8) << 521) - 1u8;
    let mut passed = [false];
    tester.pre_test(&prime.to_bytes_be(), &mut passed).expect("in range");
    assert_eq!(passed, [true]);
    assert!(tester.pre_test(&[1], &mut passed).is_err());
}

#[test]
fn random_exponents_are_drawn_for_each_key() {
    let backend = Box::new(CpuBackend::auto());
    let generation = Generation::with_backend(512, PublicExponent::Random, backend).expect("it can be");
    let made = seeded(&generation, 4).keys(9).expect("keys");
    let mut exponents = HashSet::new();
    for Generated { key, .. } in &made {
        let [n, e, d, p, q] = [key.public().n(), key.public().e(), key.d(), key.p(), key.q()].map(number);
        assert!(e < n && e.bit(0) && e.bits() > 400);
        let one = BigUint::from(1u8);
        assert_eq!((&e * &d) % (&p - &one), one);
        assert_eq!((&e * &d) % (&q - &one), one);
        assert!(exponents.insert(e));
    }
}

#[test]
fn a_search_can_be_stopped() {
    let generation = generation(512, 65537);
    let stop = AtomicBool::new(false);
    let mut generator = seeded(&generation, 5).stopped_by(&stop);
    assert_eq!(generator.keys(3).expect("keys").len(), 3);
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(generator.keys(3), Err(Error::Stopped)));
    stop.store(false, Ordering::Relaxed);
    assert_eq!(generator.keys(2).expect("keys").len(), 2);
}

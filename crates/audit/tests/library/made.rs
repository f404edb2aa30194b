//! Keys that are made for tests: sound ones, and faulty ones of each kind.

use std::{fs, path::Path};

use num_bigint::BigUint;
use rand_core::TryRng;
use rsalab_audit::{Audit, Inventory, Options, Report};
use rsalab_rsa::{
    PrivateKey, PublicKey,
    format::{
        Annotations, Encoding, PrivateFormat, PublicFormat, Restrictions, encode_private, encode_public,
        jwk::public as write_jwk,
    },
    generate::{Generation, PublicExponent},
    primality::is_probable_prime,
    random::{InsecureStudyRng, InsecureStudySeed},
};

/// Bits of every modulus: shorter ones would be findings.
pub(crate) const BITS: u64 = 2048;
const HALF: u64 = BITS / 2;

pub(crate) fn rng(stream: u64) -> InsecureStudyRng {
    InsecureStudySeed::new([44; 32]).stream(stream)
}

/// Pairs of primes of sound keys, of so many streams of randomness at once.
pub(crate) fn pairs(count: usize, threads: usize) -> Vec<[BigUint; 2]> {
    let generation = Generation::new(BITS as usize, PublicExponent::Fixed(65537)).expect("it can be");
    let each = count.div_ceil(threads);
    let mut pairs: Vec<[BigUint; 2]> = std::thread::scope(|scope| {
        let make = |thread: usize| {
            let generation = &generation;
            scope.spawn(move || {
                let mut generator = generation.generator(rng(1000 + thread as u64)).expect("a generator");
                generator.pairs(each).expect("pairs")
            })
        };
        let workers: Vec<_> = (0..threads).map(make).collect();
        let made = workers.into_iter().flat_map(|worker| worker.join().expect("it ends"));
        made.map(|pair| [&pair.p, &pair.q].map(|prime| BigUint::from_bytes_be(prime)))
            .collect()
    });
    pairs.truncate(count);
    pairs
}

fn random(bits: u64, rng: &mut InsecureStudyRng) -> BigUint {
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    let Ok(()) = rng.try_fill_bytes(&mut bytes);
    BigUint::from_bytes_be(&bytes) % (BigUint::from(1_u8) << bits)
}

fn is_prime(n: &BigUint) -> bool {
    is_probable_prime(&n.to_bytes_be(), 4, &mut rng(0)).expect("randomness")
}

/// The first prime from here on that suits 65537.
pub(crate) fn prime_from(mut n: BigUint) -> BigUint {
    n.set_bit(0, true);
    while (&n - 1_u8) % 65537_u32 == BigUint::ZERO || !is_prime(&n) {
        n += 2_u8;
    }
    n
}

fn with_upper_bits(mut n: BigUint) -> BigUint {
    n.set_bit(HALF - 1, true);
    n.set_bit(HALF - 2, true);
    n
}

/// A prime that nobody has.
pub(crate) fn fresh_prime(rng: &mut InsecureStudyRng) -> BigUint {
    prime_from(with_upper_bits(random(HALF, rng)))
}

/// A prime and the next one.
pub(crate) fn close(rng: &mut InsecureStudyRng) -> [BigUint; 2] {
    let p = fresh_prime(rng);
    let q = prime_from(&p + 2_u8);
    [p, q]
}

/// Primes k M + (65537^a mod M), where M is the product of the first 71 primes (Nemec and others 2017).
pub(crate) fn roca(rng: &mut InsecureStudyRng) -> [BigUint; 2] {
    let small = (2_u32..).filter(|n| (2..*n).all(|divisor| !n.is_multiple_of(divisor)));
    let m: BigUint = small.take(71).map(BigUint::from).product();
    let upper = (BigUint::from(3_u8) << (HALF - 2)) / &m + 1_u8;
    let mut prime = || loop {
        let k = &upper + random(HALF - m.bits() - 4, rng);
        let power = BigUint::from(65537_u32).modpow(&random(256, rng), &m);
        let candidate = k * &m + power;
        if candidate.bits() == HALF && is_prime(&candidate) {
            return candidate;
        }
    };
    [prime(), prime()]
}

/// Primes next to a pattern of 5 bits that repeats.
pub(crate) fn patterned(place: u32) -> [BigUint; 2] {
    let next = |pattern: u32| {
        let bits = (0..HALF).filter(|bit| pattern >> (bit % 5) & 1 == 1);
        prime_from(with_upper_bits(bits.map(|bit| BigUint::from(1_u8) << bit).sum()))
    };
    [next(0b10010 + place), next(0b01001 + place)]
}

/// Primes of one byte in each 32-bit word.
pub(crate) fn short_sleeve(rng: &mut InsecureStudyRng) -> [BigUint; 2] {
    let mut prime = || {
        let words = (0..HALF / 32).map(|word| random(8, rng) << (32 * word));
        prime_from(with_upper_bits(words.sum()))
    };
    [prime(), prime()]
}

/// A private key with an exponent of so many bits.
pub(crate) fn short_exponent([p, q]: &[BigUint; 2], bits: u64, rng: &mut InsecureStudyRng) -> PrivateKey {
    let order = (p - 1_u8) * (q - 1_u8);
    let mut d = random(bits, rng);
    d.set_bit(bits - 1, true);
    d.set_bit(0, true);
    let e = loop {
        match d.modinv(&order) {
            Some(e) => break e,
            None => d += 2_u8,
        }
    };
    PrivateKey::from_exponents(&(p * q).to_bytes_be(), &e.to_bytes_be(), &d.to_bytes_be()).expect("a key")
}

pub(crate) fn private([p, q]: &[BigUint; 2]) -> PrivateKey {
    PrivateKey::from_primes(&p.to_bytes_be(), &q.to_bytes_be(), &[1, 0, 1]).expect("a key")
}

pub(crate) fn public([p, q]: &[BigUint; 2]) -> PublicKey {
    PublicKey::new(&(p * q).to_bytes_be(), &[1, 0, 1]).expect("a key")
}

pub(crate) fn private_pem(key: &PrivateKey) -> Vec<u8> {
    encode_private(key, PrivateFormat::Pkcs8, Encoding::Pem).to_vec()
}

pub(crate) fn public_pem(key: &PublicKey) -> Vec<u8> {
    encode_public(key, PublicFormat::Spki, Encoding::Pem).clone()
}

/// A private key in PKCS#1, of which a byte of one of its numbers is another.
pub(crate) fn inconsistent(key: &PrivateKey, place: usize) -> Vec<u8> {
    let mut der = encode_private(key, PrivateFormat::Pkcs1, Encoding::Der).to_vec();
    let parts = key.parts();
    let number = [parts.d, parts.dp, parts.dq, parts.qinv, parts.p][place % 5];
    let at = der
        .windows(number.len())
        .position(|window| window == number)
        .expect("it is there");
    der[at + number.len() / 2] ^= 0x10;
    der
}

/// Audits a folder.
pub(crate) fn audit(folder: &Path) -> Report {
    Audit::new(&Options::default())
        .run(&Inventory::of(&[folder]), &mut |_| {})
        .expect("it can be done")
}

/// The findings of a report, each as its rule and the names of its files below a folder.
pub(crate) fn found(report: &Report, folder: &Path) -> Vec<(&'static str, Vec<String>)> {
    let folder = format!("{}/", folder.display());
    let mut found: Vec<(&'static str, Vec<String>)> = report
        .findings
        .iter()
        .map(|finding| {
            let places = finding.places.iter().map(rsalab_audit::Location::in_words);
            (
                finding.rule.id,
                places.map(|place| place.replace(&folder, "")).collect(),
            )
        })
        .collect();
    found.sort();
    found
}

pub(crate) fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("it lies somewhere")).expect("a folder");
    fs::write(path, bytes).expect("a file");
}

pub(crate) fn spki(key: &PublicKey) -> Vec<u8> {
    encode_public(key, PublicFormat::Spki, Encoding::Der)
}

pub(crate) fn jwk(key: &PublicKey) -> String {
    write_jwk(key, &Restrictions::default(), &Annotations::default())
}

/// Keys with one prime in common, so that each that is read is found, with its place.
pub(crate) fn family(count: usize, stream: u64) -> Vec<PrivateKey> {
    let mut rng = rng(stream);
    let shared = fresh_prime(&mut rng);
    (0..count)
        .map(|_| private(&[shared.clone(), fresh_prime(&mut rng)]))
        .collect()
}

/// The places of the one finding that there is.
#[track_caller]
pub(crate) fn places(report: &Report, folder: &Path) -> Vec<String> {
    match found(report, folder).as_slice() {
        [(rule, places)] if *rule == "shared-prime" => places.clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn hex(key: &PublicKey) -> String {
    key.n().iter().map(|byte| format!("{byte:02x}")).collect()
}

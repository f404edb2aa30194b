//! Many keys at once: read on threads, and their primes tested together.

use num_bigint::BigUint;
use rsalab_rsa::{
    CpuBackend, Error, PrivateKey,
    format::{Encoding, Limits, PrivateFormat, Reading, Usage, encode_encrypted, encode_private, load_many},
    primality::{ROUNDS, are_probable_primes_on, is_probable_prime_on},
    random::{InsecureStudySeed, SystemRng},
};

use crate::{fixed_keys, kernels::kernels_here};

fn key(bits: usize) -> PrivateKey {
    fixed_keys::key(4, bits as u64, bits)
}

fn rng(stream: u64) -> rsalab_rsa::random::InsecureStudyRng {
    InsecureStudySeed::new([9; 32]).stream(stream)
}

/// A key whose numbers fit each other, and whose p is a product of two primes.
fn composite() -> PrivateKey {
    let [a, b] = [256, 257].map(|stream| BigUint::from_bytes_be(fixed_keys::key(4, stream, 512).p()));
    PrivateKey::from_primes(&(a * b).to_bytes_be(), key(1024).q(), &[1, 0, 1]).expect("its numbers fit each other")
}

/// Primes, composites of their lengths, strong pseudoprimes to many bases, and small numbers.
fn numbers() -> Vec<(Vec<u8>, bool)> {
    let mut all: Vec<(Vec<u8>, bool)> = Vec::new();
    for bits in [512, 1024, 2048] {
        let key = key(bits);
        all.push((key.p().to_vec(), true));
        // Odd, as long, and without a factor that trial division finds.
        let [a, b] = [256, 257].map(|stream| BigUint::from_bytes_be(fixed_keys::key(4, stream, 512).p()));
        if bits == 1024 {
            all.push(((a * b).to_bytes_be(), false));
        }
        all.push(([&[0, 0][..], key.q()].concat(), true));
        all.push(((BigUint::from_bytes_be(key.p()) - 1_u32).to_bytes_be(), false));
    }
    // Arnault 1995: a strong pseudoprime to all prime bases below 200 (337 digits), of three factors.
    let p1 = BigUint::parse_bytes(
        b"29674495668685510550154174642905332730771991799853043350995075531276838753171770199594238596428121188033664754218345562493168782883",
        10,
    )
    .expect("digits");
    let one = BigUint::from(1_u32);
    let arnault = &p1 * (313_u32 * (&p1 - &one) + &one) * (353_u32 * (&p1 - &one) + &one);
    all.push((arnault.to_bytes_be(), false));
    let small = [
        (0_u8, false),
        (1, false),
        (2, true),
        (3, true),
        (4, false),
        (5, true),
        (7, true),
        (9, false),
        (251, true),
    ];
    all.extend(small.map(|(number, is_prime)| (vec![number], is_prime)));
    all.push((vec![], false));
    all
}

#[test]
fn verdicts_of_many_are_those_of_each() {
    let numbers = numbers();
    let values: Vec<&[u8]> = numbers.iter().map(|(number, _)| &number[..]).collect();
    let expected: Vec<bool> = numbers.iter().map(|&(_, is_prime)| is_prime).collect();
    for kernel in kernels_here() {
        let backend = CpuBackend::named(kernel.name).expect("it is available");
        // Fewer rounds than lanes, as many, and some that do not fill them. A composite passes one in four at most:
        // with this seed none does.
        for rounds in [3, 8, 11] {
            let mut rng = rng(rounds as u64);
            let verdicts = are_probable_primes_on(&values, rounds, &mut rng, &backend).expect("randomness");
            assert_eq!(verdicts, expected, "{} {rounds}", kernel.name);
        }
        let alone: Vec<bool> = values
            .iter()
            .map(|value| is_probable_prime_on(value, 8, &mut rng(0), &backend).expect("randomness"))
            .collect();
        assert_eq!(alone, expected, "{}", kernel.name);
    }
    let too_long = vec![0xff; 2049];
    let with_it = [values[0], &too_long];
    let refused = are_probable_primes_on(&with_it, 1, &mut SystemRng, &CpuBackend::auto());
    assert!(matches!(refused, Err(Error::KeySize { bits: 16392, .. })));
}

#[test]
fn a_composite_is_found_wherever_it_stands_and_nobody_else_is_blamed() {
    let (good, long, bad) = (key(1024), fixed_keys::key(4, 2048, 2048), composite());
    for place in 0..9 {
        let mut keys: Vec<&PrivateKey> = vec![&good; 9];
        keys[(place + 1) % 9] = &long;
        keys[place] = &bad;
        for rounds in [5, 8] {
            let verdicts = PrivateKey::check_many(&keys, rounds, &mut rng(place as u64)).expect("randomness");
            let refused: Vec<usize> = (0..9).filter(|&key| verdicts[key].is_err()).collect();
            assert_eq!(refused, [place]);
            let reason = verdicts[place].as_ref().expect_err("it is refused").to_string();
            assert!(reason.contains("its p is not a prime"), "{reason}");
        }
    }
    assert!(
        PrivateKey::check_many(&[], 8, &mut SystemRng)
            .expect("nothing")
            .is_empty()
    );
}

#[test]
fn files_are_read_on_threads_and_keep_their_order() {
    let pem = |key: &PrivateKey| encode_private(key, PrivateFormat::Pkcs8, Encoding::Pem).to_vec();
    let good: Vec<(usize, Vec<u8>)> = [512, 1024].map(|bits| (bits, pem(&key(bits)))).to_vec();
    let encrypted = encode_encrypted(&key(1024), &Usage::Any, b"secret", Encoding::Der, &mut SystemRng);
    let encrypted = encrypted.expect("randomness").to_vec();
    let bad = pem(&composite());
    let cut = good[1].1[..600].to_vec();
    // Forty files: three parts, the last of which is not full.
    let files: Vec<Vec<u8>> = (0..40)
        .map(|place| match place {
            5 => bad.clone(),
            17 => cut.clone(),
            23 => encrypted.clone(),
            39 => vec![],
            place => good[place % 2].1.clone(),
        })
        .collect();
    for threads in [0, 1, 2, 7] {
        for rounds in [0, 1, ROUNDS] {
            let reading = Reading {
                password: Some(b"secret"),
                ..Reading::default()
            };
            let loaded = load_many(&files, &reading, rounds, threads);
            assert_eq!(loaded.len(), files.len());
            for (place, key) in loaded.iter().enumerate() {
                let bits = key.as_ref().map(|loaded| loaded.key.bits());
                match (place, bits) {
                    (5, Err(Error::InvalidKey { reason })) => {
                        assert!(rounds > 0 && reason.contains("p is not a prime"))
                    }
                    // One round lets one composite in four through, at most.
                    (5, Ok(1024)) => assert!(rounds < 2),
                    (17 | 39, Err(Error::Format { .. })) | (23, Ok(1024)) => {}
                    (place, Ok(bits)) => assert_eq!(bits, good[place % 2].0),
                    (place, other) => panic!("{place}: {other:?}"),
                }
            }
        }
    }
    let nothing: [&[u8]; 0] = [];
    assert!(load_many(&nothing, &Reading::default(), 8, 4).is_empty());
    let limited = Reading {
        limits: Limits { most_bits: 512 },
        ..Reading::default()
    };
    let loaded = load_many(&[&good[0].1, &good[1].1, &encrypted], &limited, 8, 1);
    assert!(loaded[0].is_ok());
    assert!(matches!(loaded[1], Err(Error::KeySize { bits: 1024, .. })));
    assert!(matches!(loaded[2], Err(Error::PasswordMissing)));
}

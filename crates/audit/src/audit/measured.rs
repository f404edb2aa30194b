//! The time to read and examine a modulus of 2048 bits, without the search for shared primes:
//!
//! ```text
//! cargo test --release -p rsalab-audit --lib measured -- --ignored --nocapture examined
//! ```

use std::{fs, hint::black_box, num::NonZero, time::Instant};

use num_bigint::BigUint;
use rsalab_rsa::{PrivateKey, PublicKey};

use super::*;

/// So many moduli, each of two of a few primes.
fn moduli(primes: &[BigUint], count: usize) -> Vec<BigUint> {
    let pairs = (0..primes.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    pairs
        .take(count)
        .map(|(one, other)| &primes[one] * &primes[other])
        .collect()
}

#[test]
#[ignore = "long: make test-all"]
fn moduli_are_examined_in_half_a_millisecond_each() {
    const COUNT: usize = 4096;
    let keys: Vec<PrivateKey> = (0..46)
        .map(|_| PrivateKey::generate(2048).expect("randomness"))
        .collect();
    let primes = keys.iter().flat_map(|key| [key.p(), key.q()]);
    let primes: Vec<BigUint> = primes.map(BigUint::from_bytes_be).collect();
    let moduli = moduli(&primes, COUNT);
    let lines: String = moduli.iter().map(|n| format!("{n:x}\n")).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, lines).expect("room");
    let inventory = Inventory::of(&[file.path().to_owned()]);
    let public = |n: &BigUint| PublicKey::new(&n.to_bytes_be(), &[1, 0, 1]).expect("well formed");
    let public: Vec<PublicKey> = moduli.iter().map(public).collect();
    let each = |begun: Instant| 1e6 * begun.elapsed().as_secs_f64() / COUNT as f64;
    for _ in 0..5 {
        let begun = Instant::now();
        assert!(public.iter().all(|key| black_box(key).weaknesses().is_empty()));
        eprint!("weaknesses {:.1} µs", each(begun));
        let begun = Instant::now();
        for keys in public.chunks(64) {
            let keys: Vec<&PublicKey> = keys.iter().collect();
            let faults = PublicKey::modulus_faults(&keys).expect("arithmetic");
            assert!(faults.iter().all(Option::is_none));
        }
        eprint!(", faults of moduli {:.1} µs", each(begun));
        let all = std::thread::available_parallelism().map_or(1, NonZero::get);
        for threads in [1, all] {
            let options = Options {
                threads,
                ..Options::default()
            };
            let begun = Instant::now();
            let registry = Audit::new(&options).read(&inventory, None, &mut |_| {});
            assert_eq!(registry.keys(), COUNT);
            eprint!(", all on {threads} threads {:.1} µs", each(begun));
        }
        eprintln!();
    }
}

//! The time to read and examine a modulus of 2048 bits, without the search for shared primes; and the time to read
//! files alone, which the environment may name:
//!
//! ```text
//! cargo test --release -p rsalab-audit --lib measured -- --ignored --nocapture examined
//! RSALAB_AUDIT_READ="moduli.txt keys.pem" \
//!     taskset -c 1 cargo test --release -p rsalab-audit --lib measured -- --ignored --nocapture nothing_but_read
//! ```

use std::{env, fs, hint::black_box, num::NonZero, path::PathBuf, time::Instant};

use num_bigint::BigUint;
use rsalab_rsa::{PrivateKey, PublicKey};

use super::*;
use crate::search::Share;

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
            let registry = Audit::new(&options)
                .read(&inventory, None, &mut |_| {})
                .expect("there is randomness");
            assert_eq!(registry.keys(), COUNT);
            eprint!(", all on {threads} threads {:.1} µs", each(begun));
        }
        eprintln!();
    }
}

/// Seconds of CPU of this process, in steps of 10 ms; none where the system does not tell.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    let ticks: f64 = fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum();
    Some(ticks / 100.0)
}

#[test]
#[ignore = "long: make test-all"]
fn keys_of_other_parts_are_nothing_but_read() {
    let mut random = 88_172_645_463_325_252_u64;
    let mut limb = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let folder = tempfile::tempdir().expect("a folder");
    let named: Vec<PathBuf> = env::var("RSALAB_AUDIT_READ").map_or_else(
        |_| {
            let moduli: Vec<BigUint> = (0..16_384)
                .map(|_| {
                    let bytes: Vec<u8> = (0..32).flat_map(|_| (limb() | 1 << 63 | 1).to_be_bytes()).collect();
                    BigUint::from_bytes_be(&bytes)
                })
                .collect();
            let write = |name: &str, lines: String| {
                let path = folder.path().join(name);
                fs::write(&path, lines).expect("room");
                path
            };
            vec![
                write("hexadecimal", moduli.iter().map(|n| format!("{n:x}\n")).collect()),
                write("decimal", moduli.iter().map(|n| format!("{n}\n")).collect()),
            ]
        },
        |files| files.split_whitespace().map(PathBuf::from).collect(),
    );
    let options = Options {
        threads: 1,
        // The digest of a modulus that belongs to this part begins with 63 zeros.
        share: Share { number: 1, of: 1 << 63 },
        ..Options::default()
    };
    for path in named {
        let inventory = Inventory::of(std::slice::from_ref(&path));
        for _ in 0..5 {
            let (begun, before) = (Instant::now(), cpu_seconds());
            let registry = Audit::new(&options)
                .read(&inventory, None, &mut |_| {})
                .expect("there is randomness");
            let (wall, after) = (begun.elapsed().as_secs_f64(), cpu_seconds());
            let keys = registry.keys();
            assert!(keys > 0);
            let each = |seconds: f64| 1e6 * seconds / keys as f64;
            let cpu = before
                .zip(after)
                .map_or(f64::NAN, |(before, after)| each(after - before));
            eprintln!(
                "{}: {keys} keys, each {:.2} µs, {cpu:.2} µs of CPU",
                path.display(),
                each(wall)
            );
        }
    }
}

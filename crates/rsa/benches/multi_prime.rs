//! `cargo bench -p rsalab-rsa --bench multi_prime [-- BITS]`: private operations under keys of two primes and of more,
//! interleaved.

use std::{env, time::Duration};

use rsalab_rsa::{Backend, CpuBackend, PrivateKey, generate::most_primes};
use support::{block, key};

mod support;

/// Blocks of each subject, in turns.
const ROUNDS: usize = 31;
const BLOCK: Duration = Duration::from_millis(50);

fn compare(bits: usize, items: usize) {
    let backend = CpuBackend::auto();
    let primes = 2..=most_primes(bits);
    let keys: Vec<PrivateKey> = primes.map(|primes| key(bits, primes)).collect();
    let prepared = keys.iter().map(|key| backend.prepare_private(key).expect("a key"));
    let prepared: Vec<_> = prepared.collect();
    let mut runners: Vec<_> = prepared.iter().map(|key| key.runner().expect("randomness")).collect();
    let mut times = vec![Vec::new(); runners.len()];
    for _ in 0..ROUNDS {
        for (times, runner) in times.iter_mut().zip(&mut runners) {
            let shape = (prepared[0].modulus_len(), items);
            times.push(block(&mut **runner, shape, BLOCK) / items as f64);
        }
    }
    for (times_of, key) in times.iter().zip(&keys) {
        // Of each round, so that drift of the machine affects both.
        let mut ratios: Vec<f64> = times[0].iter().zip(times_of).map(|(two, more)| two / more).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let mut sorted = times_of.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        println!(
            "{bits} bits, batches of {items}, {} primes: {:.1} a second, {:.2} ({:.2} to {:.2}) of two primes",
            key.primes(),
            1.0 / sorted[ROUNDS / 2],
            ratios[ROUNDS / 2],
            ratios[ROUNDS / 20],
            ratios[ROUNDS - 1 - ROUNDS / 20],
        );
    }
}

fn main() {
    let chosen: Option<usize> = env::args().skip(1).find_map(|word| word.parse().ok());
    for bits in [2048, 4096, 8192] {
        if chosen.is_none_or(|chosen| chosen == bits) {
            for items in [1, 8, 64] {
                compare(bits, items);
            }
        }
    }
}

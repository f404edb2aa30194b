//! `cargo bench -p rsalab-rsa --bench multi_prime [-- BITS]`: private operations under keys of two primes and of more, interleaved.

use std::{
    env,
    hint::black_box,
    time::{Duration, Instant},
};

use rsalab_rsa::{
    Backend, CpuBackend, PrivateKey, Status,
    backend::BlockRunner,
    generate::{Generation, PublicExponent, most_primes},
    random::SystemRng,
};

/// Blocks of each subject, in turns.
const ROUNDS: usize = 31;
const BLOCK: Duration = Duration::from_millis(50);

fn key(bits: usize, primes: usize) -> PrivateKey {
    let generation = Generation::new(bits, PublicExponent::Fixed(65537));
    let generation = generation.and_then(|generation| generation.with_primes(primes));
    let generation = generation.expect("the size has room for so many");
    let mut generator = generation.generator(SystemRng).expect("a tester");
    generator.keys(1).expect("randomness").remove(0).key
}

/// Seconds for one operation, in one block.
fn block(runner: &mut dyn BlockRunner, len: usize, items: usize) -> f64 {
    let inputs: Vec<u8> = (0..items * len)
        .map(|i| if i % len == 0 { 0 } else { 0x5a })
        .collect();
    let (mut outputs, mut status) = (inputs.clone(), vec![Status::Done; items]);
    let (since, mut calls) = (Instant::now(), 0);
    while since.elapsed() < BLOCK {
        runner
            .run(black_box(&inputs), &mut outputs, &mut status)
            .expect("blocks");
        calls += 1;
    }
    since.elapsed().as_secs_f64() / (calls * items) as f64
}

fn compare(bits: usize, items: usize) {
    let backend = CpuBackend::auto();
    let primes = 2..=most_primes(bits);
    let keys: Vec<PrivateKey> = primes.map(|primes| key(bits, primes)).collect();
    let prepared = keys
        .iter()
        .map(|key| backend.prepare_private(key).expect("a key"));
    let prepared: Vec<_> = prepared.collect();
    let mut runners: Vec<_> = prepared
        .iter()
        .map(|key| key.runner().expect("randomness"))
        .collect();
    let mut times = vec![Vec::new(); runners.len()];
    for _ in 0..ROUNDS {
        for (times, runner) in times.iter_mut().zip(&mut runners) {
            times.push(block(&mut **runner, prepared[0].modulus_len(), items));
        }
    }
    for (times_of, key) in times.iter().zip(&keys) {
        // Of each round, so that drift of the machine affects both.
        let mut ratios: Vec<f64> = times[0]
            .iter()
            .zip(times_of)
            .map(|(two, more)| two / more)
            .collect();
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

//! Keys and blocks of time for benchmarks that take subjects in turns.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use rsalab_rsa::{
    PrivateKey, Status,
    backend::BlockRunner,
    generate::{Generation, PublicExponent},
    random::SystemRng,
};

/// A new key with e = 65537.
pub(crate) fn key(bits: usize, primes: usize) -> PrivateKey {
    let generation = Generation::new(bits, PublicExponent::Fixed(65537));
    let generation = generation.and_then(|generation| generation.with_primes(primes));
    let generation = generation.expect("the size has room for so many");
    let mut generator = generation.generator(SystemRng).expect("a tester");
    generator.keys(1).expect("randomness").remove(0).key
}

/// Seconds of one call with so many items of `len` bytes, in one block of time.
pub(crate) fn block(runner: &mut dyn BlockRunner, (len, items): (usize, usize), time: Duration) -> f64 {
    let inputs: Vec<u8> = (0..items * len).map(|i| if i % len == 0 { 0 } else { 0x5a }).collect();
    let (mut outputs, mut status) = (inputs.clone(), vec![Status::Done; items]);
    let (since, mut calls) = (Instant::now(), 0);
    while since.elapsed() < time {
        runner
            .run(black_box(&inputs), &mut outputs, &mut status)
            .expect("blocks");
        calls += 1;
    }
    since.elapsed().as_secs_f64() / f64::from(calls)
}

//! `cargo bench -p rsalab-rsa --bench loading [-- BITS]`: private keys read and checked one by one and many at once, on
//! one thread, interleaved.

use std::{env, time::Instant};

use rsalab_rsa::{
    format::{Encoding, PrivateFormat, Reading, encode_private, load_many},
    primality::ROUNDS,
};
use support::key;

#[allow(dead_code, reason = "the other benches use the rest")]
mod support;

/// Keys in a block, and blocks of each subject, in turns.
const KEYS: usize = 64;
const TURNS: usize = 11;

/// Milliseconds a key, of one block.
fn block(files: &[&[u8]], rounds: usize, at_once: usize) -> f64 {
    let start = Instant::now();
    for files in files.chunks(at_once) {
        let loaded = load_many(files, &Reading::default(), rounds, 1);
        assert!(loaded.iter().all(Result::is_ok));
    }
    start.elapsed().as_secs_f64() * 1e3 / files.len() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let chosen: Option<usize> = env::args().skip(1).find_map(|word| word.parse().ok());
    for bits in [2048, 4096] {
        if chosen.is_some_and(|chosen| chosen != bits) {
            continue;
        }
        let pem = encode_private(&key(bits, 2), PrivateFormat::Pkcs8, Encoding::Pem);
        let files = vec![&pem[..]; KEYS];
        for rounds in [0, 1, 4, 8, ROUNDS] {
            let pairs: Vec<(f64, f64)> = (0..TURNS)
                .map(|_| (block(&files, rounds, 1), block(&files, rounds, KEYS)))
                .collect();
            let mut ratios: Vec<f64> = pairs.iter().map(|(alone, together)| alone / together).collect();
            ratios.sort_unstable_by(f64::total_cmp);
            println!(
                "{bits} bits, {rounds} rounds: {:.3} ms a key alone, {:.3} together, {:.2} times as fast ({:.2} to {:.2})",
                median(pairs.iter().map(|pair| pair.0).collect()),
                median(pairs.iter().map(|pair| pair.1).collect()),
                ratios[TURNS / 2],
                ratios[0],
                ratios[TURNS - 1],
            );
        }
    }
}

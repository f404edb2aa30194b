//! `cargo bench -p rsalab-batch [-- BITS]`: private operations a second through a batcher for 1 to 1,000 threads, under one key and under a hundred, and
//! what it adds for a thread that is alone.

use std::{
    hint::black_box,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use rsalab_batch::Batcher;
use rsalab_rsa::{Backend, CpuBackend, PrivateKey, Status};

const KEYS: usize = 100;
const TIME: Duration = Duration::from_secs(2);
/// Calls of a batcher and direct ones that are compared in turns.
const TURNS: usize = 200;

fn block(key: &PrivateKey) -> Vec<u8> {
    let mut block = vec![0x5a; key.modulus_len()];
    block[0] = 0;
    block
}

/// The median of some times, in microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// What a thread that is alone pays: one operation through the batcher and one beside it, in turns.
fn alone(key: &PrivateKey) {
    let block = block(key);
    let batcher = Batcher::builder().key(key).build().expect("a key");
    let prepared = CpuBackend::auto().prepare_private(key).expect("a key");
    let mut runner = prepared.runner().expect("randomness");
    let (mut output, mut status) = (block.clone(), [Status::Done]);
    let (mut direct, mut batched) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let since = Instant::now();
        runner
            .run(black_box(&block), &mut output, &mut status)
            .expect("a block");
        direct.push(since.elapsed());
        let since = Instant::now();
        black_box(batcher.private(0, black_box(&block)).expect("a block"));
        batched.push(since.elapsed());
    }
    let (direct, batched) = (median(direct), median(batched));
    println!(
        "one thread: {direct:.2} µs directly, {batched:.2} µs through a batcher: {:+.2} µs",
        batched - direct
    );
}

fn together(keys: &[PrivateKey], threads: usize) {
    let builder = keys
        .iter()
        .fold(Batcher::builder(), |builder, key| builder.key(key));
    let batcher = builder.build().expect("keys");
    let blocks: Vec<_> = keys.iter().map(block).collect();
    let (is_over, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut time = Duration::ZERO;
    thread::scope(|scope| {
        for thread in 0..threads {
            let (batcher, blocks, is_over, done) = (&batcher, &blocks, &is_over, &done);
            scope.spawn(move || {
                for number in thread.. {
                    let key = number % blocks.len();
                    batcher.private(key, &blocks[key]).expect("a block");
                    done.fetch_add(1, Relaxed);
                    if is_over.load(Relaxed) {
                        break;
                    }
                }
            });
        }
        // What is made when it is first used is made now.
        thread::sleep(TIME / 4);
        let (since, before) = (Instant::now(), done.load(Relaxed));
        thread::sleep(TIME);
        time = since.elapsed();
        let rate = (done.load(Relaxed) - before) as f64 / time.as_secs_f64();
        is_over.store(true, Relaxed);
        print!(
            "{threads:>5} threads, {:>3} keys: {rate:>8.0} a second",
            keys.len()
        );
    });
    let statistics = batcher.statistics();
    let passes: u64 = statistics.passes().iter().sum();
    let mut waited = 0;
    let half = statistics.waits().iter().position(|count| {
        waited += count;
        2 * waited >= statistics.requests()
    });
    let items = statistics.requests() as f64 / passes as f64;
    println!(
        ", {items:.2} a pass, half wait below {} µs",
        1u64 << half.unwrap_or(0)
    );
}

fn main() {
    let bits = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(2048);
    let generate = |_| PrivateKey::generate(bits).expect("randomness");
    let keys: Vec<_> = (0..KEYS).map(generate).collect();
    println!(
        "{bits} bits, {} CPUs",
        thread::available_parallelism().map_or(1, usize::from)
    );
    alone(&keys[0]);
    for keys in [&keys[..1], &keys] {
        for threads in [1, 2, 8, 64, 1000] {
            together(keys, threads);
        }
    }
}

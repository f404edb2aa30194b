//! `cargo bench -p rsalab-batch [-- BITS]`: private operations a second through a batcher for 1 to 1,000 threads, under
//! one key and under a thousand: how fast they are answered, how many share a pass, and what the batcher adds for a
//! thread that is alone.

use std::{
    hint::black_box,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use rsalab_batch::Batcher;
use rsalab_rsa::{Backend, CpuBackend, PrivateKey, Status};

const KEYS: usize = 1000;
const TIME: Duration = Duration::from_secs(2);
/// Calls of a batcher and direct ones that are compared in turns, at least.
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

/// The cost to a thread that is alone: one operation through the batcher and one beside it, in turns, as neighbours
/// disturb both alike.
fn alone(key: &PrivateKey) {
    let block = block(key);
    let batcher = Batcher::builder().key(key).build().expect("a key");
    let prepared = CpuBackend::auto().prepare_private(key).expect("a key");
    let mut runner = prepared.runner().expect("randomness");
    let (mut output, mut status) = (block.clone(), [Status::Done]);
    let mut timed_direct = || {
        let since = Instant::now();
        runner
            .run(black_box(&block), &mut output, &mut status)
            .expect("a block");
        since.elapsed()
    };
    let timed_batched = || {
        let since = Instant::now();
        black_box(batcher.private(0, black_box(&block)).expect("a block"));
        since.elapsed()
    };
    let (mut direct, mut batched, mut more) = (Vec::new(), Vec::new(), Vec::new());
    let start = Instant::now();
    while more.len() < TURNS || start.elapsed() < TIME {
        // Who comes second may be disturbed by the first.
        let (one, other) = if more.len() % 2 == 0 {
            let one = timed_direct();
            (one, timed_batched())
        } else {
            let other = timed_batched();
            (timed_direct(), other)
        };
        more.push((other.as_secs_f64() - one.as_secs_f64()) * 1e6);
        direct.push(one);
        batched.push(other);
    }
    more.sort_unstable_by(f64::total_cmp);
    println!(
        "one thread: {:.2} µs directly, {:.2} µs through a batcher; {:+.2} µs in the median of {} pairs",
        median(direct),
        median(batched),
        more[more.len() / 2],
        more.len()
    );
}

/// The value that so many hundredths of sorted values do not exceed.
fn percentile(sorted: &[u64], hundredths: usize) -> u64 {
    let at = (sorted.len() * hundredths).div_ceil(100).max(1) - 1;
    sorted.get(at).copied().unwrap_or(0)
}

/// The counts between two readings.
fn since(before: &[u64], after: &[u64]) -> Vec<u64> {
    let pairs = after.iter().zip(before);
    pairs.map(|(after, before)| after - before).collect()
}

/// The bound, in microseconds, below which so many hundredths of the requests waited for their pass.
fn waited_below(waits: &[u64], hundredths: u64) -> u64 {
    let all: u64 = waits.iter().sum();
    let mut sum = 0;
    let class = waits.iter().position(|count| {
        sum += count;
        100 * sum >= hundredths * all
    });
    1 << class.unwrap_or(0)
}

fn together(keys: &[PrivateKey], threads: usize) {
    let builder = keys.iter().fold(Batcher::builder(), |builder, key| builder.key(key));
    let batcher = builder.build().expect("keys");
    let blocks: Vec<_> = keys.iter().map(block).collect();
    let (is_measured, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (mut times, mut before, mut after) = (Vec::new(), None, None);
    let mut time = Duration::ZERO;
    thread::scope(|scope| {
        let askers: Vec<_> = (0..threads)
            .map(|thread| {
                let (batcher, blocks) = (&batcher, &blocks);
                let (is_measured, is_over) = (&is_measured, &is_over);
                scope.spawn(move || {
                    let mut times = Vec::new();
                    for number in thread.. {
                        let key = number % blocks.len();
                        let (asked, counts) = (Instant::now(), is_measured.load(Relaxed));
                        batcher.private(key, &blocks[key]).expect("a block");
                        if is_over.load(Relaxed) {
                            break;
                        }
                        if counts {
                            times.push(asked.elapsed().as_micros() as u64);
                        }
                    }
                    times
                })
            })
            .collect();
        // What is made when it is first used is made now.
        thread::sleep(TIME / 4);
        let start = Instant::now();
        before = Some(batcher.statistics());
        is_measured.store(true, Relaxed);
        thread::sleep(TIME);
        after = Some(batcher.statistics());
        time = start.elapsed();
        is_over.store(true, Relaxed);
        for asker in askers {
            times.extend(asker.join().expect("it does not panic"));
        }
    });
    let (before, after) = (before.expect("was read"), after.expect("was read"));
    times.sort_unstable();
    let passes = since(before.passes(), after.passes());
    let waits = since(before.waits(), after.waits());
    let requests = after.requests() - before.requests();
    println!(
        "{threads:>5} threads, {:>4} keys: {:>8.0} a second, {:.2} a pass; answered in {} µs (median), {} µs (99th percentile), \
         of which waiting below {} and {} µs; passes by requests {:?}",
        keys.len(),
        requests as f64 / time.as_secs_f64(),
        requests as f64 / passes.iter().sum::<u64>() as f64,
        percentile(&times, 50),
        percentile(&times, 99),
        waited_below(&waits, 50),
        waited_below(&waits, 99),
        &passes[1..],
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

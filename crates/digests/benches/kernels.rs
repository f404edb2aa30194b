//! Nanoseconds of a message and of a mask on every kernel of this CPU, in turns, and the middle half of them.
//!
//! `cargo bench -p rsalab-digests`, pinned to a CPU.
#![forbid(unsafe_code)]

use std::{hint::black_box, time::Instant};

use rsalab_digests::{Function, Kernel};

const ROUNDS: usize = 41;
/// Calls of one turn: a few milliseconds.
const CALLS: usize = 1 << 16;

fn main() {
    for count in [1, 4, 8, 16, 1024] {
        for len in [32, 72, 1024] {
            let messages = vec![0x5a; count * len];
            compare(&format!("{count} messages of {len} bytes"), count, |kernel| {
                let mut sum = 0_u64;
                kernel.digests(
                    Function::Sha256,
                    count,
                    |place| [&black_box(&messages)[place * len..][..len]],
                    |_, digest| sum += u64::from(digest[0]),
                );
                black_box(sum);
            });
        }
        let halves = vec![[[0x5a_u8; 32]; 2]; count];
        compare(&format!("{count} salted messages of 72 bytes"), count, |kernel| {
            let mut sum = 0_u64;
            kernel.digests_of_salted(
                Function::Sha256,
                count,
                |place| black_box(&halves)[place].each_ref(),
                |_, digest| sum += u64::from(digest[0]),
            );
            black_box(sum);
        });
        // An encoding of RSASSA-PSS with SHA-256 at 2048 bits.
        let mut items = vec![0x5a; count * 256];
        compare(&format!("{count} masks of 223 bytes"), count, |kernel| {
            kernel.mask(Function::Sha256, black_box(&mut items), 256, 223..255, 0..223);
        });
    }
}

/// Prints the time of one item on each kernel.
fn compare(name: &str, items: usize, mut work: impl FnMut(Kernel)) {
    let kernels = Kernel::all();
    let mut times = vec![Vec::new(); kernels.len()];
    let calls = (CALLS / items / 16).max(1);
    for _ in 0..ROUNDS {
        for (times, &kernel) in times.iter_mut().zip(&kernels) {
            let begun = Instant::now();
            for _ in 0..calls {
                work(kernel);
            }
            times.push(begun.elapsed().as_secs_f64() * 1e9 / (calls * items) as f64);
        }
    }
    println!("{name}, ns each:");
    for (times, kernel) in times.iter_mut().zip(&kernels) {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[(share * (ROUNDS - 1) as f64) as usize];
        println!(
            "  {:>16} {:.1} ({:.1}–{:.1})",
            kernel.name(),
            at(0.5),
            at(0.25),
            at(0.75)
        );
    }
}

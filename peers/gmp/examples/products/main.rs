//! Products and batch GCD of `rsalab-product` compared with GMP, dashu and FLINT, interleaved.
//!
//! `products BITS…` multiplies two numbers of as many bits, on every kernel; `RSALAB_FLINT=libflint.so` names a FLINT
//! to compare with, `RSALAB_THREADS=2` has us and FLINT use as many threads (GMP and dashu have one), and
//! `RSALAB_KERNELS=NAME,NAME` names the kernels. Times are CPU times where one thread runs, and else times by the
//! clock.
//!
//! `products moduli COUNT [THREADS]` looks for shared factors of moduli of 2048 bits, on GMP by a product tree and a
//! remainder tree modulo squares (the method of fastgcd), of which each level's nodes are given to as many threads.

mod libraries;
mod moduli;

use std::{env, time::Instant};

use libraries::{Flint, libraries};
use rsalab_product::{Kernel, Multiplier};
use rustix::time::{ClockId, clock_gettime};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("moduli") => {
            let number = |i: usize| arguments.get(i).map(|text| text.parse::<usize>().expect("a number"));
            moduli::compare(number(1).expect("how many moduli"), number(2).unwrap_or(1));
        }
        Some(_) => {
            let threads = env::var("RSALAB_THREADS").map_or(1, |text| text.parse().expect("how many threads"));
            let flint = env::var("RSALAB_FLINT").ok();
            let flint = flint.map(|path| Flint::load(&path, threads).unwrap_or_else(|error| panic!("{path}: {error}")));
            for bits in &arguments {
                products(
                    bits.parse::<f64>().expect("bits") as usize / 64,
                    threads,
                    flint.as_ref(),
                );
            }
        }
        None => println!("usage: products BITS… | products moduli COUNT [THREADS]"),
    }
}

/// Limbs that need not be unpredictable.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut x = seed | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    }
}

/// The median, and what the middle half is between.
fn middle(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
    (at(0.5), at(0.25), at(0.75))
}

/// Seconds that `work` takes: of this thread's CPU time, or by the clock where it uses others.
fn seconds(threads: usize, work: impl FnOnce()) -> f64 {
    let (start, before) = (Instant::now(), clock_gettime(ClockId::ThreadCPUTime));
    work();
    let after = clock_gettime(ClockId::ThreadCPUTime);
    match threads {
        1 => (after.tv_sec - before.tv_sec) as f64 + 1e-9 * (after.tv_nsec - before.tv_nsec) as f64,
        _ => start.elapsed().as_secs_f64(),
    }
}

fn products(limbs: usize, threads: usize, flint: Option<&Flint>) {
    let mut next = random(7);
    let a: Vec<u64> = (0..limbs).map(|_| next()).collect();
    let b: Vec<u64> = (0..limbs).map(|_| next()).collect();
    let mut out = vec![0_u64; 2 * limbs];
    let times = (50_000 / limbs).max(1);
    let rounds = (12_000_000 / limbs).clamp(3, 50);
    let named = env::var("RSALAB_KERNELS").ok();
    let is_meant = |kernel: &Kernel| {
        let mut names = named.iter().flat_map(|names| names.split(','));
        named.is_none() || names.any(|name| name == kernel.name())
    };
    for &kernel in Kernel::all().iter().filter(|kernel| is_meant(kernel)) {
        let multiplier = Multiplier::with_kernel(kernel, threads);
        let mut libraries = libraries(&a, &b, rounds, flint);
        let mut own = Vec::new();
        let mut others = vec![(Vec::new(), Vec::new()); libraries.len()];
        for round in 0..rounds {
            let mut product = Vec::new();
            let ours = seconds(threads, || {
                for _ in 0..times {
                    product = multiplier.multiply(&a, &b);
                }
            });
            own.push(ours / times as f64);
            for (library, (taken, ratio)) in libraries.iter_mut().zip(&mut others) {
                if round >= library.rounds {
                    continue;
                }
                let theirs = seconds(threads, || {
                    for _ in 0..times {
                        (library.multiply)(&mut out);
                    }
                });
                assert!(product == out, "{}: products differ", library.name);
                taken.push(theirs / times as f64);
                ratio.push(theirs / ours);
            }
        }
        let mut line = format!(
            "{} bits, {}, {threads} threads, {rounds} rounds: {:.3} ms",
            64 * limbs,
            kernel.name(),
            1e3 * middle(own).0
        );
        for (library, (taken, ratio)) in libraries.iter().zip(others).filter(|(library, _)| library.rounds > 0) {
            let ((time, _, _), (ratio, low, high)) = (middle(taken), middle(ratio));
            line += &format!(
                "; {} {:.3} ms, {ratio:.2} ({low:.2}–{high:.2}) times as much",
                library.name,
                1e3 * time
            );
        }
        println!("{line}");
    }
}

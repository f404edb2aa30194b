//! Products and batch GCD of `rsalab-product` compared with GMP, interleaved.
//!
//! `products BITS…` multiplies two numbers of as many bits, on every kernel; `products moduli COUNT [THREADS]` looks
//! for shared factors of moduli of 2048 bits, on GMP by a product tree and a remainder tree modulo squares (the method
//! of fastgcd), of which each level's nodes are given to as many threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use gmp_mpfr_sys::gmp;
use rsalab_product::{Kernel, Multiplier, shared_factors};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("moduli") => {
            let number = |i: usize| arguments.get(i).map(|text| text.parse::<usize>().expect("a number"));
            moduli(number(1).expect("how many moduli"), number(2).unwrap_or(1));
        }
        Some(_) => {
            for bits in &arguments {
                products(bits.parse::<f64>().expect("bits") as usize / 64);
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

fn products(limbs: usize) {
    let mut next = random(7);
    let a: Vec<u64> = (0..limbs).map(|_| next()).collect();
    let b: Vec<u64> = (0..limbs).map(|_| next()).collect();
    let mut out = vec![0_u64; 2 * limbs];
    let times = (50_000 / limbs).max(1);
    let rounds = (4_000_000 / limbs).clamp(3, 50);
    for &kernel in Kernel::all() {
        let multiplier = Multiplier::with_kernel(kernel, 1);
        let (mut own, mut ratio) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let start = Instant::now();
            let mut product = Vec::new();
            for _ in 0..times {
                product = multiplier.multiply(&a, &b);
            }
            let ours = start.elapsed().as_secs_f64() / times as f64;
            let start = Instant::now();
            for _ in 0..times {
                // SAFETY: both factors have as many limbs as is said, the result has room for those of both.
                unsafe { gmp::mpn_mul(out.as_mut_ptr(), a.as_ptr(), limbs as i64, b.as_ptr(), limbs as i64) };
            }
            let theirs = start.elapsed().as_secs_f64() / times as f64;
            assert!(product == out, "products differ");
            own.push(ours);
            ratio.push(theirs / ours);
        }
        let (time, _, _) = middle(own);
        let (ratio, low, high) = middle(ratio);
        println!(
            "{} bits, {}: {:.3} ms, {ratio:.2} ({low:.2}–{high:.2}) times as fast as GMP",
            64 * limbs,
            kernel.name(),
            1e3 * time,
        );
    }
}

/// An integer of GMP.
struct Integer(gmp::mpz_t);

// SAFETY: an integer of GMP belongs to no thread.
unsafe impl Send for Integer {}
// SAFETY: what only reads an integer of GMP changes nothing of it.
unsafe impl Sync for Integer {}

impl Integer {
    fn new() -> Self {
        let mut value = std::mem::MaybeUninit::uninit();
        // SAFETY: `mpz_init` writes all of it.
        Self(unsafe {
            gmp::mpz_init(value.as_mut_ptr());
            value.assume_init()
        })
    }
}

impl Drop for Integer {
    fn drop(&mut self) {
        // SAFETY: it was made by `mpz_init`, and is used no more.
        unsafe { gmp::mpz_clear(&mut self.0) }
    }
}

/// `work` for 0 .. `count`, on so many threads.
fn map<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let part = || {
        let mut found = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return found;
            }
            found.push((i, work(i)));
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(part)).collect();
        let mut all = part();
        all.extend(
            others
                .into_iter()
                .flat_map(|other| other.join().expect("no thread panics")),
        );
        all
    });
    all.sort_by_key(|&(i, _)| i);
    all.into_iter().map(|(_, value)| value).collect()
}

/// The gcd of each with the product of all others, by remainders modulo squares: how many are not 1.
fn fastgcd(moduli: &[Vec<u8>], threads: usize) -> usize {
    let leaves = map(moduli.len(), threads, |i| {
        let mut value = Integer::new();
        // SAFETY: as many bytes are read as the slice has.
        unsafe { gmp::mpz_import(&mut value.0, moduli[i].len(), 1, 1, 1, 0, moduli[i].as_ptr().cast()) };
        value
    });
    let mut levels = vec![leaves];
    while levels[levels.len() - 1].len() > 1 {
        let below = &levels[levels.len() - 1];
        let level = map(below.len().div_ceil(2), threads, |i| {
            let mut value = Integer::new();
            // SAFETY: integers that were made, of which one is written.
            unsafe {
                match below.get(2 * i + 1) {
                    Some(right) => gmp::mpz_mul(&mut value.0, &below[2 * i].0, &right.0),
                    None => gmp::mpz_set(&mut value.0, &below[2 * i].0),
                }
            }
            value
        });
        levels.push(level);
    }
    let mut rests = levels.pop().expect("a root");
    while let Some(level) = levels.pop() {
        rests = map(level.len(), threads, |i| {
            let mut value = Integer::new();
            // SAFETY: as above.
            unsafe {
                gmp::mpz_mul(&mut value.0, &level[i].0, &level[i].0);
                gmp::mpz_mod(&mut value.0, &rests[i / 2].0, &value.0);
            }
            value
        });
        if level.len() == moduli.len() {
            let shared = map(moduli.len(), threads, |i| {
                let mut value = Integer::new();
                // SAFETY: as above; no modulus is 0.
                unsafe {
                    gmp::mpz_divexact(&mut value.0, &rests[i].0, &level[i].0);
                    gmp::mpz_gcd(&mut value.0, &value.0, &level[i].0);
                    gmp::mpz_cmp_ui(&value.0, 1) > 0
                }
            });
            return shared.into_iter().filter(|&shared| shared).count();
        }
    }
    0
}

/// Seconds of CPU that this process has taken, in hundredths, where the system says so.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name, in brackets, may have spaces. Fields 14 and 15 are times in user mode and in the kernel.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn moduli(count: usize, threads: usize) {
    let mut next = random(11);
    let mut modulus = || -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..32).flat_map(|_| next().to_be_bytes()).collect();
        bytes[0] |= 0x80;
        bytes[255] |= 1;
        bytes
    };
    let moduli: Vec<Vec<u8>> = (0..count).map(|_| modulus()).collect();
    let (start, before) = (Instant::now(), cpu());
    let found = shared_factors(&moduli, threads, &mut |_| {});
    let (ours, our_cpu) = (start.elapsed().as_secs_f64(), cpu() - before);
    let found = found.into_iter().flatten().count();
    let (start, before) = (Instant::now(), cpu());
    let theirs_found = fastgcd(&moduli, threads);
    let (theirs, their_cpu) = (start.elapsed().as_secs_f64(), cpu() - before);
    assert_eq!(found, theirs_found, "moduli that share something");
    println!(
        "{count} moduli, {threads} threads: {ours:.2} s, {our_cpu:.2} of CPU; fastgcd's method on GMP {theirs:.2} s, \
         {their_cpu:.2} of CPU: {:.2} and {:.2} times as much",
        theirs / ours,
        their_cpu / our_cpu
    );
}

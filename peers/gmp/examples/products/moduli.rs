//! Shared factors of many moduli, on GMP by a product tree and a remainder tree modulo squares: the method of fastgcd.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use gmp_mpfr_sys::gmp;
use rsalab_product::shared_factors;

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

/// Looks for shared factors of so many moduli of 2048 bits, and compares the times.
pub(crate) fn compare(count: usize, threads: usize) {
    let mut next = crate::random(11);
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

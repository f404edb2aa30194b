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

/// The number of big-endian bytes.
fn integer(bytes: &[u8]) -> Integer {
    let mut value = Integer::new();
    // SAFETY: as many bytes are read as the slice has.
    unsafe { gmp::mpz_import(&mut value.0, bytes.len(), 1, 1, 1, 0, bytes.as_ptr().cast()) };
    value
}

/// Big-endian bytes of a positive number.
fn bytes(value: &Integer) -> Vec<u8> {
    // SAFETY: the base is one that GMP knows; of an integer that was made.
    let mut bytes = vec![0; unsafe { gmp::mpz_sizeinbase(&value.0, 2) }.div_ceil(8)];
    // SAFETY: as many bytes are written as the number has, which the vector has room for.
    unsafe { gmp::mpz_export(bytes.as_mut_ptr().cast(), std::ptr::null_mut(), 1, 1, 1, 0, &value.0) };
    bytes
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

/// The gcd of each with the product of all others, by remainders modulo squares: the places where it is not 1.
fn fastgcd(moduli: &[Vec<u8>], threads: usize) -> Vec<usize> {
    let leaves = map(moduli.len(), threads, |i| integer(&moduli[i]));
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
            return (0..moduli.len()).filter(|&i| shared[i]).collect();
        }
    }
    Vec::new()
}

/// Random odd numbers that no prime below 2^16 divides. A thousand come from one interval of numbers, which is sieved.
struct Rough {
    primes: Vec<u64>,
    next: Box<dyn FnMut() -> u64>,
}

impl Rough {
    /// Odd numbers that are sieved at once: about a tenth is left.
    const INTERVAL: usize = 10_000;

    fn new(seed: u64) -> Self {
        let mut is_prime = vec![true; 1 << 16];
        let mut primes = Vec::new();
        for n in 3..1 << 16 {
            if n % 2 == 1 && is_prime[n] {
                primes.push(n as u64);
                is_prime[n..].iter_mut().step_by(n).for_each(|prime| *prime = false);
            }
        }
        Self {
            primes,
            next: Box::new(crate::random(seed)),
        }
    }

    /// An odd number of so many bytes, its two upper bits set.
    fn odd(&mut self, bytes: usize) -> Integer {
        let mut number: Vec<u8> = (0..bytes / 8).flat_map(|_| (self.next)().to_be_bytes()).collect();
        number[0] |= 0xc0;
        number[bytes - 1] |= 1;
        integer(&number)
    }

    /// So many of so many bytes.
    fn numbers(&mut self, count: usize, bytes: usize) -> Vec<Integer> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let start = self.odd(bytes);
            let mut is_rough = vec![true; Self::INTERVAL];
            for &prime in &self.primes {
                // SAFETY: an integer that was made, and is read.
                let rest = unsafe { gmp::mpz_fdiv_ui(&start.0, prime) };
                // start + 2 i is divisible: i = −start / 2.
                let first = (prime - rest) * prime.div_ceil(2) % prime;
                let multiples = is_rough.iter_mut().skip(first as usize).step_by(prime as usize);
                multiples.for_each(|rough| *rough = false);
            }
            let left = (0..Self::INTERVAL as u64).filter(|&i| is_rough[i as usize]);
            numbers.extend(left.take(count - numbers.len()).map(|i| {
                let mut number = Integer::new();
                // SAFETY: integers that were made, of which one is written.
                unsafe { gmp::mpz_add_ui(&mut number.0, &start.0, 2 * i) };
                number
            }));
        }
        numbers
    }
}

/// So many moduli of 2048 bits without a factor below 2^16, and the places of those that share a factor of 1024 bits:
/// 100 pairs, or a tenth of the moduli where they are fewer than 2,000.
fn planted_moduli(count: usize) -> (Vec<Vec<u8>>, Vec<usize>) {
    let mut rough = Rough::new(11);
    let mut moduli: Vec<Vec<u8>> = rough.numbers(count, 256).iter().map(bytes).collect();
    let pairs = (count / 20).min(100);
    let factors = rough.numbers(3 * pairs, 128);
    let mut planted = Vec::new();
    for (pair, factors) in factors.chunks_exact(3).enumerate() {
        // One in each half, at a place of its own.
        let place = pair * (count / 2) / pairs;
        for (place, other) in [(place, &factors[1]), (count - 1 - place, &factors[2])] {
            let mut modulus = Integer::new();
            // SAFETY: integers that were made, of which one is written.
            unsafe { gmp::mpz_mul(&mut modulus.0, &factors[0].0, &other.0) };
            moduli[place] = bytes(&modulus);
            planted.push(place);
        }
    }
    (moduli, planted)
}

/// Seconds of CPU that this process has taken, in hundredths, where the system says so.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name, in brackets, may have spaces. Fields 14 and 15 are times in user mode and in the kernel.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Looks for shared factors of so many moduli of 2048 bits without small ones, some of them planted, and compares the
/// times.
pub(crate) fn compare(count: usize, threads: usize) {
    let (moduli, planted) = planted_moduli(count);
    let (start, before) = (Instant::now(), cpu());
    let found = shared_factors(&moduli, threads, &mut |_| {});
    let (ours, our_cpu) = (start.elapsed().as_secs_f64(), cpu() - before);
    let found: Vec<usize> = (0..count).filter(|&i| found[i].is_some()).collect();
    let (start, before) = (Instant::now(), cpu());
    let theirs_found = fastgcd(&moduli, threads);
    let (theirs, their_cpu) = (start.elapsed().as_secs_f64(), cpu() - before);
    assert_eq!(found, theirs_found, "moduli that share something");
    let is_found = |place: &usize| found.binary_search(place).is_ok();
    assert!(planted.iter().all(is_found), "planted pairs were missed");
    println!(
        "{count} moduli, of which {} share a planted factor and {} others one by chance, found by both; {threads} \
         threads: {ours:.2} s, {our_cpu:.2} of CPU; fastgcd's method on GMP {theirs:.2} s, {their_cpu:.2} of CPU: \
         {:.2} and {:.2} times as much",
        planted.len(),
        found.len() - planted.len(),
        theirs / ours,
        their_cpu / our_cpu
    );
}

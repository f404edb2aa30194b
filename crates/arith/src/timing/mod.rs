//! Does time depend on a secret? Two classes of inputs, in random order, compared by Welch's t, as *dudect* does it
//! (Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?", 2017).
//!
//! Behind the feature `timing`: `make timing` runs it.
//!
//! [`kernels`](mod@kernels) times what kernels are asked for, [`keys`] what a user of a key sees, and the steps of
//! making one.

mod kernels;
mod keys;

use crate::Kernel;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Instant;

/// Samples that are made, and then timed, together.
const CHUNK: usize = 2_000;
/// Thresholds above which samples are cut off: what interrupts a program says nothing about it.
const CROPS: usize = 100;

/// Mean and variance as samples come in (Welford 1962).
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, x: f64) {
        self.count += 1.0;
        let difference = x - self.mean;
        self.mean += difference / self.count;
        self.squares += difference * (x - self.mean);
    }

    fn variance_of_mean(&self) -> f64 {
        self.squares / (self.count - 1.0) / self.count
    }
}

/// The standard error of the difference of two classes' means.
fn standard_error([a, b]: &[Moments; 2]) -> f64 {
    (a.variance_of_mean() + b.variance_of_mean()).sqrt()
}

/// Welch's t of two classes.
fn welch(classes: &[Moments; 2]) -> f64 {
    let error = standard_error(classes);
    match error > 0.0 {
        true => (classes[0].mean - classes[1].mean) / error,
        false => 0.0,
    }
}

/// A difference between two classes.
struct Difference {
    /// |t|.
    t: f64,
    /// By how much the means differ, in nanoseconds.
    nanoseconds: f64,
    /// The standard error of that.
    standard_error: f64,
    /// How long an execution takes, in nanoseconds.
    time: f64,
    /// The part of all samples that is below the threshold.
    part: f64,
}

impl Difference {
    /// Nanoseconds that the means differ by at most, at a confidence of 99.9 %.
    fn bound(&self) -> f64 {
        self.nanoseconds + 3.29 * self.standard_error
    }

    /// Returns whether it distinguishes the classes.
    fn is_leak(&self) -> bool {
        self.t >= NOTHING && self.nanoseconds >= LEAST.max(MACHINE * self.time)
    }
}

/// The part of samples that is kept where a bound is named: the other thirty-second is the machine's.
const BOUNDED: f64 = 1.0 - 1.0 / 32.0;

/// The part of samples that is below a threshold.
fn part(threshold: usize) -> f64 {
    match threshold {
        0 => 1.0,
        _ => 1.0 - 0.5f64.powf(10.0 * threshold as f64 / CROPS as f64),
    }
}

/// The differences over all samples and over those below each of the thresholds, after `samples` samples of each class.
///
/// `input` makes the input of a class, and `run` is what is timed on it. It finds each at the same address, just
/// written: where inputs lie may differ from class to class, and shows in the time.
fn differences<I: Copy>(
    samples: usize,
    mut input: impl FnMut(usize, &mut ChaCha20Rng) -> Vec<I>,
    mut run: impl FnMut(&[I]),
) -> Vec<Difference> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut moments = [[Moments::default(); 2]; CROPS + 1];
    let mut thresholds = [f64::INFINITY; CROPS + 1];
    let mut warm = false;
    while moments[0].iter().any(|class| class.count < samples as f64) {
        let inputs: Vec<(usize, Vec<I>)> = (0..CHUNK)
            .map(|_| {
                let class = (rng.next_u32() & 1) as usize;
                (class, input(class, &mut rng))
            })
            .collect();
        let mut place = inputs[0].1.clone();
        let times: Vec<f64> = inputs
            .iter()
            .map(|(_, input)| {
                place.copy_from_slice(input);
                let start = Instant::now();
                run(black_box(&place));
                start.elapsed().as_nanos() as f64
            })
            .collect();
        if !warm {
            // The first samples warm the machine up and say where to cut.
            warm = true;
            let mut sorted = times;
            sorted.sort_by(f64::total_cmp);
            for (i, threshold) in thresholds.iter_mut().enumerate().skip(1) {
                *threshold = sorted[(part(i) * (CHUNK - 1) as f64) as usize];
            }
            continue;
        }
        for ((class, _), time) in inputs.iter().zip(times) {
            for (moments, threshold) in moments.iter_mut().zip(thresholds) {
                if time <= threshold {
                    moments[*class].add(time);
                }
            }
        }
    }
    (0..)
        .zip(&moments)
        // Of few samples t says little.
        .filter(|(_, classes)| classes.iter().all(|class| class.count > 0.02 * samples as f64))
        .map(|(threshold, classes)| Difference {
            t: welch(classes).abs(),
            nanoseconds: (classes[0].mean - classes[1].mean).abs(),
            standard_error: standard_error(classes),
            time: classes[0].mean,
            part: part(threshold),
        })
        .collect()
}

fn largest(differences: &[Difference]) -> &Difference {
    let largest = differences.iter().max_by(|one, other| one.t.total_cmp(&other.t));
    largest.expect("all samples together are enough")
}

/// The bound of the difference of most samples.
fn bounded(differences: &[Difference]) -> f64 {
    let off = |difference: &Difference| (difference.part - BOUNDED).abs();
    let nearest = differences.iter().min_by(|one, other| off(one).total_cmp(&off(other)));
    nearest.expect("most samples are enough").bound()
}

#[test]
fn a_leak_is_seen() {
    let differences = differences(
        PLANTED,
        |class, rng| vec![if class == 0 { 0 } else { rng.next_u64() }],
        leak,
    );
    let t = largest(&differences).t;
    assert!(t > 20.0, "a leak that a program cannot hide has t = {t}");
    assert!(differences.iter().any(Difference::is_leak));
}

#[test]
fn t_is_what_welch_says() {
    let mut classes = [Moments::default(); 2];
    let samples = [
        &[27.5, 21.0, 19.0, 23.6, 17.0, 17.9][..],
        &[27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0],
    ];
    for (class, samples) in classes.iter_mut().zip(samples) {
        samples.iter().for_each(|&x| class.add(x));
    }
    // Means 21 and 23.5, variances 15.7240 and 4.2943.
    assert!((welch(&classes) + 1.40693).abs() < 1e-5, "{}", welch(&classes));
    let difference = Difference {
        t: welch(&classes).abs(),
        nanoseconds: 2.5,
        standard_error: standard_error(&classes),
        time: 21.0,
        part: part(0),
    };
    // Of 2.5 / 1.40693 each.
    assert!((difference.bound() - 8.34608).abs() < 1e-3, "{}", difference.bound());
    assert_eq!(difference.part, 1.0);
}

/// Samples of each class among which a planted leak shows.
const PLANTED: usize = 20_000;
/// A bound of |t| where it does not.
const NOTHING: f64 = 5.0;

/// Random bytes.
fn bytes(len: usize, rng: &mut ChaCha20Rng) -> Vec<u8> {
    let mut bytes = vec![0; len];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// Nanoseconds by which the means may differ: two cycles in all. Code that takes longer for some data does so by a
/// cycle at least, each of the 16 or 20 times that look-ups and products are timed together.
const LEAST: f64 = 0.6;
/// The part of the time by which they may differ. So little is what the machine around a program does with its data (a
/// clock that follows the power they take: Wang et al., "Hertzbleed", 2022). The crate's notes have cases.
const MACHINE: f64 = 1.0 / 5000.0;

/// Compares the times of two classes of inputs: says what the largest difference is, and refuses one that distinguishes
/// them. Before that, a leak that is planted has to show among fewer samples.
///
/// `input` and `run` are those of [`differences`].
fn check<I: Copy + Into<u64>>(
    what: &str,
    kernel: &str,
    mut input: impl FnMut(usize, &mut ChaCha20Rng) -> Vec<I>,
    mut run: impl FnMut(&[I]),
) {
    let planted = differences(PLANTED, &mut input, |input| {
        run(input);
        leak(input);
    });
    assert!(
        planted.iter().any(Difference::is_leak),
        "a leak that was planted into {what} with {kernel} does not show: |t| = {}",
        largest(&planted).t
    );
    let samples = samples();
    let differences = differences(samples, input, run);
    let &Difference {
        t, nanoseconds, time, ..
    } = largest(&differences);
    let bound = bounded(&differences);
    println!(
        "{what}, {kernel}: |t| = {t:.2} after {samples} samples a class, {nanoseconds:.3} of {time:.0} ns; of {:.1} % \
         of them the means differ by no more than {bound:.3} ns",
        100.0 * BOUNDED
    );
    if let Some(Difference {
        t, nanoseconds, time, ..
    }) = differences.iter().find(|difference| difference.is_leak())
    {
        panic!("{what} with {kernel} leaks: |t| = {t}, {nanoseconds} of {time} ns");
    }
}

/// Takes a microsecond longer for random inputs than for those of equal digits; where all are bits, a seventh of that.
fn leak<I: Copy + Into<u64>>(input: &[I]) {
    let low: u64 = input.iter().map(|&digit| digit.into() % 8).sum();
    for i in 0..1024 * low / input.len() as u64 {
        black_box(i);
    }
}

/// Samples of each class where time is asserted to say nothing: a million, or what `RSALAB_SAMPLES` says.
fn samples() -> usize {
    std::env::var("RSALAB_SAMPLES").map_or(1_000_000, |samples| {
        samples.parse().expect("RSALAB_SAMPLES is a number")
    })
}

/// The kernels that run here, but for those that are for tests: all, or of them those that `RSALAB_KERNELS` names.
fn kernels() -> Vec<Kernel> {
    let wish = std::env::var("RSALAB_KERNELS");
    let is_wanted = |kernel: &str| {
        wish.as_ref()
            .map_or(true, |names| names.split(',').any(|name| name == kernel))
    };
    crate::kernels()
        .into_iter()
        .filter(|info| !info.is_for_tests() && is_wanted(info.name))
        .filter_map(|info| {
            Kernel::named(info.name)
                .inspect_err(|error| eprintln!("SKIPPED: {error}"))
                .ok()
        })
        .collect()
}

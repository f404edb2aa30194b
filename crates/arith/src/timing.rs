//! Does time depend on a secret? Two classes of inputs, in random order, compared by Welch's t, as *dudect* does it
//! (Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?", 2017).
//!
//! Behind the feature `timing`: `make timing` runs it.

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
        self.t >= NOTHING && self.nanoseconds >= MACHINE * self.time
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
/// `input` makes the input of a class, and `run` is what is timed on it.
fn differences<I>(
    samples: usize,
    mut input: impl FnMut(usize, &mut ChaCha20Rng) -> I,
    mut run: impl FnMut(&I),
) -> Vec<Difference> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut moments = [[Moments::default(); 2]; CROPS + 1];
    let mut thresholds = [f64::INFINITY; CROPS + 1];
    let mut warm = false;
    while moments[0].iter().any(|class| class.count < samples as f64) {
        let inputs: Vec<(usize, I)> = (0..CHUNK)
            .map(|_| {
                let class = (rng.next_u32() & 1) as usize;
                (class, input(class, &mut rng))
            })
            .collect();
        let times: Vec<f64> = inputs
            .iter()
            .map(|(_, input)| {
                let start = Instant::now();
                run(black_box(input));
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
    // A loop as long as a secret is heavy: what the harness is for.
    let differences = differences(
        20_000,
        |class, rng| if class == 0 { 0 } else { rng.next_u64() },
        |secret: &u64| {
            for i in 0..4 * secret.count_ones() {
                black_box(i);
            }
        },
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

/// Samples of each class where time is asserted to say nothing.
const SAMPLES: usize = 1_000_000;
/// A bound of |t| where it does not.
const NOTHING: f64 = 5.0;

/// Random bytes.
fn bytes(len: usize, rng: &mut ChaCha20Rng) -> Vec<u8> {
    let mut bytes = vec![0; len];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// The part of the time by which the means may differ all the same: a tenth of a cycle in 500. So little is what the
/// machine around a program does with its data: a clock that follows the power they take (Wang et al., "Hertzbleed",
/// 2022), or the place of the code. An instruction that takes longer for some data takes a cycle longer at least, each
/// time. The crate's notes have cases.
const MACHINE: f64 = 1.0 / 5000.0;

/// Says what the largest difference was, and refuses one that distinguishes classes.
fn says_nothing(what: &str, kernel: &str, differences: &[Difference]) {
    let &Difference {
        t, nanoseconds, time, ..
    } = largest(differences);
    let bound = bounded(differences);
    println!(
        "{what}, {kernel}: |t| = {t:.2} after {SAMPLES} samples a class, {nanoseconds:.3} of {time:.0} ns; of {:.1} % \
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

/// The kernels that private keys are used with here.
fn kernels() -> Vec<Kernel> {
    let portable = Kernel::named("mont64x1_portable").expect("every machine has it");
    match Kernel::auto() {
        fastest if fastest == portable => vec![portable],
        fastest => vec![fastest, portable],
    }
}

/// Returns whether a kernel is among those that `RSALAB_KERNELS` names; all are if it is not set.
fn is_wanted(kernel: &str) -> bool {
    std::env::var("RSALAB_KERNELS").map_or(true, |names| names.split(',').any(|name| name == kernel))
}

mod slow {
    use super::*;
    use crate::candidate::{Tester, has_small_factor};
    use crate::dispatch::with_kernel;
    use crate::exp::{self, Digits, Power, Windows};
    use crate::kernel::LaneKernel;
    use crate::limbs::Modulus;
    use crate::limbs::aligned::Aligned;
    use crate::{CheckedPrivateKey, PrivateContext, Status};

    /// Limbs of a prime of an RSA key of 1024 bits.
    const LIMBS: usize = 8;
    /// Its exponent's bits.
    const BITS: usize = 64 * LIMBS;

    fn modulus(rng: &mut ChaCha20Rng) -> Modulus {
        let mut n: Vec<u64> = (0..LIMBS).map(|_| rng.next_u64()).collect();
        n[0] |= 1;
        n[LIMBS - 1] |= 1 << 63;
        Modulus::new(&n, BITS, LIMBS)
    }

    /// One digit for each lane: all zero, or any.
    fn look_up<K: LaneKernel>(name: &str, kernel: K) {
        const ENTRIES: usize = 32;
        const TIMES: usize = 16;
        let words = K::words(LIMBS);
        let mut table = Aligned::zero(ENTRIES * words);
        (0..).zip(table.iter_mut()).for_each(|(i, word)| *word = i);
        let mut value = Aligned::zero(words);
        let differences = differences(
            SAMPLES,
            // Both classes take the same memory, and as much randomness: what went on just before shows in the time.
            |class, rng| -> Vec<u8> {
                bytes(K::LANES, rng)
                    .iter()
                    .map(|byte| if class == 0 { 0 } else { byte % ENTRIES as u8 })
                    .collect()
            },
            |digits| {
                for _ in 0..TIMES {
                    kernel.select(&table, black_box(digits), &mut value);
                }
            },
        );
        says_nothing("a table look-up", name, &differences);
    }

    /// Exponents of all lanes: zero, or any.
    fn power<K: LaneKernel>(name: &str, kernel: K) {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let modulus = modulus(&mut rng);
        let moduli = kernel.prepare(&vec![&modulus; K::LANES]);
        let windows = Windows::new::<K>(LIMBS, BITS);
        let mut digits = Digits::zero(K::LANES, windows);
        let mut value = Aligned::zero(K::words(LIMBS));
        let mut working = Aligned::zero(windows.working_words::<K>(LIMBS));
        let differences = differences(
            SAMPLES,
            |class, rng| -> Vec<u64> {
                let random = (0..LIMBS).map(|_| rng.next_u64());
                random.map(|limb| if class == 0 { 0 } else { limb }).collect()
            },
            |exponent| {
                for lane in 0..K::LANES {
                    digits.set(lane, exponent);
                }
                let power = Power {
                    moduli: &moduli,
                    digits: &digits,
                    value: &mut value,
                    working: &mut working,
                };
                exp::exp(kernel, [power]);
            },
        );
        says_nothing("a power by a secret exponent of 512 bits", name, &differences);
    }

    /// Numbers of all lanes: any, or of the digits that arithmetic in a CPU might be quicker with.
    fn product<K: LaneKernel>(name: &str, kernel: K) {
        const TIMES: usize = 20;
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let modulus = modulus(&mut rng);
        let moduli = kernel.prepare(&vec![&modulus; K::LANES]);
        let mut working = Aligned::zero(K::working_words(LIMBS));
        // Once, as contexts have it: to allocate takes time of its own, which depends on what went on before.
        let (mut a, mut b) = (Aligned::zero(K::words(LIMBS)), Aligned::zero(K::words(LIMBS)));
        for (what, special) in [
            ("zero", [0; LIMBS]),
            ("one", std::array::from_fn(|limb| u64::from(limb == 0))),
            (
                "a number of a single bit",
                std::array::from_fn(|limb| u64::from(limb == LIMBS / 2) << 40),
            ),
        ] {
            let differences = differences(
                SAMPLES,
                // Both classes take the same memory, in the same way.
                |class, rng| -> Vec<u64> {
                    let random = (0..LIMBS).map(|_| rng.next_u64());
                    let numbers = special.into_iter().zip(random);
                    numbers
                        .map(|(special, random)| if class == 0 { special } else { random })
                        .collect()
                },
                |number| {
                    for lane in 0..K::LANES {
                        kernel.load(&moduli, lane, number, &mut a);
                        kernel.load(&moduli, lane, number, &mut b);
                    }
                    for _ in 0..TIMES {
                        kernel.mul(&moduli, black_box(&mut b), &a, &mut working);
                    }
                },
            );
            let what = format!("{TIMES} products with {what}");
            says_nothing(&what, name, &differences);
        }
    }

    /// Does a check with every kernel that runs here, but for those that are for tests.
    macro_rules! on_every_kernel {
        ($check:ident) => {
            for info in crate::kernels().into_iter().filter(|info| !info.is_for_tests() && is_wanted(info.name)) {
                match Kernel::named(info.name) {
                    Ok(kernel) => with_kernel!(kernel, kernel => $check(info.name, kernel)),
                    Err(error) => eprintln!("SKIPPED: {error}"),
                }
            }
        };
    }

    #[test]
    #[ignore = "takes minutes: make timing"]
    fn a_product_takes_the_same_time_for_all_numbers() {
        on_every_kernel!(product);
    }

    #[test]
    #[ignore = "takes minutes: make timing"]
    fn a_look_up_takes_the_same_time_for_all_digits() {
        on_every_kernel!(look_up);
    }

    #[test]
    #[ignore = "takes minutes: make timing"]
    fn a_power_takes_the_same_time_for_all_exponents() {
        on_every_kernel!(power);
    }

    /// One input, or any below n.
    #[test]
    #[ignore = "takes minutes: make timing"]
    fn a_private_operation_takes_the_same_time_for_all_inputs() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let e = [1, 0, 1];
        let mut tester = Tester::new(Kernel::auto(), BITS / 8);
        let mut two = vec![0; BITS / 8];
        two[BITS / 8 - 1] = 2;
        let mut prime = || loop {
            let mut prime = bytes(BITS / 8, &mut rng);
            prime[0] |= 0xc0;
            prime[BITS / 8 - 1] |= 1;
            let mut passed = [!has_small_factor(&prime)];
            if passed[0] {
                tester.round(&prime, &two, &mut passed).unwrap();
            }
            if passed[0] {
                return prime;
            }
        };
        let (p, q) = (prime(), prime());
        let key = CheckedPrivateKey::from_primes(&p, &q, &e).expect("two primes make a key");
        let len = key.public().modulus_len();
        for kernel in kernels() {
            let context = PrivateContext::new(&key, kernel);
            let mut scratch = context.scratch().unwrap();
            let (mut output, mut status) = (vec![0; len], [Status::Fault]);
            let differences = differences(
                SAMPLES,
                |class, rng| {
                    let mut input = match class {
                        0 => vec![0x5a; len],
                        _ => bytes(len, rng),
                    };
                    input[0] = 0;
                    input
                },
                |input| {
                    context.apply(&mut scratch, input, &mut output, &mut status).unwrap();
                },
            );
            assert_eq!(status, [Status::Done]);
            says_nothing("a private operation of 1024 bits", kernel.name(), &differences);
        }
    }
}

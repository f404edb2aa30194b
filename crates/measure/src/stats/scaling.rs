//! How a speed grows with threads: Amdahl's law and the Universal Scalability Law, fitted to measured speed-ups.
//!
//! ```text
//! S(N) = N / (1 + σ(N−1))                 Amdahl, AFIPS 1967: σ is the share of the work that is done in turn
//! S(N) = N / (1 + σ(N−1) + κN(N−1))       Gunther, Guerrilla Capacity Planning, 2007, chapter 4: κ is the cost of
//!                                         keeping N parties consistent, and S is largest at √((1−σ)/κ)
//!
//! N/S − 1 = (N−1)·σ + N(N−1)·κ            linear in σ and κ: weighted least squares
//! weight    1/var(N/S), from the interval of S
//! ```
//!
//! Intervals are percentiles of fits to speed-ups that are drawn anew from their intervals, as log-normal. All of them
//! are divided by the same speed on one thread. So that part of their errors is drawn once for all, and the rest for
//! each; where the machine did the same to both, so that a speed-up is surer than the one speed, all of it is taken for
//! common. Below 0, σ and κ are what noise, or a cache that grows with the threads, makes of them: they are not cut
//! off.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use super::{Bootstrap, Estimate};

/// A measured speed-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speedup {
    /// Threads, more than one.
    pub threads: usize,
    /// Times as fast as on one thread; positive.
    pub times: Estimate,
    /// The speed on one thread, which the speed-ups of all counts have in common, and so its error.
    pub one: Estimate,
}

/// The Universal Scalability Law, fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Universal {
    /// σ: the share of the work that is done in turn.
    pub contention: Estimate,
    /// κ: what each pair of threads costs.
    pub coherence: Estimate,
}

impl Universal {
    /// The number of threads beyond which more of them are slower; none where the fit has no such number.
    pub fn most_threads(&self) -> Option<f64> {
        let (sigma, kappa) = (self.contention.value, self.coherence.value);
        (kappa > 0.0 && sigma < 1.0).then(|| ((1.0 - sigma) / kappa).sqrt())
    }
}

/// The share of the work that is done in turn, by Amdahl's law. None without a speed-up.
pub fn amdahl(speedups: &[Speedup], bootstrap: &Bootstrap) -> Option<Estimate> {
    let fit = |points: &[Point]| {
        let sum = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>();
        Some([
            sum(|it| it.weight * it.sigma * it.excess) / sum(|it| it.weight * it.sigma * it.sigma),
            0.0,
        ])
    };
    let [share, _] = fitted(speedups, bootstrap, 1, fit)?;
    Some(share)
}

/// The Universal Scalability Law. None with fewer than two different thread counts beyond one: it has two parameters.
pub fn universal(speedups: &[Speedup], bootstrap: &Bootstrap) -> Option<Universal> {
    let fit = |points: &[Point]| {
        let sum = |of: fn(&Point) -> f64| points.iter().map(|it| it.weight * of(it)).sum::<f64>();
        let (ss, sk, kk) = (
            sum(|it| it.sigma * it.sigma),
            sum(|it| it.sigma * it.kappa),
            sum(|it| it.kappa * it.kappa),
        );
        let (sy, ky) = (sum(|it| it.sigma * it.excess), sum(|it| it.kappa * it.excess));
        let determinant = ss * kk - sk * sk;
        // Of one thread count the two columns are multiples of each other.
        (determinant > 1e-9 * ss * kk).then(|| [(sy * kk - ky * sk) / determinant, (ky * ss - sy * sk) / determinant])
    };
    let [contention, coherence] = fitted(speedups, bootstrap, 2, fit)?;
    Some(Universal { contention, coherence })
}

/// A speed-up in the linear form: `excess = sigma·σ + kappa·κ`.
struct Point {
    sigma: f64,
    kappa: f64,
    excess: f64,
    weight: f64,
}

impl Point {
    fn of(speedup: &Speedup, times: f64) -> Point {
        let n = speedup.threads as f64;
        // The spread of N/S is N/S times that of ln S.
        let deviation = n / speedup.times.value * log_deviation(&speedup.times);
        Point {
            sigma: n - 1.0,
            kappa: n * (n - 1.0),
            excess: n / times - 1.0,
            weight: deviation.powi(-2),
        }
    }
}

/// The standard deviation of the logarithm that an interval stands for. A value without one, or that is the same in
/// each block, is as sure as a clock can be.
pub(super) fn log_deviation(times: &Estimate) -> f64 {
    const LEAST: f64 = 1e-6;
    let reach = (times.high / times.value).ln().max((times.value / times.low).ln());
    let standard = Normal::standard();
    let confidence = times.confidence.clamp(0.5, 0.999_999);
    (reach / standard.inverse_cdf(0.5 + confidence / 2.0)).max(LEAST)
}

/// The two parameters with their intervals.
fn fitted(
    speedups: &[Speedup],
    bootstrap: &Bootstrap,
    least: usize,
    fit: impl Fn(&[Point]) -> Option<[f64; 2]>,
) -> Option<[Estimate; 2]> {
    if speedups.len() < least || speedups.iter().any(|it| it.threads < 2 || it.times.value <= 0.0) {
        return None;
    }
    let points = |draw: &mut dyn FnMut(&Speedup) -> f64| -> Vec<Point> {
        speedups.iter().map(|it| Point::of(it, draw(it))).collect()
    };
    let values = fit(&points(&mut |it| it.times.value))?;
    let mut rng = ChaCha12Rng::seed_from_u64(bootstrap.seed);
    let standard = Normal::standard();
    let mut normal = || standard.inverse_cdf(rng.random_range(1e-9..1.0 - 1e-9));
    let mut fits: Vec<[f64; 2]> = Vec::with_capacity(bootstrap.resamples);
    for _ in 0..bootstrap.resamples.max(1) {
        let of_one = normal();
        fits.push(fit(&points(&mut |it| {
            let all = log_deviation(&it.times);
            let common = log_deviation(&it.one).min(all);
            let rest = (all * all - common * common).sqrt();
            it.times.value * (common * of_one + rest * normal()).exp()
        }))?);
    }
    let confidences = speedups.iter().map(|it| it.times.confidence);
    let confidence = confidences.fold(bootstrap.confidence, f64::min);
    let estimate = |parameter: usize| {
        let mut all: Vec<f64> = fits.iter().map(|fit| fit[parameter]).collect();
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all[((share * all.len() as f64) as usize).min(all.len() - 1)];
        Estimate {
            value: values[parameter],
            low: at(0.5 - bootstrap.confidence / 2.0).min(values[parameter]),
            high: at(0.5 + bootstrap.confidence / 2.0).max(values[parameter]),
            confidence,
            n: speedups.len(),
        }
    };
    Some([estimate(0), estimate(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A speed-up that is known to `reach`, over a speed on one thread that is known to `of_one`.
    fn over_one(threads: usize, times: f64, reach: f64, of_one: f64) -> Speedup {
        let estimate = |value: f64, reach: f64| Estimate {
            value,
            low: value / (1.0 + reach),
            high: value * (1.0 + reach),
            confidence: 0.95,
            n: 10,
        };
        Speedup {
            threads,
            times: estimate(times, reach),
            one: estimate(100.0, of_one),
        }
    }

    fn speedup(threads: usize, times: f64, reach: f64) -> Speedup {
        over_one(threads, times, reach, 0.0)
    }

    fn law(sigma: f64, kappa: f64) -> impl Fn(usize) -> f64 {
        move |threads| {
            let n = threads as f64;
            n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
        }
    }

    const COUNTS: [usize; 5] = [2, 3, 4, 8, 16];

    #[test]
    fn exact_speedups_give_the_law_back() {
        for (sigma, kappa) in [(0.05, 0.002), (0.0, 0.0), (0.3, 0.0), (0.0, 0.01), (-0.01, 0.001)] {
            let of = law(sigma, kappa);
            let points = COUNTS.map(|count| speedup(count, of(count), 0.01));
            let fit = universal(&points, &Bootstrap::default()).unwrap();
            assert!((fit.contention.value - sigma).abs() < 1e-9, "{fit:?}");
            assert!((fit.coherence.value - kappa).abs() < 1e-9, "{fit:?}");
            assert!(fit.contention.covers(sigma) && fit.coherence.covers(kappa), "{fit:?}");
            match kappa {
                0.0 => assert!(fit.most_threads().is_none_or(|most| most > 1e3), "{fit:?}"),
                _ => assert!((fit.most_threads().unwrap() - ((1.0 - sigma) / kappa).sqrt()).abs() < 1e-3),
            }
            if kappa == 0.0 {
                let share = amdahl(&points, &Bootstrap::default()).unwrap();
                assert!((share.value - sigma).abs() < 1e-9, "{share:?}");
            }
        }
    }

    /// With noise of 1 %, nine of ten intervals at least hold the truth.
    #[test]
    fn intervals_hold_the_truth() {
        let (sigma, kappa) = (0.04, 0.001);
        let of = law(sigma, kappa);
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let standard = Normal::standard();
        let bootstrap = Bootstrap {
            resamples: 500,
            ..Bootstrap::default()
        };
        let mut held = [0; 2];
        for _ in 0..100 {
            let points = COUNTS.map(|count| {
                let z = standard.inverse_cdf(rng.random_range(1e-9..1.0 - 1e-9));
                speedup(count, of(count) * (0.01 * z).exp(), 0.0196)
            });
            let fit = universal(&points, &bootstrap).unwrap();
            held[0] += usize::from(fit.contention.covers(sigma));
            held[1] += usize::from(fit.coherence.covers(kappa));
        }
        assert!(held.iter().all(|held| (90..=100).contains(held)), "{held:?}");
    }

    /// The error of the speed on one thread moves all speed-ups alike, which a fit takes for contention.
    #[test]
    fn intervals_hold_the_truth_where_one_error_is_common() {
        let (sigma, kappa) = (0.04, 0.001);
        let of = law(sigma, kappa);
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let standard = Normal::standard();
        let bootstrap = Bootstrap {
            resamples: 500,
            ..Bootstrap::default()
        };
        let mut held = 0;
        for _ in 0..200 {
            let mut z = || standard.inverse_cdf(rng.random_range(1e-9..1.0 - 1e-9));
            let one = z();
            let points = [2, 3, 4].map(|count| {
                let times = of(count) * (0.01 * (one + z())).exp();
                over_one(count, times, 0.0196 * std::f64::consts::SQRT_2, 0.0196)
            });
            let fit = universal(&points, &bootstrap).unwrap();
            held += usize::from(fit.contention.covers(sigma));
        }
        assert!(held >= 184, "{held} of 200");
    }

    #[test]
    fn few_counts_have_amdahls_law_or_none() {
        let two = [speedup(2, 1.9, 0.01)];
        let share = amdahl(&two, &Bootstrap::default()).unwrap();
        assert!((share.value - (2.0 / 1.9 - 1.0)).abs() < 1e-12);
        assert!(share.low < share.value && share.value < share.high);
        assert_eq!(universal(&two, &Bootstrap::default()), None);
        assert_eq!(
            universal(&[two[0], two[0]], &Bootstrap::default()),
            None,
            "one count, twice"
        );
        assert_eq!(amdahl(&[], &Bootstrap::default()), None);
        assert_eq!(amdahl(&[speedup(1, 1.0, 0.01)], &Bootstrap::default()), None);
    }
}

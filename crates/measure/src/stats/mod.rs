//! Estimates from samples, and how sure they are.
//!
//! | question | file |
//! |---|---|
//! | where do values lie, how far do they spread | [`summary`] |
//! | the median of independent values, with an exact interval | [`median`] |
//! | the median of samples taken in blocks | [`blocks`] |
//! | rates, pauses included, and the ratio of two subjects measured in interleaved blocks | [`bootstrap`] |
//! | how a cost grows with a size: the exponent of a power law | [`power`] |
//! | how a speed grows with threads: Amdahl's law, the Universal Scalability Law | [`scaling`] |
//! | the same where time is a matter of chance, and what was tried is counted: adjusted (control variate) | [`adjusted`] |

pub mod adjusted;
pub mod blocks;
pub mod bootstrap;
pub mod median;
pub mod power;
pub mod scaling;
pub mod summary;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

pub use adjusted::{CountedBlock, Explained, Unadjusted, adjusted_rate, adjusted_ratio_of_rates};
pub use blocks::median_over_blocks;
pub use bootstrap::{Bootstrap, rate, ratio_of_rates};
pub use median::median_interval;
pub use summary::{StabilisedQuartiles, Summary};

/// A value with an interval that holds the true one with a stated confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate itself.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// The confidence that the interval reaches, between 0 and 1. It may fall short of what was asked for when there
    /// are too few values: that is said here and never rounded up.
    pub confidence: f64,
    /// How many values the estimate rests on.
    pub n: usize,
}

impl Estimate {
    /// How far the interval reaches from the value, as a fraction of it; infinite if the value is 0.
    pub fn relative_error(&self) -> f64 {
        (self.value - self.low).max(self.high - self.value) / self.value.abs()
    }

    /// The estimate of the reciprocal, as of operations per second from seconds per operation. The value and the
    /// interval must be positive.
    pub fn reciprocal(&self) -> Estimate {
        Estimate {
            value: 1.0 / self.value,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            ..*self
        }
    }

    /// The estimate in another unit, `factor` of which make one of the old; `factor` must be positive.
    pub fn scaled(&self, factor: f64) -> Estimate {
        Estimate {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
            ..*self
        }
    }

    /// This divided by another estimate that it does not depend on; both positive.
    ///
    /// The logarithms are subtracted and the distances to the ends of their intervals added in quadrature: the method
    /// of variance estimates recovery (Zou and Donner, "Construction of confidence limits about effect measures",
    /// Statistics in Medicine 27, 2008). Two subjects that were measured in interleaved blocks are better compared by
    /// [`ratio_of_rates`], which leaves out what both shared.
    pub fn over(&self, other: &Estimate) -> Estimate {
        let value = self.value / other.value;
        let distance = |one: f64, two: f64| one.ln().hypot(two.ln());
        Estimate {
            value,
            low: value * (-distance(self.value / self.low, other.high / other.value)).exp(),
            high: value * distance(self.high / self.value, other.value / other.low).exp(),
            confidence: self.confidence.min(other.confidence),
            n: self.n.min(other.n),
        }
    }

    /// This as one of so many that are looked at together, so that all of their intervals hold with `confidence`
    /// (Bonferroni's correction), whatever the confidence was that each had alone. The logarithms' distances are taken
    /// for Student's, of as many degrees as there are values but one. Both positive. What has no interval gets none.
    pub fn corrected(&self, comparisons: usize, confidence: f64) -> Estimate {
        let freedom = self.n.saturating_sub(1);
        if freedom == 0 || self.confidence <= 0.0 {
            return *self;
        }
        let student = StudentsT::new(0.0, 1.0, freedom as f64).expect("at least one degree");
        let quantile = |tail: f64| student.inverse_cdf(1.0 - tail / 2.0);
        let tail = (1.0 - confidence) / comparisons.max(1) as f64;
        let wider = quantile(tail) / quantile(1.0 - self.confidence);
        Estimate {
            low: self.value * (self.low / self.value).powf(wider),
            high: self.value * (self.high / self.value).powf(wider),
            confidence,
            ..*self
        }
    }

    /// Returns whether the interval holds `value`.
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// In ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;
    use statrs::distribution::LogNormal;

    use super::*;

    #[test]
    fn estimates_change_units() {
        let ns = Estimate {
            value: 250.0,
            low: 200.0,
            high: 500.0,
            confidence: 0.95,
            n: 9,
        };
        let per_second = ns.reciprocal().scaled(1e9);
        assert_eq!(per_second.value, 4e6);
        assert_eq!(per_second.low, 2e6);
        assert_eq!(per_second.high, 5e6);
        assert_eq!(per_second.confidence, 0.95);
        assert_eq!(ns.relative_error(), 1.0);
        assert!(ns.covers(200.0) && ns.covers(500.0) && !ns.covers(199.9));
    }

    #[test]
    fn the_interval_of_a_quotient_is_wider_than_either_and_narrower_than_the_extremes() {
        let one = Estimate {
            value: 100.0,
            low: 90.0,
            high: 120.0,
            confidence: 0.95,
            n: 9,
        };
        let other = Estimate {
            value: 50.0,
            low: 49.0,
            high: 55.0,
            confidence: 0.9,
            n: 7,
        };
        let quotient = one.over(&other);
        assert_eq!((quotient.value, quotient.confidence, quotient.n), (2.0, 0.9, 7));
        assert!(quotient.low < 90.0 / 50.0 && quotient.low > 90.0 / 55.0);
        assert!(quotient.high > 120.0 / 50.0 && quotient.high < 120.0 / 49.0);
        // A value without spread only changes the unit.
        let exact = Estimate {
            low: 50.0,
            high: 50.0,
            ..other
        };
        let halves = one.over(&exact);
        assert!((halves.low - 1.8).abs() < 1e-12 && (halves.high - 2.4).abs() < 1e-12);
    }

    #[test]
    fn of_many_together_each_is_wider() {
        let one = Estimate {
            value: 2.0,
            low: 1.0,
            high: 4.0,
            confidence: 0.95,
            n: 1001,
        };
        assert_eq!(one.corrected(1, 0.95), one);
        // Of a normal distribution 0.025 lies beyond 1.960 and 0.0005 beyond 3.291; of a thousand degrees 1.962 and
        // 3.300.
        let fifty = one.corrected(50, 0.95);
        let wider = (fifty.high / 2.0).log2();
        assert!((wider - 3.300 / 1.962).abs() < 1e-3, "{wider}");
        assert!((fifty.low * fifty.high - 4.0).abs() < 1e-9);
        let few = Estimate { n: 6, ..one }.corrected(50, 0.95);
        assert!(few.high > fifty.high);
        let none = Estimate { confidence: 0.0, ..one };
        assert_eq!(none.corrected(50, 0.95), none);
        // Of an interval of 80 % the same, from 1.282 on.
        let less = Estimate { confidence: 0.8, ..one }.corrected(50, 0.95);
        let wider = (less.high / 2.0).log2();
        assert!(
            (wider - 3.300 / 1.282).abs() < 3e-3 && less.confidence == 0.95,
            "{wider}"
        );
    }

    /// The promise of [`Estimate::over`], on data whose truth is known.
    #[test]
    fn the_interval_of_a_quotient_covers_as_often_as_it_says() {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let mut sample = |median: f64, sigma: f64| {
            let law = LogNormal::new(median.ln(), sigma).unwrap();
            let values: Vec<f64> = (0..40).map(|_| law.inverse_cdf(rng.random())).collect();
            median_interval(&values, 0.95).unwrap()
        };
        let covered = (0..1000)
            .filter(|_| sample(300.0, 0.3).over(&sample(100.0, 0.1)).covers(3.0))
            .count();
        assert!((930..=990).contains(&covered), "{covered} of 1000");
    }
}

//! How a cost grows with a size: the exponent of a power law.
//!
//! ```text
//! t(x) = c · x^k          ln t = ln c + k · ln x: a line, by weighted least squares
//! weight  1/var(ln t), from the interval of t
//! var(k)  1/Σ w (ln x − mean)², times χ²/(n−2) where that is more than 1 (Birge, Physical Review 40, 1932)
//! ```
//!
//! A cost that is no power of the size has an exponent between each two sizes, and a fit whose interval is widened by
//! as much as the points are off the line: it then says how far the exponent of the range is known, not how well each
//! time was measured. Of two sizes there is no fit, only the exponent between them.
//!
//! A cost without an interval, of one block, is known as well as the least known of the others: to take it for certain
//! would draw the line through it, whatever they say.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Estimate, scaling::log_deviation};

/// A cost at a size; both positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The size.
    pub size: f64,
    /// The cost.
    pub cost: Estimate,
}

/// The exponent between two sizes. None if they are the same.
pub fn between(one: &Cost, other: &Cost) -> Option<Estimate> {
    let distance = (other.size / one.size).ln();
    if distance == 0.0 || !distance.is_finite() {
        return None;
    }
    let ratio = other.cost.over(&one.cost);
    let [value, low, high] = [ratio.value, ratio.low, ratio.high].map(|ratio| ratio.ln() / distance);
    Some(Estimate {
        value,
        low: low.min(high),
        high: low.max(high),
        ..ratio
    })
}

/// The exponent of the law that is fitted to three or more sizes; none of fewer.
pub fn exponent(costs: &[Cost], confidence: f64) -> Option<Estimate> {
    let is_positive = |it: &Cost| it.size > 0.0 && it.cost.value > 0.0 && it.cost.low > 0.0;
    if costs.len() < 3 || !costs.iter().all(is_positive) {
        return None;
    }
    let has_interval = |it: &Cost| it.cost.confidence > 0.0;
    let known = costs.iter().filter(|it| has_interval(it));
    let least_known = known.map(|it| log_deviation(&it.cost)).reduce(f64::max);
    let deviation = |it: &Cost| match least_known {
        Some(deviation) if !has_interval(it) => deviation,
        _ => log_deviation(&it.cost),
    };
    let points: Vec<[f64; 3]> = costs
        .iter()
        .map(|it| [it.size.ln(), it.cost.value.ln(), deviation(it).powi(-2)])
        .collect();
    let sum = |of: &dyn Fn(&[f64; 3]) -> f64| points.iter().map(of).sum::<f64>();
    let weight = sum(&|[_, _, w]| *w);
    let (x, y) = (sum(&|[x, _, w]| w * x) / weight, sum(&|[_, y, w]| w * y) / weight);
    let spread = sum(&|it| it[2] * (it[0] - x).powi(2));
    if spread <= 1e-12 * weight {
        return None;
    }
    let slope = sum(&|it| it[2] * (it[0] - x) * (it[1] - y)) / spread;
    let freedom = (costs.len() - 2) as f64;
    let misfit = sum(&|it| it[2] * (it[1] - y - slope * (it[0] - x)).powi(2)) / freedom;
    let deviation = (misfit.max(1.0) / spread).sqrt();
    let student = StudentsT::new(0.0, 1.0, freedom).expect("at least one degree");
    let reach = student.inverse_cdf(0.5 + confidence / 2.0) * deviation;
    Some(Estimate {
        value: slope,
        low: slope - reach,
        high: slope + reach,
        confidence,
        n: costs.len(),
    })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;
    use statrs::distribution::Normal;

    use super::*;

    const SIZES: [f64; 5] = [1024.0, 2048.0, 3072.0, 4096.0, 8192.0];

    fn cost(size: f64, cost: f64, reach: f64) -> Cost {
        let cost = Estimate {
            value: cost,
            low: cost / (1.0 + reach),
            high: cost * (1.0 + reach),
            confidence: 0.95,
            n: 10,
        };
        Cost { size, cost }
    }

    #[test]
    fn an_exact_law_gives_its_exponent_back() {
        for power in [1.0, 2.0, 2.7, 3.0, -1.0] {
            let costs = SIZES.map(|size| cost(size, 5.0 * f64::powf(size, power), 0.01));
            let fit = exponent(&costs, 0.95).unwrap();
            assert!((fit.value - power).abs() < 1e-9, "{fit:?}");
            assert!(
                fit.low < power && power < fit.high && fit.high - fit.low < 0.1,
                "{fit:?}"
            );
            let step = between(&costs[0], &costs[1]).unwrap();
            assert!((step.value - power).abs() < 1e-9, "{step:?}");
            assert!(step.low < power && power < step.high, "{step:?}");
        }
    }

    /// With noise of 1 %, nine of ten intervals at least hold the truth.
    #[test]
    fn intervals_hold_the_truth() {
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        let standard = Normal::standard();
        let held = (0..400).filter(|_| {
            let costs = SIZES.map(|size| {
                let z = standard.inverse_cdf(rng.random_range(1e-9..1.0 - 1e-9));
                cost(size, f64::powf(size, 2.5) * (0.01 * z).exp(), 0.0196)
            });
            exponent(&costs, 0.95).unwrap().covers(2.5)
        });
        let held = held.count();
        assert!((370..=400).contains(&held), "{held}");
    }

    /// A sum of a square and a cube is no power: the interval of the fit is wide, those between sizes are not.
    #[test]
    fn what_is_no_power_law_has_a_wide_interval() {
        let costs = SIZES.map(|size| cost(size, 2000.0 * size.powi(2) + size.powi(3), 0.001));
        let fit = exponent(&costs, 0.95).unwrap();
        assert!(fit.high - fit.low > 0.1, "{fit:?}");
        let steps: Vec<Estimate> = costs.windows(2).map(|two| between(&two[0], &two[1]).unwrap()).collect();
        assert!(steps.is_sorted_by(|one, other| one.value < other.value), "{steps:?}");
        assert!(steps[0].high < steps[3].low, "{steps:?}");
    }

    #[test]
    fn a_cost_without_an_interval_is_not_taken_for_certain() {
        let mut costs = SIZES.map(|size| cost(size, size.powi(2), 0.01));
        costs[0] = cost(SIZES[0], 1.3 * SIZES[0].powi(2), 0.01);
        let fit = |costs: &[Cost]| {
            let fit = exponent(costs, 0.95).unwrap();
            [fit.value, fit.low, fit.high]
        };
        let known = fit(&costs);
        let once = &mut costs[0].cost;
        (once.low, once.high, once.confidence) = (once.value, once.value, 0.0);
        for (known, unknown) in known.into_iter().zip(fit(&costs)) {
            assert!((known - unknown).abs() < 1e-9, "{known}, and {unknown}");
        }
    }

    #[test]
    fn too_little_has_no_fit() {
        let two = [cost(1.0, 1.0, 0.1), cost(2.0, 4.0, 0.1)];
        assert_eq!(exponent(&two, 0.95), None);
        assert_eq!(exponent(&[two[0]; 4], 0.95), None, "one size");
        assert_eq!(between(&two[0], &two[0]), None);
        assert!((between(&two[0], &two[1]).unwrap().value - 2.0).abs() < 1e-12);
    }
}

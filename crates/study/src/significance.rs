//! When a value is told from a threshold.

use rsalab_measure::Estimate;

/// Difference below which figures that were measured one after another are alike, however narrow their intervals are: a
/// machine drifts by this much from one minute to the next.
pub(crate) const DRIFT: f64 = 0.02;

/// The threshold for engines that were measured interleaved: what a worker that is started anew changes by itself, as
/// its memory lies elsewhere.
pub(crate) const LAUNCH: f64 = 0.01;

/// Values that an estimate must come from for a verdict: with fewer there is no interval of 95 % for a median (it takes
/// six), and the mean of five is the least that is judged.
pub(crate) const LEAST_VALUES: usize = 5;

/// Side of a threshold on which an estimate lies, beyond noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// There are too few values to tell.
    TooFew,
    /// The whole interval is below.
    Below,
    /// The interval has both sides in it, or is too near to the threshold.
    Unclear,
    /// The whole interval is above.
    Above,
}

/// The side on which the whole interval of an estimate lies, and by more than `noise` of the threshold.
pub(crate) fn side(estimate: &Estimate, threshold: f64, noise: f64) -> Side {
    if has_too_few_values(estimate) {
        Side::TooFew
    } else if estimate.low > threshold * (1.0 + noise) {
        Side::Above
    } else if estimate.high < threshold * (1.0 - noise) {
        Side::Below
    } else {
        Side::Unclear
    }
}

/// Returns whether nothing can be told from it, wherever it lies: of few values even an interval that looks narrow says
/// little.
pub(crate) fn has_too_few_values(estimate: &Estimate) -> bool {
    estimate.n < LEAST_VALUES || estimate.confidence <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_decides_only_where_there_are_values_and_room() {
        let of = |low: f64, high: f64, n| {
            let estimate = Estimate {
                value: (low + high) / 2.0,
                low,
                high,
                confidence: 0.95,
                n,
            };
            side(&estimate, 1.0, LAUNCH)
        };
        assert_eq!(of(1.02, 1.03, 9), Side::Above);
        assert_eq!(of(1.02, 1.03, 4), Side::TooFew);
        assert_eq!(of(0.90, 0.98, 5), Side::Below);
        assert_eq!(of(1.000, 1.003, 9), Side::Unclear);
        assert_eq!(of(0.65, 1.09, 9), Side::Unclear);
        let counted = Estimate {
            value: 2.0,
            low: 2.0,
            high: 2.0,
            confidence: 0.0,
            n: 100,
        };
        assert_eq!(side(&counted, 1.0, LAUNCH), Side::TooFew);
    }
}

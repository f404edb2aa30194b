//! How a measured value lies relative to what was said of it.

use rsalab_measure::Estimate;

use super::{data::Relation, evidence::Evidence, scope::Scope};
use crate::report::Verdict;

/// A machine drifts by this much from one minute to the next: a smaller difference is never called one, however narrow
/// the intervals are.
const NOISE: f64 = 0.02;

/// Values that an estimate must come from for a verdict: with fewer there is no interval of 95 % for a median (it takes six), and the mean
/// of five is the least that is judged.
const LEAST_VALUES: usize = 5;

/// On which side of a threshold an estimate lies, beyond noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    Unclear,
    Above,
}

impl Side {
    /// The verdict on a claim that the value is above the threshold.
    fn claimed_above(self) -> Verdict {
        match self {
            Side::Above => Verdict::Holds,
            Side::Below => Verdict::DoesNotHold,
            Side::Unclear => Verdict::NoSignificantDifference,
        }
    }
}

pub(super) fn side(estimate: &Estimate, threshold: f64) -> Side {
    if estimate.confidence <= 0.0 {
        return Side::Unclear;
    }
    if estimate.low > threshold * (1.0 + NOISE) {
        Side::Above
    } else if estimate.high < threshold * (1.0 - NOISE) {
        Side::Below
    } else {
        Side::Unclear
    }
}

/// The verdict on a claim that two values are alike, from their quotient: it holds where the whole interval lies within
/// `tolerance` of 1.
fn alike(quotient: &Estimate, tolerance: f64) -> Verdict {
    within(quotient, 1.0 / (1.0 + tolerance), 1.0 + tolerance)
}

/// Whether a value lies in a range of published ones, by its whole interval: one that is wide says nothing.
fn within(value: &Estimate, least: f64, most: f64) -> Verdict {
    let has_interval = value.confidence > 0.0;
    if has_interval && value.low >= least && value.high <= most {
        Verdict::Holds
    } else if has_interval && (value.high < least || value.low > most) {
        Verdict::DoesNotHold
    } else {
        Verdict::NoSignificantDifference
    }
}

impl Evidence<'_> {
    /// What becomes of a claim by a value; `before` is the value of the case before it.
    ///
    /// # Errors
    /// Why a bound has no value.
    pub(super) fn judge(
        &self,
        relation: &Relation,
        value: &Estimate,
        before: Option<&Estimate>,
        scope: &Scope,
    ) -> Result<Verdict, String> {
        // Of few values even an interval that looks narrow says little.
        if value.n < LEAST_VALUES {
            return Ok(Verdict::NoSignificantDifference);
        }
        let bound = |formula: &str| Ok::<_, String>(self.measured(formula, scope)?.value);
        Ok(match relation {
            Relation::Above(least) => side(value, bound(least)?).claimed_above(),
            Relation::FarAbove(far) => match (side(value, bound(far)?), side(value, 1.0)) {
                (Side::Above, _) => Verdict::Holds,
                (Side::Below, Side::Above | Side::Below) => Verdict::DoesNotHold,
                (Side::Below, Side::Unclear) | (Side::Unclear, _) => {
                    Verdict::NoSignificantDifference
                }
            },
            Relation::Alike(tolerance) => alike(value, bound(tolerance)?),
            Relation::AboveAlike(tolerance) => {
                let tolerance = bound(tolerance)?;
                match alike(value, tolerance) {
                    Verdict::Holds => Verdict::DoesNotHold,
                    _ => side(value, 1.0 + tolerance).claimed_above(),
                }
            }
            Relation::Within([least, most]) => within(value, bound(least)?, bound(most)?),
            Relation::Growing(least) => {
                match (side(value, bound(least)?).claimed_above(), before) {
                    (Verdict::Holds, Some(before)) if value.high < before.low => {
                        Verdict::DoesNotHold
                    }
                    (Verdict::Holds, Some(before)) if value.low <= before.high => {
                        Verdict::NoSignificantDifference
                    }
                    (verdict, _) => verdict,
                }
            }
            Relation::Saves(published) => saves(value, bound(published)?),
            Relation::Reaches(published) => reaches(value, bound(published)?),
        })
    }
}

/// Whether a saving in per cent comes up to a published one, which is rounded: by so many points.
pub(super) fn saves(saving: &Estimate, published: f64) -> Verdict {
    const POINTS: f64 = 5.0;
    let least = 100.0 * NOISE;
    if saving.confidence <= 0.0 {
        Verdict::NoSignificantDifference
    } else if saving.high < -least || (saving.low > least && saving.high < published - POINTS) {
        Verdict::DoesNotHold
    } else if saving.low > least {
        Verdict::Holds
    } else {
        Verdict::NoSignificantDifference
    }
}

/// Whether a gain comes up to one that was published as "about": to a tenth of it.
fn reaches(gain: &Estimate, published: f64) -> Verdict {
    const ABOUT: f64 = 0.9;
    if gain.confidence <= 0.0 {
        Verdict::NoSignificantDifference
    } else if gain.high < ABOUT * published {
        Verdict::DoesNotHold
    } else if gain.low > 1.0 + NOISE {
        Verdict::Holds
    } else {
        Verdict::NoSignificantDifference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_interval_lies_in_no_range() {
        let estimate = |low: f64, high: f64, confidence| Estimate {
            value: (low + high) / 2.0,
            low,
            high,
            confidence,
            n: 9,
        };
        for (low, high, confidence, expected) in [
            (1.55, 1.65, 0.95, Verdict::Holds),
            (0.50, 2.66, 0.95, Verdict::NoSignificantDifference),
            (1.65, 1.75, 0.95, Verdict::NoSignificantDifference),
            (1.90, 1.98, 0.95, Verdict::DoesNotHold),
            (1.10, 1.40, 0.95, Verdict::DoesNotHold),
            (1.60, 1.60, 0.0, Verdict::NoSignificantDifference),
        ] {
            let verdict = within(&estimate(low, high, confidence), 1.5, 1.7);
            assert_eq!(verdict, expected, "{low} to {high}");
        }
    }
}

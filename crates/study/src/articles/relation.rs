//! How a measured value lies relative to what was said of it.

use rsalab_measure::Estimate;

use super::{data::Relation, evidence::Evidence, scope::Scope};
use crate::{
    report::Verdict,
    significance::{self, DRIFT, Side, has_too_few_values},
};

impl Side {
    /// The verdict on a claim that the value is above the threshold.
    fn claimed_above(self) -> Verdict {
        match self {
            Side::Above => Verdict::Holds,
            Side::Below => Verdict::DoesNotHold,
            Side::Unclear => Verdict::NoSignificantDifference,
            Side::TooFew => Verdict::TooFewValues,
        }
    }
}

/// Side of a threshold on which a value lies that is compared with one of another time.
pub(super) fn side(estimate: &Estimate, threshold: f64) -> Side {
    significance::side(estimate, threshold, DRIFT)
}

/// The verdict on a claim that two values are alike, from their quotient: it holds where the whole interval lies within
/// `tolerance` of 1.
fn alike(quotient: &Estimate, tolerance: f64) -> Verdict {
    within(quotient, 1.0 / (1.0 + tolerance), 1.0 + tolerance)
}

/// Judges whether a value lies in a range of published ones, by its whole interval: one that is wide says nothing.
fn within(value: &Estimate, least: f64, most: f64) -> Verdict {
    if has_too_few_values(value) {
        Verdict::TooFewValues
    } else if value.low >= least && value.high <= most {
        Verdict::Holds
    } else if value.high < least || value.low > most {
        Verdict::DoesNotHold
    } else {
        Verdict::NoSignificantDifference
    }
}

impl Evidence<'_> {
    /// The verdict on a claim by a value; `before` is the value of the case before it.
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
        let bound = |formula: &str| Ok::<_, String>(self.measured(formula, scope)?.value);
        Ok(match relation {
            Relation::Above(least) => side(value, bound(least)?).claimed_above(),
            Relation::FarAbove(far) => match (side(value, bound(far)?), side(value, 1.0)) {
                (Side::Above, _) => Verdict::Holds,
                (Side::Below, Side::Above | Side::Below) => Verdict::DoesNotHold,
                (Side::TooFew, _) | (_, Side::TooFew) => Verdict::TooFewValues,
                (Side::Below, Side::Unclear) | (Side::Unclear, _) => Verdict::NoSignificantDifference,
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
            Relation::Growing(least) => match (side(value, bound(least)?).claimed_above(), before) {
                (Verdict::Holds, Some(before)) if value.high < before.low => Verdict::DoesNotHold,
                (Verdict::Holds, Some(before)) if value.low <= before.high => Verdict::NoSignificantDifference,
                (verdict, _) => verdict,
            },
            Relation::Saves(published) => saves(value, bound(published)?),
            Relation::Reaches(published) => reaches(value, bound(published)?),
        })
    }
}

/// Judges whether a saving in per cent comes up to a published one, which is rounded: by so many points, with its whole
/// interval.
pub(super) fn saves(saving: &Estimate, published: f64) -> Verdict {
    const POINTS: f64 = 5.0;
    let least = 100.0 * DRIFT;
    if has_too_few_values(saving) {
        Verdict::TooFewValues
    } else if saving.high < -least || (saving.low > least && saving.high < published - POINTS) {
        Verdict::DoesNotHold
    } else if saving.low > least && saving.low >= published - POINTS {
        Verdict::Holds
    } else {
        Verdict::NoSignificantDifference
    }
}

/// Judges whether a gain comes up to one that was published as "about": to a tenth of it, with its whole interval.
fn reaches(gain: &Estimate, published: f64) -> Verdict {
    const ABOUT: f64 = 0.9;
    if has_too_few_values(gain) {
        Verdict::TooFewValues
    } else if gain.high < ABOUT * published {
        Verdict::DoesNotHold
    } else if gain.low > 1.0 + DRIFT && gain.low >= ABOUT * published {
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
            (1.60, 1.60, 0.0, Verdict::TooFewValues),
        ] {
            let verdict = within(&estimate(low, high, confidence), 1.5, 1.7);
            assert_eq!(verdict, expected, "{low} to {high}");
        }
    }

    #[test]
    fn a_wide_interval_reaches_nothing() {
        let estimate = |low: f64, high: f64, n| Estimate {
            value: (low + high) / 2.0,
            low,
            high,
            confidence: 0.95,
            n,
        };
        for (low, high, n, expected) in [
            (46.0, 51.0, 9, Verdict::Holds),
            (3.0, 60.0, 9, Verdict::NoSignificantDifference),
            (46.0, 51.0, 4, Verdict::TooFewValues),
            (10.0, 40.0, 9, Verdict::DoesNotHold),
        ] {
            let verdict = saves(&estimate(low, high, n), 50.0);
            assert_eq!(verdict, expected, "saves {low} to {high}");
        }
        for (low, high, n, expected) in [
            (5.5, 6.2, 9, Verdict::Holds),
            (1.1, 7.8, 9, Verdict::NoSignificantDifference),
            (1.1, 5.0, 9, Verdict::DoesNotHold),
            (5.5, 6.2, 3, Verdict::TooFewValues),
        ] {
            let verdict = reaches(&estimate(low, high, n), 6.0);
            assert_eq!(verdict, expected, "reaches {low} to {high}");
        }
    }
}

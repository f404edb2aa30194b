//! The comparisons behind a claim: where a measured value lies beside what was said of it.

use rsalab_measure::Estimate;

use super::{Case, Verdict};

/// A machine drifts by this much from one minute to the next: a smaller difference is never called one, however narrow
/// the intervals are.
pub(super) const NOISE: f64 = 0.02;

/// Where an estimate lies beside a threshold, noise allowed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    Unclear,
    Above,
}

impl Side {
    /// The verdict on a claim that the value is above the threshold.
    pub(super) fn claimed_above(self) -> Verdict {
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
pub(super) fn alike(quotient: &Estimate, tolerance: f64) -> Verdict {
    let has_interval = quotient.confidence > 0.0;
    let (least, most) = (1.0 / (1.0 + tolerance), 1.0 + tolerance);
    if has_interval && quotient.low >= least && quotient.high <= most {
        Verdict::Holds
    } else if has_interval && (quotient.low > most || quotient.high < least) {
        Verdict::DoesNotHold
    } else {
        Verdict::NoSignificantDifference
    }
}

/// Whether a value lies in a range of published ones, by its whole interval: one that is wide says nothing.
pub(super) fn within(value: &Estimate, least: f64, most: f64) -> Verdict {
    let has_interval = value.confidence > 0.0;
    if has_interval && value.low >= least && value.high <= most {
        Verdict::Holds
    } else if has_interval && (value.high < least || value.low > most) {
        Verdict::DoesNotHold
    } else {
        Verdict::NoSignificantDifference
    }
}

/// The cases of one engine.
pub(super) struct Cases<'a> {
    engine: &'a str,
    pub(super) cases: Vec<Case>,
}

impl<'a> Cases<'a> {
    pub(super) fn of(engine: &'a str) -> Self {
        Cases {
            engine,
            cases: Vec::new(),
        }
    }

    pub(super) fn add(
        &mut self,
        case: impl Into<String>,
        verdict: Verdict,
        value: Option<Estimate>,
        sentence: String,
    ) {
        self.cases.push(Case {
            engine: self.engine.to_owned(),
            case: case.into(),
            verdict,
            sentence,
            value,
        });
    }

    pub(super) fn lacks(&mut self, case: impl Into<String>, why: impl Into<String>) {
        self.add(case, Verdict::NotMeasurableHere, None, why.into());
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

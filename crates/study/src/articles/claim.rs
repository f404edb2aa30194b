//! The verdict over the cases of a claim.

use super::data::ClaimData;
use crate::{
    distinct::distinct,
    report::{Case, Claim, EngineVerdict, Verdict},
};

impl Claim {
    /// A claim with what `cases` say, each engine's verdict over its own cases.
    pub(super) fn decided(data: &'static ClaimData, cases: Vec<Case>) -> Claim {
        let of_engine = |engine: String| {
            let own = cases.iter().filter(|case| case.engine == engine);
            let verdict = Verdict::over(own.clone().map(|case| case.verdict));
            let missing = own.filter(|case| {
                let is_open = matches!(case.verdict, Verdict::NotMeasurableHere | Verdict::TooFewValues);
                verdict == Verdict::HoldsWhereMeasured && is_open
            });
            EngineVerdict {
                verdict,
                missing: missing.map(|case| case.case.clone()).collect(),
                engine,
            }
        };
        let engines = distinct(cases.iter().map(|case| case.engine.clone()));
        let verdicts = engines.into_iter().map(of_engine).collect();
        let reason = cases
            .is_empty()
            .then(|| "no engine has the figures that it takes".to_owned());
        Claim {
            id: data.id.clone(),
            claim: data.claim.clone(),
            published: data.published.clone(),
            computed: data.computed.clone(),
            verdicts,
            cases,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use rsalab_measure::Estimate;

    use super::{Verdict::*, *};

    /// A claim that says nothing.
    fn data() -> &'static ClaimData {
        let data = "id = 'x-i'\nclaim = ''\npublished = ''\ncomputed = ''\ncases = []";
        Box::leak(Box::new(toml::from_str(data).unwrap()))
    }

    #[test]
    fn cases_make_one_verdict() {
        for (cases, expected) in [
            (&[Holds, Holds][..], Holds),
            (&[Holds, DoesNotHold], HoldsInPart),
            (&[Holds, HoldsInPart], HoldsInPart),
            (&[DoesNotHold, NotMeasurableHere], DoesNotHold),
            (&[Holds, NoSignificantDifference], Holds),
            (&[Holds, NoSignificantDifference, NotMeasurableHere], HoldsWhereMeasured),
            (&[Holds, HoldsWhereMeasured], HoldsWhereMeasured),
            (&[HoldsWhereMeasured, DoesNotHold], HoldsInPart),
            (&[HoldsWhereMeasured], HoldsWhereMeasured),
            (&[NoSignificantDifference, NotMeasurableHere], NoSignificantDifference),
            (&[Holds, TooFewValues], HoldsWhereMeasured),
            (&[DoesNotHold, TooFewValues], DoesNotHold),
            (&[TooFewValues, NoSignificantDifference], NoSignificantDifference),
            (&[TooFewValues, NotMeasurableHere], TooFewValues),
            (&[NotMeasurableHere], NotMeasurableHere),
            (&[], NotMeasurableHere),
        ] {
            assert_eq!(Verdict::over(cases.iter().copied()), expected, "{cases:?}");
        }
    }

    #[test]
    fn the_example_says_what_the_whole_says() {
        let case = |case: &str, verdict, value: Option<f64>| Case {
            engine: "own".to_owned(),
            case: case.to_owned(),
            verdict,
            sentence: String::new(),
            value: value.map(|value| Estimate {
                value,
                low: value,
                high: value,
                confidence: 0.95,
                n: 10,
            }),
        };
        let example = |cases| {
            let claim = Claim::decided(data(), cases);
            claim.example().map(|case| case.case.clone())
        };
        let decided = vec![
            case("small", DoesNotHold, Some(0.3)),
            case("middle", DoesNotHold, Some(0.4)),
            case("large", NoSignificantDifference, Some(0.9)),
        ];
        assert_eq!(example(decided).as_deref(), Some("middle"));
        let in_part = vec![
            case("small", DoesNotHold, Some(0.3)),
            case("large", Holds, Some(2.0)),
            case("largest", NotMeasurableHere, None),
        ];
        assert_eq!(example(in_part).as_deref(), Some("large"));
        assert_eq!(example(vec![case("none", NotMeasurableHere, None)]), None);
    }

    #[test]
    fn engines_that_lack_the_same_are_named_together() {
        let case = |engine: &str, case: &str, verdict| Case {
            engine: engine.to_owned(),
            case: case.to_owned(),
            verdict,
            sentence: String::new(),
            value: None,
        };
        let cases = vec![
            case("own", "1024 bits", Holds),
            case("own", "2048 bits", NotMeasurableHere),
            case("own", "4096 bits", NotMeasurableHere),
            case("gmp", "1024 bits", Holds),
            case("gmp", "2048 bits", NotMeasurableHere),
            case("gmp", "4096 bits", NotMeasurableHere),
            case("java", "1024 bits", Holds),
            case("java", "2048 bits", NotMeasurableHere),
            case("openssl", "1024 bits", Holds),
        ];
        assert_eq!(
            Claim::decided(data(), cases).outcome(),
            "◔ holds where it was measured (own, gmp; not measured: 2048 bits; 4096 bits); \
             ◔ holds where it was measured (java; not measured: 2048 bits); ✓ holds (openssl)"
        );
    }
}

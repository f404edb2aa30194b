//! A claim of an article, and what the data say of it.

use rsalab_measure::Estimate;
use serde::Serialize;

/// What becomes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The data bear it out, beyond what chance explains.
    Holds,
    /// Some of its cases hold and others do not.
    HoldsInPart,
    /// The data speak against it, beyond what chance explains.
    DoesNotHold,
    /// The intervals are too wide, or the effect too small, to tell.
    NoSignificantDifference,
    /// This machine, or this study, lacks what it is about.
    NotMeasurableHere,
}

/// A claim of an article.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// `a-claim-i`.
    pub id: &'static str,
    /// The claim, in our words.
    pub claim: &'static str,
    /// What the article gives for it.
    pub published: &'static str,
    /// How it is computed here.
    pub computed: &'static str,
    /// What becomes of it with each engine.
    pub verdicts: Vec<EngineVerdict>,
    /// Each comparison behind the verdicts.
    pub cases: Vec<Case>,
    /// Why there is no verdict at all.
    pub reason: Option<String>,
}

/// What becomes of a claim with one engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineVerdict {
    /// The engine's selector.
    pub engine: String,
    /// Over all its cases.
    pub verdict: Verdict,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// The engine's selector.
    pub engine: String,
    /// Which direction, threads or size.
    pub case: String,
    /// What becomes of the claim here.
    pub verdict: Verdict,
    /// In words, with the value.
    pub sentence: String,
    /// The value that decides, as `computed` says; none where there is none, and then the sentence says why.
    pub value: Option<Estimate>,
}

impl Verdict {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::HoldsInPart => "holds in part",
            Verdict::DoesNotHold => "does not hold",
            Verdict::NoSignificantDifference => "no significant difference",
            Verdict::NotMeasurableHere => "not measurable here",
        }
    }

    /// The verdict over several cases: what could not be measured, or told, does not speak against what could.
    pub(super) fn over(cases: impl IntoIterator<Item = Verdict>) -> Verdict {
        let cases: Vec<Verdict> = cases.into_iter().collect();
        let has = |verdict| cases.contains(&verdict);
        match (has(Verdict::Holds), has(Verdict::DoesNotHold)) {
            _ if has(Verdict::HoldsInPart) => Verdict::HoldsInPart,
            (true, true) => Verdict::HoldsInPart,
            (true, false) => Verdict::Holds,
            (false, true) => Verdict::DoesNotHold,
            (false, false) if has(Verdict::NoSignificantDifference) => {
                Verdict::NoSignificantDifference
            }
            (false, false) => Verdict::NotMeasurableHere,
        }
    }
}

impl Claim {
    /// A claim before anything is known of it.
    pub(super) const fn stated(
        id: &'static str,
        claim: &'static str,
        published: &'static str,
        computed: &'static str,
    ) -> Claim {
        Claim {
            id,
            claim,
            published,
            computed,
            verdicts: Vec::new(),
            cases: Vec::new(),
            reason: None,
        }
    }

    /// The claim with what `cases` say, each engine's verdict over its own cases.
    pub(super) fn decided(self, cases: Vec<Case>) -> Claim {
        let mut engines: Vec<&str> = Vec::new();
        for case in &cases {
            if !engines.contains(&case.engine.as_str()) {
                engines.push(&case.engine);
            }
        }
        let verdict_of = |engine: &str| {
            let own = cases.iter().filter(|case| case.engine == engine);
            Verdict::over(own.map(|case| case.verdict))
        };
        let verdicts = engines
            .iter()
            .map(|engine| EngineVerdict {
                engine: (*engine).to_owned(),
                verdict: verdict_of(engine),
            })
            .collect();
        let reason = cases
            .is_empty()
            .then(|| "no engine has the figures that it takes".to_owned());
        Claim {
            verdicts,
            reason,
            cases,
            ..self
        }
    }

    /// The first engine's last comparison that says what is said of the whole, else its last one that has a value: the
    /// largest text, the most threads.
    pub fn example(&self) -> Option<&Case> {
        let EngineVerdict { engine, verdict } = self.verdicts.first()?;
        let of_engine = |case: &&Case| case.engine == *engine && case.value.is_some();
        let mut cases = self.cases.iter().filter(of_engine);
        let like_the_whole = cases.clone().rfind(|case| case.verdict == *verdict);
        like_the_whole.or_else(|| cases.next_back())
    }

    /// The claim's number in its article: `(iii)`.
    pub fn numeral(&self) -> String {
        let (_, numeral) = self.id.rsplit_once('-').unwrap_or(("", self.id));
        format!("({numeral})")
    }

    /// The verdicts in words: `holds (own, gmp); does not hold (openssl)`, or the reason why there is none.
    pub fn outcome(&self) -> String {
        if let Some(reason) = &self.reason {
            return reason.clone();
        }
        let mut kinds: Vec<Verdict> = Vec::new();
        for one in &self.verdicts {
            if !kinds.contains(&one.verdict) {
                kinds.push(one.verdict);
            }
        }
        let of_kind = |kind: Verdict| {
            let engines: Vec<&str> = self
                .verdicts
                .iter()
                .filter(|one| one.verdict == kind)
                .map(|one| one.engine.as_str())
                .collect();
            format!("{} ({})", kind.words(), engines.join(", "))
        };
        kinds
            .into_iter()
            .map(of_kind)
            .collect::<Vec<_>>()
            .join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict::*, *};

    #[test]
    fn cases_make_one_verdict() {
        for (cases, expected) in [
            (&[Holds, Holds][..], Holds),
            (&[Holds, DoesNotHold], HoldsInPart),
            (&[Holds, HoldsInPart], HoldsInPart),
            (&[DoesNotHold, NotMeasurableHere], DoesNotHold),
            (&[Holds, NoSignificantDifference, NotMeasurableHere], Holds),
            (
                &[NoSignificantDifference, NotMeasurableHere],
                NoSignificantDifference,
            ),
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
            let claim = Claim::stated("x-i", "", "", "").decided(cases);
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
}

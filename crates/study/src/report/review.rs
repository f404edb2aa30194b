//! The review of an article by a study: its figures, its tables with our numbers, and the verdicts on its claims.

use rsalab_measure::Estimate;
use serde::{Deserialize, Serialize};

use super::figure::Figure;
use crate::distinct::distinct;

/// The review of an article by a study.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Review {
    /// The article's letter; the ids of its figures and claims begin with it.
    pub id: String,
    /// The article's title.
    pub title: String,
    /// Where it was published.
    pub source: String,
    /// The article's machine.
    pub machine: String,
    /// Remarks on the study as a whole: how much was planned and done, and on what.
    pub remarks: Vec<String>,
    /// The article's figures, and those that its words call for.
    pub shown: Vec<Shown>,
    /// Its tables with our numbers.
    pub tables: Vec<Table>,
    /// Its claims.
    pub claims: Vec<Claim>,
    /// The figures themselves: they join those of the report.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

/// A figure of the article in as many figures as it takes here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// `a-fig3`, `a-speedup`.
    pub id: String,
    /// The title.
    pub title: String,
    /// The ids of the report's figures.
    pub figures: Vec<String>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The data bear it out, beyond what chance explains.
    Holds,
    /// Every case that was measured holds, and others could not be measured.
    HoldsWhereMeasured,
    /// Some of its cases hold and others do not.
    HoldsInPart,
    /// The data speak against it, beyond what chance explains.
    DoesNotHold,
    /// The intervals are too wide, or the effect too small, to tell.
    NoSignificantDifference,
    /// Fewer values were measured than decide anything.
    TooFewValues,
    /// This machine, or this study, lacks what it is about.
    NotMeasurableHere,
}

/// A claim of an article.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// `a-claim-i`.
    pub id: String,
    /// The claim, in our words.
    pub claim: String,
    /// The value or sentence that the article gives for it.
    pub published: String,
    /// How it is computed here.
    pub computed: String,
    /// The verdict for each engine.
    pub verdicts: Vec<EngineVerdict>,
    /// Each comparison behind the verdicts.
    pub cases: Vec<Case>,
    /// Why there is no verdict at all.
    pub reason: Option<String>,
}

/// The verdict on a claim for one engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineVerdict {
    /// The engine's selector.
    pub engine: String,
    /// Over all its cases.
    pub verdict: Verdict,
    /// Where it holds as far as it was measured: the cases that were not.
    pub missing: Vec<String>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The engine's selector.
    pub engine: String,
    /// Which direction, threads or size.
    pub case: String,
    /// The verdict on this case.
    pub verdict: Verdict,
    /// In words, with the value.
    pub sentence: String,
    /// The value that decides, as `computed` says; none where there is none, and then the sentence says why.
    pub value: Option<Estimate>,
}

/// A table of an article with our numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// `d-tab1`.
    pub id: String,
    /// The title.
    pub title: String,
    /// Unit of every number; empty for quotients.
    pub unit: String,
    /// The head of the column of labels.
    pub row_head: String,
    /// The heads of the columns, in the article's words and with what stands for it here.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<TableRow>,
    /// Remarks: how values were computed, what the article's own numbers do not bear out.
    pub remarks: Vec<String>,
    /// Why there is nothing of ours in it at all.
    pub reason: Option<String>,
}

/// A row of such a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The label of the row.
    pub label: String,
    /// One for each column.
    pub cells: Vec<TableCell>,
}

/// A number of an article with ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    /// Measured here.
    pub ours: Option<Estimate>,
    /// As printed; none where the article has none.
    pub published: Option<f64>,
    /// Why there is none of ours.
    pub reason: Option<String>,
}

impl Verdict {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::HoldsWhereMeasured => "holds where it was measured",
            Verdict::HoldsInPart => "holds in part",
            Verdict::DoesNotHold => "does not hold",
            Verdict::NoSignificantDifference => "no significant difference",
            Verdict::TooFewValues => "too few values",
            Verdict::NotMeasurableHere => "not measurable here",
        }
    }

    /// A sign for the verdict at a glance; the words stand with it.
    pub fn mark(self) -> &'static str {
        match self {
            Verdict::Holds => "✓",
            Verdict::HoldsWhereMeasured => "◔",
            Verdict::HoldsInPart => "◐",
            Verdict::DoesNotHold => "✗",
            Verdict::NoSignificantDifference => "≈",
            Verdict::TooFewValues => "?",
            Verdict::NotMeasurableHere => "–",
        }
    }

    /// The verdict over several cases: what could not be told does not speak against what could, and what could not be
    /// measured is not said to hold.
    pub(crate) fn over(cases: impl IntoIterator<Item = Verdict>) -> Verdict {
        let cases: Vec<Verdict> = cases.into_iter().collect();
        let has = |verdict| cases.contains(&verdict);
        let holds = has(Verdict::Holds) || has(Verdict::HoldsWhereMeasured);
        match (holds, has(Verdict::DoesNotHold)) {
            _ if has(Verdict::HoldsInPart) => Verdict::HoldsInPart,
            (true, true) => Verdict::HoldsInPart,
            (true, false)
                if has(Verdict::HoldsWhereMeasured)
                    || has(Verdict::NotMeasurableHere)
                    || has(Verdict::TooFewValues) =>
            {
                Verdict::HoldsWhereMeasured
            }
            (true, false) => Verdict::Holds,
            (false, true) => Verdict::DoesNotHold,
            (false, false) if has(Verdict::NoSignificantDifference) => Verdict::NoSignificantDifference,
            (false, false) if has(Verdict::TooFewValues) => Verdict::TooFewValues,
            (false, false) => Verdict::NotMeasurableHere,
        }
    }
}

impl Claim {
    /// The first engine's last comparison that says what is said of the whole, else its last one that has a value: the
    /// largest text, the most threads.
    pub fn example(&self) -> Option<&Case> {
        let EngineVerdict { engine, verdict, .. } = self.verdicts.first()?;
        let of_engine = |case: &&Case| case.engine == *engine && case.value.is_some();
        let mut cases = self.cases.iter().filter(of_engine);
        let wanted = match verdict {
            Verdict::HoldsWhereMeasured => &Verdict::Holds,
            verdict => verdict,
        };
        let like_the_whole = cases.clone().rfind(|case| case.verdict == *wanted);
        like_the_whole.or_else(|| cases.next_back())
    }

    /// The claim's number in its article: `(iii)`.
    pub fn numeral(&self) -> String {
        let (_, numeral) = self.id.rsplit_once('-').unwrap_or(("", &self.id));
        format!("({numeral})")
    }

    /// The verdicts in words: `✓ holds (own, gmp); ✗ does not hold (openssl)`, or the reason why there is none.
    pub fn outcome(&self) -> String {
        if let Some(reason) = &self.reason {
            return reason.clone();
        }
        // Engines of which the same was not measured are named together: the list is said once.
        let of_kind = |(kind, missing): (Verdict, &[String])| {
            let alike = |one: &&EngineVerdict| one.verdict == kind && one.missing == missing;
            let engines: Vec<&str> = self.verdicts.iter().filter(alike).map(|one| &one.engine[..]).collect();
            let missing = match missing {
                [] => String::new(),
                missing => format!("; not measured: {}", missing.join("; ")),
            };
            format!("{} {} ({}{missing})", kind.mark(), kind.words(), engines.join(", "))
        };
        let kinds = distinct(self.verdicts.iter().map(|one| (one.verdict, &one.missing[..])));
        let words: Vec<String> = kinds.into_iter().map(of_kind).collect();
        words.join("; ")
    }
}

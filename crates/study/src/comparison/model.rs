//! The data of a comparison.

use rsalab_engines::Job;
use rsalab_measure::Estimate;
use serde::Serialize;

use crate::report::Drift;

/// Studies beside each other, with the changes from the first to each of the others.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// In the order in which they were named.
    pub studies: Vec<Subject>,
    /// Every cell that any of them has a figure of, or failed at, in the order of the first that has it.
    pub cells: Vec<Cell>,
    /// The confidence that all intervals of changes have together.
    pub confidence: f64,
    /// The answer in sentences.
    pub summary: Vec<String>,
}

/// One study.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// The name by which it was given.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The CPU of its first session, where it is known.
    pub cpu: Option<String>,
    /// The machine in words.
    pub machine: String,
    /// The version of the program that made its report.
    pub program_version: String,
    /// When it was made, in milliseconds since 1970.
    pub created_unix_ms: i64,
    /// Warnings about its machine.
    pub warnings: Vec<String>,
    /// How fast its machine was before each group, where that was measured.
    pub drift: Option<Drift>,
    /// Against the first study: none for that itself, and for one on another machine.
    pub control: Option<Control>,
}

/// One job on one engine, in each study.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The job in a few words.
    pub title: String,
    /// The job.
    pub job: Job,
    /// The engine's selector.
    pub engine: String,
    /// One for each study; none where it has no figure there.
    pub values: Vec<Option<Value>>,
    /// Why it failed, for each study; none where it did not.
    pub failures: Vec<Option<String>>,
}

/// The figures of a cell in one study.
#[derive(Clone, Debug, Serialize)]
pub struct Value {
    /// Operations per second.
    pub ops_per_s: Estimate,
    /// Median nanoseconds of one operation.
    pub ns_per_op: Estimate,
    /// The version of the engine's library.
    pub engine_version: Option<String>,
    /// Its code path.
    pub kernel: Option<String>,
    /// The causes that took time from it, in words.
    pub disturbed: Vec<String>,
    /// Against the first study: none for that itself, and where that has no figure.
    pub change: Option<Change>,
}

/// How a cell's speed changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// This speed divided by that of the first study, with an interval corrected for the number of comparisons.
    pub ratio: Estimate,
    /// The verdict on it.
    pub verdict: Verdict,
}

/// The verdict on a change of speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Faster, beyond noise and drift.
    Faster,
    /// Slower, beyond noise and drift.
    Slower,
    /// No difference that could be told from noise and drift.
    NoChange,
    /// Too few values to say.
    TooFewValues,
    /// Something took time from one of the two, or engines that did not change moved as well.
    Void,
    /// Another speed, beyond noise and drift, of an engine that did not change.
    Control,
    /// On another machine: a ratio, and no change of anything.
    OtherMachine,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoChange => "no change",
            Verdict::TooFewValues => "too few values",
            Verdict::Void => "void",
            Verdict::Control => "moved, though the engine did not change",
            Verdict::OtherMachine => "another machine",
        }
    }
}

/// Engines that did not change from one study to the other, and how much they moved all the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Control {
    /// The engines.
    pub engines: Vec<String>,
    /// The median over their cells of the second speed divided by the first.
    pub moved: Estimate,
}

impl Control {
    /// The most that engines that did not change may move by.
    pub const TOLERATED: f64 = 0.015;

    /// Returns whether a change of others is the machine's.
    pub fn is_void(&self) -> bool {
        (self.moved.value - 1.0).abs() > Self::TOLERATED
    }
}

/// The confidence of all intervals of changes together.
pub(super) const CONFIDENCE: f64 = 0.95;

impl Comparison {
    /// Cells with a verdict, over all studies but the first.
    pub fn count(&self, verdict: Verdict) -> usize {
        let values = self.cells.iter().flat_map(|cell| cell.values.iter().flatten());
        let changes = values.filter_map(|value| value.change.as_ref());
        changes.filter(|change| change.verdict == verdict).count()
    }

    /// Cells that the first study has a figure of and another failed at, over all others.
    pub fn count_failed(&self) -> usize {
        let others = 1..self.studies.len();
        others
            .map(|place| self.cells.iter().filter(|cell| cell.fails_in(place)).count())
            .sum()
    }
}

impl Cell {
    /// Returns whether it failed in the study of this place, where the first has a figure.
    pub(super) fn fails_in(&self, place: usize) -> bool {
        self.values[0].is_some() && self.failures[place].is_some()
    }

    /// Studies in which it is compared with the first.
    pub(super) fn compared(&self) -> usize {
        match self.values.first() {
            Some(Some(_)) => self.values.iter().skip(1).flatten().count(),
            _ => 0,
        }
    }
}

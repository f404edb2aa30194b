//! The parts of a section: tables of words and values, with their figures.

use rsalab_measure::Estimate;
use serde::{Deserialize, Serialize};

use crate::{
    number,
    report::{figure::Figure, names::is_own},
};

/// One section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Fit for an anchor.
    pub id: String,
    /// The question.
    pub title: String,
    /// Its name among the links of the page.
    pub short: String,
    /// The meaning of what is shown.
    pub words: String,
    /// One for each job, or operation, that it is asked of.
    pub parts: Vec<Part>,
}

/// A job in a section.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Fit for an anchor, and unique in the report.
    pub id: String,
    /// The job in a few words.
    pub title: String,
    /// The figures: their numbers are those of the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// The columns of the table.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Line>,
    /// Conclusions; where there is none, the reason.
    pub sentences: Vec<String>,
    /// `true` if the table is long, and a page folds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_long: bool,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name, with the unit that its words have where they have one.
    pub name: String,
    /// The unit of its values in data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// `true` if it has numbers, which are set to the right.
    pub is_number: bool,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// `true` if it is about our own engine.
    pub is_own: bool,
    /// In the order of the columns.
    pub cells: Vec<Entry>,
}

/// A cell: what is read, and the value where it is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The words.
    pub text: String,
    /// The value, in the unit of its column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Estimate>,
}

impl Column {
    pub(super) fn words(name: &str) -> Column {
        Column {
            name: name.to_owned(),
            unit: None,
            is_number: false,
        }
    }

    pub(super) fn number(name: &str) -> Column {
        Column {
            is_number: true,
            ..Column::words(name)
        }
    }

    pub(super) fn unit(name: &str, unit: &str) -> Column {
        Column {
            unit: Some(unit.to_owned()),
            ..Column::number(name)
        }
    }
}

impl Line {
    pub(super) fn of(engine: &str, cells: impl IntoIterator<Item = Entry>) -> Line {
        Line {
            is_own: is_own(engine),
            cells: [Entry::words(engine)].into_iter().chain(cells).collect(),
        }
    }
}

impl Entry {
    pub(super) fn words(text: impl Into<String>) -> Entry {
        Entry {
            text: text.into(),
            value: None,
        }
    }

    pub(super) fn none() -> Entry {
        Entry::words("–")
    }

    pub(super) fn whole(count: usize) -> Entry {
        Entry {
            value: Some(exact(count as f64)),
            ..Entry::words(number::whole(count as u64))
        }
    }

    pub(super) fn number(value: f64) -> Entry {
        Entry {
            value: Some(exact(value)),
            ..Entry::words(number::significant(value))
        }
    }

    pub(super) fn estimate(estimate: &Estimate) -> Entry {
        Entry {
            text: number::with_interval(estimate),
            value: Some(*estimate),
        }
    }

    /// A time in nanoseconds.
    pub(super) fn duration(ns: f64) -> Entry {
        Entry {
            text: number::duration(ns),
            value: Some(exact(ns)),
        }
    }

    /// A time in nanoseconds, with its interval.
    pub(super) fn duration_estimate(ns: &Estimate) -> Entry {
        Entry {
            text: format!("{} {}", number::duration(ns.value), number::duration_interval(ns)),
            value: Some(*ns),
        }
    }
}

/// A value that is known, not estimated: without an interval.
pub(super) fn exact(value: f64) -> Estimate {
    Estimate {
        value,
        low: value,
        high: value,
        confidence: 0.0,
        n: 1,
    }
}

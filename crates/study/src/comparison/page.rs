//! One page for several studies: engines × machines, each machine with its conditions.

use serde::Serialize;

use super::model::{Cell, Comparison, Subject, Value};
use crate::{
    number,
    report::{self, speed_of, unit_of},
};

/// The comparison as one page that needs nothing else: no network, no other file.
pub fn html(comparison: &Comparison) -> String {
    let mut tables: Vec<Table<'_>> = Vec::new();
    for cell in &comparison.cells {
        match tables.iter_mut().find(|table| table.title == cell.title) {
            Some(table) => table.rows.push(Row::of(cell)),
            None => tables.push(Table {
                title: &cell.title,
                unit: unit_of(&cell.job),
                rows: vec![Row::of(cell)],
            }),
        }
    }
    let page = Page {
        studies: comparison.studies.iter().map(Study::of).collect(),
        tables,
        confidence: number::percent(comparison.confidence),
        summary: comparison.summary.clone(),
        version: crate::version::VERSION,
        style: report::STYLE,
    };
    report::page(include_str!("page.html"), page)
}

#[derive(Serialize)]
struct Page<'a> {
    studies: Vec<Study<'a>>,
    tables: Vec<Table<'a>>,
    confidence: String,
    summary: Vec<String>,
    version: &'static str,
    style: &'static str,
}

#[derive(Serialize)]
struct Study<'a> {
    name: &'a str,
    title: &'a str,
    machine: &'a str,
    made: String,
    version: &'a str,
    remarks: Vec<String>,
}

impl<'a> Study<'a> {
    fn of(subject: &'a Subject) -> Study<'a> {
        let drift = subject.drift.iter().map(report::Drift::words);
        Study {
            name: &subject.name,
            title: &subject.title,
            machine: &subject.machine,
            made: report::date(subject.created_unix_ms),
            version: &subject.program_version,
            remarks: drift.chain(subject.warnings.iter().cloned()).collect(),
        }
    }
}

#[derive(Serialize)]
struct Table<'a> {
    title: &'a str,
    unit: &'static str,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    engine: &'a str,
    cells: Vec<Place>,
}

#[derive(Serialize)]
struct Place {
    shown: Option<Shown>,
    /// What stands there without a speed.
    instead: &'static str,
}

#[derive(Serialize)]
struct Shown {
    speed: String,
    interval: String,
    /// Engine's version and code path.
    path: String,
    ratio: Option<String>,
    verdict: Option<&'static str>,
    disturbed: String,
}

impl<'a> Row<'a> {
    fn of(cell: &'a Cell) -> Row<'a> {
        let shown = |value: &Value| {
            let speed = speed_of(&cell.job, &value.ops_per_s);
            let path = [value.engine_version.as_deref(), value.kernel.as_deref()];
            Shown {
                speed: number::significant(speed.value),
                interval: number::interval(&speed),
                path: path.into_iter().flatten().collect::<Vec<_>>().join(", "),
                ratio: value.change.as_ref().map(|change| number::with_interval(&change.ratio)),
                verdict: value.change.as_ref().map(|change| change.verdict.words()),
                disturbed: value.disturbed.join("; "),
            }
        };
        let place = |(value, failure): (&Option<Value>, &Option<String>)| Place {
            shown: value.as_ref().map(shown),
            instead: if failure.is_some() { "failed" } else { "–" },
        };
        Row {
            engine: &cell.engine,
            cells: cell.values.iter().zip(&cell.failures).map(place).collect(),
        }
    }
}

//! Studies beside each other: one plan on two versions of a library, on two days, on several machines.
//!
//! | question | file |
//! |---|---|
//! | what changed from one to the next, and how sure is that | [`Comparison::of`] |
//! | did the machine itself change | `control` |
//! | the data | `model` |
//! | the answer in sentences | `words` |
//! | one page for all | `page` |
//! | the file that Bencher takes | `bencher` |
//!
//! Cells of two studies were not measured interleaved. So a change is one only if its interval, corrected for the
//! number of cells that are compared, lies beyond what a machine drifts by from one minute to the next; and between
//! studies of one machine it is void where engines that did not change moved too. A cell of such an engine is never
//! called faster or slower: what moves it is the machine, or where the memory of a worker that was started anew lies.

mod bencher;
mod control;
mod model;
mod page;
#[cfg(test)]
mod tests;
mod words;

use rsalab_engines::Job;

use crate::{
    report::{Report, Row, machine_words},
    significance::{DRIFT, Side, side},
};
use control::{control, is_unchanged};
use model::CONFIDENCE;

pub use bencher::bencher;
pub use model::{Cell, Change, Comparison, Control, Subject, Value, Verdict};
pub use page::html;

impl Comparison {
    /// Compares reports, each with the name by which it was given; the first is what the others are compared with.
    /// `control` names the engines that did not change; else it is those of others whose version and kernel are alike.
    pub fn of(reports: &[(String, Report)], control_engine: Option<&str>) -> Comparison {
        let mut cells: Vec<Cell> = Vec::new();
        for (_, report) in reports {
            for (job, row) in rows(report) {
                if !cells.iter().any(|cell| cell.job == *job && cell.engine == row.engine) {
                    let found: Vec<Option<&Row>> = reports
                        .iter()
                        .map(|(_, report)| find(report, job, &row.engine))
                        .collect();
                    cells.push(Cell {
                        title: String::new(),
                        job: job.clone(),
                        engine: row.engine.clone(),
                        values: found.iter().map(|row| value((*row)?)).collect(),
                        failures: found.iter().map(|row| failure((*row)?)).collect(),
                    });
                }
            }
        }
        // What no machine could do has nothing to show.
        cells.retain(|cell| cell.values.iter().any(Option::is_some) || cell.failures.iter().any(Option::is_some));
        // A page, or Bencher, would take jobs with one title for one.
        let titles = crate::plan::titles(cells.iter().map(|cell| &cell.job));
        for (cell, title) in cells.iter_mut().zip(titles) {
            cell.title = title;
        }
        let mut studies: Vec<Subject> = reports.iter().map(|(name, report)| Subject::of(name, report)).collect();
        for place in 1..studies.len() {
            let is_same_machine = studies[place].machine == studies[0].machine;
            if is_same_machine {
                studies[place].control = control(&cells, place, control_engine);
            }
        }
        let compared: usize = cells.iter().map(Cell::compared).sum();
        for cell in &mut cells {
            cell.compare(&studies, compared.max(1), control_engine);
        }
        let mut comparison = Comparison {
            studies,
            cells,
            confidence: CONFIDENCE,
            summary: Vec::new(),
        };
        comparison.summary = comparison.sentences();
        comparison
    }
}

impl Subject {
    fn of(name: &str, report: &Report) -> Subject {
        let session = report.sessions.first();
        Subject {
            name: name.to_owned(),
            title: report.title.clone(),
            cpu: session.and_then(|session| session.fact("CPU")).map(str::to_owned),
            machine: session.map(machine_words).unwrap_or_default(),
            program_version: report.program_version.clone(),
            created_unix_ms: report.created_unix_ms,
            warnings: session.map(|session| session.warnings.clone()).unwrap_or_default(),
            drift: report.drift,
            control: None,
        }
    }
}

impl Cell {
    fn compare(&mut self, studies: &[Subject], comparisons: usize, control_engine: Option<&str>) {
        let Some(Some(first)) = self.values.first().cloned() else {
            return;
        };
        for (study, value) in studies.iter().zip(&mut self.values).skip(1) {
            if let Some(value) = value {
                let is_control = is_unchanged(&self.engine, &first, value, control_engine);
                value.change = Some(change(&first, value, (&studies[0], study), comparisons, is_control));
            }
        }
    }
}

fn change(
    first: &Value,
    this: &Value,
    (base, study): (&Subject, &Subject),
    comparisons: usize,
    is_control: bool,
) -> Change {
    let ratio = this.ops_per_s.over(&first.ops_per_s).corrected(comparisons, CONFIDENCE);
    let is_disturbed = !(first.disturbed.is_empty() && this.disturbed.is_empty());
    let is_void = is_disturbed || study.control.as_ref().is_some_and(Control::is_void);
    let verdict = match side(&ratio, 1.0, DRIFT) {
        _ if study.machine != base.machine => Verdict::OtherMachine,
        Side::TooFew => Verdict::TooFewValues,
        Side::Unclear => Verdict::NoChange,
        _ if is_void => Verdict::Void,
        _ if is_control => Verdict::Control,
        Side::Above => Verdict::Faster,
        Side::Below => Verdict::Slower,
    };
    Change { ratio, verdict }
}

fn rows(report: &Report) -> impl Iterator<Item = (&Job, &Row)> {
    report
        .groups
        .iter()
        .flat_map(|group| group.rows.iter().map(|row| (&group.job, row)))
}

fn find<'a>(report: &'a Report, job: &Job, engine: &str) -> Option<&'a Row> {
    let mut rows = rows(report).filter(|(of, row)| *of == job && row.engine == engine);
    rows.next().map(|(_, row)| row)
}

/// Why a cell failed. One that its engine or machine cannot do has not.
fn failure(row: &Row) -> Option<String> {
    (row.state == "failed").then(|| row.reason.clone().unwrap_or_default())
}

fn value(row: &Row) -> Option<Value> {
    let figures = row.figures?;
    let grave = row.disturbance.as_ref().filter(|disturbance| disturbance.is_grave());
    Some(Value {
        ops_per_s: figures.ops_per_s,
        ns_per_op: figures.ns_per_op,
        engine_version: row.engine_version.clone(),
        kernel: row.kernel.clone(),
        disturbed: grave.map(|disturbance| disturbance.causes.clone()).unwrap_or_default(),
        change: None,
    })
}

//! The groups of a report: the same job on several engines, with their figures and ratios.

use rsalab_engines::{Job, Ledger};
use serde::Serialize;

use super::digest::Digest;
use crate::{
    compare::{self, Adjusted, Figures, Measured, MeasuredBlock, Ratio},
    plan::{self, Article},
    run::interrupted_note,
    store::{BlockRecord, CellRecord, CellState, GroupRecord, InterruptedBlock, TakenBlock},
};

/// The same job on several engines, measured interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// In a few words.
    pub title: String,
    /// The article whose study asks for it.
    pub article: Option<Article>,
    /// What was asked.
    pub job: Job,
    /// The confidence that intervals were asked to have.
    pub confidence: f64,
    /// One row for each engine.
    pub rows: Vec<Row>,
}

/// One job on one engine.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The engine's selector.
    pub engine: String,
    /// The version of its library.
    pub engine_version: Option<String>,
    /// The code path it chose for this CPU.
    pub kernel: Option<String>,
    /// How far the cell has come.
    pub state: &'static str,
    /// Why there is no figure.
    pub reason: Option<String>,
    /// The figures, if the cell is done.
    pub figures: Option<Figures>,
    /// Its speed compared with that of the group's first engine that is done.
    pub ratio: Option<Ratio>,
    /// Its adjusted speed, where chance decides how long an operation takes. The figures and the ratio are raw.
    pub luck_corrected: Option<Adjusted>,
    /// The conditions of the figures.
    pub ledger: Option<Ledger>,
    /// What articles need beyond the figures.
    #[serde(skip)]
    pub(crate) digest: Option<Digest>,
    /// Without blinding and without the check of the result, on request.
    pub is_bare: bool,
    /// The logical CPUs its threads ran on.
    pub cpus: Vec<usize>,
    /// Blocks during which something outside kept the worker from running: left out of every figure.
    pub interrupted_blocks: usize,
    /// Remarks.
    pub notes: Vec<String>,
}

/// A group's stored blocks, sorted out by cell.
pub(super) struct Comparison<'a> {
    /// In the order of the group's cells; none for those that are not done.
    pub(super) measured: Vec<Option<Measured<'a>>>,
    /// The same blocks as they were stored.
    taken: Vec<Vec<&'a TakenBlock>>,
}

impl<'a> Comparison<'a> {
    pub(super) fn of(group: &'a GroupRecord, blocks: &'a [BlockRecord]) -> Self {
        let measured = |cell: &'a CellRecord| {
            let ledger = &cell.beginning.as_ref()?.ledger;
            let own = blocks.iter().filter(|block| block.cell == cell.id);
            let blocks = own.map(|block| MeasuredBlock::from(&block.taken)).collect();
            (cell.state == CellState::Done).then_some(Measured { ledger, blocks })
        };
        let taken = |cell: &CellRecord| {
            let own = blocks.iter().filter(|block| block.cell == cell.id);
            own.map(|block| &block.taken).collect()
        };
        Comparison {
            measured: group.cells.iter().map(measured).collect(),
            taken: group.cells.iter().map(taken).collect(),
        }
    }
}

impl Group {
    pub(super) fn of(
        record: &GroupRecord,
        comparison: &Comparison<'_>,
        interrupted: &[InterruptedBlock],
    ) -> Group {
        let confidence = record.measure.confidence;
        let op = record.job.op;
        let first = comparison.measured.iter().flatten().next();
        let measured: Vec<Option<&Measured<'_>>> =
            comparison.measured.iter().map(Option::as_ref).collect();
        let corrected = compare::adjusted(op, &measured, confidence);
        let row = |(((cell, measured), corrected), taken): (((&CellRecord, _), _), &Vec<_>)| {
            let measured: Option<&Measured<'_>> = measured;
            let figures = measured.and_then(|measured| compare::figures(op, measured, confidence));
            let ratio = first
                .zip(measured)
                .and_then(|(first, this)| compare::ratio(op, first, this, confidence));
            let readiness = cell
                .beginning
                .as_ref()
                .map(|beginning| &beginning.readiness);
            let reasons: Vec<&str> = interrupted
                .iter()
                .filter(|block| block.record.cell == cell.id)
                .map(|block| block.reason.as_str())
                .collect();
            let row = Row::of(cell, figures, ratio);
            Row {
                notes: row
                    .notes
                    .into_iter()
                    .chain(interrupted_note(&reasons))
                    .collect(),
                interrupted_blocks: reasons.len(),
                digest: measured.map(|measured| Digest::of(measured, taken, readiness)),
                luck_corrected: corrected,
                ..row
            }
        };
        Group {
            title: plan::title(&record.job),
            article: None,
            job: record.job.clone(),
            confidence,
            rows: record
                .cells
                .iter()
                .zip(measured.iter().copied())
                .zip(corrected)
                .zip(&comparison.taken)
                .map(row)
                .collect(),
        }
    }

    /// The engine that ratios refer to.
    pub fn base(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.figures.is_some())
    }

    /// The rows as tables and charts have them: by speed, then those without a figure in the order of the plan.
    pub(super) fn fastest_first(&self) -> Vec<&Row> {
        let speed = |row: &Row| row.figures.map_or(0.0, |figures| figures.ops_per_s.value);
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by(|one, other| speed(other).total_cmp(&speed(one)));
        rows
    }
}

impl Row {
    fn of(cell: &CellRecord, figures: Option<Figures>, ratio: Option<Ratio>) -> Row {
        let beginning = cell.beginning.as_ref();
        Row {
            engine: cell.engine.clone(),
            engine_version: beginning.map(|beginning| beginning.info.version.clone()),
            kernel: beginning.map(|beginning| beginning.readiness.kernel.clone()),
            state: cell.state.name(),
            reason: cell.state.reason().map(str::to_owned),
            figures,
            ratio,
            luck_corrected: None,
            digest: None,
            ledger: beginning.map(|beginning| beginning.ledger.clone()),
            is_bare: cell.job.bare,
            cpus: beginning
                .map(|beginning| beginning.readiness.cpus.clone())
                .unwrap_or_default(),
            interrupted_blocks: 0,
            notes: beginning
                .map(|beginning| beginning.notes.clone())
                .unwrap_or_default(),
        }
    }
}

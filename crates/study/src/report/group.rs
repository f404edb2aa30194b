//! The groups of a report: the same job on several engines, with their figures and ratios.

use rsalab_engines::{Job, Ledger};
use rsalab_measure::Estimate;
use serde::{Deserialize, Serialize};

use super::digest::Digest;
use crate::{
    compare::{self, Adjusted, Figures, Measured, Ratio},
    disturbance::{self, Disturbance, Reading},
    plan::{self, Article},
    run::interrupted_note,
    store::{BlockRecord, CellRecord, CellState, GroupRecord, InterruptedBlock},
};

/// One job on several engines, measured interleaved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// In a few words.
    pub title: String,
    /// The article whose study asks for it.
    pub article: Option<Article>,
    /// The job.
    pub job: Job,
    /// The confidence that intervals were asked to have.
    pub confidence: f64,
    /// One row for each engine.
    pub rows: Vec<Row>,
}

/// One job on one engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The engine's selector.
    pub engine: String,
    /// The version of its library.
    pub engine_version: Option<String>,
    /// The code path it chose for this CPU.
    pub kernel: Option<String>,
    /// How far the cell has come.
    pub state: String,
    /// Why there is no figure.
    pub reason: Option<String>,
    /// The figures, if the cell is done.
    pub figures: Option<Figures>,
    /// Its speed compared with that of the group's first engine that is done.
    pub ratio: Option<Ratio>,
    /// On several threads: its speed divided by that of the same engine on one, where the two were measured
    /// interleaved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<Estimate>,
    /// Its adjusted speed, where chance decides how long an operation takes. The figures and the ratio are raw.
    #[serde(rename = "luck_corrected")]
    pub adjusted: Option<Adjusted>,
    /// The conditions of the figures.
    pub ledger: Option<Ledger>,
    /// The data that articles need beyond the figures.
    #[serde(skip)]
    pub(crate) digest: Option<Digest>,
    /// Without blinding and without the check of the result, on request.
    pub is_bare: bool,
    /// The logical CPUs its threads ran on.
    pub cpus: Vec<usize>,
    /// Blocks during which something outside kept the worker from running, or took a part of its time, and that were
    /// measured again: left out of every figure.
    pub interrupted_blocks: usize,
    /// The time that was taken from the blocks of its figures; none where that was little, or is not known.
    #[serde(default)]
    pub disturbance: Option<Disturbance>,
    /// Remarks.
    pub notes: Vec<String>,
}

impl Row {
    /// The primality test in words, which begin with the number of rounds.
    pub(crate) fn rounds(&self) -> Option<&str> {
        self.ledger.as_ref()?.rounds.as_deref()
    }
}

/// The measurements of each cell of a group; none of those that are not done.
pub(super) fn measured<'a>(group: &'a GroupRecord, blocks: &'a [BlockRecord]) -> Vec<Option<Measured<'a>>> {
    let measured = |cell: &'a CellRecord| {
        let ledger = &cell.beginning.as_ref()?.ledger;
        let own = blocks.iter().filter(|block| block.cell == cell.id);
        let blocks = own.map(|block| &block.taken).collect();
        (cell.state == CellState::Done).then_some(Measured { ledger, blocks })
    };
    group.cells.iter().map(measured).collect()
}

impl Group {
    pub(super) fn of(
        record: &GroupRecord,
        measured: &[Option<Measured<'_>>],
        interrupted: &[InterruptedBlock],
        speedups: Vec<Option<Estimate>>,
        quota: Option<f64>,
    ) -> Group {
        let confidence = record.measure.confidence;
        let op = record.job.op;
        let measured: Vec<Option<&Measured<'_>>> = measured.iter().map(Option::as_ref).collect();
        let first = measured.iter().copied().flatten().next();
        let adjusted = compare::adjusted(op, &measured, confidence);
        let cells = record
            .cells
            .iter()
            .zip(measured)
            .zip(adjusted.into_iter().zip(speedups));
        let row = |((cell, measured), (adjusted, speedup)): ((&CellRecord, Option<&Measured<'_>>), (_, _))| {
            let ratio = first
                .zip(measured)
                .and_then(|(first, this)| compare::ratio(op, first, this, confidence));
            let reasons: Vec<&str> = interrupted
                .iter()
                .filter(|block| block.record.cell == cell.id)
                .map(|block| block.reason.as_str())
                .collect();
            let beginning = cell.beginning.as_ref();
            let readiness = beginning.map(|beginning| &beginning.readiness);
            let notes = beginning.map(|beginning| beginning.notes.clone());
            let mut notes = notes.unwrap_or_default();
            notes.extend(interrupted_note(&reasons));
            let figures = measured.and_then(|this| compare::figures(op, this, confidence));
            let disturbance = measured.zip(beginning).and_then(|(measured, beginning)| {
                let reading = Reading::of(beginning, &cell.job, &cell.engine);
                Disturbance::of(&measured.blocks, reading, quota)
            });
            notes.extend(disturbance::remarks(
                figures.as_ref(),
                measured.map_or(0, |measured| measured.blocks.len()),
                disturbance.as_ref(),
                compare::is_random(op),
            ));
            Row {
                engine: cell.engine.clone(),
                engine_version: beginning.map(|beginning| beginning.info.version.clone()),
                kernel: readiness.map(|readiness| readiness.kernel.clone()),
                state: cell.state.name().to_owned(),
                reason: cell.state.reason().map(str::to_owned),
                figures,
                ratio,
                speedup,
                adjusted,
                ledger: beginning.map(|beginning| beginning.ledger.clone()),
                digest: measured.map(|this| Digest::of(this, readiness)),
                is_bare: cell.job.bare,
                cpus: readiness.map_or(Vec::new(), |readiness| readiness.cpus.clone()),
                interrupted_blocks: reasons.len(),
                disturbance,
                notes,
            }
        };
        Group {
            title: plan::title(&record.job),
            article: None,
            job: record.job.clone(),
            confidence,
            rows: cells.map(row).collect(),
        }
    }

    /// The engine that ratios refer to.
    pub fn base(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.figures.is_some())
    }

    /// The rows as tables and charts have them: by speed, then those without a figure in the order of the plan.
    pub fn fastest_first(&self) -> Vec<&Row> {
        let speed = |row: &Row| row.figures.map_or(0.0, |figures| figures.ops_per_s.value);
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by(|one, other| speed(other).total_cmp(&speed(one)));
        rows
    }
}

impl Row {
    /// Returns whether its ratio is not between equals.
    pub(super) fn is_unequal(&self) -> bool {
        let ratio = self.ratio.as_ref();
        ratio.is_some_and(|ratio| !ratio.differs_in.is_empty())
    }
}

//! What a study has measured of one job on one engine, or why it has not: what tables of articles are filled from.

use rsalab_engines::Job;
use rsalab_measure::{Estimate, stats::median_interval};

use crate::report::{Digest, Group, Row, Ticks};

/// The cells of a study that belong to an article.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub(super) groups: &'a [Group],
}

/// One cell that is done.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) row: &'a Row,
    pub(super) digest: &'a Digest,
    confidence: f64,
}

impl<'a> Evidence<'a> {
    /// The cell of an engine in the group that does such a job.
    ///
    /// # Errors
    /// Why there is no figure: what the cell says, or that the study does not ask.
    pub(super) fn cell(
        self,
        is_asked: impl Fn(&Job) -> bool,
        engine: &str,
    ) -> Result<Cell<'a>, String> {
        let group = self.groups.iter().find(|group| {
            is_asked(&group.job) && group.rows.iter().any(|row| row.engine == engine)
        });
        let group = group.ok_or_else(|| format!("this study does not ask {engine}"))?;
        let mut rows = group.rows.iter();
        let row = rows
            .find(|row| row.engine == engine)
            .expect("the group was chosen for it");
        match (&row.figures, &row.digest, &row.reason) {
            (Some(_), Some(digest), _) => Ok(Cell {
                row,
                digest,
                confidence: group.confidence,
            }),
            (_, _, Some(reason)) => Err(reason.clone()),
            _ => Err(format!("{engine} is not measured yet")),
        }
    }
}

impl<'a> Cell<'a> {
    /// Median nanoseconds of an operation.
    pub(super) fn median_ns(self) -> Estimate {
        self.figures().ns_per_op
    }

    /// Median ticks of the time-stamp counter of an operation.
    pub(super) fn median_ticks(self) -> Result<Estimate, String> {
        Ok(self.median_ns().scaled(self.ticks_per_ns()?))
    }

    /// Mean nanoseconds of an operation, of an operation whose time is luck.
    pub(super) fn mean_ns(self) -> Estimate {
        self.figures().ops_per_s.reciprocal().scaled(1e9)
    }

    /// Mean ticks of such an operation.
    pub(super) fn mean_ticks(self) -> Result<Estimate, String> {
        Ok(self.mean_ns().scaled(self.ticks_per_ns()?))
    }

    /// Ticks of single operations.
    pub(super) fn ticks(self) -> Result<&'a Ticks, String> {
        let ticks = self.digest.ticks.as_ref();
        ticks.ok_or_else(|| no_ticks().to_owned())
    }

    /// Wall time of the worker's blocks for each operation, with all its threads at work.
    pub(super) fn wall_ns(self) -> Result<Estimate, String> {
        let blocks = self.digest.blocks.iter();
        let per_op = blocks.map(|block| block.elapsed_ns as f64 / block.operations as f64);
        median_interval(&per_op.collect::<Vec<_>>(), self.confidence)
            .ok_or_else(|| "it has no blocks".to_owned())
    }

    /// Ticks that pass in a nanosecond, by the cell's own samples.
    pub(super) fn ticks_per_ns(self) -> Result<f64, String> {
        let blocks = self.digest.blocks.iter();
        let sums = blocks.map(|block| Some((block.ticks? as f64, block.measured_ns as f64)));
        let sums: Option<Vec<(f64, f64)>> = sums.collect();
        let (ticks, ns) = sums
            .ok_or_else(|| no_ticks().to_owned())?
            .into_iter()
            .fold((0.0, 0.0), |(ticks, ns), more| {
                (ticks + more.0, ns + more.1)
            });
        match ns > 0.0 {
            true => Ok(ticks / ns),
            false => Err(no_ticks().to_owned()),
        }
    }

    fn figures(self) -> &'a crate::compare::Figures {
        let figures = self.row.figures.as_ref();
        figures.expect("a cell is made of a row with figures")
    }
}

/// A value that was counted, or is one of a kind: without an interval.
pub(super) fn exact(value: f64) -> Estimate {
    Estimate {
        value,
        low: value,
        high: value,
        confidence: 0.0,
        n: 1,
    }
}

fn no_ticks() -> &'static str {
    "this machine, or this engine's clock, has no ticks of a time-stamp counter"
}

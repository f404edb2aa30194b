//! An engine's cell in one launch of the workers or in several.
//!
//! A worker that is started anew has its memory elsewhere, and is some thousandths faster or slower as long as it
//! lives. An interval over the blocks of one launch knows nothing of that; one over launches does.

use rsalab_engines::{BlockReport, Op};
use rsalab_measure::{Block, Estimate, stats::median_interval};

use crate::{
    compare::{self, CONFIDENCE, Figures, Measured, Ratio},
    run::ActiveCell,
    store::{Beginning, CellState, TakenBlock},
};

/// One cell in every launch.
pub(crate) struct Launches<'a> {
    cells: Vec<&'a ActiveCell>,
    /// The blocks that statistics are made of. Of several launches, each is one block: neighbouring samples share what
    /// is particular to it.
    blocks: Vec<TakenBlock>,
}

impl<'a> Launches<'a> {
    /// The cell with a number in the group, out of the group's cells in each launch.
    pub(crate) fn of(place: usize, launches: &'a [Vec<ActiveCell>]) -> Self {
        let cells: Vec<&ActiveCell> = launches.iter().map(|cells| &cells[place]).collect();
        let numbered = cells.iter().enumerate();
        let done = numbered.filter(|(_, cell)| cell.state == CellState::Done);
        let blocks = match cells.len() {
            1 => done.flat_map(|(_, cell)| cell.blocks.clone()).collect(),
            // The number of a launch is that of a round: two engines are compared in the launches that both ended.
            _ => done.map(|(launch, cell)| whole_launch(launch, cell)).collect(),
        };
        Launches { cells, blocks }
    }

    /// The cell in each launch.
    pub(crate) fn cells(&self) -> &[&'a ActiveCell] {
        &self.cells
    }

    /// Blocks, or launches if there are several.
    pub(crate) fn values(&self) -> usize {
        self.blocks.len()
    }

    /// What the last worker said of itself.
    pub(crate) fn beginning(&self) -> Option<&'a Beginning> {
        self.cells.iter().rev().find_map(|cell| cell.beginning.as_ref())
    }

    /// Blocks as they were taken, of all launches.
    pub(crate) fn taken(&self) -> Vec<&'a TakenBlock> {
        self.cells.iter().flat_map(|cell| &cell.blocks).collect()
    }

    /// What statistics are made of.
    pub(crate) fn measured(&self) -> Option<Measured<'_>> {
        Some(Measured {
            ledger: &self.beginning()?.ledger,
            blocks: self.blocks.iter().collect(),
        })
    }

    /// Operations per second of each launch, if there are several.
    pub(crate) fn speeds(&self, op: Op) -> Vec<f64> {
        if !self.are_several() {
            return Vec::new();
        }
        let done = self.cells.iter().filter(|cell| cell.state == CellState::Done);
        done.filter_map(|cell| compare::figures(op, &cell.measured()?, CONFIDENCE))
            .map(|figures| figures.ops_per_s.value)
            .collect()
    }

    /// The figures; of several launches, the speed is the median of theirs.
    pub(crate) fn figures(&self, op: Op) -> Option<Figures> {
        let figures = compare::figures(op, &self.measured()?, CONFIDENCE)?;
        Some(Figures {
            ops_per_s: median_interval(&self.speeds(op), CONFIDENCE).unwrap_or(figures.ops_per_s),
            ..figures
        })
    }

    /// The ratio to another engine in the same launches: of several, the median of theirs, which one fast launch does
    /// not move.
    pub(crate) fn ratio(&self, first: &Launches<'_>, op: Op) -> Option<Ratio> {
        let ratio = compare::ratio(op, &first.measured()?, &self.measured()?, CONFIDENCE)?;
        Some(Ratio {
            to_first: self.median_ratio(first, op).unwrap_or(ratio.to_first),
            ..ratio
        })
    }

    fn median_ratio(&self, first: &Launches<'_>, op: Op) -> Option<Estimate> {
        if !self.are_several() {
            return None;
        }
        let both = first.cells.iter().zip(&self.cells);
        let logarithms: Vec<f64> = both
            .filter(|(first, this)| [first, this].iter().all(|cell| cell.state == CellState::Done))
            .filter_map(|(first, this)| compare::ratio(op, &first.measured()?, &this.measured()?, CONFIDENCE))
            .map(|ratio| ratio.to_first.value.ln())
            .collect();
        let estimate = median_interval(&logarithms, CONFIDENCE)?;
        Some(Estimate {
            value: estimate.value.exp(),
            low: estimate.low.exp(),
            high: estimate.high.exp(),
            ..estimate
        })
    }

    fn are_several(&self) -> bool {
        self.cells.len() > 1
    }
}

/// All samples of a launch as one block.
fn whole_launch(launch: usize, cell: &ActiveCell) -> TakenBlock {
    let blocks = || cell.blocks.iter().map(|taken| &taken.report);
    let block = Block {
        samples: blocks()
            .flat_map(|report| report.block.samples.iter().copied())
            .collect(),
        discarded_operations: blocks().map(|report| report.block.discarded_operations).sum(),
        discarded_ns: blocks().map(|report| report.block.discarded_ns).sum(),
        started_ns: blocks().map(|report| report.block.started_ns).min().unwrap_or(0),
        elapsed_ns: blocks().map(|report| report.block.elapsed_ns).sum(),
    };
    let tests = blocks().flat_map(|report| report.tests.iter().copied()).collect();
    let report = BlockReport {
        block,
        tests,
        outputs: Vec::new(),
        trace: Vec::new(),
        cpu: None,
    };
    TakenBlock {
        order_index: launch as u64,
        round: launch,
        worker_pid: cell.worker_pid,
        report,
        losses: None,
    }
}

//! The events of a run, as an observer sees them.

use std::time::Duration;

use rsalab_measure::Estimate;

use crate::{compare::Figures, store::CellState};

/// Watches a run: draws bars, prints lines, or does nothing.
pub trait Observer {
    /// Something happened. Called on the thread that runs the study, between blocks.
    fn notice(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>)> Observer for F {
    fn notice(&mut self, event: &Event<'_>) {
        self(event);
    }
}

/// One cell as an observer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellName<'a> {
    /// The group in a few words, such as `private 2048 bits, 1 thread`.
    pub job: &'a str,
    /// The engine's selector.
    pub engine: &'a str,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Cells that are done, failed or unsupported.
    pub cells_closed: usize,
    /// All cells.
    pub cells: usize,
    /// How much of the present group is done, from 0 to 1, judged by what will end it first.
    pub group_share: f64,
    /// Time to the end, at the pace so far, relative to what was expected.
    pub eta: Duration,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins; on resumption some cells are closed already.
    Began {
        /// How far earlier sessions came.
        progress: Progress,
    },
    /// A group of cells begins.
    GroupBegan {
        /// The group in a few words.
        job: &'a str,
        /// Its engines.
        engines: &'a [String],
    },
    /// A block was measured, verified and recorded.
    Block {
        /// Its cell.
        cell: CellName<'a>,
        /// Median nanoseconds per operation so far, with its interval.
        ns_per_op: Estimate,
        /// How far the run has come.
        progress: Progress,
    },
    /// A block was interrupted from outside: it is no part of any figure, and is measured again.
    Interrupted {
        /// Its cell.
        cell: CellName<'a>,
        /// The interruption.
        reason: &'a str,
    },
    /// A cell was closed.
    Closed {
        /// Which one.
        cell: CellName<'a>,
        /// Done, failed or unsupported, with the reason.
        state: &'a CellState,
        /// Its figures, if it is done.
        figures: Option<&'a Figures>,
        /// How far the run has come.
        progress: Progress,
    },
    /// Something that the user should know and that stops nothing.
    Warning(&'a str),
}

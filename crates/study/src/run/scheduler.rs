//! Which engine of a group is measured next, and when it is enough.
//!
//! ```text
//! rounds    one block of each engine, in an order drawn anew for each round
//! between   enough, by precision, by repeats, by budget or by rounds, but not before the least number of blocks
//! ```
//!
//! The order is that of [`rsalab_measure::interleave`]; all rules for stopping are here.

use rsalab_measure::{
    Block, Estimate,
    interleave::{Schedule, Slot},
};

use super::active_cell::ActiveCell;
use crate::{plan::Measure, store::TakenBlock};

/// The order and the end of a group's measurement.
pub(crate) struct Scheduler<'a> {
    rules: Rules<'a>,
    schedule: Schedule,
}

impl<'a> Scheduler<'a> {
    /// The scheduler of cells that are about to be measured. What earlier sessions measured counts as if it had just
    /// been taken: the order goes on as it would have without the pause.
    pub(crate) fn new(measure: &'a Measure, seed: u64, cells: &[ActiveCell]) -> Self {
        let mut scheduler = Scheduler {
            rules: Rules { measure },
            schedule: Schedule::new(seed, measure.confidence, cells.len()),
        };
        let mut earlier: Vec<(usize, &TakenBlock)> = Vec::new();
        for (place, cell) in cells.iter().enumerate() {
            match cell.state.is_open() {
                true => earlier.extend(cell.blocks.iter().map(|block| (place, block))),
                false => scheduler.close(place),
            }
        }
        earlier.sort_by_key(|(_, block)| block.order_index);
        for (place, block) in earlier {
            let slot = Slot {
                order: block.order_index as usize,
                round: block.round,
                subject: place,
            };
            scheduler.record(slot, &block.report.block);
        }
        scheduler
    }

    /// The next block to measure; none if it is enough.
    pub(crate) fn next(&mut self, cells: &[ActiveCell]) -> Option<Slot> {
        if self.schedule.is_between_rounds() && self.rules.is_enough(&self.state(cells)) {
            return None;
        }
        self.schedule.next_slot()
    }

    /// Takes in a block that was measured.
    pub(crate) fn record(&mut self, slot: Slot, block: &Block) {
        self.schedule.record(slot, block);
    }

    /// A cell is measured no more.
    pub(crate) fn close(&mut self, place: usize) {
        self.schedule.fail(place);
    }

    /// Median nanoseconds of an operation so far.
    pub(crate) fn median_ns(&self, place: usize) -> Option<Estimate> {
        self.schedule.subjects()[place].median_ns()
    }

    /// How much of the group is done, from 0 to 1, and the nanoseconds of its blocks.
    pub(crate) fn progress(&self, cells: &[ActiveCell]) -> (f64, u64) {
        let state = self.state(cells);
        (self.rules.share(&state), state.elapsed_ns)
    }

    fn state(&self, cells: &[ActiveCell]) -> GroupState {
        let open = || cells.iter().filter(|cell| cell.state.is_open());
        let times = || {
            open()
                .flat_map(|cell| &cell.blocks)
                .map(|block| (block.round, block.report.block.elapsed_ns))
        };
        let last_round = times().map(|(round, _)| round).max();
        let of_last = times().filter(|(round, _)| Some(*round) == last_round);
        GroupState {
            rounds: self.schedule.rounds(),
            engines: open().count(),
            elapsed_ns: times().map(|(_, ns)| ns).sum(),
            last_round_ns: of_last.map(|(_, ns)| ns).sum(),
            calls: open().map(ActiveCell::calls).min().unwrap_or(0),
            precision: self.schedule.precision(),
        }
    }
}

const NS_PER_S: f64 = 1e9;

/// When a group has been measured enough. The rules are asked between rounds, when every engine has as many blocks as
/// the others.
#[derive(Clone, Copy, Debug)]
struct Rules<'a> {
    measure: &'a Measure,
}

/// How far a group has come.
#[derive(Clone, Copy, Debug, Default)]
struct GroupState {
    /// Rounds that are complete.
    rounds: usize,
    /// Engines that are still measured.
    engines: usize,
    /// Time of all blocks of all engines.
    elapsed_ns: u64,
    /// Time of the last round's blocks.
    last_round_ns: u64,
    /// The fewest calls that any engine has in its samples.
    calls: u64,
    /// The relative error of the engine that is known least, once all have one.
    precision: Option<f64>,
}

impl Rules<'_> {
    fn min_rounds(&self) -> usize {
        self.measure.min_blocks.min(self.max_rounds())
    }

    /// Where the repeats fix the rounds, they decide.
    fn max_rounds(&self) -> usize {
        let planned = self.measure.planned_rounds();
        planned.unwrap_or(self.measure.max_blocks)
    }

    /// Time that all engines of the group may be measured for: of blocks, so that a study that was broken off has the
    /// same budget as one that was not.
    fn budget_ns(&self, engines: usize) -> f64 {
        self.measure.budget_s * NS_PER_S * engines as f64
    }

    /// Returns whether another round is not worth beginning.
    fn is_enough(&self, state: &GroupState) -> bool {
        if state.rounds < self.min_rounds() {
            return false;
        }
        // A precision of 0 asks for none, even where every sample is the same.
        let is_precise =
            self.measure.precision > 0.0 && state.precision.is_some_and(|reached| reached <= self.measure.precision);
        let is_repeated = self.measure.repeats.is_some_and(|calls| state.calls >= calls);
        // Another round is begun if at least half of it is within the budget.
        let half_round_later_ns = state.elapsed_ns as f64 + state.last_round_ns as f64 / 2.0;
        let is_spent = half_round_later_ns > self.budget_ns(state.engines);
        is_precise || is_repeated || is_spent || state.rounds >= self.max_rounds()
    }

    /// How much of the group is done, from 0 to 1, judged by the rule that will end it first.
    fn share(&self, state: &GroupState) -> f64 {
        let spent = state.elapsed_ns as f64 / self.budget_ns(state.engines.max(1));
        let rounds = state.rounds as f64 / self.max_rounds() as f64;
        let repeated = self
            .measure
            .repeats
            .map_or(0.0, |calls| state.calls as f64 / calls as f64);
        // An interval narrows with the square root of the work.
        let precise = state
            .precision
            .map_or(0.0, |reached| (self.measure.precision / reached).powi(2));
        let by_rule = spent.max(rounds).max(repeated).max(precise);
        let at_least = state.rounds as f64 / self.min_rounds() as f64;
        by_rule.min(at_least).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests;

//! Subjects measured in interleaved blocks, block by block, so that whatever the machine does hits all of them alike.
//!
//! ```text
//! round 0:   B A C        each subject once per round, in an order drawn anew for each
//! round 1:   A C B
//! ...        until precise enough, or enough blocks, or the budget is spent
//! ```
//!
//! The [`Schedule`] decides and remembers; it has no clock and runs nothing. Stop rules are looked at between rounds,
//! so that all subjects have been through the same rounds and their blocks can be paired.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use crate::{
    sample::Block,
    stats::{Estimate, blocks::PooledBlocks},
};

/// When to stop, and the order of the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Stop when the interval of each subject's median reaches no further than this fraction of it.
    pub precision: Option<f64>,
    /// The confidence of those intervals, between 0 and 1.
    pub confidence: f64,
    /// Rounds before the precision may stop the run, at least 2. An interval from a few blocks is sometimes
    /// narrow by chance, and a run that stops at the first narrow one collects such chances.
    pub min_rounds: usize,
    /// Rounds after which the run stops, at least 1: the blocks of each subject.
    pub max_rounds: usize,
    /// Time for all subjects together. Another round is begun if at least half of it, judged by the round before, is
    /// within the budget; the first always is.
    pub budget_ns: Option<u64>,
    /// Decides the order within each round.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            precision: Some(0.01),
            confidence: 0.95,
            min_rounds: 8,
            max_rounds: 200,
            budget_ns: None,
            seed: 0,
        }
    }
}

/// One subject's place in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Slots before this one.
    pub order: usize,
    /// Which round it belongs to, from 0.
    pub round: usize,
    /// Which subject, from 0.
    pub subject: usize,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// All subjects are known precisely enough.
    Precision,
    /// The rounds are done.
    Rounds,
    /// The time is spent.
    Budget,
    /// None is left: all have failed, or there were none.
    NoSubjects,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Rounds that are complete.
    pub rounds: usize,
    /// Slots used.
    pub slots: usize,
    /// The relative error of the subject that is known least; none until every one has an interval of the planned
    /// confidence.
    pub precision: Option<f64>,
    /// What is left of the budget.
    pub budget_left_ns: Option<u64>,
}

/// One subject as the schedule sees it.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pooled: PooledBlocks,
    median_ns: Option<Estimate>,
    /// The round of each block.
    rounds: Vec<usize>,
    failed: bool,
}

impl Standing {
    /// Median of nanoseconds per operation so far, over blocks; none before the first.
    pub fn median_ns(&self) -> Option<Estimate> {
        self.median_ns
    }

    /// The rounds in which this subject has a block.
    pub fn rounds(&self) -> &[usize] {
        &self.rounds
    }

    /// Whether it has failed and takes no further block.
    pub fn failed(&self) -> bool {
        self.failed
    }

    fn relative_error(&self, confidence: f64) -> Option<f64> {
        self.median_ns
            .filter(|median| median.confidence >= confidence)
            .map(|median| median.relative_error())
    }
}

/// Whose block is next, and when there are enough.
///
/// The order of a round depends on the seed and the number of the round only. A run that was broken off is therefore
/// taken up by recording its stored slots in a new schedule: it goes on where the old one stopped, in the same order.
#[derive(Clone, Debug)]
pub struct Schedule {
    plan: Plan,
    standings: Vec<Standing>,
    round: usize,
    slots: usize,
    round_began_ns: u64,
}

impl Schedule {
    /// A run of `subjects` subjects that has not begun.
    pub fn new(plan: Plan, subjects: usize) -> Self {
        Schedule {
            plan,
            standings: vec![Standing::default(); subjects],
            round: 0,
            slots: 0,
            round_began_ns: 0,
        }
    }

    /// What was planned.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Each subject's state.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// The next slot, when the run has lasted `elapsed_ns`; or why there is none.
    pub fn next_slot(&mut self, elapsed_ns: u64) -> Result<Slot, Stop> {
        if self.standings.iter().all(Standing::failed) {
            return Err(Stop::NoSubjects);
        }
        let mut waiting = self.waiting();
        if waiting.is_none() {
            let round_ns = elapsed_ns.saturating_sub(self.round_began_ns);
            if let Some(stop) = self.stop_after_round(elapsed_ns, round_ns) {
                return Err(stop);
            }
            self.round += 1;
            self.round_began_ns = elapsed_ns;
            waiting = self.waiting();
        }
        Ok(Slot {
            order: self.slots,
            round: self.round,
            subject: waiting.expect("a new round has everyone waiting who has not failed"),
        })
    }

    /// Takes in what was measured in a slot: the one just given by [`next_slot`](Self::next_slot), or a stored one of
    /// the same plan, in its stored order.
    pub fn record(&mut self, slot: Slot, block: &Block) {
        let standing = &mut self.standings[slot.subject];
        standing.pooled.push(&block.ns_per_operation());
        standing.median_ns = standing.pooled.median_interval(self.plan.confidence);
        standing.rounds.push(slot.round);
        self.round = self.round.max(slot.round);
        self.slots = self.slots.max(slot.order + 1);
    }

    /// Gives a subject no further block. The blocks it has stay.
    pub fn fail(&mut self, subject: usize) {
        self.standings[subject].failed = true;
    }

    /// How far the run has come, when it has lasted `elapsed_ns`.
    pub fn progress(&self, elapsed_ns: u64) -> Progress {
        Progress {
            rounds: self.round + usize::from(self.slots > 0 && self.waiting().is_none()),
            slots: self.slots,
            precision: self.precision(),
            budget_left_ns: self
                .plan
                .budget_ns
                .map(|budget_ns| budget_ns.saturating_sub(elapsed_ns)),
        }
    }

    /// The first in this round's order that has neither failed nor been.
    fn waiting(&self) -> Option<usize> {
        let mut order: Vec<usize> = (0..self.standings.len()).collect();
        // A stream of its own for each round: the order can be found again without going through the rounds before.
        let mut rng = ChaCha12Rng::seed_from_u64(self.plan.seed);
        rng.set_stream(self.round as u64);
        order.shuffle(&mut rng);
        order.into_iter().find(|&subject| {
            let standing = &self.standings[subject];
            !standing.failed && standing.rounds.last() != Some(&self.round)
        })
    }

    fn stop_after_round(&self, elapsed_ns: u64, round_ns: u64) -> Option<Stop> {
        let done = self.round + 1;
        if done >= self.plan.max_rounds {
            return Some(Stop::Rounds);
        }
        if done >= self.plan.min_rounds.max(2)
            && let (Some(wanted), Some(reached)) = (self.plan.precision, self.precision())
            && reached <= wanted
        {
            return Some(Stop::Precision);
        }
        let half_round_later_ns = elapsed_ns.saturating_add(round_ns / 2);
        (self.plan.budget_ns? < half_round_later_ns).then_some(Stop::Budget)
    }

    /// The largest relative error of those that have not failed; none if one of them has no interval.
    fn precision(&self) -> Option<f64> {
        self.standings
            .iter()
            .filter(|standing| !standing.failed)
            .map(|standing| standing.relative_error(self.plan.confidence))
            .reduce(|left, right| Some(left?.max(right?)))
            .flatten()
    }
}

#[cfg(test)]
mod tests;

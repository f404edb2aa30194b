//! Subjects measured in interleaved blocks, block by block, so that whatever the machine does hits all of them alike.
//!
//! ```text
//! round 0:   B A C        each subject once per round, in an order drawn anew for each
//! round 1:   A C B
//! ...        until whoever asks has enough
//! ```
//!
//! The [`Schedule`] has the order and what is known so far; it has no clock, runs nothing and never has enough. Who
//! stops between rounds has all subjects through the same rounds, so that their blocks can be paired.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha12Rng;

use crate::{
    sample::Block,
    stats::{Estimate, blocks::PooledBlocks},
};

/// One subject's place in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Slots before this one.
    pub order: usize,
    /// Its round, from 0.
    pub round: usize,
    /// Its subject, from 0.
    pub subject: usize,
}

/// One subject as the schedule sees it.
#[derive(Clone, Debug, Default)]
pub struct SubjectState {
    pooled: PooledBlocks,
    median_ns: Option<Estimate>,
    /// The round of each block.
    rounds: Vec<usize>,
    failed: bool,
}

impl SubjectState {
    /// Median of nanoseconds per operation so far, over blocks; none before the first.
    pub fn median_ns(&self) -> Option<Estimate> {
        self.median_ns
    }

    /// The rounds in which this subject has a block.
    pub fn rounds(&self) -> &[usize] {
        &self.rounds
    }

    /// `true` if it has failed and takes no further block.
    pub fn failed(&self) -> bool {
        self.failed
    }

    fn relative_error(&self, confidence: f64) -> Option<f64> {
        let median = self.median_ns.filter(|median| median.confidence >= confidence);
        median.map(|median| median.relative_error())
    }
}

/// The order of blocks, and what they say so far.
///
/// The order of a round depends on the seed and the number of the round only. A run that was broken off is therefore
/// taken up by recording its stored slots in a new schedule: it goes on where the old one stopped, in the same order.
#[derive(Clone, Debug)]
pub struct Schedule {
    seed: u64,
    confidence: f64,
    subjects: Vec<SubjectState>,
    round: usize,
    slots: usize,
}

impl Schedule {
    /// A run that has not begun. The seed decides the order within each round; the confidence is that of the intervals
    /// that [`precision`](Self::precision) is judged by.
    pub fn new(seed: u64, confidence: f64, subjects: usize) -> Self {
        Schedule {
            seed,
            confidence,
            subjects: vec![SubjectState::default(); subjects],
            round: 0,
            slots: 0,
        }
    }

    /// Each subject's state.
    pub fn subjects(&self) -> &[SubjectState] {
        &self.subjects
    }

    /// The next slot, of another round if this one is complete; none if no subject is left.
    pub fn next_slot(&mut self) -> Option<Slot> {
        let subject = self.waiting().or_else(|| {
            self.round += 1;
            self.waiting()
        })?;
        Some(Slot {
            order: self.slots,
            round: self.round,
            subject,
        })
    }

    /// Takes in what was measured in a slot: the one just given by [`next_slot`](Self::next_slot), or a stored one of
    /// the same seed, in its stored order.
    pub fn record(&mut self, slot: Slot, block: &Block) {
        let subject = &mut self.subjects[slot.subject];
        subject.pooled.push(&block.ns_per_operation());
        subject.median_ns = subject.pooled.median_interval(self.confidence);
        subject.rounds.push(slot.round);
        self.round = self.round.max(slot.round);
        self.slots = self.slots.max(slot.order + 1);
    }

    /// Gives a subject no further block. The blocks it has stay.
    pub fn fail(&mut self, subject: usize) {
        self.subjects[subject].failed = true;
    }

    /// Rounds that are complete.
    pub fn rounds(&self) -> usize {
        self.round + usize::from(self.is_between_rounds())
    }

    /// `true` if a round is complete and the next has not begun.
    pub fn is_between_rounds(&self) -> bool {
        self.slots > 0 && self.waiting().is_none()
    }

    /// The relative error of the subject that is known least, of those that have not failed; none until every one has
    /// an interval of the confidence.
    pub fn precision(&self) -> Option<f64> {
        let open = self.subjects.iter().filter(|subject| !subject.failed);
        let errors = open.map(|subject| subject.relative_error(self.confidence));
        errors.reduce(|left, right| Some(left?.max(right?))).flatten()
    }

    /// The first in this round's order that has neither failed nor been.
    fn waiting(&self) -> Option<usize> {
        let mut order: Vec<usize> = (0..self.subjects.len()).collect();
        // A stream of its own for each round: the order can be found again without going through the rounds before.
        let mut rng = ChaCha12Rng::seed_from_u64(self.seed);
        rng.set_stream(self.round as u64);
        order.shuffle(&mut rng);
        order.into_iter().find(|&subject| {
            let subject = &self.subjects[subject];
            !subject.failed && subject.rounds.last() != Some(&self.round)
        })
    }
}

#[cfg(test)]
mod tests;

//! The validator of reports: can what a worker says of a block be true?
//!
//! Our own workers are timed by the one loop of `measure`. Other engines read clocks of their own, and nobody sees what
//! they do: the coordinator's clock is all there is to hold against theirs. A worker that reports what cannot be is
//! given up, and nothing of it is measured. Time that it does not explain may be the machine's, which was busy: that
//! block is called interrupted, and is measured anew. An engine that works unseen leaves as much unexplained each time,
//! until its cell is given up.

use std::time::Duration;

use rsalab_measure::{BlockPlan, interruption::Interruption};

use crate::{
    job::{Job, Mode},
    ledger::ClockOwner,
    op::Layout,
    protocol::{BlockReport, MAX_LINE_BYTES},
};

/// Of the time between question and answer, how much may be in no block: one part in so many.
const UNREPORTED_PART: u64 = 100;

/// For the pipes and the text of an answer, in addition to that part.
const UNREPORTED_EACH_NS: u64 = 2_000_000;

/// For what happens once, such as the first answer of a program whose code is not compiled yet, or a busy machine.
const UNREPORTED_ONCE_NS: u64 = 100_000_000;

/// The time that may pass between two calls, for the comparison of an output with the first one: of an operation in an
/// interpreter.
const BETWEEN_CALLS_NS: f64 = 10_000.0;

/// Facts of the job that a worker has prepared, and the time it has taken.
#[derive(Clone, Debug)]
pub(super) struct Plausibility {
    job: Job,
    clock: ClockOwner,
    /// Bytes of all inputs.
    input_bytes: usize,
    /// The time of the last run over all inputs; zero until there was one.
    run: Duration,
    /// Blocks so far, the time that passed here while they were waited for, and what of it was in no block.
    blocks: u64,
    waited_ns: u64,
    unreported_ns: u64,
    /// The time of all blocks, and what of it their calls can have taken.
    blocks_ns: u64,
    explained_ns: f64,
}

impl Plausibility {
    pub(super) fn new(job: &Job, clock: ClockOwner, input_bytes: usize) -> Self {
        Plausibility {
            job: job.clone(),
            clock,
            input_bytes,
            run: Duration::ZERO,
            blocks: 0,
            waited_ns: 0,
            unreported_ns: 0,
            blocks_ns: 0,
            explained_ns: 0.0,
        }
    }

    /// The most bytes that all outputs have as a line.
    pub(super) fn longest_outputs(&self) -> u64 {
        let Layout { input, output } = self.job.layout();
        let items = self.input_bytes.checked_div(input);
        // A text's last block of input may be a part.
        let bytes = items.map_or(self.job.batch, |items| items + 1) as u64 * output as u64;
        line_of(2 * bytes)
    }

    /// The most bytes that the report of a block has as a line. What is made in a block has no limit of its own.
    pub(super) fn longest_report(&self, plan: &BlockPlan) -> u64 {
        /// A sample, or a thread's part of a text: names, and numbers of twenty digits.
        const ENTRY: u64 = 200;
        match self.job.op.is_deterministic() {
            true => line_of(
                (plan.max_samples as u64)
                    .saturating_add(self.job.threads as u64)
                    .saturating_mul(ENTRY),
            ),
            false => MAX_LINE_BYTES,
        }
    }

    /// Notes how long a run over all inputs took.
    pub(super) fn ran(&mut self, run: Duration) {
        self.run = run;
    }

    /// The time that a block may take for calls that are asked for by their count: twice what is to be expected after a
    /// run over all inputs.
    pub(super) fn counted_calls(&self, plan: &BlockPlan) -> Duration {
        /// The longest that a sample of many batches is made to last.
        const SAMPLE_S: f64 = 0.02;
        let job = &self.job;
        let items = self.input_bytes.checked_div(job.layout().input).unwrap_or(job.batch);
        // In a run the threads share the inputs. A call is of every thread, but for calls that threads time themselves.
        let (at_once, sample_s) = match job.mode {
            Mode::Latency => (job.threads, 0.0),
            Mode::Throughput => (job.threads, SAMPLE_S),
            Mode::Concurrent => (1, 0.0),
        };
        let share = match job.op.is_text() {
            true => 1.0,
            false => (job.batch as f64 * at_once as f64 / items.max(1) as f64).min(1.0),
        };
        let calls = plan.calls.unwrap_or(0) as f64;
        let expected_s = calls * (self.run.as_secs_f64() * share + sample_s);
        Duration::try_from_secs_f64(2.0 * expected_s).unwrap_or(Duration::MAX)
    }

    /// Holds a report against its plan and against the time that passed here while it was waited for.
    ///
    /// Where either side was seen to be interrupted, the time between them is nobody's fault. Such a block is not used,
    /// nor is one for which there is an interruption here.
    pub(super) fn check(
        &mut self,
        report: &BlockReport,
        plan: &BlockPlan,
        waited_ns: u64,
        is_interrupted: bool,
    ) -> Result<Option<Interruption>, String> {
        self.check_numbers(report, plan)?;
        let block_ns = report.block.elapsed_ns;
        if block_ns > waited_ns {
            return Err(format!(
                "it reported a block of {block_ns} ns, which took {waited_ns} ns here"
            ));
        }
        match self.clock {
            ClockOwner::Harness => Ok(None),
            ClockOwner::Engine if is_interrupted => Ok(None),
            ClockOwner::Engine => {
                let before = self.clone();
                let doubt = self
                    .unreported(block_ns, waited_ns)
                    .or_else(|| self.unexplained(report));
                if doubt.is_some() {
                    // It is not used, and says nothing of those to come.
                    *self = before;
                }
                Ok(doubt)
            }
        }
    }

    /// Checks that need no clock.
    fn check_numbers(&self, report: &BlockReport, plan: &BlockPlan) -> Result<(), String> {
        let block = &report.block;
        if block.samples.is_empty() {
            return Err("it reported a block without samples".to_owned());
        }
        let most = plan.max_samples.max(1);
        if block.samples.len() > most {
            return Err(format!(
                "it reported {} samples where {most} were asked for at most",
                block.samples.len()
            ));
        }
        let mut measured_ns: u64 = 0;
        let mut operations = block.discarded_operations;
        for sample in &block.samples {
            if sample.operations == 0 {
                return Err("it reported a sample without operations".to_owned());
            }
            // A product of two words takes longer, on any machine there is.
            let fastest = sample.elapsed_ns.max(1).saturating_mul(self.job.threads as u64);
            if sample.operations > fastest {
                return Err(format!(
                    "it reported {} operations in {} ns, which no machine does",
                    sample.operations, sample.elapsed_ns
                ));
            }
            let sums = (
                measured_ns.checked_add(sample.elapsed_ns),
                operations.checked_add(sample.operations),
            );
            let (Some(ns), Some(all)) = sums else {
                return Err("it reported numbers that no block has".to_owned());
            };
            (measured_ns, operations) = (ns, all);
        }
        // Calls that threads time themselves run side by side.
        let side_by_side = match self.job.mode {
            Mode::Concurrent => self.job.threads as u64,
            Mode::Latency | Mode::Throughput => 1,
        };
        if measured_ns > block.elapsed_ns.saturating_mul(side_by_side) {
            return Err(format!(
                "it reported samples of {measured_ns} ns in a block of {} ns",
                block.elapsed_ns
            ));
        }
        // Of other operations a call has as many as fit a sample.
        if let Some(calls) = plan.calls
            && (self.job.op.is_text() || self.job.mode == Mode::Concurrent)
            && block.operations() != calls
        {
            return Err(format!(
                "it reported {} calls where {calls} were asked for",
                block.operations()
            ));
        }
        if !report.tests.is_empty() && report.tests.len() != block.samples.len() {
            return Err(format!(
                "it reported primality tests of {} samples, and {} samples",
                report.tests.len(),
                block.samples.len()
            ));
        }
        // What was made without an input must be shown, all of it: there is nothing else to verify it by.
        let made = match self.job.op.is_deterministic() {
            true => 0,
            false => operations,
        };
        let shown = report.outputs.len() as u64 / self.job.layout().output as u64;
        if made != shown {
            return Err(format!("it made {made} outputs to be verified and showed {shown}"));
        }
        let planned_ns = plan.discard_ns.saturating_add(plan.min_ns);
        if plan.calls.is_none() && block.elapsed_ns < planned_ns {
            return Err(format!(
                "it reported a block of {} ns where {planned_ns} ns were asked for at least",
                block.elapsed_ns
            ));
        }
        Ok(())
    }

    /// Time that is in no block may be a small part of all, or somebody works unseen.
    fn unreported(&mut self, block_ns: u64, waited_ns: u64) -> Option<Interruption> {
        self.blocks += 1;
        if self.blocks == 1 {
            // What an engine still has to make ready, such as buffers, it does here: it is found out in the blocks to
            // come.
            return None;
        }
        self.waited_ns += waited_ns;
        self.unreported_ns += waited_ns - block_ns;
        let allowed_ns = self.waited_ns / UNREPORTED_PART + self.blocks * UNREPORTED_EACH_NS + UNREPORTED_ONCE_NS;
        (self.unreported_ns > allowed_ns).then(|| Interruption::Unreported {
            wall: Duration::from_nanos(self.waited_ns),
            reported: Duration::from_nanos(self.waited_ns - self.unreported_ns),
        })
    }

    /// The samples, and as much for each operation that was discarded, are half of all blocks at least. A busy machine
    /// lets the discarded ones last longer than the others, but not so always.
    fn unexplained(&mut self, report: &BlockReport) -> Option<Interruption> {
        let block = &report.block;
        // A key's time is chance: the discarded ones tell nothing of the others.
        if !self.job.op.is_deterministic() && block.discarded_operations != 0 {
            return None;
        }
        let operations = block.operations();
        let all = operations.saturating_add(block.discarded_operations);
        let calls_ns = block.measured_ns() as f64 / operations as f64 * all as f64;
        self.blocks_ns += block.elapsed_ns;
        self.explained_ns += calls_ns + all as f64 * BETWEEN_CALLS_NS;
        let needed_ns = self.blocks_ns.saturating_sub(UNREPORTED_ONCE_NS) as f64 / 2.0;
        (self.explained_ns < needed_ns).then(|| Interruption::Unexplained {
            blocks: Duration::from_nanos(self.blocks_ns),
            calls: Duration::from_nanos(self.explained_ns as u64),
        })
    }
}

/// The length of a line with so many bytes of data and the words around them.
fn line_of(data: u64) -> u64 {
    const WORDS: u64 = 1 << 16;
    data.saturating_add(WORDS).min(MAX_LINE_BYTES)
}

#[cfg(test)]
mod tests;

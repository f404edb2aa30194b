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
mod tests {
    use rsalab_measure::{Block, Sample};

    use super::*;
    use crate::{exponent::Exponent, op::Op};

    const PLAN: BlockPlan = BlockPlan {
        discard_ns: 10_000_000,
        min_ns: 100_000_000,
        calls: None,
        max_samples: 3,
    };

    fn plausibility(op: Op, clock: ClockOwner) -> Plausibility {
        let job = Job {
            op,
            bits: 512,
            threads: 1,
            batch: 1,
            mode: Mode::Latency,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            primes: 2,
            keys: 1,
            message_bits: None,
            message_bytes: 0,
            symbols: 0,
            block_symbols: 0,
        };
        Plausibility::new(&job, clock, 128)
    }

    /// Two samples of ten operations each, after two that were discarded: of 5 ms each.
    fn report() -> BlockReport {
        let sample = Sample {
            elapsed_ns: 50_000_000,
            tsc_ticks: None,
            operations: 10,
        };
        BlockReport {
            block: Block {
                samples: vec![sample; 2],
                discarded_operations: 2,
                discarded_ns: None,
                started_ns: 0,
                elapsed_ns: 110_100_000,
            },
            tests: Vec::new(),
            outputs: Vec::new(),
            trace: Vec::new(),
            cpu: None,
        }
    }

    #[test]
    fn a_true_report_passes_whoever_reads_the_clock() {
        for clock in [ClockOwner::Harness, ClockOwner::Engine] {
            let mut of = plausibility(Op::Private, clock);
            for _ in 0..100 {
                assert_eq!(of.check(&report(), &PLAN, 111_000_000, false), Ok(None));
            }
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_found() {
        type Change = fn(&mut BlockReport);
        let changes: [(&str, Change); 12] = [
            ("without samples", |r| r.block.samples.clear()),
            ("4 samples", |r| {
                r.block.samples = vec![r.block.samples[0]; 4];
            }),
            ("without operations", |r| r.block.samples[1].operations = 0),
            ("no machine", |r| r.block.samples[1].operations = 50_000_001),
            ("no machine", |r| r.block.samples[0].operations = u64::MAX),
            ("no block has", |r| r.block.discarded_operations = u64::MAX),
            ("no block has", |r| {
                r.block.samples[0].elapsed_ns = u64::MAX;
            }),
            ("in a block of", |r| {
                r.block.samples[0].elapsed_ns = 60_200_000;
            }),
            ("asked for at least", |r| {
                r.block.elapsed_ns = 109_000_000;
            }),
            ("which took 111000000 ns", |r| {
                r.block.elapsed_ns = 111_000_001;
            }),
            ("tests of 1 samples, and 2", |r| r.tests = vec![1]),
            ("made 0 outputs to be verified and showed 1", |r| {
                r.outputs = vec![0; 64];
            }),
        ];
        for (words, change) in changes {
            for clock in [ClockOwner::Harness, ClockOwner::Engine] {
                let mut changed = report();
                change(&mut changed);
                let message = plausibility(Op::Private, clock)
                    .check(&changed, &PLAN, 111_000_000, false)
                    .expect_err(words);
                assert!(message.contains(words), "no '{words}' in: {message}");
            }
        }
    }

    #[test]
    fn counted_calls_and_what_was_made_are_counted_again() {
        let plan = BlockPlan {
            calls: Some(21),
            ..PLAN
        };
        let mut texts = plausibility(Op::TextEncrypt, ClockOwner::Harness);
        let counted = texts.check(&report(), &plan, 111_000_000, false);
        assert_eq!(counted, Err("it reported 20 calls where 21 were asked for".to_owned()));

        let mut keys = plausibility(Op::Keygen, ClockOwner::Harness);
        let mut made = report();
        let one = keys.job.layout().output;
        made.outputs = vec![0; 22 * one];
        assert_eq!(keys.check(&made, &PLAN, 111_000_000, false), Ok(None));
        made.outputs.truncate(21 * one);
        let hidden = keys.check(&made, &PLAN, 111_000_000, false);
        assert_eq!(
            hidden,
            Err("it made 22 outputs to be verified and showed 21".to_owned())
        );
    }

    /// How many of some blocks are taken for what they are.
    fn used(of: &mut Plausibility, report: &BlockReport, waited_ns: u64, blocks: usize) -> usize {
        let checked = (0..blocks).map(|_| of.check(report, &PLAN, waited_ns, false));
        checked.filter(|checked| *checked == Ok(None)).count()
    }

    #[test]
    fn time_that_is_in_no_block_adds_up() {
        // The first block may make ready, and once it may be a busy machine.
        let mut of = plausibility(Op::Private, ClockOwner::Engine);
        for waited_ns in [5_000_000_000, 200_000_000] {
            assert_eq!(of.check(&report(), &PLAN, waited_ns, false), Ok(None));
        }
        let third = of.check(&report(), &PLAN, 200_000_000, false);
        assert!(matches!(third, Ok(Some(Interruption::Unreported { .. }))));

        // A tenth more each time is found after a while, and from then on each time.
        let mut of = plausibility(Op::Private, ClockOwner::Engine);
        assert!(used(&mut of, &report(), 121_000_000, 100) < 20);
        assert_eq!(used(&mut of, &report(), 121_000_000, 4), 0);

        // While either side was stopped, nobody knows where the time went.
        let mut of = plausibility(Op::Private, ClockOwner::Engine);
        for _ in 0..100 {
            assert_eq!(of.check(&report(), &PLAN, 3_000_000_000, true), Ok(None));
        }

        // The harness's own clock is not doubted.
        let mut of = plausibility(Op::Private, ClockOwner::Harness);
        assert_eq!(of.check(&report(), &PLAN, 1_000_000_000, false), Ok(None));
    }

    #[test]
    fn an_honest_engine_on_a_busy_machine_is_measured_anew_and_goes_on() {
        let mut of = plausibility(Op::Private, ClockOwner::Engine);
        for round in 0..50 {
            // Each tenth block waited for its CPU, which the engine's clock did not see.
            assert_eq!(used(&mut of, &report(), 111_000_000, 9), 9, "{round}");
            assert_eq!(of.check(&report(), &PLAN, 111_000_000, false), Ok(None));
            let busy = of.check(&report(), &PLAN, 600_000_000, false);
            // Once much was explained, a little that is not may pass.
            match busy {
                Ok(Some(Interruption::Unreported { .. })) => {}
                Ok(None) if round >= 5 => {}
                _ => panic!("{round}: {busy:?}"),
            }
        }
    }

    #[test]
    fn samples_that_leave_most_of_their_block_out_are_found() {
        let mut short = report();
        for sample in &mut short.block.samples {
            sample.elapsed_ns /= 3;
        }
        let of_ten = |op, report: &BlockReport| {
            let mut of = plausibility(op, ClockOwner::Engine);
            let mut report = report.clone();
            if !op.is_deterministic() {
                let made = report.block.operations() + report.block.discarded_operations;
                report.outputs = vec![0; made as usize * of.job.layout().output];
            }
            used(&mut of, &report, 111_000_000, 10)
        };
        assert!(of_ten(Op::Private, &short) < 5);
        // Once the machine may have been busy.
        let mut of = plausibility(Op::Private, ClockOwner::Engine);
        assert_eq!(of.check(&short, &PLAN, 111_000_000, false), Ok(None));
        assert_eq!(used(&mut of, &report(), 111_000_000, 100), 100);
        // The discarded keys may have been the long ones; without any, all is in the samples.
        assert_eq!(of_ten(Op::Keygen, &short), 10);
        short.block.discarded_operations = 0;
        assert!(of_ten(Op::Keygen, &short) < 10);
        // Operations of less than a microsecond leave more time between them than in them.
        for sample in &mut short.block.samples {
            (sample.elapsed_ns, sample.operations) = (2_000_000, 5_000);
        }
        assert_eq!(of_ten(Op::Totient, &short), 10);
    }

    #[test]
    fn no_answer_may_be_longer_than_what_was_asked_for() {
        let of = plausibility(Op::Private, ClockOwner::Engine);
        assert!((2 * 128..1 << 17).contains(&of.longest_outputs()));
        assert!((3 * 100..1 << 17).contains(&of.longest_report(&PLAN)));
        let made = plausibility(Op::Keygen, ClockOwner::Engine);
        assert_eq!(made.longest_report(&PLAN), MAX_LINE_BYTES);
        let endless = BlockPlan {
            max_samples: usize::MAX,
            ..PLAN
        };
        assert_eq!(of.longest_report(&endless), MAX_LINE_BYTES);
    }
}

//! The timing thread: it says what all threads do, and reads the clock.

use std::{sync::atomic::Ordering, time::Instant};

use rsalab_measure::{
    Block, BlockPlan, Clock, CpuTime, Monotonic, Sample, barrier::Broken, sample::at_most, sample_block, time,
};

use super::partition::{Partition, REFERENCE, Report, STOP, compare};
use crate::protocol::{BlockReport, Fault, FaultKind};

/// The most memory one thread's outputs of a sample take: what fits a second-level cache.
const SAMPLE_OUTPUT_BYTES: usize = 1 << 20;

/// The thread that reads the clock. While one of its functions runs, the other threads are at the barrier.
pub(super) struct TimingThread<'a> {
    partition: Partition<'a>,
    /// Batches of a sample, once chosen.
    rounds: Option<usize>,
}

impl<'a> TimingThread<'a> {
    pub(super) fn new(partition: Partition<'a>) -> Self {
        TimingThread {
            partition,
            rounds: None,
        }
    }

    /// Does what another timing thread says, until it says that it is over.
    pub(super) fn follow(&mut self) -> Result<(), Broken> {
        self.partition.follow()
    }

    /// Says that it is over, and returns when all have read it: the next request may come at once.
    pub(super) fn end(&self) -> Result<(), Broken> {
        let shared = self.partition.shared;
        shared.task.store(STOP, Ordering::Release);
        shared.barrier.wait()?;
        shared.barrier.wait()
    }

    /// The time of the very first call, where that is of interest.
    pub(super) fn first_call(&mut self) -> Option<Sample> {
        self.partition.first_call()
    }

    /// One run over all inputs, compared with the first.
    pub(super) fn outputs(&mut self) -> Result<Vec<u8>, Fault> {
        let work = &self.partition.shared.work;
        let reports = self.untimed(REFERENCE)?;
        let outputs: Vec<u8> = reports.into_iter().flat_map(|report| report.outputs).collect();
        if work.deterministic {
            let first = self.partition.shared.reference.get_or_init(|| outputs.clone());
            compare(&outputs, first, work.layout.output, 0)?;
            self.partition.check_first_call(first)?;
        }
        Ok(outputs)
    }

    /// One block of samples.
    pub(super) fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        // Before the CPU time is read: what is run to make ready is in no sample, and in no block.
        self.make_ready()?;
        let before = CpuTime::of_this_process();
        let report = match self.partition.shared.work.concurrent {
            true => self.concurrent_block(plan),
            false => self.block_of_samples(plan),
        };
        let after = CpuTime::of_this_process();
        let cpu = before.and_then(|before| Some(after?.since(before)));
        Ok(BlockReport { cpu, ..report? })
    }

    /// The runs that a block needs to have been done: outputs to compare with, and batches of a sample.
    fn make_ready(&mut self) -> Result<(), Fault> {
        let shared = self.partition.shared;
        if shared.work.deterministic && shared.reference.get().is_none() {
            self.outputs()?;
        }
        if !shared.work.concurrent {
            self.rounds()?;
        }
        Ok(())
    }

    /// A block of calls that the threads time themselves, each its part, all at work at once.
    fn concurrent_block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        let shared = self.partition.shared;
        let clock = Monotonic::get();
        let started_ns = clock.now_ns();
        let mut calls = Vec::new();
        let mut samples: Vec<Sample> = Vec::new();
        let mut outputs = Vec::new();
        let (mut discarded_operations, mut discarded_ns) = (0, 0);
        let threads = shared.reports.len();
        let counted = plan
            .calls
            .map(|calls| usize::try_from(calls).unwrap_or(usize::MAX - 1).max(1));
        let mut measured_from_ns = None;
        loop {
            let now_ns = clock.now_ns();
            let is_warm = now_ns - started_ns >= plan.discard_ns;
            if is_warm && measured_from_ns.is_none() {
                measured_from_ns = Some(now_ns);
            }
            let round = match (counted, measured_from_ns) {
                (Some(calls), Some(_)) => calls,
                // Without a count, a call of each thread, then as many as are expected to last until the time is up:
                // after each round threads wait for the slowest.
                (None, Some(from_ns)) => {
                    let spent_ns = now_ns - from_ns;
                    let left_ns = plan.min_ns.saturating_sub(spent_ns);
                    threads * calls_in(left_ns, spent_ns, samples.len() / threads)
                }
                (_, None) => threads,
            };
            for report in self.untimed(round)? {
                outputs.extend(report.outputs);
                for (sample, tests) in report.calls {
                    calls.push(Call {
                        operations: sample.operations,
                        tests,
                    });
                    match is_warm {
                        true => samples.push(sample),
                        false => {
                            discarded_operations += sample.operations;
                            discarded_ns += sample.elapsed_ns;
                        }
                    }
                }
            }
            let now_ns = clock.now_ns();
            let is_enough =
                measured_from_ns.is_some_and(|from_ns| plan.calls.is_some() || now_ns - from_ns >= plan.min_ns);
            if !is_enough {
                continue;
            }
            let block = Block {
                samples: at_most(plan.max_samples, samples),
                discarded_operations,
                discarded_ns: Some(discarded_ns),
                started_ns,
                elapsed_ns: now_ns - started_ns,
            };
            return Ok(BlockReport {
                tests: tests_of_samples(&calls, &block),
                block,
                outputs,
                trace: Vec::new(),
                cpu: None,
            });
        }
    }

    /// A block of samples that this thread times.
    fn block_of_samples(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        let shared = self.partition.shared;
        let rounds = self.rounds()?;
        let clock = Monotonic::get();
        let mut calls = Vec::new();
        let mut outputs = Vec::new();
        let block = sample_block(clock, plan, || {
            shared.task.store(rounds, Ordering::Release);
            let mut sample = time(clock, || {
                shared.barrier.wait()?;
                self.partition.work(rounds);
                shared.barrier.wait()?;
                Ok::<_, Broken>(0)
            })?;
            let reports = self.check(rounds)?;
            sample.operations = reports.iter().map(|report| report.items).sum();
            calls.push(Call {
                operations: sample.operations,
                tests: reports.iter().map(|report| report.tests).sum(),
            });
            outputs.extend(reports.into_iter().flat_map(|report| report.outputs));
            Ok::<_, Fault>(sample)
        })?;
        Ok(BlockReport {
            tests: tests_of_samples(&calls, &block),
            block,
            outputs,
            trace: Vec::new(),
            cpu: None,
        })
    }

    /// Batches of one thread in one sample.
    fn rounds(&mut self) -> Result<usize, Fault> {
        if let Some(rounds) = self.rounds {
            return Ok(rounds);
        }
        let rounds = match self.partition.shared.work.fixed_rounds {
            Some(rounds) => rounds,
            None => self.rounds_by_time()?,
        };
        // The first run finds its buffers too small: not in a measured one.
        self.untimed(rounds)?;
        self.rounds = Some(rounds);
        Ok(rounds)
    }

    fn rounds_by_time(&mut self) -> Result<usize, Fault> {
        let shared = self.partition.shared;
        let most = (SAMPLE_OUTPUT_BYTES / (shared.work.batch * shared.work.layout.output)).max(1);
        let mut rounds = 1;
        loop {
            let begin = Instant::now();
            self.partition.work(rounds);
            let elapsed = begin.elapsed();
            self.partition.check(rounds);
            shared.collect()?;
            if rounds == most || elapsed >= shared.work.sample {
                return Ok(rounds);
            }
            rounds = (rounds * 2).min(most);
        }
    }

    fn untimed(&mut self, task: usize) -> Result<Vec<Report>, Fault> {
        let shared = self.partition.shared;
        shared.task.store(task, Ordering::Release);
        shared.barrier.wait()?;
        self.partition.work(task);
        shared.barrier.wait()?;
        self.check(task)
    }

    /// Lets all threads check what they did, and collects their reports.
    fn check(&mut self, task: usize) -> Result<Vec<Report>, Fault> {
        let shared = self.partition.shared;
        self.partition.check(task);
        shared.barrier.wait()?;
        shared.collect()
    }
}

impl From<Broken> for Fault {
    fn from(_: Broken) -> Self {
        lost_thread()
    }
}

/// A measurement with a thread less than it says is none.
pub(super) fn lost_thread() -> Fault {
    Fault::new(FaultKind::Threads, "a thread of the measurement panicked")
}

/// The work of all threads in one call, discarded or measured.
struct Call {
    operations: u64,
    tests: Option<u64>,
}

/// The primality tests behind each sample, which may be several calls merged; nothing if any of them was not counted.
fn tests_of_samples(calls: &[Call], block: &Block) -> Vec<u64> {
    let mut calls = calls.iter();
    let mut tests_of = |operations: u64| {
        let mut done = 0;
        let mut tests = Some(0);
        while done < operations {
            let call = calls.next().expect("every sample is made of whole calls");
            done += call.operations;
            tests = tests.zip(call.tests).map(|(sum, more)| sum + more);
        }
        tests
    };
    tests_of(block.discarded_operations);
    block
        .samples
        .iter()
        .map(|sample| tests_of(sample.operations))
        .collect::<Option<_>>()
        .unwrap_or_default()
}

/// Calls of a thread that are expected to take so long, after so many that took `spent_ns`: at least one, and no more
/// than there is room for.
fn calls_in(left_ns: u64, spent_ns: u64, done: usize) -> usize {
    const MOST: u64 = 1000;
    let calls = (u128::from(left_ns) * done as u128)
        .checked_div(u128::from(spent_ns))
        .map_or(1, |calls| u64::try_from(calls).unwrap_or(u64::MAX));
    calls.clamp(1, MOST) as usize
}

#[cfg(test)]
mod tests {
    use rsalab_measure::Sample;

    use super::*;

    fn block(discarded_operations: u64, operations: &[u64]) -> Block {
        Block {
            samples: operations
                .iter()
                .map(|&operations| Sample {
                    elapsed_ns: 1,
                    tsc_ticks: None,
                    operations,
                })
                .collect(),
            discarded_operations,
            discarded_ns: None,
            started_ns: 0,
            elapsed_ns: 10,
        }
    }

    fn calls(tests: &[Option<u64>]) -> Vec<Call> {
        tests.iter().map(|&tests| Call { operations: 2, tests }).collect()
    }

    #[test]
    fn tests_follow_their_samples_when_those_are_merged() {
        let calls = calls(&[Some(100), Some(1), Some(2), Some(3), Some(4), Some(5)]);
        assert_eq!(tests_of_samples(&calls, &block(2, &[2; 5])), [1, 2, 3, 4, 5]);
        assert_eq!(tests_of_samples(&calls, &block(2, &[4, 4, 2])), [3, 7, 5]);
        assert_eq!(tests_of_samples(&calls, &block(0, &[12])), [115]);
    }

    #[test]
    fn what_was_not_counted_is_not_made_up() {
        let calls = calls(&[Some(1), None, Some(3)]);
        assert!(tests_of_samples(&calls, &block(0, &[2, 2, 2])).is_empty());
        // Nobody asks for the discarded ones.
        assert_eq!(tests_of_samples(&calls, &block(4, &[2])), [3]);
    }
}

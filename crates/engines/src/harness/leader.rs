//! The thread of a crew that says what is done, and reads the clock.

use std::{
    sync::{
        atomic::Ordering,
        mpsc::{Receiver, Sender},
    },
    time::Instant,
};

use rsalab_measure::{
    Block, BlockPlan, Clock, CpuTime, Monotonic, Sample, sample::at_most, sample_block, time,
};

use super::{
    crew::{Command, Reply},
    gate::Broken,
    share::{REFERENCE, Report, STOP, Share, compare},
};
use crate::protocol::{BlockReport, Fault};

/// The most memory one thread's outputs of a sample take: what fits a second-level cache.
const SAMPLE_OUTPUT_BYTES: usize = 1 << 20;

/// The leader's line to the worker loop.
pub(super) struct Orders {
    pub(super) commands: Receiver<Command>,
    pub(super) answers: Sender<Result<Reply, Fault>>,
}

/// The thread that reads the clock.
pub(super) struct Leader<'a> {
    share: Share<'a>,
    /// Batches of a sample, once chosen.
    rounds: Option<usize>,
}

impl<'a> Leader<'a> {
    pub(super) fn new(share: Share<'a>) -> Self {
        Leader {
            share,
            rounds: None,
        }
    }

    /// Does what it is told until nobody tells it any more.
    pub(super) fn lead(mut self, orders: &Orders) -> Result<(), Broken> {
        // Ends when the crew is dropped.
        while let Ok(command) = orders.commands.recv() {
            let answer = match command {
                Command::First => Ok(Reply::First(self.share.first_call())),
                Command::Outputs => self.outputs().map(Reply::Outputs),
                Command::Block(plan) => self.block_with_cpu(&plan).map(Reply::Block),
            };
            if orders.answers.send(answer).is_err() {
                break;
            }
        }
        let shared = self.share.shared;
        shared.task.store(STOP, Ordering::Release);
        shared.gate.wait()
    }

    fn outputs(&mut self) -> Result<Vec<u8>, Fault> {
        let work = &self.share.shared.work;
        let reports = self.untimed(REFERENCE)?;
        let outputs: Vec<u8> = reports
            .into_iter()
            .flat_map(|report| report.outputs)
            .collect();
        if work.deterministic {
            let first = self.share.shared.reference.get_or_init(|| outputs.clone());
            compare(&outputs, first, work.layout.output, 0)?;
            self.share.check_first_call(first)?;
        }
        Ok(outputs)
    }

    fn block_with_cpu(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        let before = CpuTime::of_this_process();
        let report = match self.share.shared.work.concurrent {
            true => self.concurrent_block(plan),
            false => self.block(plan),
        };
        let after = CpuTime::of_this_process();
        let cpu = before.and_then(|before| Some(after?.since(before)));
        Ok(BlockReport { cpu, ..report? })
    }

    /// A block of calls that the threads time themselves, each its share, all at work at once.
    fn concurrent_block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        let shared = self.share.shared;
        if shared.work.deterministic && shared.reference.get().is_none() {
            self.outputs()?;
        }
        let clock = Monotonic::get();
        let started_ns = clock.now_ns();
        let mut calls = Vec::new();
        let mut samples: Vec<Sample> = Vec::new();
        let mut outputs = Vec::new();
        let mut discarded_operations = 0;
        // Without a count, a call of each thread at a time until the time is up.
        let task = plan.calls.map_or(shared.reports.len(), |calls| {
            usize::try_from(calls).unwrap_or(usize::MAX - 1).max(1)
        });
        let mut measured_from_ns = None;
        loop {
            let is_warm = clock.now_ns() - started_ns >= plan.discard_ns;
            let round = if is_warm { task } else { shared.reports.len() };
            if is_warm && measured_from_ns.is_none() {
                measured_from_ns = Some(clock.now_ns());
            }
            for report in self.untimed(round)? {
                outputs.extend(report.outputs);
                for (sample, tests) in report.calls {
                    calls.push(Call {
                        operations: sample.operations,
                        tests,
                    });
                    match is_warm {
                        true => samples.push(sample),
                        false => discarded_operations += sample.operations,
                    }
                }
            }
            let now_ns = clock.now_ns();
            let is_enough = measured_from_ns
                .is_some_and(|from_ns| plan.calls.is_some() || now_ns - from_ns >= plan.min_ns);
            if !is_enough {
                continue;
            }
            let block = Block {
                samples: at_most(plan.max_samples, samples),
                discarded_operations,
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

    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        let shared = self.share.shared;
        if shared.work.deterministic && shared.reference.get().is_none() {
            self.outputs()?;
        }
        let rounds = self.rounds()?;
        let clock = Monotonic::get();
        let mut calls = Vec::new();
        let mut outputs = Vec::new();
        let block = sample_block(clock, plan, || {
            shared.task.store(rounds, Ordering::Release);
            let mut sample = time(clock, || {
                shared.gate.wait()?;
                self.share.work(rounds);
                shared.gate.wait()?;
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
        let rounds = match self.share.shared.work.fixed_rounds {
            Some(rounds) => rounds,
            None => self.rounds_by_time()?,
        };
        // The first run finds its buffers too small: not in a measured one.
        self.untimed(rounds)?;
        self.rounds = Some(rounds);
        Ok(rounds)
    }

    fn rounds_by_time(&mut self) -> Result<usize, Fault> {
        let shared = self.share.shared;
        let most = (SAMPLE_OUTPUT_BYTES / (shared.work.batch * shared.work.layout.output)).max(1);
        let mut rounds = 1;
        loop {
            let begin = Instant::now();
            self.share.work(rounds);
            let elapsed = begin.elapsed();
            self.share.check(rounds);
            shared.collect()?;
            if rounds == most || elapsed >= shared.work.sample {
                return Ok(rounds);
            }
            rounds = (rounds * 2).min(most);
        }
    }

    fn untimed(&mut self, task: usize) -> Result<Vec<Report>, Fault> {
        let shared = self.share.shared;
        shared.task.store(task, Ordering::Release);
        shared.gate.wait()?;
        self.share.work(task);
        shared.gate.wait()?;
        self.check(task)
    }

    /// Lets all threads check what they did, and collects their reports.
    fn check(&mut self, task: usize) -> Result<Vec<Report>, Fault> {
        let shared = self.share.shared;
        self.share.check(task);
        shared.gate.wait()?;
        shared.collect()
    }
}

/// What all threads did in one call, discarded or measured.
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
            started_ns: 0,
            elapsed_ns: 10,
        }
    }

    fn calls(tests: &[Option<u64>]) -> Vec<Call> {
        tests
            .iter()
            .map(|&tests| Call {
                operations: 2,
                tests,
            })
            .collect()
    }

    #[test]
    fn tests_follow_their_samples_when_those_are_merged() {
        let calls = calls(&[Some(100), Some(1), Some(2), Some(3), Some(4), Some(5)]);
        assert_eq!(
            tests_of_samples(&calls, &block(2, &[2; 5])),
            [1, 2, 3, 4, 5]
        );
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

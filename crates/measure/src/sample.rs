//! Samples, the blocks they come in, and the one loop that times them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::clock::{self, Clock};

/// One timed call, or several neighbouring calls taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Time of the monotonic clock, the clock's own overhead subtracted.
    pub elapsed_ns: u64,
    /// Ticks of the time-stamp counter, its overhead subtracted; none where there is no counter of constant rate.
    pub tsc_ticks: Option<u64>,
    /// Operations done in that time.
    pub operations: u64,
}

impl Sample {
    /// Nanoseconds per operation; infinite if none was done.
    pub fn ns_per_operation(&self) -> f64 {
        self.elapsed_ns as f64 / self.operations as f64
    }

    /// Ticks of the time-stamp counter per operation; infinite if none was done.
    pub fn tsc_per_operation(&self) -> Option<f64> {
        Some(self.tsc_ticks? as f64 / self.operations as f64)
    }

    fn merge(&mut self, other: Sample) {
        self.elapsed_ns += other.elapsed_ns;
        self.tsc_ticks = self.tsc_ticks.zip(other.tsc_ticks).map(|(left, right)| left + right);
        self.operations += other.operations;
    }
}

/// The samples of one turn: calls without a pause, its beginning discarded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// In the order in which they were taken; never empty when made by [`run_block`] or [`sample_block`].
    pub samples: Vec<Sample>,
    /// Operations done in the part that was discarded.
    pub discarded_operations: u64,
    /// Time of the calls that were discarded; none where nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded_ns: Option<u64>,
    /// When the block began, on the clock it was measured with.
    pub started_ns: u64,
    /// From the beginning of the block to its end, with the discarded part.
    pub elapsed_ns: u64,
}

impl Block {
    /// The value that statistics are made of: nanoseconds per operation of each sample.
    pub fn ns_per_operation(&self) -> Vec<f64> {
        self.samples.iter().map(Sample::ns_per_operation).collect()
    }

    /// Ticks of the time-stamp counter per operation of each sample; none if one of them has no ticks.
    pub fn tsc_per_operation(&self) -> Option<Vec<f64>> {
        self.samples.iter().map(Sample::tsc_per_operation).collect()
    }

    /// Operations of all samples.
    pub fn operations(&self) -> u64 {
        self.samples.iter().map(|sample| sample.operations).sum()
    }

    /// This as one sample: what was done from its beginning to its end, where the time of what was discarded is known.
    /// The part that is discarded is short, so that a pause in it ends it: of a process that is held back again and
    /// again, blocks without it have too few of the pauses. Nor is a pause in a sample where several threads wait for
    /// the one that begins the next.
    pub fn as_one_sample(&self) -> Cow<'_, Block> {
        if self.discarded_ns.is_none() || self.samples.is_empty() {
            return Cow::Borrowed(self);
        }
        let all = Sample {
            elapsed_ns: self.elapsed_ns,
            tsc_ticks: None,
            operations: self.operations() + self.discarded_operations,
        };
        Cow::Owned(Block {
            samples: vec![all],
            discarded_operations: 0,
            discarded_ns: Some(0),
            ..*self
        })
    }

    /// Time of all samples.
    pub fn measured_ns(&self) -> u64 {
        self.samples.iter().map(|sample| sample.elapsed_ns).sum()
    }

    /// Time that passed while the samples were taken. Of threads that time their calls side by side, the calls take
    /// longer together than that.
    pub fn passed_ns(&self) -> f64 {
        let (measured_ns, elapsed_ns) = (self.measured_ns() as f64, self.elapsed_ns as f64);
        let all_ns = measured_ns + self.discarded_ns.unwrap_or(0) as f64;
        match all_ns > elapsed_ns {
            true => measured_ns * elapsed_ns / all_ns,
            false => measured_ns,
        }
    }
}

/// How long a block lasts and how finely it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockPlan {
    /// Calls are discarded until this much time has passed: the core changes its clock when wide vector instructions
    /// begin, and caches and branch predictors still hold what the subject before left there. A call that is in
    /// progress when the time ends is discarded too.
    ///
    /// Set it to 0 for operations that last much longer than the warm-up. That is decided once, for the operation: to
    /// keep single calls because they were long would prefer the long ones.
    pub discard_ns: u64,
    /// Then calls are timed until this much time has passed, at least one. 0 is one call.
    pub min_ns: u64,
    /// Where a count is asked for: exactly so many calls are timed, at least one, however long they take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// The most samples that a block may hold, at least 1. When they are reached, neighbours are merged in pairs, and
    /// so are the calls that follow: every call is timed and counted, whatever the limit.
    pub max_samples: usize,
}

impl BlockPlan {
    /// One call is one block: for operations that last so long that a warm-up is lost time.
    pub const SINGLE_CALL: BlockPlan = BlockPlan {
        discard_ns: 0,
        min_ns: 0,
        calls: None,
        max_samples: 1,
    };
}

impl Default for BlockPlan {
    fn default() -> Self {
        BlockPlan {
            discard_ns: 10_000_000,
            min_ns: 100_000_000,
            calls: None,
            max_samples: 1000,
        }
    }
}

/// Times `operate` for one block. It does one call's work and returns how many operations that was, at least one.
///
/// The first error ends the block: nothing of it is kept.
pub fn run_block<E>(
    clock: &impl Clock,
    plan: &BlockPlan,
    mut operate: impl FnMut() -> Result<u64, E>,
) -> Result<Block, E> {
    sample_block(clock, plan, || time(clock, &mut operate))
}

/// As [`run_block`], for calls with work before and after them that is not theirs, such as the check of a result:
/// `take` takes one sample, usually with [`time`].
pub fn sample_block<E>(
    clock: &impl Clock,
    plan: &BlockPlan,
    mut take: impl FnMut() -> Result<Sample, E>,
) -> Result<Block, E> {
    let started_ns = clock.now_ns();

    let (mut discarded_operations, mut discarded_ns) = (0, 0);
    while clock.now_ns() - started_ns < plan.discard_ns {
        let sample = take()?;
        discarded_operations += sample.operations;
        discarded_ns += sample.elapsed_ns;
    }

    let measured_from_ns = clock.now_ns();
    let mut record = Record::new(plan.max_samples);
    let mut calls = 0;
    loop {
        let sample = take()?;
        assert!(sample.operations > 0, "a timed call did no operation");
        record.push(sample);
        calls += 1;
        let now_ns = clock.now_ns();
        let is_enough = match plan.calls {
            Some(wanted) => calls >= wanted,
            None => now_ns - measured_from_ns >= plan.min_ns,
        };
        if is_enough {
            return Ok(Block {
                samples: record.samples,
                discarded_operations,
                discarded_ns: Some(discarded_ns),
                started_ns,
                elapsed_ns: now_ns - started_ns,
            });
        }
    }
}

/// Samples taken elsewhere, in order, within a limit: neighbours are merged in pairs as often as it takes.
pub fn at_most(max_samples: usize, samples: impl IntoIterator<Item = Sample>) -> Vec<Sample> {
    let mut record = Record::new(max_samples);
    samples.into_iter().for_each(|sample| record.push(sample));
    record.samples
}

/// Times one call of `operate`, which returns the number of operations it did.
pub fn time<E>(clock: &impl Clock, operate: impl FnOnce() -> Result<u64, E>) -> Result<Sample, E> {
    let overhead = clock.overhead();
    let begin = clock.begin();
    let operations = operate()?;
    let end = clock.end();
    Ok(Sample {
        elapsed_ns: (end.ns - begin.ns).saturating_sub(overhead.ns),
        tsc_ticks: clock::ticks_between(begin, end).map(|ticks| ticks.saturating_sub(overhead.tsc_ticks.unwrap_or(0))),
        operations,
    })
}

/// Samples within a limit that is kept by merging, so that a fast operation fills neither memory nor the store and
/// yet no call goes missing.
struct Record {
    samples: Vec<Sample>,
    max_samples: usize,
    /// Calls that make up one sample: a power of two.
    calls_per_sample: usize,
    /// Calls in the last sample.
    calls_in_last: usize,
}

impl Record {
    fn new(max_samples: usize) -> Self {
        Record {
            samples: Vec::with_capacity(max_samples.clamp(1, 4096)),
            max_samples: max_samples.max(1),
            calls_per_sample: 1,
            calls_in_last: 0,
        }
    }

    fn push(&mut self, sample: Sample) {
        if self.calls_in_last < self.calls_per_sample
            && let Some(last) = self.samples.last_mut()
        {
            last.merge(sample);
            self.calls_in_last += 1;
            return;
        }
        if self.samples.len() == self.max_samples {
            self.halve();
            return self.push(sample);
        }
        self.samples.push(sample);
        self.calls_in_last = 1;
    }

    /// Merges neighbours in pairs; of an odd number, the last is left to be filled by the calls to come.
    fn halve(&mut self) {
        let odd = self.samples.len() % 2 == 1;
        self.samples = self
            .samples
            .chunks(2)
            .map(|pair| {
                let mut merged = pair[0];
                pair[1..].iter().for_each(|&other| merged.merge(other));
                merged
            })
            .collect();
        self.calls_in_last = self.calls_per_sample * if odd { 1 } else { 2 };
        self.calls_per_sample *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MockClock;

    const MS: u64 = 1_000_000;

    /// A block of calls that take `call_ns` each and do `operations`.
    fn block(clock: &MockClock, plan: &BlockPlan, call_ns: u64, operations: u64) -> Block {
        run_block::<()>(clock, plan, || {
            clock.advance(call_ns);
            Ok(operations)
        })
        .unwrap()
    }

    #[test]
    fn work_around_a_call_is_not_in_its_sample() {
        let clock = MockClock::new();
        let plan = BlockPlan {
            discard_ns: 0,
            min_ns: 10 * MS,
            calls: None,
            max_samples: 100,
        };
        let block = sample_block::<()>(&clock, &plan, || {
            clock.advance(MS);
            let mut sample = time(&clock, || {
                clock.advance(3 * MS);
                Ok(1)
            })?;
            clock.advance(MS);
            sample.operations = 7;
            Ok(sample)
        })
        .unwrap();
        // Two calls of 3 ms within 10 ms of work.
        assert_eq!(block.samples.len(), 2);
        assert_eq!(block.measured_ns(), 6 * MS);
        assert_eq!(block.operations(), 14);
        assert_eq!(block.elapsed_ns, 10 * MS);
    }

    #[test]
    fn the_beginning_is_discarded_and_the_rest_lasts_long_enough() {
        let clock = MockClock::new();
        clock.advance(5);
        let block = block(&clock, &BlockPlan::default(), 3 * MS, 8);
        // 4 calls of 3 ms reach 10 ms; 34 reach 100 ms.
        assert_eq!(block.discarded_operations, 4 * 8);
        assert_eq!(block.samples.len(), 34);
        assert_eq!(block.started_ns, 5);
        assert_eq!(block.elapsed_ns, (4 + 34) * 3 * MS);
        assert_eq!(block.operations(), 34 * 8);
        assert_eq!(block.measured_ns(), 34 * 3 * MS);
        for sample in &block.samples {
            assert_eq!(sample.elapsed_ns, 3 * MS);
            assert_eq!(sample.tsc_ticks, Some(6 * MS));
            assert_eq!(sample.ns_per_operation(), 375_000.0);
            assert_eq!(sample.tsc_per_operation(), Some(750_000.0));
        }
    }

    #[test]
    fn a_count_of_calls_is_kept_whatever_the_time() {
        let clock = MockClock::new();
        for (calls, call_ns) in [(1, 7), (10, 1), (10, 1_000_000_000)] {
            let plan = BlockPlan {
                discard_ns: 50,
                min_ns: 1_000,
                calls: Some(calls),
                max_samples: 1000,
            };
            let block = block(&clock, &plan, call_ns, 1);
            assert_eq!(block.samples.len() as u64, calls);
        }
    }

    #[test]
    fn one_long_call_is_a_block() {
        let clock = MockClock::new();
        let single = block(&clock, &BlockPlan::SINGLE_CALL, 500 * MS, 1);
        assert_eq!(single.samples.len(), 1);
        assert_eq!(single.discarded_operations, 0);
        assert_eq!(single.measured_ns(), 500 * MS);
        let with_warm_up = block(&clock, &BlockPlan::default(), 500 * MS, 1);
        assert_eq!(with_warm_up.samples.len(), 1);
        assert_eq!(with_warm_up.discarded_operations, 1);
    }

    #[test]
    fn the_clock_is_not_charged_to_the_operation() {
        let clock = MockClock::with_read_cost(40);
        let plan = BlockPlan {
            discard_ns: 0,
            min_ns: 1000,
            calls: None,
            max_samples: 100,
        };
        let block = block(&clock, &plan, 60, 1);
        assert!(block.samples.iter().all(|s| s.elapsed_ns == 60));
        assert!(block.samples.iter().all(|s| s.tsc_ticks == Some(120)));
        // An interval shorter than the overhead is 0, not 2⁶⁴.
        let hasty = MockClock::with_read_cost(40);
        let mut overhead_only = run_block::<()>(&Lying(&hasty), &plan, || {
            hasty.advance(1);
            Ok(1)
        })
        .unwrap();
        assert_eq!(overhead_only.samples.pop().unwrap().elapsed_ns, 0);
    }

    /// States ten times the overhead it has.
    struct Lying<'a>(&'a MockClock);

    impl Clock for Lying<'_> {
        fn now_ns(&self) -> u64 {
            self.0.now_ns()
        }
        fn begin(&self) -> clock::Reading {
            self.0.begin()
        }
        fn end(&self) -> clock::Reading {
            self.0.end()
        }
        fn overhead(&self) -> clock::Reading {
            clock::Reading {
                ns: 400,
                tsc_ticks: Some(800),
            }
        }
    }

    #[test]
    fn samples_are_merged_at_the_limit_and_none_is_lost() {
        for max_samples in [1, 2, 3, 7, 10, 1000] {
            for calls in [1, 2, 3, 9, 10, 11, 64, 1000] {
                let clock = MockClock::new();
                let plan = BlockPlan {
                    discard_ns: 0,
                    min_ns: calls * 100,
                    calls: None,
                    max_samples,
                };
                let block = block(&clock, &plan, 100, 3);
                assert!(block.samples.len() <= max_samples);
                assert!(block.samples.len() * 2 >= max_samples.min(calls as usize));
                assert_eq!(block.operations(), calls * 3);
                assert_eq!(block.measured_ns(), calls * 100);
                let whole = block.samples[0].operations;
                let (last, others) = block.samples.split_last().unwrap();
                assert!(others.iter().all(|sample| sample.operations == whole));
                assert!(last.operations <= whole);
            }
        }
    }

    #[test]
    fn an_error_ends_the_block() {
        let clock = MockClock::new();
        let mut calls = 0;
        let result = run_block(&clock, &BlockPlan::default(), || {
            clock.advance(MS);
            calls += 1;
            if calls == 30 { Err("no more") } else { Ok(1) }
        });
        assert_eq!(result, Err("no more"));
        assert_eq!(calls, 30);
    }

    #[test]
    #[should_panic(expected = "did no operation")]
    fn a_call_that_does_nothing_is_a_bug() {
        let clock = MockClock::new();
        let plan = BlockPlan {
            discard_ns: 0,
            ..BlockPlan::default()
        };
        block(&clock, &plan, MS, 0);
    }

    #[test]
    fn blocks_survive_json() {
        let clock = MockClock::new();
        let block = block(&clock, &BlockPlan::default(), 30 * MS, 2);
        let json = serde_json::to_string(&block).unwrap();
        assert_eq!(serde_json::from_str::<Block>(&json).unwrap(), block);
    }
}

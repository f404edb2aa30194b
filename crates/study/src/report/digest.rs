//! The data that articles need of a cell beyond its figures: each block's sums, and the ticks of single operations.

use rsalab_engines::Readiness;
use rsalab_measure::{CpuTime, Sample};

use crate::{compare::Measured, store::TakenBlock};

/// A cell's blocks, each in a few numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Digest {
    /// In the order in which they were measured.
    pub(crate) blocks: Vec<BlockDigest>,
    /// Ticks of the time-stamp counter of samples of one operation each; none where they were not counted.
    pub(crate) ticks: Option<Ticks>,
    /// Of the slowest of these, where their primality tests are counted: which share of the time beyond the mean goes
    /// with tests beyond the mean. 1 if time follows the tests, 0 if it has nothing to do with them.
    pub(crate) explained: Vec<f64>,
    /// Nanoseconds of an operation in each sample, sorted.
    pub(crate) times: Vec<f64>,
    /// The first call of all, where one call was the question.
    pub(crate) first_call: Option<Sample>,
}

/// One block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockDigest {
    /// Operations in its samples.
    pub(crate) operations: u64,
    /// Time of its samples; of all threads together where each timed its own calls.
    pub(crate) measured_ns: u64,
    /// Time that passed meanwhile.
    pub(crate) passed_ns: f64,
    /// Ticks of its samples.
    pub(crate) ticks: Option<u64>,
    /// Wall time of the block.
    pub(crate) elapsed_ns: u64,
    /// CPU time of the worker.
    pub(crate) cpu: Option<CpuTime>,
    /// Smallest and largest ticks of one operation: with the sum, what a program of article (b) saves of a batch.
    pub(crate) extremes: Option<(u64, u64)>,
}

/// Single operations in ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    /// Sorted.
    pub(crate) sorted: Vec<u64>,
}

impl Ticks {
    pub(crate) fn min(&self) -> u64 {
        self.sorted[0]
    }

    pub(crate) fn max(&self) -> u64 {
        self.sorted[self.sorted.len() - 1]
    }
}

impl Digest {
    pub(crate) fn of(measured: &Measured<'_>, readiness: Option<&Readiness>) -> Digest {
        let single: Vec<Option<Vec<u64>>> = measured
            .blocks
            .iter()
            .map(|taken| single_ticks(&taken.report.block.samples))
            .collect();
        let block = |(taken, single): (&&TakenBlock, &Option<Vec<u64>>)| {
            let block = &taken.report.block;
            let ends = |ticks: &Vec<u64>| Some((*ticks.iter().min()?, *ticks.iter().max()?));
            BlockDigest {
                operations: block.operations(),
                measured_ns: block.measured_ns(),
                passed_ns: block.passed_ns(),
                ticks: block.samples.iter().map(|sample| sample.tsc_ticks).sum(),
                elapsed_ns: block.elapsed_ns,
                cpu: taken.report.cpu,
                extremes: single.as_ref().and_then(ends),
            }
        };
        let blocks = measured.blocks.iter().zip(&single).map(block).collect();
        let explained = explained(&measured.blocks, &single);
        let of_all: Option<Vec<Vec<u64>>> = single.into_iter().collect();
        let mut sorted = of_all.unwrap_or_default().concat();
        sorted.sort_unstable();
        let mut times: Vec<f64> = measured
            .blocks
            .iter()
            .flat_map(|taken| taken.report.block.ns_per_operation())
            .collect();
        times.sort_unstable_by(f64::total_cmp);
        Digest {
            blocks,
            explained,
            times,
            ticks: (!sorted.is_empty()).then_some(Ticks { sorted }),
            first_call: readiness.and_then(|readiness| readiness.first_call),
        }
    }
}

/// Ticks of samples, if each is of one operation and was counted.
fn single_ticks(samples: &[Sample]) -> Option<Vec<u64>> {
    let ticks = |sample: &Sample| sample.tsc_ticks.filter(|_| sample.operations == 1);
    samples.iter().map(ticks).collect()
}

/// For each of the slowest operations: how far its tests are above their mean, divided by how far its ticks are, both
/// relative to the mean.
fn explained(blocks: &[&TakenBlock], single: &[Option<Vec<u64>>]) -> Vec<f64> {
    /// One in so many counts as one of the slowest.
    const RARE: usize = 100;
    /// Fewer say nothing.
    const LEAST: usize = 10;
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    for (block, ticks) in blocks.iter().zip(single) {
        let tests = &block.report.tests;
        match ticks {
            Some(ticks) if ticks.len() == tests.len() => {
                pairs.extend(ticks.iter().copied().zip(tests.iter().copied()));
            }
            _ => return Vec::new(),
        }
    }
    pairs.sort_unstable();
    let mean = |of: fn(&(u64, u64)) -> u64| pairs.iter().map(of).sum::<u64>() as f64 / pairs.len() as f64;
    let (ticks, tests) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let count = (pairs.len() / RARE).max(LEAST).min(pairs.len() / 2);
    let beyond = |value: u64, mean: f64| value as f64 / mean - 1.0;
    let slowest = pairs.iter().rev().take(count);
    slowest
        .filter(|pair| beyond(pair.0, ticks) > 0.0)
        .map(|pair| beyond(pair.1, tests) / beyond(pair.0, ticks))
        .collect()
}

//! Rates and ratios with intervals found by resampling whole blocks.
//!
//! Blocks, not samples, are resampled, because the samples of one block are not independent; and the two sides of a
//! ratio are resampled together, because blocks measured in the same round met the same machine: drift that hits both
//! cancels.
//!
//! The intervals are percentiles of the resampled statistic, expanded for the small number of blocks: the plain
//! percentile interval is too narrow for few blocks, as it estimates a variance with divisor `B` and knows no Student's
//! `t`. With `α/2` replaced by `Φ(−√(B/(B−1))·t(1−α/2, B−1))` it has the right width for a mean (Hesterberg, "What
//! Teachers Should Know About the Bootstrap", The American Statistician 69, 2015, section 4.3).
//!
//! Resampled statistics lie between those of the extreme blocks, which enclose the true value with probability
//! `1 − 2^(1−B)` at most: no interval claims more.

use std::borrow::Borrow;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::Estimate;
use crate::sample::Block;

/// How an interval is found by resampling. The same values and settings give the same interval on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// How often the blocks are drawn anew, at least 1.
    pub resamples: usize,
    /// The confidence that is asked for, between 0 and 1.
    pub confidence: f64,
    /// The beginning of the random numbers.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap {
            resamples: 2000,
            confidence: 0.95,
            seed: 0,
        }
    }
}

/// Operations per second: all operations of all blocks over the time that they took.
///
/// This is the rate that a user of many operations sees, and for operations whose time is a matter of chance, as
/// finding primes is, it is not the reciprocal of the median. None if there are no samples.
pub fn rate<B: Borrow<Block>>(blocks: &[B], bootstrap: &Bootstrap) -> Option<Estimate> {
    let blocks: Vec<&Block> = blocks
        .iter()
        .map(B::borrow)
        .filter(|block| !block.samples.is_empty())
        .collect();
    Work::of(&blocks).rate(bootstrap)
}

/// The rate of `numerator` divided by the rate of `denominator`: above 1 where the numerator is faster.
///
/// The `i`-th block of one was measured in the same round as the `i`-th block of the other. None if there are no
/// samples.
///
/// # Panics
///
/// If the two have different numbers of blocks.
pub fn ratio_of_rates<B: Borrow<Block>>(numerator: &[B], denominator: &[B], bootstrap: &Bootstrap) -> Option<Estimate> {
    let (_, above, below) = paired(numerator, denominator, |block| !block.borrow().samples.is_empty());
    Work::of(&above).ratio(&Work::of(&below), bootstrap)
}

/// The rounds in which both sides have something.
pub(super) fn paired<'a, T>(
    numerator: &'a [T],
    denominator: &'a [T],
    has_values: impl Fn(&T) -> bool,
) -> (usize, Vec<&'a T>, Vec<&'a T>) {
    assert_eq!(numerator.len(), denominator.len(), "blocks of a ratio come in pairs");
    let (above, below): (Vec<_>, Vec<_>) = numerator
        .iter()
        .zip(denominator)
        .filter(|(above, below)| has_values(above) && has_values(below))
        .unzip();
    (above.len(), above, below)
}

/// Operations and time of each block.
struct Work(Vec<(u64, f64)>);

impl Work {
    fn of<B: Borrow<Block>>(blocks: &[&B]) -> Self {
        Work(
            blocks
                .iter()
                .map(|&block| block.borrow())
                .map(|block| (block.operations(), block.passed_ns()))
                .collect(),
        )
    }

    // Here and not in the functions that take any kind of block: those are compiled where they are called, without
    // optimisation in tests.
    fn rate(&self, bootstrap: &Bootstrap) -> Option<Estimate> {
        bootstrap.estimate(self.0.len(), |counts| self.rate_per_second(counts))
    }

    /// The ratio to others of the same rounds.
    fn ratio(&self, others: &Work, bootstrap: &Bootstrap) -> Option<Estimate> {
        bootstrap.estimate(self.0.len(), |counts| {
            Some(self.rate_per_second(counts)? / others.rate_per_second(counts)?)
        })
    }

    /// The rate when block `i` is taken `counts[i]` times; none if no block is.
    fn rate_per_second(&self, counts: &[u32]) -> Option<f64> {
        let (operations, ns) = self.0.iter().zip(counts).fold(
            (0.0, 0.0),
            |(operations, ns), (&(block_operations, block_ns), &count)| {
                (
                    operations + block_operations as f64 * f64::from(count),
                    ns + block_ns * f64::from(count),
                )
            },
        );
        (operations > 0.0).then(|| operations / ns * 1e9)
    }
}

impl Bootstrap {
    /// The statistic of `blocks` blocks, each taken once, and its interval over draws with replacement.
    pub(super) fn estimate(&self, blocks: usize, statistic: impl Fn(&[u32]) -> Option<f64>) -> Option<Estimate> {
        if blocks == 0 {
            return None;
        }
        let value = statistic(&vec![1; blocks])?;
        if blocks == 1 {
            return Some(Estimate {
                value,
                low: value,
                high: value,
                confidence: 0.0,
                n: 1,
            });
        }
        let mut rng = ChaCha12Rng::seed_from_u64(self.seed);
        let mut counts = vec![0u32; blocks];
        let mut resampled: Vec<f64> = (0..self.resamples.max(1))
            .filter_map(|_| {
                counts.fill(0);
                for _ in 0..blocks {
                    counts[rng.random_range(0..blocks as u32) as usize] += 1;
                }
                statistic(&counts)
            })
            .collect();
        resampled.sort_unstable_by(f64::total_cmp);
        let last = resampled.len().checked_sub(1)?;
        let tail = (expanded_tail(blocks, self.confidence) * resampled.len() as f64) as usize;
        Some(Estimate {
            value,
            // The statistic of all blocks is one of its possible values, whichever were drawn.
            low: resampled[tail.min(last / 2)].min(value),
            high: resampled[last - tail.min(last / 2)].max(value),
            confidence: self.confidence.min(1.0 - 0.5f64.powi(blocks as i32 - 1)),
            n: blocks,
        })
    }
}

/// The share of resampled statistics to leave out at each end.
fn expanded_tail(blocks: usize, confidence: f64) -> f64 {
    let freedom = (blocks - 1) as f64;
    let t = StudentsT::new(0.0, 1.0, freedom)
        .expect("there are at least two blocks")
        .inverse_cdf(0.5 + confidence / 2.0);
    Normal::standard().cdf(-(blocks as f64 / freedom).sqrt() * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn tails_shrink_for_few_blocks_and_approach_the_plain_ones() {
        assert!(expanded_tail(2, 0.95) < 1e-10);
        // t(0.975, 9) = 2.262157; Φ(−√(10/9)·2.262157) = 0.008548.
        assert!((expanded_tail(10, 0.95) - 0.008_548).abs() < 1e-5);
        assert!((expanded_tail(100_000, 0.95) - 0.025).abs() < 1e-4);
    }

    #[test]
    fn the_seed_decides() {
        let blocks: Vec<Block> = (0..30).map(|i| block(&[(1, 1 + i * 7919 % 101)])).collect();
        let of = |seed| {
            let bootstrap = Bootstrap {
                seed,
                resamples: 200,
                ..Bootstrap::default()
            };
            rate(&blocks, &bootstrap).unwrap()
        };
        assert_eq!(of(1), of(1));
        assert!((1..20).any(|seed| of(seed) != of(0)));
    }

    fn block(samples: &[(u64, u64)]) -> Block {
        Block {
            samples: samples
                .iter()
                .map(|&(operations, elapsed_ns)| Sample {
                    elapsed_ns,
                    tsc_ticks: None,
                    operations,
                })
                .collect(),
            discarded_operations: 0,
            discarded_ns: None,
            started_ns: 0,
            elapsed_ns: samples.iter().map(|sample| sample.1).sum(),
        }
    }

    #[test]
    fn a_rate_is_all_operations_over_all_time() {
        let blocks = [block(&[(10, 1000), (20, 1000)]), block(&[(70, 8000)])];
        let rate = rate(&blocks, &Bootstrap::default()).unwrap();
        assert!((rate.value - 1e7).abs() < 1e-3);
        // Between those of the two blocks.
        assert!(rate.low >= 0.874e7 && rate.high <= 1.5001e7);
        let references: Vec<&Block> = blocks.iter().collect();
        assert_eq!(super::rate(&references, &Bootstrap::default()), Some(rate));
        assert_eq!(super::rate::<Block>(&[], &Bootstrap::default()), None);
        assert_eq!(super::rate(&[block(&[])], &Bootstrap::default()), None);
    }

    /// Two threads that time their own calls, of which one is discarded each, do twice as much as one.
    #[test]
    fn calls_side_by_side_are_not_added_up() {
        let side_by_side = Block {
            discarded_operations: 2,
            discarded_ns: Some(2000),
            elapsed_ns: 3000,
            ..block(&[(1, 1000), (1, 1000), (1, 1000), (1, 1000)])
        };
        assert_eq!(side_by_side.passed_ns(), 2000.0);
        assert_eq!(side_by_side.as_one_sample().passed_ns(), 3000.0);
        let rate = rate(&[&side_by_side], &Bootstrap::default()).unwrap();
        assert!((rate.value - 2e6).abs() < 1e-3, "{rate:?}");
        let one = block(&[(1, 1000), (1, 1000)]);
        assert_eq!(one.passed_ns(), 2000.0);
        let ratio = ratio_of_rates(&[side_by_side], &[one], &Bootstrap::default()).unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn a_ratio_of_rates_is_above_one_for_the_faster() {
        let fast = [block(&[(3, 100)]), block(&[(3, 110)])];
        let slow = [block(&[(1, 100)]), block(&[(1, 110)])];
        let ratio = ratio_of_rates(&fast, &slow, &Bootstrap::default()).unwrap();
        assert!((ratio.value - 3.0).abs() < 1e-12);
        assert!((ratio.low - 3.0).abs() < 1e-12 && (ratio.high - 3.0).abs() < 1e-12);
    }
}

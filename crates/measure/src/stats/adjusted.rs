//! Rates of operations whose time is a matter of chance, adjusted for the number of trials (control variate).
//!
//! A search takes about `a + b·c` where `c` is what it had to try, and `c` is chance. Where `c` is counted, a
//! sample says how many it had, and its mean time can be moved to where a mean `c` would have put it:
//!
//! ```text
//! b          slope of time over count, least squares over the samples
//! adjusted   mean(t) − b·(mean(c) − E[c])
//! ```
//!
//! This is a control variate (Glasserman, *Monte Carlo Methods in Financial Engineering*, section 4.1; Hesterberg and
//! Nelson, "Control Variates for Probability and Quantile Estimation", Management Science 44, 1998). The expectation
//! must come from elsewhere than the sample: to put the sample's own mean in its place changes nothing. Two subjects
//! that search alike share one, and then the mean of both will do: whatever its error, it moves both alike, and their
//! ratio keeps nothing of it.

use serde::{Deserialize, Serialize};

use super::{
    Estimate,
    bootstrap::{Bootstrap, paired},
};
use crate::sample::Block;

/// Fewest samples that a slope is taken from.
const FEWEST: u64 = 10;

/// Standard errors by which the mean counts of two that search alike may differ. More is no chance: once in 16,000.
const MOST_ERRORS: f64 = 4.0;

/// A block, and what was counted behind each of its samples.
#[derive(Clone, Copy, Debug)]
pub struct CountedBlock<'a> {
    /// The samples.
    pub block: &'a Block,
    /// One for each sample, of all its operations together.
    pub counts: &'a [u64],
}

impl CountedBlock<'_> {
    fn is_counted(&self) -> bool {
        !self.counts.is_empty() && self.counts.len() == self.block.samples.len()
    }
}

/// How far a count explains the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// The count of one operation, in the mean.
    pub count_per_op: f64,
    /// Nanoseconds that one more takes: the slope.
    pub ns_per_count: f64,
    /// Coefficient of variation of the time of one operation.
    pub variation: f64,
    /// The variation when the line is taken away: what the correction leaves.
    pub variation_left: f64,
}

/// How far the count explains the time of one operation.
///
/// None if a block is not counted, if there are fewer than ten samples, or if all have the same count.
pub fn explained(blocks: &[CountedBlock<'_>]) -> Option<Explained> {
    let sums = Sums::of_all(blocks)?;
    let slope = sums.slope()?;
    let freedom = sums.samples - 2.0;
    let mean = sums.ns / sums.operations;
    let squares = sums.ns_squared - sums.ns * mean;
    let left = squares - slope * sums.cross();
    Some(Explained {
        count_per_op: sums.count / sums.operations,
        ns_per_count: slope,
        variation: (squares / (freedom + 1.0)).sqrt() / mean,
        variation_left: (left.max(0.0) / freedom).sqrt() / mean,
    })
}

/// Operations per second, had the mean count been `expected`.
///
/// The interval takes `expected` for exact. None where [`explained`] has none.
pub fn adjusted_rate(blocks: &[CountedBlock<'_>], expected: f64, bootstrap: &Bootstrap) -> Option<Estimate> {
    Sums::of_all(blocks)?.slope()?;
    let blocks: Vec<Sums> = blocks.iter().map(Sums::of).collect();
    bootstrap.estimate(blocks.len(), |counts| {
        Sums::drawn(&blocks, counts).corrected_rate_per_second(expected)
    })
}

/// The rate of `numerator` divided by the rate of `denominator`, had both had the mean count of the two together.
///
/// That is right where both search alike, so that both have one expectation. The `i`-th block of one was measured in
/// the same round as the `i`-th block of the other.
///
/// # Errors
/// Why there is no such ratio.
///
/// # Panics
/// If the two have different numbers of blocks.
pub fn adjusted_ratio_of_rates(
    numerator: &[CountedBlock<'_>],
    denominator: &[CountedBlock<'_>],
    bootstrap: &Bootstrap,
) -> Result<Estimate, Unadjusted> {
    let is_counted = |blocks: &[CountedBlock<'_>]| blocks.iter().all(CountedBlock::is_counted);
    if !is_counted(numerator) || !is_counted(denominator) {
        return Err(Unadjusted::NotCounted);
    }
    let (rounds, above, below) = paired(numerator, denominator, |_| true);
    let above: Vec<Sums> = above.into_iter().map(Sums::of).collect();
    let below: Vec<Sums> = below.into_iter().map(Sums::of).collect();
    let once = vec![1; rounds];
    let all = [Sums::drawn(&above, &once), Sums::drawn(&below, &once)];
    if all.iter().any(|sums| sums.slope().is_none()) {
        return Err(Unadjusted::TooFew);
    }
    if errors_apart(&all[0], &all[1]) > MOST_ERRORS {
        return Err(Unadjusted::Unlike);
    }
    let ratio = |counts: &[u32]| {
        let (above, below) = (Sums::drawn(&above, counts), Sums::drawn(&below, counts));
        let expected = (above.count + below.count) / (above.operations + below.operations);
        let rates = [above, below].map(|sums| sums.corrected_rate_per_second(expected));
        Some(rates[0]? / rates[1]?)
    };
    bootstrap.estimate(rounds, ratio).ok_or(Unadjusted::TooFew)
}

/// The count of one operation that subjects share who search alike: the mean of all of them.
///
/// None if a block is not counted or there are none.
pub fn shared_count(subjects: &[&[CountedBlock<'_>]]) -> Option<f64> {
    let sums: Option<Vec<Sums>> = subjects.iter().map(|blocks| Sums::of_all(blocks)).collect();
    let all = Sums::total(sums?.into_iter());
    (all.operations > 0.0).then(|| all.count / all.operations)
}

/// Returns whether the mean counts of subjects differ by no more than chance, each compared with the first.
pub fn same_expectation(subjects: &[&[CountedBlock<'_>]]) -> bool {
    let mut sums = subjects.iter().filter_map(|blocks| Sums::of_all(blocks));
    let Some(first) = sums.next() else {
        return true;
    };
    sums.all(|other| errors_apart(&first, &other) <= MOST_ERRORS)
}

/// Why a ratio is not adjusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unadjusted {
    /// One side has samples without a count.
    #[error("what was tried is not counted")]
    NotCounted,
    /// Fewer than ten samples a side, or all alike.
    #[error("too few samples")]
    TooFew,
    /// The mean counts differ by more than chance would have it.
    #[error("the mean counts differ by more than chance")]
    Unlike,
}

/// Standard errors between two mean counts.
fn errors_apart(one: &Sums, other: &Sums) -> f64 {
    let error = (one.count_error_squared() + other.count_error_squared()).sqrt();
    (one.count / one.operations - other.count / other.operations).abs() / error
}

/// The sums that a line through samples is made of. A sample of `m` operations weighs as much as `m` of one, and its
/// squares are those of its means: times and counts of `m` operations vary `m` times as much as those of one.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    samples: f64,
    operations: f64,
    ns: f64,
    passed_ns: f64,
    count: f64,
    ns_squared: f64,
    count_squared: f64,
    ns_count: f64,
}

impl Sums {
    fn of(counted: &CountedBlock<'_>) -> Sums {
        let samples = counted.block.samples.iter().zip(counted.counts);
        let sums = Sums::total(samples.map(|(sample, &count)| {
            let operations = sample.operations as f64;
            let (ns, count) = (sample.elapsed_ns as f64, count as f64);
            Sums {
                samples: 1.0,
                operations,
                ns,
                count,
                ns_squared: ns * ns / operations,
                count_squared: count * count / operations,
                ns_count: ns * count / operations,
                passed_ns: 0.0,
            }
        }));
        Sums {
            passed_ns: counted.block.passed_ns(),
            ..sums
        }
    }

    /// None if a block is not counted.
    fn of_all(blocks: &[CountedBlock<'_>]) -> Option<Sums> {
        let is_counted = blocks.iter().all(CountedBlock::is_counted);
        is_counted.then(|| Sums::total(blocks.iter().map(Sums::of)))
    }

    fn total(sums: impl Iterator<Item = Sums>) -> Sums {
        sums.fold(Sums::default(), |total, sums| total.plus(&sums, 1.0))
    }

    /// Block `i` taken `counts[i]` times.
    fn drawn(blocks: &[Sums], counts: &[u32]) -> Sums {
        let drawn = blocks.iter().zip(counts);
        drawn.fold(Sums::default(), |total, (block, &count)| {
            total.plus(block, count.into())
        })
    }

    fn plus(&self, other: &Sums, times: f64) -> Sums {
        Sums {
            samples: self.samples + other.samples * times,
            operations: self.operations + other.operations * times,
            ns: self.ns + other.ns * times,
            passed_ns: self.passed_ns + other.passed_ns * times,
            count: self.count + other.count * times,
            ns_squared: self.ns_squared + other.ns_squared * times,
            count_squared: self.count_squared + other.count_squared * times,
            ns_count: self.ns_count + other.ns_count * times,
        }
    }

    fn cross(&self) -> f64 {
        self.ns_count - self.ns * self.count / self.operations
    }

    fn count_squares(&self) -> f64 {
        self.count_squared - self.count * self.count / self.operations
    }

    /// Nanoseconds for each one counted; none if there are too few samples, or all have the same count.
    fn slope(&self) -> Option<f64> {
        // What is left of a difference of equals is rounding.
        let varies = self.count_squares() > 1e-9 * self.count_squared;
        (self.samples >= FEWEST as f64 && varies).then(|| self.cross() / self.count_squares())
    }

    /// The square of the standard error of the mean count.
    fn count_error_squared(&self) -> f64 {
        self.count_squares() / (self.samples - 1.0) / self.operations
    }

    fn corrected_rate_per_second(&self, expected: f64) -> Option<f64> {
        let excess = self.count / self.operations - expected;
        let ns = self.ns / self.operations - self.slope()? * excess;
        // Threads that time their calls side by side do more in the time that passes.
        (ns > 0.0).then(|| 1e9 / ns * self.ns / self.passed_ns)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    use super::*;
    use crate::{
        sample::Sample,
        stats::{rate, ratio_of_rates},
    };

    /// A search with known truth: each operation tries candidates until two are found, `1/p` for each in the mean.
    #[derive(Clone, Copy)]
    struct Searcher {
        found: f64,
        base_ns: f64,
        ns_per_count: f64,
        /// Standard deviation of what the count does not explain.
        noise_ns: f64,
    }

    /// As OpenSSL's with 2048 bits, in units of its own.
    const SEARCHER: Searcher = Searcher {
        found: 1.0 / 60.0,
        base_ns: 4e6,
        ns_per_count: 0.25e6,
        noise_ns: 5e6,
    };

    impl Searcher {
        fn mean_ns(self) -> f64 {
            self.base_ns + self.ns_per_count * 2.0 / self.found
        }

        fn operation(self, rng: &mut ChaCha12Rng) -> (u64, u64) {
            let mut wait = || {
                let share: f64 = rng.random();
                1 + ((1.0 - share).ln() / (1.0 - self.found).ln()) as u64
            };
            let count = wait() + wait();
            // Of an even distribution, whose standard deviation is its width over √12.
            let noise = (rng.random::<f64>() - 0.5) * 12f64.sqrt() * self.noise_ns;
            let ns = self.base_ns + self.ns_per_count * count as f64 + noise;
            (ns.max(1.0) as u64, count)
        }

        /// Blocks that end by the clock, as real ones do.
        fn blocks(self, count: usize, rng: &mut ChaCha12Rng) -> Vec<(Block, Vec<u64>)> {
            let block = |rng: &mut ChaCha12Rng| {
                let (mut samples, mut counts, mut elapsed_ns) = (Vec::new(), Vec::new(), 0);
                while elapsed_ns < 100_000_000 {
                    let (ns, count) = self.operation(rng);
                    elapsed_ns += ns;
                    samples.push(Sample {
                        elapsed_ns: ns,
                        tsc_ticks: None,
                        operations: 1,
                    });
                    counts.push(count);
                }
                let block = Block {
                    samples,
                    discarded_operations: 0,
                    discarded_ns: None,
                    started_ns: 0,
                    elapsed_ns,
                };
                (block, counts)
            };
            (0..count).map(|_| block(rng)).collect()
        }
    }

    fn counted(blocks: &[(Block, Vec<u64>)]) -> Vec<CountedBlock<'_>> {
        blocks
            .iter()
            .map(|(block, counts)| CountedBlock { block, counts })
            .collect()
    }

    fn bootstrap(resamples: usize) -> Bootstrap {
        Bootstrap {
            resamples,
            ..Bootstrap::default()
        }
    }

    fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (mean, (squares / (values.len() - 1) as f64).sqrt())
    }

    #[test]
    fn the_line_is_found_and_what_it_leaves() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let blocks = SEARCHER.blocks(2000, &mut rng);
        let found = explained(&counted(&blocks)).unwrap();
        let truth = SEARCHER.mean_ns();
        assert!((found.ns_per_count / SEARCHER.ns_per_count - 1.0).abs() < 0.01);
        assert!((found.count_per_op / 120.0 - 1.0).abs() < 0.03);
        assert!((found.variation_left / (SEARCHER.noise_ns / truth) - 1.0).abs() < 0.05);
        assert!(found.variation > 4.0 * found.variation_left);
    }

    #[test]
    fn a_ratio_keeps_the_truth_and_loses_its_luck() {
        // The second takes 5 % more for everything it does, and the same counts in the mean.
        let slower = Searcher {
            base_ns: SEARCHER.base_ns * 1.05,
            ns_per_count: SEARCHER.ns_per_count * 1.05,
            ..SEARCHER
        };
        for (other, truth) in [(SEARCHER, 1.0), (slower, 1.05)] {
            let mut rng = ChaCha12Rng::seed_from_u64(2);
            let (mut raw, mut corrected, mut covered) = (Vec::new(), Vec::new(), 0);
            const SETS: usize = 400;
            for _ in 0..SETS {
                let one = SEARCHER.blocks(60, &mut rng);
                let two = other.blocks(60, &mut rng);
                let blocks = |counted: &[(Block, Vec<u64>)]| -> Vec<Block> {
                    counted.iter().map(|(block, _)| block.clone()).collect()
                };
                let by_chance = ratio_of_rates(&blocks(&one), &blocks(&two), &bootstrap(2)).unwrap();
                raw.push(by_chance.value);
                let ratio = adjusted_ratio_of_rates(&counted(&one), &counted(&two), &bootstrap(300)).unwrap();
                corrected.push(ratio.value);
                covered += usize::from(ratio.covers(truth));
            }
            let (_, raw_deviation) = mean_and_deviation(&raw);
            let (mean, deviation) = mean_and_deviation(&corrected);
            // Four standard errors of the mean.
            let error = 4.0 * deviation / (SETS as f64).sqrt();
            assert!((mean - truth).abs() < error, "{mean} for {truth} ± {error}");
            assert!(raw_deviation > 3.0 * deviation, "{raw_deviation} and {deviation}");
            let share = covered as f64 / SETS as f64;
            assert!((0.91..=0.985).contains(&share), "{share} covered");
        }
    }

    #[test]
    fn a_rate_is_moved_to_the_expected_count() {
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let truth = 1e9 / SEARCHER.mean_ns();
        let (mut raw, mut corrected) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            let blocks = SEARCHER.blocks(60, &mut rng);
            let plain: Vec<&Block> = blocks.iter().map(|(block, _)| block).collect();
            raw.push(rate(&plain, &bootstrap(2)).unwrap().value);
            let moved = adjusted_rate(&counted(&blocks), 120.0, &bootstrap(2)).unwrap();
            corrected.push(moved.value);
        }
        let (_, raw_deviation) = mean_and_deviation(&raw);
        let (mean, deviation) = mean_and_deviation(&corrected);
        assert!((mean / truth - 1.0).abs() < 0.005, "{mean} for {truth}");
        assert!(raw_deviation > 3.0 * deviation, "{raw_deviation} and {deviation}");
    }

    /// Blocks hold merged samples where there are more than a limit.
    #[test]
    fn merged_samples_say_the_same() {
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        let (one, two) = (SEARCHER.blocks(60, &mut rng), SEARCHER.blocks(60, &mut rng));
        let merged = |blocks: &[(Block, Vec<u64>)]| -> Vec<(Block, Vec<u64>)> {
            let merged = |(block, counts): &(Block, Vec<u64>)| {
                let samples = block.samples.chunks(2).map(|pair| Sample {
                    elapsed_ns: pair.iter().map(|sample| sample.elapsed_ns).sum(),
                    tsc_ticks: None,
                    operations: pair.len() as u64,
                });
                let samples = samples.collect();
                let counts = counts.chunks(2).map(|pair| pair.iter().sum()).collect();
                let block = Block {
                    samples,
                    ..block.clone()
                };
                (block, counts)
            };
            blocks.iter().map(merged).collect()
        };
        let ratio = |one: &[(Block, Vec<u64>)], two: &[(Block, Vec<u64>)]| {
            adjusted_ratio_of_rates(&counted(one), &counted(two), &bootstrap(200)).unwrap()
        };
        let (single, pairs) = (ratio(&one, &two), ratio(&merged(&one), &merged(&two)));
        assert!((single.value / pairs.value - 1.0).abs() < 0.002);
        let width = |estimate: Estimate| estimate.high - estimate.low;
        assert!((width(single) / width(pairs) - 1.0).abs() < 0.3);
        let expected = shared_count(&[&counted(&one), &counted(&two)]);
        let of_merged = shared_count(&[&counted(&merged(&one)), &counted(&merged(&two))]);
        assert_eq!(expected, of_merged);
    }

    #[test]
    fn what_cannot_be_corrected_says_why() {
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        let (one, mut two) = (SEARCHER.blocks(30, &mut rng), SEARCHER.blocks(30, &mut rng));
        let ratio = |one: &[(Block, Vec<u64>)], two: &[(Block, Vec<u64>)]| {
            adjusted_ratio_of_rates(&counted(one), &counted(two), &bootstrap(10)).map(|_| ())
        };
        assert_eq!(ratio(&one, &two), Ok(()));
        assert_eq!(ratio(&one[..2], &two[..2]), Err(Unadjusted::TooFew));
        assert_eq!(ratio(&[], &[]), Err(Unadjusted::TooFew));
        // Twice as many for each: another way to search, or another way to count.
        for (_, counts) in &mut two {
            counts.iter_mut().for_each(|count| *count *= 2);
        }
        assert_eq!(ratio(&one, &two), Err(Unadjusted::Unlike));
        two[7].1.clear();
        assert_eq!(ratio(&one, &two), Err(Unadjusted::NotCounted));
        assert_eq!(explained(&counted(&two)), None);
        assert_eq!(adjusted_rate(&counted(&two), 1.0, &bootstrap(10)), None);
        assert_eq!(shared_count(&[&counted(&one), &counted(&two)]), None);
        // A count that never changes explains nothing.
        for (_, counts) in &mut two {
            *counts = vec![3; 40];
        }
        for (block, counts) in &mut two {
            counts.truncate(block.samples.len());
        }
        assert_eq!(explained(&counted(&two)), None);
    }
}

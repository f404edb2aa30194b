//! Do the intervals hold the true value as often as they claim? On synthetic data of which the truth is known.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rsalab_measure::{
    Block, Sample,
    stats::{Bootstrap, Estimate, median_interval, median_over_blocks, rate, ratio_of_rates},
};

const CONFIDENCE: f64 = 0.95;

/// Times of an operation: never below 100, a long tail above, the median at `100 + 20·ln 2`.
fn skewed(rng: &mut ChaCha12Rng) -> f64 {
    100.0 - 20.0 * (1.0 - rng.random::<f64>()).ln()
}

const MEDIAN_OF_SKEWED: f64 = 100.0 + 20.0 * std::f64::consts::LN_2;
const MEAN_OF_SKEWED: f64 = 120.0;

/// A factor that a whole round suffers: within 5 % of 1, its logarithm symmetric.
fn level(rng: &mut ChaCha12Rng) -> f64 {
    (0.05 * (2.0 * rng.random::<f64>() - 1.0)).exp()
}

/// The share of `sets` in which the interval holds `truth`.
fn share_covered(sets: u64, truth: f64, mut estimate: impl FnMut(&mut ChaCha12Rng) -> Estimate) -> f64 {
    let covered = (0..sets)
        .filter(|&set| estimate(&mut ChaCha12Rng::seed_from_u64(set)).covers(truth))
        .count();
    covered as f64 / sets as f64
}

#[test]
fn the_exact_interval_covers_the_median() {
    for n in [6, 10, 31, 100, 1000] {
        let mut claimed = 0.0;
        let share = share_covered(1000, MEDIAN_OF_SKEWED, |rng| {
            let values: Vec<f64> = (0..n).map(|_| skewed(rng)).collect();
            let estimate = median_interval(&values, CONFIDENCE).unwrap();
            claimed = estimate.confidence;
            estimate
        });
        // Exact: within four standard errors of what it claims, not only above.
        let standard_error = (claimed * (1.0 - claimed) / 1000.0f64).sqrt();
        assert!(share >= 0.93, "n = {n}: {share}");
        assert!(
            (share - claimed).abs() < 4.0 * standard_error,
            "n = {n}: {share} where {claimed} was claimed"
        );
    }
}

/// Blocks of many values, each block at a level of its own.
fn levelled_blocks(rng: &mut ChaCha12Rng, blocks: usize, samples: usize) -> Vec<Vec<f64>> {
    (0..blocks)
        .map(|_| {
            let level = level(rng);
            (0..samples).map(|_| level * skewed(rng)).collect()
        })
        .collect()
}

/// The median of [`levelled_blocks`], found from very many of them.
fn median_of_levelled() -> f64 {
    let mut rng = ChaCha12Rng::seed_from_u64(u64::MAX);
    let mut values = levelled_blocks(&mut rng, 400_000, 1).concat();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn the_interval_over_blocks_covers_where_the_naive_one_does_not() {
    let truth = median_of_levelled();
    for blocks in [5, 8, 12, 30] {
        let share = share_covered(1000, truth, |rng| {
            median_over_blocks(&levelled_blocks(rng, blocks, 200), CONFIDENCE).unwrap()
        });
        assert!(share >= 0.93, "{blocks} blocks: {share}");
    }
    let naive = share_covered(500, truth, |rng| {
        median_interval(&levelled_blocks(rng, 12, 200).concat(), CONFIDENCE).unwrap()
    });
    assert!(naive < 0.7, "{naive}: then blocks would be of no use");
}

/// Two subjects in the same rounds, the second slower by `factor`.
fn rounds(rng: &mut ChaCha12Rng, rounds: usize, samples: usize, factor: f64) -> (Vec<Block>, Vec<Block>) {
    (0..rounds)
        .map(|_| {
            let level = level(rng);
            let mut side = |factor: f64| block((0..samples).map(|_| 1e3 * factor * level * skewed(rng)));
            (side(1.0), side(factor))
        })
        .unzip()
}

/// Samples of one operation each that took so many nanoseconds.
fn block(times: impl Iterator<Item = f64>) -> Block {
    let samples: Vec<Sample> = times
        .map(|ns| Sample {
            elapsed_ns: ns.round() as u64,
            tsc_ticks: None,
            operations: 1,
        })
        .collect();
    Block {
        discarded_operations: 0,
        discarded_ns: None,
        started_ns: 0,
        elapsed_ns: samples.iter().map(|sample| sample.elapsed_ns).sum(),
        samples,
    }
}

/// Few resamples: the claim under test is about coverage, and there are many sets.
fn bootstrap() -> Bootstrap {
    Bootstrap {
        resamples: 500,
        confidence: CONFIDENCE,
        seed: 7,
    }
}

#[test]
fn the_ratio_of_equals_covers_one() {
    for (count, samples) in [(6, 50), (10, 50), (10, 1), (30, 50)] {
        let share = share_covered(500, 1.0, |rng| {
            let (left, right) = rounds(rng, count, samples, 1.0);
            ratio_of_rates(&left, &right, &bootstrap()).unwrap()
        });
        assert!(share >= 0.93, "{count} rounds of {samples}: {share}");
    }
}

#[test]
fn a_planted_difference_is_found() {
    let found = share_covered(300, 1.0, |rng| {
        let (fast, slow) = rounds(rng, 15, 200, 1.05);
        let ratio = ratio_of_rates(&fast, &slow, &bootstrap()).unwrap();
        assert!((ratio.value - 1.05).abs() < 0.02, "{ratio:?}");
        ratio
    });
    assert!(found < 0.02, "1 is inside {found} of the intervals");
    let share = share_covered(300, 1.05, |rng| {
        let (fast, slow) = rounds(rng, 15, 200, 1.05);
        ratio_of_rates(&fast, &slow, &bootstrap()).unwrap()
    });
    assert!(share >= 0.93, "{share}");
}

/// The machine slows down threefold, and hits now one of the two for a while, now the other.
#[test]
fn drift_that_hits_both_sides_cancels() {
    let share = share_covered(300, 1.25, |rng| {
        let (mut fast, mut slow) = (Vec::new(), Vec::new());
        for round in 0..30 {
            let level = 1e3 * (1.0 + f64::from(round) / 15.0);
            fast.push(block((0..50).map(|_| level * skewed(rng))));
            slow.push(block((0..50).map(|_| 1.25 * level * skewed(rng))));
        }
        let ratio = ratio_of_rates(&fast, &slow, &bootstrap()).unwrap();
        assert!(ratio.relative_error() < 0.05, "{ratio:?}");
        ratio
    });
    assert!(share >= 0.93, "{share}");
}

/// Work in pieces of 1 ms, and a pause of 5 ms after each 45 ms: a tenth of the time, which no median shows.
#[test]
fn pauses_of_a_tenth_are_in_the_ratio() {
    const MS: f64 = 1e6;
    let paused = |rng: &mut ChaCha12Rng, every: f64| {
        let mut until_pause = every * rng.random::<f64>();
        let mut elapsed = 0.0;
        block(std::iter::from_fn(|| {
            if elapsed >= 100.0 * MS {
                return None;
            }
            let work = MS * (1.0 + 0.01 * rng.random::<f64>());
            until_pause -= work;
            let pause = match until_pause < 0.0 {
                true => {
                    until_pause = every;
                    5.0 * MS
                }
                false => 0.0,
            };
            elapsed += work + pause;
            Some(work + pause)
        }))
    };
    // Not a part of the block's length, so that some blocks have a pause more than others. 46 pieces of 1.005 ms make
    // 45.5 ms. A block ends with the pause that it ends in, which makes it a fourth of a per cent longer.
    let truth = (46.0 * 1.005 + 5.0) / (46.0 * 1.005);
    for set in 0..100 {
        let mut rng = ChaCha12Rng::seed_from_u64(set);
        let (plain, with_pauses): (Vec<Block>, Vec<Block>) = (0..20)
            .map(|_| (paused(&mut rng, f64::INFINITY), paused(&mut rng, 45.5 * MS)))
            .unzip();
        let ratio = ratio_of_rates(&plain, &with_pauses, &bootstrap()).unwrap();
        assert!(
            ratio.low > 1.09 && (ratio.value / truth - 1.0).abs() < 0.01,
            "{ratio:?}"
        );
    }
}

/// Operations one after another until 500 ns have passed, as the timing loop would take them: the last is over the end,
/// and a block of slow ones holds fewer.
fn timed_block(rng: &mut ChaCha12Rng, factor: f64) -> Block {
    let mut samples = Vec::new();
    let mut elapsed_ns = 0;
    while elapsed_ns < 500 {
        let sample_ns = (factor * skewed(rng)).round() as u64;
        elapsed_ns += sample_ns;
        samples.push(Sample {
            elapsed_ns: sample_ns,
            tsc_ticks: None,
            operations: 1,
        });
    }
    Block {
        samples,
        discarded_operations: 0,
        discarded_ns: None,
        started_ns: 0,
        elapsed_ns,
    }
}

#[test]
fn the_rate_covers_though_blocks_end_by_time() {
    let share = share_covered(500, 1e9 / MEAN_OF_SKEWED, |rng| {
        let blocks: Vec<Block> = (0..40).map(|_| timed_block(rng, 1.0)).collect();
        rate(&blocks, &bootstrap()).unwrap()
    });
    assert!(share >= 0.93, "{share}");
    let share = share_covered(500, 1.25, |rng| {
        let fast: Vec<Block> = (0..40).map(|_| timed_block(rng, 1.0)).collect();
        let slow: Vec<Block> = (0..40).map(|_| timed_block(rng, 1.25)).collect();
        ratio_of_rates(&fast, &slow, &bootstrap()).unwrap()
    });
    assert!(share >= 0.93, "{share}");
}

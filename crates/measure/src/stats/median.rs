//! The median, and an interval for it that assumes nothing about the distribution.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::{Estimate, sorted};

/// The median of `values` with an exact interval by order statistics; none if there are no values.
///
/// Of `n` independent values of any continuous distribution, the number below the true median is binomial with
/// probability 1/2. The interval from the `k`-th smallest to the `k`-th largest value therefore holds the median with
/// probability `1 − 2·P(B(n, 1/2) ≤ k − 1)`, and `k` is the largest rank for which that is at least `confidence`
/// (David and Nagaraja, *Order Statistics*, 3rd edition, section 7.1). The [`Estimate`] carries the probability that is
/// reached; below 6 values even the whole range does not reach 95 %.
///
/// Samples of one block share the state of the machine and are not independent.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Estimate> {
    median_interval_sorted(&sorted(values), confidence)
}

/// The middle of `sorted` values, or the mean of the two in the middle; none if there are none.
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 {
        upper
    } else {
        (sorted[sorted.len() / 2 - 1] + upper) / 2.0
    })
}

/// As [`median_interval`], of values in ascending order.
pub(crate) fn median_interval_sorted(sorted: &[f64], confidence: f64) -> Option<Estimate> {
    let n = sorted.len();
    let value = median_of_sorted(sorted)?;
    let (rank, reached) = rank_for(n, confidence);
    Some(Estimate {
        value,
        low: sorted[rank - 1],
        high: sorted[n - rank],
        confidence: reached,
        n,
    })
}

/// A bound on the error of the evaluation of the binomial distribution.
const ROUNDING: f64 = 1e-12;

/// The largest rank `k ≥ 1` whose interval reaches `confidence`, and the confidence it has; rank 1 if none does.
fn rank_for(n: usize, confidence: f64) -> (usize, f64) {
    let below = Binomial::new(0.5, n as u64).expect("1/2 is a probability");
    let reached = |rank: usize| 1.0 - 2.0 * below.cdf(rank as u64 - 1);
    // The confidence falls as the rank grows: bisect between a rank that is good (or the first) and one past the
    // middle.
    let mut good = 1;
    let mut bad = n / 2 + 1;
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        if reached(middle) >= confidence - ROUNDING {
            good = middle;
        } else {
            bad = middle;
        }
    }
    let reached = reached(good);
    // One value has no interval, and must not have a tiny one by rounding.
    let confidence = if reached < ROUNDING { 0.0 } else { reached };
    (good, confidence.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_no_interval() {
        let alone = median_interval(&[3.0], 0.95).expect("it has a value");
        assert_eq!((alone.value, alone.confidence, alone.n), (3.0, 0.0, 1));
        let two = median_interval(&[3.0, 4.0], 0.95).expect("they have a median");
        assert!((two.confidence - 0.5).abs() < ROUNDING);
    }

    /// Ranks and confidences of the 95 % interval: Conover, *Practical Nonparametric Statistics*, table A3, and exact
    /// binomial sums, e.g. for n = 10: 1 − 2·(1 + 10)/1024.
    #[test]
    fn ranks_agree_with_the_tables() {
        for (n, rank, confidence) in [
            (6, 1, 1.0 - 2.0 / 64.0),
            (7, 1, 1.0 - 2.0 / 128.0),
            (8, 1, 1.0 - 2.0 / 256.0),
            (9, 2, 1.0 - 2.0 * 10.0 / 512.0),
            (10, 2, 1.0 - 2.0 * 11.0 / 1024.0),
            (11, 2, 1.0 - 2.0 * 12.0 / 2048.0),
            (12, 3, 1.0 - 2.0 * 79.0 / 4096.0),
            (20, 6, 0.958_610_534_667_968_8),
            (25, 8, 0.956_714_749_336_242_7),
            (100, 40, 0.964_799_799_782_952_2),
        ] {
            let (found, reached) = rank_for(n, 0.95);
            assert_eq!(found, rank, "n = {n}");
            assert!((reached - confidence).abs() < ROUNDING, "n = {n}: {reached}");
        }
        // Ranks 2 and 9 of 10.
        let values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        let estimate = median_interval(&values, 0.95).unwrap();
        assert_eq!((estimate.low, estimate.high), (2.0, 9.0));
        assert_eq!(estimate.value, 5.5);
        assert_eq!(estimate.n, 10);
        assert!((estimate.confidence - 0.979).abs() < 0.001);
    }

    #[test]
    fn the_next_rank_would_fall_short() {
        for n in 1..400 {
            for confidence in [0.5, 0.9, 0.95, 0.99] {
                let (rank, reached) = rank_for(n, confidence);
                assert!(rank >= 1 && rank <= n.div_ceil(2));
                assert!(reached >= confidence || rank == 1, "n = {n}");
                if 2 * (rank + 1) <= n {
                    let below = Binomial::new(0.5, n as u64).unwrap();
                    assert!(1.0 - 2.0 * below.cdf(rank as u64) < confidence, "n = {n}");
                }
            }
        }
    }

    #[test]
    fn few_values_say_how_little_they_know() {
        assert_eq!(median_interval(&[], 0.95), None);
        let one = median_interval(&[7.0], 0.95).unwrap();
        assert_eq!((one.value, one.low, one.high), (7.0, 7.0, 7.0));
        assert!(one.confidence < ROUNDING);
        let five = median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap();
        assert_eq!((five.low, five.high), (1.0, 5.0));
        assert!((five.confidence - 0.9375).abs() < ROUNDING);
        // A confidence that a rank has exactly is not missed by rounding.
        let asked = median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.625).unwrap();
        assert_eq!((asked.low, asked.high), (2.0, 4.0));
    }

    #[test]
    fn a_million_values_have_ranks_too() {
        let (rank, reached) = rank_for(1_000_000, 0.95);
        // Normal approximation: n/2 − 1.96·√n/2.
        assert!((499_015..=499_025).contains(&rank), "{rank}");
        assert!((0.95..0.951).contains(&reached), "{reached}");
    }
}

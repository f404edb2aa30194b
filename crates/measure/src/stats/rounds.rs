//! The ratio of two subjects measured interleaved, from round to round.

use super::{
    Estimate,
    median::{median_interval, median_of_sorted},
    sorted,
};

/// How many times the times of `numerator` are those of `denominator`: the median over the rounds of the ratio of the
/// two blocks' medians, with the exact interval of a median.
///
/// The `i`-th block of one was measured in the same round as the `i`-th block of the other; rounds in which one has no
/// values are passed over. What a machine does lasts longer than a round, so that each round's ratio is free of it; the
/// quotient of the medians of everything is not, for a slow interval moves each median by as much as it has blocks
/// there. Nor does a round weigh more in which something hit one of the two. None if there is no round.
///
/// # Panics
///
/// If the two have different numbers of blocks.
pub fn ratio_of_medians<V: AsRef<[f64]>>(numerator: &[V], denominator: &[V], confidence: f64) -> Option<Estimate> {
    assert_eq!(numerator.len(), denominator.len(), "blocks of a ratio come in pairs");
    let median = |block: &V| median_of_sorted(&sorted(block.as_ref()));
    let logarithms: Vec<f64> = numerator
        .iter()
        .zip(denominator)
        .filter_map(|(above, below)| Some((median(above)? / median(below)?).ln()))
        .collect();
    // By logarithms, so that the ratio turned over is the reciprocal where the median lies between two rounds.
    let estimate = median_interval(&logarithms, confidence)?;
    Some(Estimate {
        value: estimate.value.exp(),
        low: estimate.low.exp(),
        high: estimate.high.exp(),
        ..estimate
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_the_median_of_the_rounds() {
        let fast = [vec![1.0, 2.0, 3.0], vec![2.0], vec![1.0]];
        let slow = [vec![4.0], vec![4.0, 8.0], vec![7.0]];
        let ratio = ratio_of_medians(&slow, &fast, 0.95).unwrap();
        assert!((ratio.value - 3.0).abs() < 1e-12);
        assert!((ratio.low - 2.0).abs() < 1e-12 && (ratio.high - 7.0).abs() < 1e-12);
        assert!((ratio.confidence - 0.75).abs() < 1e-12);
        assert_eq!(ratio.n, 3);
    }

    #[test]
    fn one_round_has_no_interval() {
        let ratio = ratio_of_medians(&[[6.0]], &[[2.0]], 0.95).unwrap();
        assert!((ratio.value - 3.0).abs() < 1e-12 && ratio.confidence < 1e-9);
        let none: [[f64; 1]; 0] = [];
        assert_eq!(ratio_of_medians(&none, &none, 0.95), None);
    }

    #[test]
    fn rounds_in_which_one_side_is_missing_are_passed_over() {
        let left = [vec![2.0], vec![], vec![2.0]];
        let right = [vec![1.0], vec![50.0], vec![1.0]];
        let ratio = ratio_of_medians(&left, &right, 0.95).unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-12);
        assert_eq!(ratio.n, 2);
    }

    #[test]
    #[should_panic(expected = "come in pairs")]
    fn unpaired_blocks_are_a_bug() {
        ratio_of_medians(&[[1.0]], &[[1.0], [1.0]], 0.95);
    }

    #[test]
    fn drift_that_hits_both_sides_cancels() {
        // The machine slows down threefold over the rounds; one side stays at 1.25 times the other.
        let base: Vec<[f64; 1]> = (0..20).map(|round| [10.0 + f64::from(round)]).collect();
        let other: Vec<[f64; 1]> = base.iter().map(|[ns]| [1.25 * ns]).collect();
        let ratio = ratio_of_medians(&other, &base, 0.95).unwrap();
        assert!((ratio.low - 1.25).abs() < 1e-12 && (ratio.high - 1.25).abs() < 1e-12);
    }

    /// Somebody else runs for a third of the time, and hits now one, now the other.
    #[test]
    fn a_third_of_disturbed_rounds_does_not_move_it() {
        let disturbed = |round: usize, side: usize| match round % 6 {
            2 if side == 0 => 2.0,
            5 if side == 1 => 1.7,
            _ => 1.0 + 0.001 * (round * (side + 3) % 7) as f64,
        };
        let side = |side| -> Vec<[f64; 1]> { (0..36).map(|round| [disturbed(round, side)]).collect() };
        let ratio = ratio_of_medians(&side(0), &side(1), 0.95).unwrap();
        assert!(ratio.covers(1.0), "{ratio:?}");
        assert!(ratio.low > 0.99 && ratio.high < 1.01, "{ratio:?}");
    }
}

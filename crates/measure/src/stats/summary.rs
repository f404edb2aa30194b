//! The plain description of a set of values.

use serde::{Deserialize, Serialize};

use super::{median::median_of_sorted, sorted};

/// Where values lie and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many values there are.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (divisor `n − 1`); none for a single value.
    pub standard_deviation: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// Median: the middle value, or the mean of the two in the middle.
    pub median: f64,
    /// Largest value.
    pub max: f64,
    /// Quartiles that single values do not move.
    pub stabilised: StabilisedQuartiles,
}

impl Summary {
    /// Describes `values`; none if there are none.
    pub fn of(values: &[f64]) -> Option<Summary> {
        let sorted = sorted(values);
        let median = median_of_sorted(&sorted)?;
        let n = sorted.len();
        let mean = sorted.iter().sum::<f64>() / n as f64;
        let standard_deviation = (n > 1).then(|| {
            let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
            (squares / (n - 1) as f64).sqrt()
        });
        Some(Summary {
            n,
            mean,
            standard_deviation,
            min: sorted[0],
            median,
            max: sorted[n - 1],
            stabilised: StabilisedQuartiles::of_sorted(&sorted),
        })
    }
}

/// Quartiles that are means over a quarter of the sorted values, as SUPERCOP and lib25519 report them
/// (background: D. J. Bernstein, cr.yp.to/papers.html#rsrst).
///
/// A plain quartile is one value or two, so that with samples of a few distinct lengths it jumps from one to the next.
/// The mean of the quarter around it moves smoothly, and still ignores the largest eighth and the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StabilisedQuartiles {
    /// Mean of the slice from 1/8 to 3/8.
    pub q1: f64,
    /// Mean of the slice from 3/8 to 5/8.
    pub median: f64,
    /// Mean of the slice from 5/8 to 7/8.
    pub q3: f64,
}

impl StabilisedQuartiles {
    /// The quartiles of `values`; none if there are none.
    pub fn of(values: &[f64]) -> Option<StabilisedQuartiles> {
        (!values.is_empty()).then(|| Self::of_sorted(&sorted(values)))
    }

    fn of_sorted(sorted: &[f64]) -> StabilisedQuartiles {
        StabilisedQuartiles {
            q1: mean_of_eighths(sorted, 1),
            median: mean_of_eighths(sorted, 3),
            q3: mean_of_eighths(sorted, 5),
        }
    }
}

/// Mean of the quarter of the values that begins at `eighth`/8. A value that lies across an edge counts with the part
/// of it that is inside, so that any number of values will do.
fn mean_of_eighths(sorted: &[f64], eighth: usize) -> f64 {
    // Each value is 8 parts wide; the slice is 2n parts wide: everything stays whole.
    let n = sorted.len();
    let (from, to) = (eighth * n, (eighth + 2) * n);
    let weighted: f64 = (from / 8..to.div_ceil(8))
        .map(|i| {
            let inside = to.min(8 * i + 8) - from.max(8 * i);
            sorted[i] * inside as f64
        })
        .sum();
    weighted / (2 * n) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-12 * right.abs().max(1.0)
    }

    #[test]
    fn eight_values_are_cut_between_values() {
        let values = [80.0, 10.0, 70.0, 20.0, 60.0, 30.0, 50.0, 40.0];
        let quartiles = StabilisedQuartiles::of(&values).unwrap();
        assert!(close(quartiles.q1, 25.0));
        assert!(close(quartiles.median, 45.0));
        assert!(close(quartiles.q3, 65.0));
    }

    #[test]
    fn values_on_an_edge_count_in_part() {
        // Of four values, the quarter from 3/8 to 5/8 holds half of the second and half of the third.
        let quartiles = StabilisedQuartiles::of(&[1.0, 2.0, 4.0, 8.0]).unwrap();
        assert!(close(quartiles.q1, 1.5));
        assert!(close(quartiles.median, 3.0));
        assert!(close(quartiles.q3, 6.0));
        // Of one value, everything is that value.
        let one = StabilisedQuartiles::of(&[5.0]).unwrap();
        assert!(close(one.q1, 5.0) && close(one.median, 5.0) && close(one.q3, 5.0));
        assert_eq!(StabilisedQuartiles::of(&[]), None);
    }

    #[test]
    fn weights_add_up_for_any_number() {
        for n in 1..100 {
            for eighth in [1, 3, 5] {
                assert!(close(mean_of_eighths(&vec![3.0; n], eighth), 3.0));
            }
            let line: Vec<f64> = (0..n).map(|i| i as f64).collect();
            assert!(close(mean_of_eighths(&line, 3), (n - 1) as f64 / 2.0));
        }
    }

    #[test]
    fn outliers_do_not_move_them() {
        let mut values: Vec<f64> = (0..80).map(f64::from).collect();
        let before = StabilisedQuartiles::of(&values).unwrap();
        values[79] = 1e12;
        values[0] = -1e12;
        assert_eq!(StabilisedQuartiles::of(&values).unwrap(), before);
    }

    #[test]
    fn a_summary_describes() {
        let summary = Summary::of(&[4.0, 2.0, 9.0, 1.0]).unwrap();
        assert_eq!((summary.min, summary.max, summary.n), (1.0, 9.0, 4));
        assert_eq!((summary.mean, summary.median), (4.0, 3.0));
        assert!(close(summary.standard_deviation.unwrap(), (38.0f64 / 3.0).sqrt()));
        assert_eq!(Summary::of(&[7.0]).unwrap().standard_deviation, None);
        assert_eq!(Summary::of(&[]), None);
    }
}

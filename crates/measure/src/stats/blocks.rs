//! The median of samples that were taken in blocks.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{
    Estimate,
    median::{median_interval, median_interval_sorted, median_of_sorted},
};

/// The median of all values of all blocks, with an interval that takes the block for the unit of independence.
///
/// Samples of one block share whatever the machine was doing then, so an interval that treats thousands of them as
/// independent is far too narrow. Here the spread of the blocks decides (Woodruff, "Confidence Intervals for Medians
/// and Other Position Measures", JASA 47, 1952):
///
/// ```text
/// m    the median of the N pooled values; block i of B has nᵢ of them, cᵢ below m
/// p    Σcᵢ / N
/// se²  B/(B−1) · Σ(cᵢ − p·nᵢ)² / N²             variance of p, a ratio over clusters
/// t    Student's t of B−1 degrees of freedom
/// [low, high] = quantiles 1/2 − t·se and 1/2 + t·se of the pooled values
/// ```
///
/// Where each block has one value this is [`median_interval`], which is exact. It is never narrower than that, nor more
/// confident: a few values for each block may agree in `cᵢ` by chance, and `se` is 0 then. One block of many values has
/// a median, but says nothing about other blocks: confidence 0. None if there are no values; empty blocks are passed
/// over.
pub fn median_over_blocks<V: AsRef<[f64]>>(blocks: &[V], confidence: f64) -> Option<Estimate> {
    PooledBlocks::of(blocks).median_interval(confidence)
}

/// The values of many blocks, sorted, each with the block it came from. Blocks can be added one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct PooledBlocks {
    /// Ascending.
    values: Vec<(f64, u32)>,
    /// Values in each block; none is 0.
    sizes: Vec<usize>,
}

impl PooledBlocks {
    pub(crate) fn of<V: AsRef<[f64]>>(blocks: &[V]) -> Self {
        let mut pooled = PooledBlocks::default();
        for block in blocks {
            pooled.append(block.as_ref());
        }
        pooled.sort();
        pooled
    }

    /// Adds a block to those that are there.
    pub(crate) fn push(&mut self, block: &[f64]) {
        self.append(block);
        self.sort();
    }

    fn append(&mut self, block: &[f64]) {
        if !block.is_empty() {
            let index = self.sizes.len() as u32;
            self.values.extend(block.iter().map(|&value| (value, index)));
            self.sizes.push(block.len());
        }
    }

    fn sort(&mut self) {
        // The stable sort takes what is already in order as it is, so that adding a block costs little more than a
        // merge.
        self.values.sort_by(|left, right| left.0.total_cmp(&right.0));
    }

    pub(crate) fn blocks(&self) -> usize {
        self.sizes.len()
    }

    pub(crate) fn median_interval(&self, confidence: f64) -> Option<Estimate> {
        let values: Vec<f64> = self.values.iter().map(|&(value, _)| value).collect();
        if self.sizes.iter().all(|&size| size == 1) {
            return median_interval(&values, confidence);
        }
        let median = median_of_sorted(&values)?;
        let n = values.len();
        let (half_width, reached) = self.share_half_width(median, confidence);
        let quantile = |share: f64| share * n as f64;
        let independent = median_interval_sorted(&values, confidence)?;
        // Outwards to the next value.
        let low = values[(quantile(0.5 - half_width) - 1.0).floor().max(0.0) as usize];
        let high = values[(quantile(0.5 + half_width).ceil() as usize).min(n - 1)];
        Some(Estimate {
            value: median,
            low: low.min(independent.low),
            high: high.max(independent.high),
            confidence: reached.min(independent.confidence),
            n,
        })
    }

    /// How far from 1/2 the share of values below the true median may lie, and with which confidence.
    fn share_half_width(&self, median: f64, confidence: f64) -> (f64, f64) {
        let blocks = self.blocks();
        if blocks < 2 {
            return (0.5, 0.0);
        }
        let mut below = vec![0.0; blocks];
        for &(value, block) in &self.values {
            // Values equal to the median lie half below it.
            below[block as usize] += match value.total_cmp(&median) {
                std::cmp::Ordering::Less => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 0.0,
            };
        }
        let n = self.values.len() as f64;
        let share = below.iter().sum::<f64>() / n;
        let squares: f64 = below
            .iter()
            .zip(&self.sizes)
            .map(|(below, &size)| (below - share * size as f64).powi(2))
            .sum();
        let standard_error = (blocks as f64 / (blocks - 1) as f64 * squares).sqrt() / n;
        let student = StudentsT::new(0.0, 1.0, (blocks - 1) as f64).expect("at least one degree");
        let half_width = student.inverse_cdf(0.5 + confidence / 2.0) * standard_error;
        if half_width <= 0.5 {
            (half_width, confidence)
        } else {
            // Even the whole range is too narrow: say what it reaches.
            (0.5, 2.0 * student.cdf(0.5 / standard_error) - 1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_one_value_are_exact() {
        let values: Vec<f64> = (0..25).map(|i| f64::from(i * i)).collect();
        let blocks: Vec<[f64; 1]> = values.iter().map(|&value| [value]).collect();
        assert_eq!(median_over_blocks(&blocks, 0.95), median_interval(&values, 0.95));
    }

    #[test]
    fn one_block_knows_nothing_of_others() {
        let estimate = median_over_blocks(&[[3.0, 1.0, 2.0]], 0.95).unwrap();
        assert_eq!((estimate.value, estimate.low, estimate.high), (2.0, 1.0, 3.0));
        assert_eq!(estimate.confidence, 0.0);
        assert_eq!(median_over_blocks::<Vec<f64>>(&[], 0.95), None);
        assert_eq!(median_over_blocks::<Vec<f64>>(&[vec![], vec![]], 0.95), None);
    }

    #[test]
    fn blocks_that_disagree_widen_the_interval() {
        // The same 600 values: dealt out evenly, and in order, so that each block has a level of its own.
        let values: Vec<f64> = (0..600).map(f64::from).collect();
        let dealt: Vec<Vec<f64>> = (0..6)
            .map(|block| values.iter().copied().skip(block).step_by(6).collect())
            .collect();
        let stacked: Vec<Vec<f64>> = values.chunks(100).map(<[f64]>::to_vec).collect();
        let dealt = median_over_blocks(&dealt, 0.95).unwrap();
        let stacked = median_over_blocks(&stacked, 0.95).unwrap();
        assert_eq!((dealt.value, stacked.value), (299.5, 299.5));
        // As of 600 independent values: ±24 ranks.
        assert!((46.0..=50.0).contains(&(dealt.high - dealt.low)), "{dealt:?}");
        assert!(stacked.high - stacked.low > 300.0);
        assert_eq!(dealt.confidence, 0.95);
        assert!(stacked.confidence > 0.9);
    }

    #[test]
    fn few_values_that_agree_by_chance_are_no_more_sure_than_their_number() {
        let estimate = median_over_blocks(&[[10.0, 12.0], [11.0, 13.0]], 0.95).unwrap();
        assert_eq!((estimate.low, estimate.high), (10.0, 13.0));
        assert!((estimate.confidence - 0.875).abs() < 1e-9);
        let six: Vec<[f64; 2]> = (0..6).map(|i| [f64::from(i), f64::from(10 + i)]).collect();
        let estimate = median_over_blocks(&six, 0.95).unwrap();
        assert_eq!((estimate.low, estimate.high), (2.0, 13.0));
    }

    #[test]
    fn two_blocks_far_apart_do_not_reach_the_confidence() {
        let estimate = median_over_blocks(&[[1.0, 2.0], [11.0, 12.0]], 0.95).unwrap();
        assert_eq!((estimate.low, estimate.high), (1.0, 12.0));
        assert!(estimate.confidence < 0.95 && estimate.confidence > 0.0);
    }

    #[test]
    fn equal_values_have_no_spread() {
        let estimate = median_over_blocks(&[[4.0; 5], [4.0; 5], [4.0; 5]], 0.95).unwrap();
        assert_eq!((estimate.low, estimate.value, estimate.high), (4.0, 4.0, 4.0));
    }

    #[test]
    fn blocks_can_be_added_one_by_one() {
        let blocks = [vec![1.0, 7.0, 3.0], vec![], vec![2.0, 2.0], vec![9.0]];
        let mut grown = PooledBlocks::default();
        blocks.iter().for_each(|block| grown.push(block));
        assert_eq!(grown.blocks(), 3);
        assert_eq!(grown.median_interval(0.9), median_over_blocks(&blocks, 0.9));
    }
}

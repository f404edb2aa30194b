//! One cell that is done, and what formulas may ask of it.

use rsalab_measure::{Estimate, stats::median_interval};

use crate::{
    compare::Figures,
    report::{BlockDigest, Digest, Group, Row},
};

/// Confidence of the interval of a median of means.
const CONFIDENCE: f64 = 0.95;

/// A measured value, or why there is none.
pub(super) type Value = Result<Estimate, String>;

/// One cell that is done.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) group: &'a Group,
    pub(super) row: &'a Row,
    pub(super) digest: &'a Digest,
}

impl<'a> Cell<'a> {
    /// Median nanoseconds of an operation.
    pub(super) fn median_ns(self) -> Estimate {
        self.figures().ns_per_op
    }

    /// How many times as fast as another: as measured interleaved where the other is the one that the group's ratios
    /// refer to, else from both medians.
    pub(super) fn speed(self, base: Cell<'_>) -> Estimate {
        let is_base = self.group.base().is_some_and(|row| row.engine == base.row.engine);
        let interleaved = self.row.ratio.as_ref().filter(|_| is_base);
        interleaved.map_or_else(|| base.median_ns().over(&self.median_ns()), |ratio| ratio.to_first)
    }

    pub(super) fn property(self, name: &str) -> Value {
        // An operation whose time varies by chance has a mean, from its rate; threads at work side by side do several.
        let mean_ns = || {
            let sum = |of: fn(&BlockDigest) -> f64| self.digest.blocks.iter().map(of).sum::<f64>();
            let at_once = sum(|block| block.measured_ns as f64) / sum(|block| block.passed_ns);
            self.figures().ops_per_s.reciprocal().scaled(1e9 * at_once)
        };
        let sum = |of: &dyn Fn(&BlockDigest) -> Option<u64>| {
            let sum: Option<u64> = self.digest.blocks.iter().map(of).sum();
            let sum = sum.ok_or_else(|| "the system does not report it".to_owned());
            sum.map(|sum| exact(sum as f64))
        };
        let ticks = || self.digest.ticks.as_ref().ok_or(NO_TICKS);
        match name {
            "median" => Ok(self.median_ns()),
            "median_ticks" => Ok(self.median_ns().scaled(self.ticks_per_ns()?)),
            "mean" => Ok(mean_ns()),
            "mean_ticks" => Ok(mean_ns().scaled(self.ticks_per_ns()?)),
            "min_ticks" => Ok(exact(ticks()?.min() as f64)),
            "max_ticks" => Ok(exact(ticks()?.max() as f64)),
            "first_call" => {
                let sample = self.digest.first_call;
                let ticks = sample.and_then(|sample| sample.tsc_ticks);
                let ticks = ticks.ok_or("the first call is not recorded")?;
                Ok(exact(ticks as f64))
            }
            "median_of_means" => self.median_of_means(),
            // Of the slowest operations.
            "explained" => median_interval(&self.digest.explained, CONFIDENCE)
                .ok_or_else(|| format!("{} does not count its tests", self.row.engine)),
            "rate" => Ok(self.figures().ops_per_s),
            // Of a primality test, as the conditions say.
            "rounds" => {
                let rounds = self.row.rounds().and_then(|words| words.split(' ').next());
                let rounds = rounds.and_then(|number| number.parse().ok());
                rounds.map(exact).ok_or_else(|| "its rounds are not known".to_owned())
            }
            "adjusted_rate" => {
                let adjusted = self.row.adjusted.map(|adjusted| adjusted.ops_per_s);
                adjusted.ok_or_else(|| "it cannot be adjusted".to_owned())
            }
            "wall" => {
                let blocks = self.digest.blocks.iter();
                let per_op: Vec<f64> = blocks
                    .map(|block| block.elapsed_ns as f64 / block.operations as f64)
                    .collect();
                median_interval(&per_op, self.group.confidence).ok_or_else(|| "it has no blocks".to_owned())
            }
            "operations" => sum(&|block| Some(block.operations)),
            "real" => sum(&|block| Some(block.elapsed_ns)),
            "user" => sum(&|block| Some(block.cpu?.user_ns)),
            "system" => sum(&|block| Some(block.cpu?.system_ns)),
            _ => panic!("a cell has no property '{name}'"),
        }
    }

    /// The median of the means of blocks, in ticks.
    fn median_of_means(self) -> Value {
        // Says why where there are no ticks.
        self.ticks_per_ns()?;
        let mean = |block: &BlockDigest| block.ticks.unwrap_or_default() as f64 / block.operations as f64;
        let means: Vec<f64> = self.digest.blocks.iter().map(mean).collect();
        median_interval(&means, CONFIDENCE).ok_or_else(|| "there is no mean yet".to_owned())
    }

    /// Ticks that pass in a nanosecond, by the cell's own samples.
    fn ticks_per_ns(self) -> Result<f64, String> {
        let blocks = self.digest.blocks.iter();
        let ticks: Option<f64> = blocks.clone().map(|block| Some(block.ticks? as f64)).sum();
        let ns: f64 = blocks.map(|block| block.measured_ns as f64).sum();
        match ticks {
            Some(ticks) if ns > 0.0 => Ok(ticks / ns),
            _ => Err(NO_TICKS.to_owned()),
        }
    }

    fn figures(self) -> &'a Figures {
        let figures = self.row.figures.as_ref();
        figures.expect("a cell is made of a row with figures")
    }
}

const NO_TICKS: &str = "this machine, or this engine's clock, has no ticks of a time-stamp counter";

/// A value that was counted, or is one of a kind: without an interval.
pub(super) fn exact(value: f64) -> Estimate {
    Estimate {
        value,
        low: value,
        high: value,
        confidence: 0.0,
        n: 1,
    }
}

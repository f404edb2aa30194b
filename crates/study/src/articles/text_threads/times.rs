//! How long a text took, by engine, direction, size and threads.

use rsalab_engines::Op;
use rsalab_measure::Estimate;

use crate::report::Group;

/// The times of a study.
pub(super) struct Times<'a> {
    groups: &'a [Group],
}

impl<'a> Times<'a> {
    pub(super) fn of(groups: &'a [Group]) -> Self {
        Times { groups }
    }

    /// Engines with at least one figure, in the order of the plan.
    pub(super) fn engines(&self) -> Vec<&'a str> {
        let mut engines: Vec<&str> = Vec::new();
        for row in self.groups.iter().flat_map(|group| &group.rows) {
            if row.figures.is_some() && !engines.contains(&row.engine.as_str()) {
                engines.push(&row.engine);
            }
        }
        engines
    }

    /// Sizes of texts, ascending.
    pub(super) fn sizes(&self) -> Vec<usize> {
        ascending(self.groups.iter().map(|group| group.job.symbols))
    }

    /// Numbers of threads, ascending.
    pub(super) fn threads(&self) -> Vec<usize> {
        ascending(self.groups.iter().map(|group| group.job.threads))
    }

    /// Bits of the smallest key: the one that the figures and claims are about.
    pub(super) fn bits(&self) -> usize {
        let bits = self.groups.iter().map(|group| group.job.bits);
        bits.min().unwrap_or(0)
    }

    /// The confidence of the intervals.
    pub(super) fn confidence(&self) -> f64 {
        self.groups.first().map_or(0.95, |group| group.confidence)
    }

    /// Nanoseconds that a text takes, in the median.
    pub(super) fn text_ns(
        &self,
        engine: &str,
        op: Op,
        symbols: usize,
        threads: usize,
    ) -> Option<Estimate> {
        let bits = self.bits();
        let group = self.groups.iter().find(|group| {
            let job = &group.job;
            (job.op, job.bits, job.symbols, job.threads) == (op, bits, symbols, threads)
        })?;
        let row = group.rows.iter().find(|row| row.engine == engine)?;
        Some(row.figures?.ns_per_op)
    }

    /// How many times as fast as one thread so many are.
    pub(super) fn speed_up(
        &self,
        engine: &str,
        op: Op,
        symbols: usize,
        threads: usize,
    ) -> Option<Estimate> {
        let one = self.text_ns(engine, op, symbols, 1)?;
        if threads == 1 {
            // One thread beside itself: that is no measurement.
            return Some(Estimate {
                value: 1.0,
                low: 1.0,
                high: 1.0,
                confidence: 0.0,
                ..one
            });
        }
        let many = self.text_ns(engine, op, symbols, threads)?;
        Some(one.over(&many))
    }
}

fn ascending(values: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

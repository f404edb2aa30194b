//! The machine's speed while a study ran, by a fixed piece of work before each group.

use rsalab_measure::stats::Summary;
use serde::{Deserialize, Serialize};

use crate::{number, store::SentinelRecord};

/// The time that a fixed piece of work took before groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// How often it was timed.
    pub n: usize,
    /// Median, in nanoseconds.
    pub median_ns: f64,
    /// Shortest.
    pub min_ns: f64,
    /// Longest.
    pub max_ns: f64,
}

impl Drift {
    /// A change below this is what two measurements differ by anyway.
    const WORTH: f64 = 0.03;

    /// That of these times; none if there are none.
    pub(super) fn of<'a>(records: impl Iterator<Item = &'a SentinelRecord>) -> Option<Drift> {
        let times: Vec<f64> = records.map(|record| record.elapsed_ns).collect();
        let summary = Summary::of(&times)?;
        Some(Drift {
            n: summary.n,
            median_ns: summary.median,
            min_ns: summary.min,
            max_ns: summary.max,
        })
    }

    fn spread(&self) -> f64 {
        self.max_ns / self.min_ns - 1.0
    }

    /// The times in words.
    pub(crate) fn words(&self) -> String {
        let times = match self.n {
            1 => number::duration(self.median_ns),
            _ => format!(
                "{} ({} to {})",
                number::duration(self.median_ns),
                number::duration(self.min_ns),
                number::duration(self.max_ns)
            ),
        };
        format!(
            "a fixed piece of work took {times} before {}",
            number::counted(self.n, "group")
        )
    }

    /// The warning that groups are not comparable; none where they are.
    pub(super) fn warning(&self) -> Option<String> {
        (self.spread() >= Self::WORTH).then(|| {
            format!(
                "the machine's speed changed by {:.0} % from group to group: {}; engines of one group were measured side \
                 by side, but speeds of different groups are comparable no closer than that",
                100.0 * self.spread(),
                self.words()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{GroupId, SessionNumber};

    #[test]
    fn a_machine_that_became_slower_is_told_from_one_that_did_not() {
        let of = |times: &[f64]| {
            let record = |(index, &elapsed_ns): (usize, &f64)| SentinelRecord {
                session: SessionNumber(1),
                group: GroupId(index as i64),
                taken_unix_ms: 0,
                elapsed_ns,
            };
            let records: Vec<SentinelRecord> = times.iter().enumerate().map(record).collect();
            Drift::of(records.iter())
        };
        assert_eq!(of(&[]), None);
        let one = of(&[1e5]).unwrap();
        assert_eq!(one.words(), "a fixed piece of work took 100.0 µs before 1 group");
        assert_eq!(one.warning(), None);
        let steady = of(&[1e5, 1.02e5, 1.01e5]).unwrap();
        assert_eq!(
            steady.words(),
            "a fixed piece of work took 101.0 µs (100.0 µs to 102.0 µs) before 3 groups"
        );
        assert_eq!(steady.warning(), None);
        let warning = of(&[1e5, 1.02e5, 1.1e5]).unwrap().warning().unwrap();
        assert!(warning.starts_with("the machine's speed changed by 10 %"), "{warning}");
    }
}

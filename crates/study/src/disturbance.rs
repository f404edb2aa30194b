//! The time that was taken from a cell while it was measured, in words.
//!
//! Speeds have it in them: they are what was done over the time that it took. Medians of single operations do not show
//! it. So whatever took a part of the time is named, and where the two differ that is said.

use rsalab_engines::{Job, Readiness, Selector, ledger::ClockOwner};
use rsalab_measure::{
    Losses,
    losses::{Cause, DISTURBED},
};
use serde::{Deserialize, Serialize};

use crate::{
    compare::Figures,
    distinct::distinct,
    number,
    store::{Beginning, TakenBlock},
};

/// The time that was taken from a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Blocks of its figures in which at least two per cent of the time were lost.
    pub blocks: usize,
    /// Share of the time that was lost in all its blocks, from 0 to 1, to the gravest cause; none where it is not
    /// known.
    pub lost: Option<f64>,
    /// The causes in words, the gravest first.
    pub causes: Vec<String>,
}

/// The facts that decide how a worker's losses are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    has_always_work: bool,
    takes_turns: bool,
}

impl Reading {
    /// That of an engine at a job. CPU time judges engines that compute in our own loop, on one thread: of several, the
    /// CPU time of all says nothing of how long each slept. Whether another engine's process computes itself, or waits
    /// for a child or a device, nobody here knows.
    pub(crate) fn of(beginning: &Beginning, job: &Job, selector: &str) -> Reading {
        let is_device = Selector::parse(selector).is_ok_and(|selector| selector.engine.name == "gpu");
        Reading {
            has_always_work: beginning.ledger.clock == ClockOwner::Harness && !is_device && job.threads == 1,
            takes_turns: lacks_cpus(&beginning.readiness, job),
        }
    }

    /// The causes that took time from a block, the gravest first.
    pub(crate) fn causes(self, losses: &Losses) -> Vec<(Cause, Option<f64>)> {
        losses.causes(self.has_always_work, self.takes_turns)
    }
}

/// Returns whether a job has more threads than CPUs to put them on.
pub(crate) fn lacks_cpus(readiness: &Readiness, job: &Job) -> bool {
    readiness.oversubscribed && distinct(readiness.cpus.iter()).len() < job.threads
}

impl Disturbance {
    /// The disturbance of a cell, under this quota of CPUs; none if nothing is known to have been taken.
    pub(crate) fn of(blocks: &[&TakenBlock], reading: Reading, quota: Option<f64>) -> Option<Disturbance> {
        let losses = || blocks.iter().filter_map(|taken| taken.losses.as_ref());
        let all = losses().copied().reduce(Losses::and)?;
        let causes = reading.causes(&all);
        let blocks = losses().filter(|losses| !reading.causes(losses).is_empty()).count();
        // A few blocks in many may have lost a lot, and all of them together little: their causes are named, without a
        // share that is theirs alone.
        let is_little = causes.is_empty();
        let causes = match is_little {
            true => {
                let found = losses().flat_map(|losses| reading.causes(losses));
                let found = distinct(found.map(|(cause, _)| cause));
                if found.is_empty() {
                    return None;
                }
                found.into_iter().map(|cause| (cause, None)).collect()
            }
            false => causes,
        };
        let known = causes.iter().filter_map(|(_, lost)| *lost);
        Some(Disturbance {
            blocks,
            lost: match is_little {
                true => Some(all.waiting_for_cpus()),
                false => known.reduce(f64::max),
            },
            causes: causes.iter().map(|&(cause, lost)| words(cause, lost, quota)).collect(),
        })
    }

    /// The remark on a cell of so many blocks.
    pub(crate) fn remark(&self, blocks: usize) -> String {
        let causes = self.causes.join("; ");
        format!(
            "disturbed in {} of {}: {causes}",
            self.blocks,
            number::counted(blocks, "block")
        )
    }

    /// Returns whether so much was lost that a comparison with what was measured at another time says nothing.
    pub(crate) fn is_grave(&self) -> bool {
        self.lost.is_none_or(|lost| lost >= DISTURBED)
    }
}

/// A cause in words, with the share of the time that it took.
pub(crate) fn words(cause: Cause, lost: Option<f64>, quota: Option<f64>) -> String {
    let of_its_time = lost.map_or_else(String::new, |lost| format!(" for {} of its time", percent(lost)));
    match cause {
        Cause::Quota => {
            let quota = quota.map_or_else(|| "its control group's quota".to_owned(), in_cpus);
            format!("{quota} held it back{of_its_time}")
        }
        Cause::Stopped => format!("it was stopped{of_its_time}, by a signal or a debugger"),
        Cause::OtherPrograms => format!("other programs had its CPU{of_its_time}"),
        Cause::Paging => format!("it waited for memory that had to be read from a disk{of_its_time}"),
        Cause::Steal => {
            let share = lost.map_or_else(|| "a part".to_owned(), percent);
            format!("the hypervisor gave {share} of this machine's CPU time to other guests")
        }
        _ => format!("something else took its time{of_its_time}"),
    }
}

/// In whole per cents: counts of the system say no more.
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `a quota of 1.50 CPUs`.
pub(crate) fn in_cpus(quota: f64) -> String {
    format!("a quota of {quota:.2} CPUs")
}

/// That the speed of a cell is below what the median time of one operation says, and by how much; none where the two
/// agree.
fn pauses(figures: &Figures, is_random: bool) -> Option<String> {
    /// Below this share a difference is not worth a remark.
    const WORTH: f64 = 0.02;
    let undisturbed = figures.ns_per_op.scaled(1e-9).reciprocal();
    let differs =
        figures.ops_per_s.high < undisturbed.low && figures.ops_per_s.value < undisturbed.value * (1.0 - WORTH);
    (differs && !is_random).then(|| {
        let times = number::significant(undisturbed.value / figures.ops_per_s.value);
        format!(
            "by the median time of one operation the speed would be {times} times as high: pauses, and operations that \
             took longer, are in the speed only"
        )
    })
}

/// Remarks on the pauses of a cell of so many blocks, and on what is known of them.
pub(crate) fn remarks(
    figures: Option<&Figures>,
    blocks: usize,
    disturbance: Option<&Disturbance>,
    is_random: bool,
) -> Vec<String> {
    let disturbed = disturbance.map(|disturbance| disturbance.remark(blocks));
    let pauses = figures.and_then(|figures| pauses(figures, is_random));
    disturbed.into_iter().chain(pauses).collect()
}

#[cfg(test)]
mod tests {
    use rsalab_engines::BlockReport;
    use rsalab_measure::Block;

    use super::*;

    const READING: Reading = Reading {
        has_always_work: true,
        takes_turns: false,
    };

    /// A block of 100 ms of which others took so many.
    fn block(taken_ms: u64) -> TakenBlock {
        let ms = |ms: u64| ms * 1_000_000;
        TakenBlock {
            order_index: 0,
            round: 0,
            worker_pid: None,
            report: BlockReport {
                block: Block {
                    samples: Vec::new(),
                    discarded_operations: 0,
                    discarded_ns: None,
                    started_ns: 0,
                    elapsed_ns: ms(100),
                },
                tests: Vec::new(),
                outputs: Vec::new(),
                trace: Vec::new(),
                cpu: None,
            },
            losses: Some(Losses {
                wall_ns: ms(100),
                cpu_ns: ms(100 - taken_ms),
                waited_ns: ms(taken_ms),
                cpus: 2,
                ..Losses::default()
            }),
        }
    }

    fn of(taken_ms: &[u64]) -> Option<Disturbance> {
        let blocks: Vec<TakenBlock> = taken_ms.iter().map(|&taken| block(taken)).collect();
        Disturbance::of(&blocks.iter().collect::<Vec<_>>(), READING, None)
    }

    #[test]
    fn one_block_of_many_is_named_and_lends_its_share_to_nobody() {
        assert_eq!(of(&[0; 20]), None);
        let mut taken = [0; 20];
        taken[7] = 20;
        let few = of(&taken).unwrap();
        assert_eq!((few.blocks, few.lost, few.is_grave()), (1, Some(0.01), false));
        assert_eq!(
            few.remark(20),
            "disturbed in 1 of 20 blocks: other programs had its CPU"
        );
        let all = of(&[20; 5]).unwrap();
        assert_eq!((all.blocks, all.lost, all.is_grave()), (5, Some(0.2), true));
        assert_eq!(
            all.remark(5),
            "disturbed in 5 of 5 blocks: other programs had its CPU for 20 % of its time"
        );
    }
}

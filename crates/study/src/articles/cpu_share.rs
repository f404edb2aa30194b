//! CPU time that the threads of a cell had, compared with what they could have had.
//!
//! Threads that compute have a CPU each, or nearly so, unless the machine was busy.

use rsalab_engines::{
    Mode,
    ledger::{ClockOwner, ThreadOwner},
};

use super::cell::Cell;
use crate::{cpus::Cpus, distinct::distinct, number, report::Group};

/// CPU time that the threads of some cells had, and what they could have had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CpuShare {
    had_ns: f64,
    possible_ns: f64,
    blocks: f64,
}

impl CpuShare {
    /// Counted CPU time is rounded to hundredths of a second twice at either end of a block: four roundings, of which
    /// the deviations add in quadrature.
    const ROUNDING_NS: f64 = 15e6;

    /// Of a cell whose threads keep so many CPUs busy; none where the system does not say.
    pub(super) fn of(cell: Cell<'_>, at_once: usize) -> Option<CpuShare> {
        let is_text = cell.group.job.op.is_text();
        let mut share = CpuShare::default();
        for block in &cell.digest.blocks {
            let cpu = block.cpu?;
            // The threads of a text are started, and its result is compared, outside of its time: nobody has all CPUs
            // then. What that takes of them is counted with the rest, so that short texts are judged mildly.
            let at_work_ns = match is_text {
                true => block.measured_ns,
                false => block.elapsed_ns,
            };
            share.had_ns += (cpu.user_ns + cpu.system_ns) as f64;
            share.possible_ns += at_work_ns as f64 * at_once as f64;
            share.blocks += 1.0;
        }
        Some(share)
    }

    fn and(self, other: CpuShare) -> CpuShare {
        CpuShare {
            had_ns: self.had_ns + other.had_ns,
            possible_ns: self.possible_ns + other.possible_ns,
            blocks: self.blocks + other.blocks,
        }
    }

    fn rounding_ns(self) -> f64 {
        CpuShare::ROUNDING_NS * self.blocks.sqrt()
    }

    /// Returns whether the time is so long that its rounding does not matter.
    pub(super) fn is_told(self) -> bool {
        self.rounding_ns() < 0.1 * self.possible_ns
    }

    /// Returns whether it is below a share, by more than rounding. Some systems count nothing.
    pub(super) fn is_below(self, least: f64) -> bool {
        self.had_ns > 0.0 && self.had_ns + self.rounding_ns() < least * self.possible_ns
    }

    pub(super) fn percent(self) -> f64 {
        100.0 * self.had_ns / self.possible_ns
    }
}

/// Least share of a CPU that one thread has on a quiet machine.
pub(super) const OF_ONE: f64 = 0.9;
/// The threshold for several, which wait for one another.
const OF_SEVERAL: f64 = 0.8;

impl Cell<'_> {
    /// The sentence that its threads had too little CPU time; none if they had enough.
    pub(super) fn lack_of_cpu(self, cpus: Option<Cpus>) -> Option<String> {
        let (at_once, least) = self.should_have()?;
        let share = CpuShare::of(self, at_once)?;
        let least = least * self.balance(at_once);
        share.is_below(least).then(|| {
            let had = format!(
                "{} had {:.0} % of {}",
                self.row.engine,
                share.percent(),
                number::counted(at_once, "CPU")
            );
            match cpus.filter(|cpus| cpus.throttles(self.group.job.threads)) {
                Some(cpus) => format!("{} stopped it: {had}", cpus.words()),
                None => format!("the machine was busy: {had}"),
            }
        })
    }

    /// CPUs that its threads keep busy, and the least share of them; none where nothing is known of it.
    pub(super) fn should_have(self) -> Option<(usize, f64)> {
        let job = &self.group.job;
        let ledger = self.row.ledger.as_ref()?;
        let computes_here = ledger.threads == ThreadOwner::Harness && ledger.clock == ClockOwner::Harness;
        let calls: u64 = self.digest.blocks.iter().map(|block| block.operations).sum();
        // The last calls of a block leave a thread alone, which is little of it where there are ten.
        let is_one_by_one =
            job.mode == Mode::Concurrent && calls >= 10 * (job.threads * self.digest.blocks.len()) as u64;
        let at_once = distinct(self.row.cpus.iter()).len();
        match job.threads {
            _ if self.row.engine.starts_with("gpu") => None,
            1 => Some((1, OF_ONE)),
            _ if at_once == 0 => None,
            _ if is_one_by_one || (job.op.is_text() && computes_here) => Some((at_once, OF_SEVERAL)),
            // Of other threads that share the work of a call, or that the engine starts, nothing is known.
            _ => None,
        }
    }

    /// Share of the CPUs that a text's blocks keep busy where they do not come out even: three on two threads, 3/4.
    fn balance(self, at_once: usize) -> f64 {
        let job = &self.group.job;
        if !job.op.is_text() || job.threads == 1 {
            return 1.0;
        }
        let blocks = job.text_blocks().max(1);
        let rounds = blocks.div_ceil(job.threads) * job.threads.div_ceil(at_once);
        (blocks as f64 / (rounds * at_once) as f64).min(1.0)
    }
}

/// CPU time that single threads had in all groups together; none where it is not counted.
pub(super) fn single_threads(groups: &[Group]) -> Option<CpuShare> {
    let cells = groups.iter().filter(|group| group.job.threads == 1);
    let cells = cells.flat_map(|group| {
        group.rows.iter().filter_map(move |row| {
            let digest = row.digest.as_ref()?;
            Some(Cell { group, row, digest })
        })
    });
    // Others may wait for a child or for a device.
    let computes_here = |cell: &Cell<'_>| {
        let ledger = cell.row.ledger.as_ref();
        ledger.is_some_and(|ledger| ledger.clock == ClockOwner::Harness)
    };
    cells
        .filter(computes_here)
        .filter_map(|cell| {
            cell.should_have()?;
            CpuShare::of(cell, 1)
        })
        .reduce(CpuShare::and)
}

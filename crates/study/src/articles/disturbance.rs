//! Why no claim is judged by a cell: its figures are those of a busy machine, not of the engine.
//!
//! What was interrupted is left out and measured anew, but where it was much, what is left was disturbed as well.
//! Threads had too little CPU time ([`super::cpu_share`]). And of a job that is shared among threads no number of them
//! can be more times as fast than there are threads: where it seems so, the smaller number was disturbed.

use rsalab_engines::Job;

use super::{
    cell::Cell,
    cpu_share::{CpuShare, OF_ONE},
    evidence::Evidence,
};
use crate::{
    number,
    report::{Group, Row},
};

impl Evidence<'_> {
    /// Why no claim is judged by a cell.
    pub(super) fn disturbance(&self, cell: Cell<'_>) -> Option<String> {
        interruptions(cell)
            .or_else(|| cell.lack_of_cpu(self.cpus))
            .or_else(|| self.slower_than_possible(cell))
            .or_else(|| self.busy_throughout(cell))
    }

    /// The sentence that more threads were faster by more than there are of them, which says that fewer were disturbed.
    fn slower_than_possible(&self, cell: Cell<'_>) -> Option<String> {
        /// The part left to caches, and to the noise of two medians.
        const MOST: f64 = 1.1;
        let (job, engine) = (&cell.group.job, cell.row.engine.as_str());
        if !job.op.is_text() {
            return None;
        }
        let time = |row: &Row| row.figures.map(|figures| figures.ns_per_op.value);
        let own = time(cell.row)?;
        let times = |group: &Group| {
            let row = group.rows.iter().find(|row| row.engine == engine)?;
            let (more, less) = (group.job.threads as f64, job.threads as f64);
            let times = own / time(row)?;
            (times > MOST * more / less).then_some((group.job.threads, times))
        };
        let larger = self
            .groups
            .iter()
            .filter(|group| group.job.threads > job.threads && is_alike_but_for_threads(&group.job, job));
        let (threads, times) = larger.filter_map(times).next()?;
        Some(format!(
            "the machine was busy: {engine} took {} times as long on {} as on {}",
            number::significant(times),
            number::counted(job.threads, "thread"),
            number::counted(threads, "thread")
        ))
    }

    /// The sentence that a cell is too short for its own CPU time to tell, and the threads of the whole study had too
    /// little.
    fn busy_throughout(&self, cell: Cell<'_>) -> Option<String> {
        let is_told = cell
            .should_have()
            .is_some_and(|(at_once, _)| CpuShare::of(cell, at_once).is_some_and(CpuShare::is_told));
        let all = self.single_threads?;
        (!is_told && all.is_told() && all.is_below(OF_ONE)).then(|| {
            let cause = match self.cpus.filter(|cpus| cpus.throttles(1)) {
                Some(cpus) => format!("{} stopped it", cpus.words()),
                None => "the machine was busy".to_owned(),
            };
            format!(
                "{cause}: a thread had {:.0} % of a CPU in the whole study, and {} is too short to tell",
                all.percent(),
                cell.row.engine
            )
        })
    }
}

fn is_alike_but_for_threads(one: &Job, other: &Job) -> bool {
    let text = |job: &Job| (job.op, job.bits, job.symbols, job.block_symbols);
    text(one) == text(other) && one.exponent == other.exponent && one.mode == other.mode
}

fn interruptions(cell: Cell<'_>) -> Option<String> {
    /// Of all blocks.
    const MOST_INTERRUPTED: f64 = 1.0 / 3.0;
    let (interrupted, kept) = (cell.row.interrupted_blocks, cell.digest.blocks.len());
    let all = interrupted + kept;
    (interrupted as f64 > MOST_INTERRUPTED * all as f64).then(|| {
        let engine = &cell.row.engine;
        format!("the machine was busy: {interrupted} of {all} blocks of {engine} were interrupted")
    })
}

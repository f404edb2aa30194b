//! Interruptions of workers, and remarks on figures.

use std::time::Duration;

use rsalab_engines::{EngineInfo, Job, Readiness, Selector, ledger::ClockOwner, registry::Home};
use rsalab_measure::{
    interruption::{Interruption, starved},
    losses::Cause,
};

use crate::{
    disturbance::{self, Reading},
    number,
    store::{Beginning, TakenBlock},
};

pub(crate) const UNOPTIMISED: &str = "this rsalab was built without optimisation, and its figures would mean nothing: \
                                      build it with 'cargo build --release'";

/// Returns whether the engine is a part of this program.
pub(crate) fn is_built_in(selector: &str) -> bool {
    Selector::parse(selector).is_ok_and(|selector| selector.engine.home == Home::BuiltIn)
}

/// Remarks that the figures of a cell need. `earlier` is what an earlier session began with, if its blocks count;
/// `quota` is the CPUs' worth of time that a control group may use.
pub(crate) fn notes(
    info: &EngineInfo,
    readiness: &Readiness,
    job: &Job,
    earlier: Option<&Beginning>,
    quota: Option<f64>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(earlier) = earlier
        && (earlier.info != *info || earlier.readiness.kernel != readiness.kernel)
    {
        notes.push(format!(
            "resumed with another engine: before it was {} with the kernel {}",
            earlier.info.version, earlier.readiness.kernel
        ));
    }
    if !info.optimised {
        notes.push("built without optimisation: the figure says nothing about the engine".to_owned());
    }
    if readiness.oversubscribed {
        let threads = number::counted(job.threads, "thread");
        // Threads have a CPU each until these run out, unless a quota is what does not suffice.
        let than = match quota {
            _ if disturbance::lacks_cpus(readiness, job) => "the logical CPUs".to_owned(),
            Some(quota) => format!("{} lets run at once", disturbance::in_cpus(quota)),
            None => "the control group's quota lets run at once".to_owned(),
        };
        notes.push(format!("oversubscribed: {threads} are more than {than}"));
    }
    if job.bare {
        notes.push("bare: without blinding and without the check of the result".to_owned());
    }
    notes
}

/// How often in a row a block is measured before its cell is given up: whatever interrupts so often will go on.
pub(crate) const ATTEMPTS: usize = 4;

/// The interruption of a worker during a block: `seen` by the coordinator, or found in its CPU time.
///
/// CPU time judges engines that compute in our own loop. Whether another engine's process computes itself, or waits for
/// a child or a device, nobody here knows: those are only watched.
pub(crate) fn interruption(
    seen: Option<Interruption>,
    block: &TakenBlock,
    beginning: &Beginning,
    selector: &str,
) -> Option<Interruption> {
    let report = &block.report;
    // With fewer CPUs than threads, or a quota of a part of one, little CPU time is what the cell's notes say it has.
    let is_throttled = block.losses.is_some_and(|losses| losses.throttled_periods > 0);
    let computes = beginning.ledger.clock == ClockOwner::Harness
        && !beginning.readiness.oversubscribed
        && !is_throttled
        && !Selector::parse(selector).is_ok_and(|selector| selector.engine.name == "gpu");
    let starved = || {
        let wall = Duration::from_nanos(report.block.elapsed_ns);
        starved(report.cpu?, wall)
    };
    seen.or_else(|| starved().filter(|_| computes))
}

/// Blocks of a cell that are measured again because a part of their time was taken, beyond one in so many of its
/// blocks.
const REPEATED: usize = 2;
/// One block in so many.
const REPEATED_PART: usize = 4;

/// Why a block is to be measured again, in words; none if it is not: because nothing was taken from it, or because what
/// took it will go on. A cell of which `repeated` blocks have been measured again, and `blocks` count, is worth only so
/// many attempts.
pub(crate) fn disturbance(
    block: &TakenBlock,
    reading: Reading,
    repeated: usize,
    blocks: usize,
    quota: Option<f64>,
) -> Option<String> {
    let causes = reading.causes(block.losses.as_ref()?);
    let &(gravest, lost) = causes.first()?;
    let is_lasting = gravest == Cause::Quota || repeated >= REPEATED + blocks / REPEATED_PART;
    (!is_lasting).then(|| disturbance::words(gravest, lost, quota))
}

/// A remark on a cell's interrupted blocks; none without any.
pub(crate) fn interrupted_note(reasons: &[&str]) -> Option<String> {
    match reasons {
        [] => None,
        [reason] => Some(format!("1 block was interrupted and is left out: {reason}")),
        [first, ..] => Some(format!(
            "{} blocks were interrupted and are left out, the first: {first}",
            reasons.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use rsalab_engines::{Exponent, Mode, Op};

    use super::*;

    #[test]
    fn what_threads_exceed_is_named() {
        let job = Job {
            op: Op::Private,
            bits: 2048,
            threads: 2,
            batch: 1,
            mode: Mode::Throughput,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            primes: 2,
            keys: 1,
            message_bits: None,
            message_bytes: 0,
            symbols: 0,
            block_symbols: 0,
        };
        let info = EngineInfo {
            name: "own".to_owned(),
            version: "1".to_owned(),
            origin: "a test".to_owned(),
            cpu_path: None,
            variants: Vec::new(),
            optimised: true,
        };
        let of = |cpus: &[usize], quota: Option<f64>| {
            let readiness = Readiness {
                kernel: "portable".to_owned(),
                cpus: cpus.to_vec(),
                oversubscribed: true,
                first_call: None,
            };
            notes(&info, &readiness, &job, None, quota).remove(0)
        };
        let by_cpus = "oversubscribed: 2 threads are more than the logical CPUs";
        assert_eq!(of(&[0, 0], None), by_cpus);
        assert_eq!(of(&[0, 0], Some(0.5)), by_cpus);
        let by_quota = "oversubscribed: 2 threads are more than a quota of 1.50 CPUs lets run at once";
        assert_eq!(of(&[0, 1], Some(1.5)), by_quota);
    }
}

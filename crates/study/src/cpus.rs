//! The CPUs that a study could use.

use rsalab_engines::{Job, Mode};
use rsalab_measure::{Machine, Topology};

use crate::number;

/// The CPUs that a study could use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cpus {
    /// Physical cores.
    pub cores: usize,
    /// Hardware threads of these cores.
    pub logical: usize,
    /// CPUs' worth of time that the control group may use, where that is less than the CPUs it shows.
    pub quota: Option<f64>,
}

impl Cpus {
    /// The CPUs of a machine that a process was allowed to use, and that its quota lets run at once.
    pub fn of(machine: &Machine) -> Cpus {
        Cpus::of_topology(&machine.topology)
    }

    fn of_topology(topology: &Topology) -> Cpus {
        let allowed = topology.allowed_cpus();
        let quota = topology.quota.filter(|quota| *quota < allowed as f64);
        let whole = quota.map_or(usize::MAX, |quota| (quota as usize).max(1));
        Cpus {
            cores: topology.allowed_cores().min(whole),
            logical: allowed.min(whole),
            quota,
        }
    }

    /// Returns whether some cores run two threads.
    pub fn has_smt(self) -> bool {
        self.logical > self.cores
    }

    /// Returns whether a quota stops so many threads for a part of the time.
    pub(crate) fn throttles(self, threads: usize) -> bool {
        self.quota.is_some_and(|quota| quota < threads as f64)
    }

    /// That a quota stopped a job's threads, with the operations per second over all samples, in which the pauses are;
    /// none where there is no such quota.
    pub(crate) fn pauses(self, job: &Job, samples: impl Iterator<Item = (u64, u64)>) -> Option<String> {
        let over_all = over_all(job, samples).filter(|_| self.throttles(job.threads))?;
        Some(format!(
            "{} stopped it for a part of the time, which the median leaves out: with the pauses it did {} operations a second",
            self.words(),
            number::significant(over_all)
        ))
    }

    /// In words: `2 CPUs`, `a quota of 1.50 CPUs`.
    pub(crate) fn words(self) -> String {
        match self.quota {
            Some(quota) => format!("a quota of {quota:.2} CPUs"),
            None => number::counted(self.logical, "CPU"),
        }
    }
}

/// Operations per second over all samples, of which each pair has the operations and their nanoseconds; none without
/// time.
pub(crate) fn over_all(job: &Job, samples: impl Iterator<Item = (u64, u64)>) -> Option<f64> {
    let (operations, ns) = samples.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // Calls that threads time themselves run side by side.
    let at_once = match job.mode {
        Mode::Concurrent => job.threads,
        Mode::Latency | Mode::Throughput => 1,
    };
    (ns > 0).then(|| operations as f64 * at_once as f64 * 1e9 / ns as f64)
}

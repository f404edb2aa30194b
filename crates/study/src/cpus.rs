//! The CPUs that a study could use.

use rsalab_measure::{Machine, Topology};

use crate::{disturbance::in_cpus, number};

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

    /// In words: `2 CPUs`, `a quota of 1.50 CPUs`.
    pub(crate) fn words(self) -> String {
        match self.quota {
            Some(quota) => in_cpus(quota),
            None => number::counted(self.logical, "CPU"),
        }
    }
}

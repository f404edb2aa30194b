//! The CPUs that a study could use.

use rsalab_measure::{Machine, Topology};

/// The CPUs that a study could use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// Physical cores.
    pub cores: usize,
    /// Hardware threads of these cores.
    pub logical: usize,
}

impl Cpus {
    /// Those of a machine that a process was allowed to use, and that its quota lets run at once.
    pub fn of(machine: &Machine) -> Cpus {
        Cpus::of_topology(&machine.topology)
    }

    fn of_topology(topology: &Topology) -> Cpus {
        let quota = topology
            .quota
            .map_or(usize::MAX, |quota| (quota as usize).max(1));
        Cpus {
            cores: topology.allowed_cores().min(quota),
            logical: topology.allowed_cpus().min(quota),
        }
    }

    /// Whether some cores run two threads.
    pub fn has_smt(self) -> bool {
        self.logical > self.cores
    }
}

//! Sentences of reports, on planted data whose truth is known: what is said follows from what was compared, and is
//! withheld where the data do not carry it.

mod busy;
mod findings;
mod own_sizes;
use crate::support;
mod texts;

use rsalab_measure::{Machine, topology::Cpu};

/// A machine of so many CPUs, each on a core of its own, of which a quota lets so many run at once.
pub(crate) fn machine(cpus: usize, quota: Option<f64>) -> Machine {
    let cpu = |id: usize| Cpu {
        id,
        core: id,
        package: 0,
        numa_node: 0,
        smt_index: 0,
        capacity: None,
        allowed: true,
    };
    let mut machine = support::MACHINE.clone();
    machine.topology.cpus = (0..cpus).map(cpu).collect();
    machine.topology.quota = quota;
    machine
}

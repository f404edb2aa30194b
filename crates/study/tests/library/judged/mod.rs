//! Sentences of reports, on planted data whose truth is known: what is said follows from what was compared, and is
//! withheld where the data do not carry it.

mod busy;
mod findings;
mod own_sizes;
use crate::support;
mod texts;

use rsalab_measure::Machine;

/// A machine of so many CPUs, each on a core of its own, of which a quota lets so many run at once.
pub(crate) fn machine(cpus: usize, quota: Option<f64>) -> Machine {
    let mut machine = support::machine(cpus, 1);
    machine.topology.quota = quota;
    machine
}

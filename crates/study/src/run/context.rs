//! The environment of a run, and the context that its groups share.

use std::sync::{Arc, atomic::AtomicBool};

use rsalab_measure::{Machine, busy_warnings};

use super::{
    launcher::{Launcher, Pool},
    test_data::TestData,
};

/// The environment of a run.
pub struct Environment<'a> {
    /// The launcher of the workers.
    pub launcher: &'a dyn Launcher,
    /// The machine, for the record.
    pub machine: Machine,
    /// Warnings about the machine, for the record and the observer.
    pub warnings: Vec<String>,
    /// Measure our own engine although this program was built without optimisation; the cells say so.
    pub allow_unoptimised: bool,
}

impl<'a> Environment<'a> {
    /// This machine as it is now. Takes a fraction of a second, in which it listens for others at work.
    pub fn of_this_machine(launcher: &'a dyn Launcher) -> Self {
        let machine = Machine::describe();
        Environment {
            launcher,
            warnings: busy_warnings(&machine),
            machine,
            allow_unoptimised: false,
        }
    }
}

/// The context that every group of a run shares.
pub(crate) struct RunContext<'a> {
    pub(crate) pool: Pool<'a>,
    pub(crate) test_data: &'a mut TestData,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) allow_unoptimised: bool,
    /// CPUs' worth of time that a control group may use.
    pub(crate) quota: Option<f64>,
}

impl<'a> RunContext<'a> {
    /// Workers that `launcher` starts, and no earlier ones.
    pub(crate) fn new(
        environment: &Environment<'a>,
        launcher: &'a dyn Launcher,
        test_data: &'a mut TestData,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        RunContext {
            pool: Pool::new(launcher, stop),
            test_data,
            stop: Arc::clone(stop),
            allow_unoptimised: environment.allow_unoptimised,
            quota: environment.machine.topology.quota,
        }
    }
}

//! A job ready to run, as the worker loop sees it.

use rsalab_measure::{BlockPlan, Topology, pin::allowed_cpus};

use crate::{
    engine::Prepared,
    job::Job,
    protocol::{BlockReport, Fault, Readiness},
};

/// A job ready to run.
pub(crate) trait Driver {
    /// How it will run.
    fn readiness(&self) -> Readiness;

    /// One untimed run over all inputs; later runs are compared with it.
    fn outputs(&mut self) -> Result<Vec<u8>, Fault>;

    /// One block of samples, every run compared with the first.
    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault>;
}

/// How the threads of a job will run.
pub(super) fn readiness(job: &Job, prepared: &dyn Prepared) -> Readiness {
    let placement = Topology::detect().placement(job.threads);
    // A system that does not even say where a thread may run does not pin it either.
    let pinned = allowed_cpus().is_ok();
    Readiness {
        kernel: prepared.kernel(),
        cpus: if pinned { placement.cpus } else { Vec::new() },
        oversubscribed: placement.oversubscribed,
        first_call: None,
    }
}

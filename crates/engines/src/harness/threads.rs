//! The harness's threads: pinned, started once per job, released together, each with its part of the work.
//!
//! ```text
//! start: pin each thread, make its runner on it
//! first call, where one call is the question: by the timing thread, timed
//! for each sample
//!     release    a barrier; the clock starts
//!     work       each thread does its batches, each batch into a buffer of its own
//!     finish     a barrier; the clock stops
//!     check      each thread compares its outputs with those of the first run, and overwrites them
//! between blocks the threads sleep until the next request
//! ```
//!
//! The inputs are cut into batches. A sample gives every thread the same number of batches, one after another from a
//! starting point of its own, so that all threads have equal work however few inputs there are; the number is chosen
//! once, so that a sample lasts about a millisecond and the barrier does not count.

use std::{
    sync::{Mutex, OnceLock, atomic::AtomicUsize, mpsc},
    thread,
};

use rsalab_measure::{
    Barrier, BlockPlan, Pool,
    pool::{Member, StartError, Threads},
};

use super::{
    driver::{Driver, readiness},
    partition::{Partition, STOP, Shared, Work},
    timing::{TimingThread, lost_thread},
};
use crate::{
    engine::Prepared,
    job::Job,
    protocol::{BlockReport, Fault, FaultKind, Readiness},
};

/// Starts the threads of a job, hands them to `body`, and ends them.
pub(super) fn with_threads<T>(
    job: &Job,
    prepared: &dyn Prepared,
    inputs: &[u8],
    body: impl FnOnce(&mut MeasuringThreads) -> T,
) -> Result<T, Fault> {
    let readiness = readiness(job, prepared);
    let oversubscribed = readiness.oversubscribed;
    let shared = Shared {
        work: Work::new(job, prepared, inputs, oversubscribed),
        barrier: Barrier::new(job.threads, !oversubscribed),
        task: AtomicUsize::new(STOP),
        reference: OnceLock::new(),
        reports: (0..job.threads).map(|_| Mutex::default()).collect(),
    };
    thread::scope(|scope| {
        let threads = Threads {
            name: "measure",
            count: job.threads,
            cpus: &readiness.cpus,
        };
        let shared = &shared;
        let pool = Pool::scoped(scope, threads, move |member| run(shared, member))?;
        let mut threads = MeasuringThreads {
            readiness: readiness.clone(),
            pool,
        };
        threads.readiness.first_call = threads.ask(|timing| timing.first_call())?;
        Ok(body(&mut threads))
    })
}

/// The threads as the worker loop sees them.
pub(super) struct MeasuringThreads {
    readiness: Readiness,
    pool: Pool<Task>,
}

/// A task of a thread.
enum Task {
    /// To be the timing thread for one request.
    Time(Box<dyn FnOnce(&mut TimingThread<'_>) + Send>),
    /// To do what the timing thread says, until it says that it is over.
    Follow,
}

impl MeasuringThreads {
    /// Answers a request on the timing thread, with all threads at its service.
    fn ask<T: Send + 'static>(
        &self,
        request: impl FnOnce(&mut TimingThread<'_>) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        // A thread that panics drops its end, and nobody waits for its answer.
        let (answer, answers) = mpsc::sync_channel(1);
        let time = Task::Time(Box::new(move |timing| {
            let _ = answer.send(request(timing));
        }));
        let follow = (1..self.pool.threads()).map(|thread| (thread, Task::Follow));
        for (thread, task) in follow.chain([(0, time)]) {
            self.pool.send(thread, task).map_err(|_| lost_thread())?;
        }
        answers.recv().map_err(|_| lost_thread())
    }
}

impl Driver for MeasuringThreads {
    fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    fn outputs(&mut self) -> Result<Vec<u8>, Fault> {
        self.ask(|timing| timing.outputs())?
    }

    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        let plan = *plan;
        self.ask(move |timing| timing.block(&plan))?
    }
}

impl From<StartError<Fault>> for Fault {
    fn from(error: StartError<Fault>) -> Self {
        match error {
            StartError::Failed(fault) => fault,
            StartError::Ended => lost_thread(),
            other => Fault::new(FaultKind::Threads, other.to_string()),
        }
    }
}

/// The life of one thread. A broken barrier is how it learns that another has panicked.
fn run(shared: &Shared<'_>, member: Member<Task, Fault>) -> Result<(), Fault> {
    let _leaving = shared.barrier.break_on_drop();
    let runner = shared.work.prepared.runner()?;
    let mut timing = TimingThread::new(Partition::new(shared, member.index, runner)?);
    for task in member.tasks() {
        let over = match task {
            Task::Follow => timing.follow(),
            Task::Time(request) => {
                request(&mut timing);
                timing.end()
            }
        };
        if over.is_err() {
            break;
        }
    }
    Ok(())
}

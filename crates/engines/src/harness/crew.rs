//! The harness's threads: pinned, started once per job, released together, each with its share of the work.
//!
//! ```text
//! start: pin each thread, make its runner on it
//! first call, where one call is the question: by the leader, timed
//! for each sample
//!     release    a barrier; the clock starts
//!     work       each thread does its batches, each batch into a buffer of its own
//!     finish     a barrier; the clock stops
//!     check      each thread compares its outputs with those of the first run, and spoils them
//! between blocks the threads are parked in the barrier
//! ```
//!
//! The inputs are cut into batches. A sample gives every thread the same number of batches, taken in turn from a
//! starting point of its own, so that all threads have equal work however few inputs there are; the number is chosen
//! once, so that a sample lasts about a millisecond and the barrier does not count.

use std::{
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

use rsalab_measure::{
    BlockPlan, Sample, Topology,
    pin::{allowed_cpus, pin_current_thread},
};

use super::{
    Rig,
    gate::{Broken, Gate},
    leader::{Leader, Orders},
    share::{STOP, Share, Shared, Work},
};
use crate::{
    engine::Prepared,
    job::Job,
    protocol::{BlockReport, Fault, FaultKind, Readiness},
};

/// Starts the threads of a job, hands them to `body`, and ends them.
pub(super) fn with_crew<T>(
    job: &Job,
    prepared: &dyn Prepared,
    inputs: &[u8],
    body: impl FnOnce(&mut Crew) -> T,
) -> Result<T, Fault> {
    let threads = job.threads;
    let readiness = readiness(job, prepared);
    let oversubscribed = readiness.oversubscribed;
    let work = Work::new(job, prepared, inputs, oversubscribed);
    let shared = Shared {
        work,
        gate: Gate::new(threads, !oversubscribed),
        task: AtomicUsize::new(STOP),
        reference: OnceLock::new(),
        reports: (0..threads).map(|_| Mutex::default()).collect(),
    };
    thread::scope(|scope| {
        let (ready, started) = mpsc::channel();
        let (commands, orders) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let mut leader = Some(Orders {
            commands: orders,
            answers: answer,
        });
        for index in 0..threads {
            let (shared, ready, leader) = (&shared, ready.clone(), leader.take());
            let cpu = readiness.cpus.get(index).copied();
            let spawned = thread::Builder::new()
                .name(format!("crew-{index}"))
                .spawn_scoped(scope, move || member(shared, index, cpu, &ready, leader));
            if let Err(error) = spawned {
                shared.gate.break_open();
                return Err(Fault::new(
                    FaultKind::Threads,
                    format!("only {index} of {threads} threads could be started: {error}"),
                ));
            }
        }
        drop(ready);
        for _ in 0..threads {
            match started.recv() {
                Ok(Ok(())) => {}
                Ok(Err(fault)) => return Err(fault),
                Err(mpsc::RecvError) => return Err(lost_thread()),
            }
        }
        let mut crew = Crew {
            readiness,
            commands,
            answers,
        };
        crew.readiness.first_call = crew.first_call()?;
        Ok(body(&mut crew))
    })
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

/// The leader's ear and mouth: the crew as the worker loop sees it.
pub(super) struct Crew {
    readiness: Readiness,
    commands: Sender<Command>,
    answers: Receiver<Result<Reply, Fault>>,
}

pub(super) enum Command {
    First,
    Outputs,
    Block(BlockPlan),
}

pub(super) enum Reply {
    First(Option<Sample>),
    Outputs(Vec<u8>),
    Block(BlockReport),
}

impl Crew {
    fn ask(&mut self, command: Command) -> Result<Reply, Fault> {
        self.commands.send(command).map_err(|_| lost_thread())?;
        self.answers.recv().map_err(|_| lost_thread())?
    }

    fn first_call(&mut self) -> Result<Option<Sample>, Fault> {
        match self.ask(Command::First)? {
            Reply::First(sample) => Ok(sample),
            _ => unreachable!("the leader answers what it was asked"),
        }
    }
}

impl Rig for Crew {
    fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    fn outputs(&mut self) -> Result<Vec<u8>, Fault> {
        match self.ask(Command::Outputs)? {
            Reply::Outputs(outputs) => Ok(outputs),
            _ => unreachable!("the leader answers what it was asked"),
        }
    }

    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, Fault> {
        match self.ask(Command::Block(*plan))? {
            Reply::Block(report) => Ok(report),
            _ => unreachable!("the leader answers what it was asked"),
        }
    }
}

pub(super) fn lost_thread() -> Fault {
    Fault::new(FaultKind::Threads, "a thread of the measurement panicked")
}

impl From<Broken> for Fault {
    fn from(_: Broken) -> Self {
        lost_thread()
    }
}

/// The life of one thread. The leader, who has the line to the worker loop, decides what is done.
fn member(
    shared: &Shared<'_>,
    index: usize,
    cpu: Option<usize>,
    ready: &Sender<Result<(), Fault>>,
    leader: Option<Orders>,
) {
    // Whatever way this thread leaves, nobody waits for it.
    let _leaving = BreakOnDrop(&shared.gate);
    let made =
        pin(cpu).and_then(|()| Ok(Share::new(shared, index, shared.work.prepared.runner()?)?));
    let share = match made {
        Ok(share) => share,
        Err(fault) => {
            // Nobody listens only if another thread has failed already.
            let _ = ready.send(Err(fault));
            return;
        }
    };
    let _ = ready.send(Ok(()));
    let ended = match leader {
        Some(orders) => Leader::new(share).lead(&orders),
        None => follow(share),
    };
    // A broken gate is how the others learn that it is over.
    ended.unwrap_or(());
}

fn pin(cpu: Option<usize>) -> Result<(), Fault> {
    cpu.map_or(Ok(()), pin_current_thread)
        .map_err(|error| Fault::new(FaultKind::Threads, error.to_string()))
}

struct BreakOnDrop<'a>(&'a Gate);

impl Drop for BreakOnDrop<'_> {
    fn drop(&mut self) {
        self.0.break_open();
    }
}

fn follow(mut share: Share<'_>) -> Result<(), Broken> {
    loop {
        share.shared.gate.wait()?;
        match share.shared.task.load(Ordering::Acquire) {
            STOP => return Ok(()),
            task => {
                share.work(task);
                share.shared.gate.wait()?;
                share.check(task);
                share.shared.gate.wait()?;
            }
        }
    }
}

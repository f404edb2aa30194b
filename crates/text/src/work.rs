//! Work over threads: workers started, released and collected; their output in input order.
//!
//! ```text
//! split the input on block borders, one part for each worker
//! start each worker on a thread of its own, which
//!     pins itself, touches its region of the output, makes its block operation, says that it is ready,
//!     waits for the release, works through its blocks, and ends
//! once every worker is ready or has failed: release all at once, and take the time
//! collect each worker as it ends; the same workers may be released again, for the same work
//! ```
//!
//! Each worker writes straight into its own region of the one output, so nothing has to be merged afterwards and the
//! order cannot depend on who finishes first. A worker that fails or panics is reported by its number with the reason;
//! the others finish their parts and are collected all the same. If the system refuses a thread, no more are started
//! and no block is worked on: those that wait for the release end with [`Reason::NotReleased`].

use std::{
    any::Any,
    hint::black_box,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::AtomicU64,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Instant,
};

use rsalab_measure::{
    Pool,
    pin::current_cpu,
    pool::{self, Member, StartError},
};

use crate::{
    outcome::{Failure, Outcome, PartTrace, Reason, WorkError},
    split::{Part, split},
};

/// The most threads that one piece of work may be split over.
pub const MAX_THREADS: usize = 4096;

/// The operation of one worker on its blocks. It is made by the factory on the thread that uses it and never leaves it.
pub trait BlockWorker {
    /// Why the operation failed.
    type Error;

    /// Turns whole blocks of input into as many blocks of output.
    ///
    /// `first_block` is the place of the first block in the whole input. Only the last block of the whole input and of
    /// the whole output may be short. Never called without blocks.
    fn work(&mut self, first_block: usize, input: &[u8], output: &mut [u8]) -> Result<(), Self::Error>;
}

/// The input and the shape of the output: block `i` of the input becomes block `i` of the output.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The whole input.
    pub input: &'a [u8],
    /// Bytes of one block of input; the last may be shorter.
    pub input_block: usize,
    /// Bytes of the whole output.
    pub output_len: usize,
    /// Bytes of one block of output; the last may be shorter.
    pub output_block: usize,
}

/// How many threads there are and where they run.
#[derive(Clone, Copy, Debug)]
pub struct Threads<'a> {
    /// From 1 to [`MAX_THREADS`]. Each is started, even where there are fewer blocks.
    pub count: usize,
    /// The logical CPU of each thread; `None` leaves the choice to the system.
    pub cpus: Option<&'a [usize]>,
    /// Where the blocks that are done are counted, so that long work can be followed.
    pub done: Option<&'a AtomicU64>,
}

impl Threads<'static> {
    /// Threads that run where the system puts them.
    pub fn unpinned(count: usize) -> Self {
        Threads {
            count,
            cpus: None,
            done: None,
        }
    }
}

impl<'a> Threads<'a> {
    /// One thread for each CPU named; a CPU may be named more than once.
    pub fn pinned(cpus: &'a [usize]) -> Self {
        Threads {
            count: cpus.len(),
            cpus: Some(cpus),
            done: None,
        }
    }

    /// These threads, which add to `done` the blocks that they have done.
    pub fn counted(self, done: &'a AtomicU64) -> Self {
        Threads {
            done: Some(done),
            ..self
        }
    }
}

/// Does the work with one worker on each thread. See the [module documentation](self).
///
/// # Errors
///
/// [`WorkError::Layout`] if the blocks of input and output do not correspond, or the number of threads is impossible;
/// [`WorkError::Workers`] if any worker failed.
pub fn run<W, F>(work: Work<'_>, threads: Threads<'_>, factory: F) -> Result<Outcome, WorkError<W::Error>>
where
    W: BlockWorker<Error: Send>,
    F: Fn(&Part) -> Result<W, W::Error> + Sync,
{
    let called = Instant::now();
    // Asked first: an output as long as is asked for may not even fit into memory.
    check_layout(work, threads).map_err(WorkError::Layout)?;
    let mut output = vec![0; work.output_len];
    let run = with_workers(work, &mut output, threads, factory, |workers| workers.run())??;
    Ok(Outcome {
        output,
        elapsed_ns: run.trace.iter().map(|part| part.end_ns).max().unwrap_or(0),
        trace: run.trace,
        wall_ns: nanoseconds(called, Instant::now()),
    })
}

/// Starts the workers of a piece of work, hands them to `body`, which may run them as often as it likes, and ends them.
/// `output` has as many bytes as the work says.
///
/// # Errors
///
/// [`WorkError::Layout`], as [`run()`]. A worker that fails does so in [`Workers::run`].
pub fn with_workers<W, F, T>(
    work: Work<'_>,
    output: &mut [u8],
    threads: Threads<'_>,
    factory: F,
    body: impl FnOnce(&mut Workers<'_, '_, W::Error>) -> T,
) -> Result<T, WorkError<W::Error>>
where
    W: BlockWorker<Error: Send>,
    F: Fn(&Part) -> Result<W, W::Error> + Sync,
{
    let blocks = check_layout(work, threads).map_err(WorkError::Layout)?;
    if output.len() != work.output_len {
        let (given, needed) = (output.len(), work.output_len);
        return Err(WorkError::Layout(format!(
            "the output has room for {given} bytes, and {needed} are made"
        )));
    }
    let partitions = partitions(work, output, split(blocks, threads.count));
    let (done, inbox) = mpsc::channel();
    thread::scope(|scope| {
        let (partitions, factory) = (&partitions, &factory);
        let body_of_thread =
            move |member: Member<Instant, Reason<W::Error>>| worker(&partitions[member.index], &member, factory, &done);
        let (pool, started) = Pool::scoped_each(
            scope,
            pool::Threads {
                name: "part",
                count: threads.count,
                cpus: threads.cpus.unwrap_or_default(),
            },
            body_of_thread,
        );
        Ok(body(&mut Workers {
            partitions,
            pool,
            started,
            inbox,
        }))
    })
}

/// Workers that are ready, and wait to be released.
pub struct Workers<'a, 'w, E> {
    partitions: &'a [Partition<'w>],
    pool: Pool<Instant>,
    started: Vec<Result<(), StartError<Reason<E>>>>,
    inbox: Receiver<Ended<E>>,
}

/// One time that workers were released and did all of their work.
#[derive(Clone, Debug)]
pub struct Run {
    /// One entry for each worker, by number.
    pub trace: Vec<PartTrace>,
    /// From the release to the collection of the last worker, when the caller has the output.
    pub collected_ns: u64,
}

impl<E> Workers<'_, '_, E> {
    /// Releases all workers at once, and collects them.
    ///
    /// # Errors
    ///
    /// [`WorkError::Workers`] if any failed. One that was never ready is told of once; there is no use in another run.
    pub fn run(&mut self) -> Result<Run, WorkError<E>> {
        let is_refused = |started: &Result<(), StartError<_>>| matches!(started, Err(StartError::Refused { .. }));
        let is_released = !self.started.iter().any(is_refused);
        let again = self.started.iter().map(|_| Ok(())).collect();
        let mut ended: Vec<Result<PartTrace, Reason<E>>> = std::mem::replace(&mut self.started, again)
            .into_iter()
            .map(|started| Err(started.err().map_or(Reason::NotReleased, reason)))
            .collect();
        let is_ready = |id: &usize| matches!(ended[*id], Err(Reason::NotReleased));
        let ready: Vec<usize> = (0..ended.len()).filter(|id| is_released && is_ready(id)).collect();
        let released = Instant::now();
        // A thread that is ready waits for this, and reports what becomes of it.
        let sent: Vec<usize> = ready
            .into_iter()
            .filter(|&id| self.pool.send(id, released).is_ok())
            .collect();
        for _ in sent {
            let (id, result) = self.inbox.recv().expect("a thread reports even if it panics");
            ended[id] = result;
        }
        let collected_ns = nanoseconds(released, Instant::now());

        let mut trace = Vec::with_capacity(ended.len());
        let mut failures = Vec::new();
        for (id, result) in ended.into_iter().enumerate() {
            match result {
                Ok(part) => trace.push(part),
                Err(reason) => failures.push(Failure { id, reason }),
            }
        }
        match failures.is_empty() {
            true => Ok(Run { trace, collected_ns }),
            false => Err(WorkError::Workers(failures)),
        }
    }

    /// Hands each worker's region of the output to `look`, in order: while no worker has it.
    pub fn each_region<T>(&mut self, mut look: impl FnMut(&mut [u8]) -> T) -> Vec<T> {
        self.partitions
            .iter()
            .map(|partition| look(&mut partition.region()))
            .collect()
    }
}

/// A worker's part with its own regions of input and output.
struct Partition<'a> {
    part: Part,
    input: &'a [u8],
    /// The worker's while it works, and else the caller's.
    output: Mutex<&'a mut [u8]>,
}

impl<'a> Partition<'a> {
    /// Its region of the output. A worker's panic does not keep it.
    fn region(&self) -> MutexGuard<'_, &'a mut [u8]> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The report of a worker at its end, with its number.
type Ended<E> = (usize, Result<PartTrace, Reason<E>>);

/// The life of one worker, on its own thread.
fn worker<W, F>(
    partition: &Partition<'_>,
    member: &Member<Instant, Reason<W::Error>>,
    factory: &F,
    done: &Sender<Ended<W::Error>>,
) -> Result<(), Reason<W::Error>>
where
    W: BlockWorker,
    F: Fn(&Part) -> Result<W, W::Error>,
{
    let Partition { part, input, .. } = partition;
    touch(&mut partition.region());
    let mut operation = caught(|| factory(part))?;
    for released in member.tasks() {
        let start = Instant::now();
        let worked = caught(|| match part.blocks.is_empty() {
            true => Ok(()),
            false => operation.work(part.blocks.start, input, &mut partition.region()),
        });
        let end = Instant::now();
        let ended = worked.map(|()| PartTrace {
            id: part.id,
            bytes: input.len(),
            blocks: part.blocks.len(),
            cpu: current_cpu(),
            start_ns: nanoseconds(released, start),
            end_ns: nanoseconds(released, end),
        });
        // The caller waits for each.
        if done.send((part.id, ended)).is_err() {
            break;
        }
    }
    Ok(())
}

/// The result of a piece of somebody else's code, a panic included.
fn caught<T, E>(code: impl FnOnce() -> Result<T, E>) -> Result<T, Reason<E>> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(result) => result.map_err(Reason::Failed),
        Err(payload) => Err(Reason::Panicked(panic_message(payload.as_ref()))),
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

/// Why a worker is not ready.
fn reason<E>(error: StartError<Reason<E>>) -> Reason<E> {
    match error {
        StartError::Failed(reason) => reason,
        StartError::Pinning(error) => Reason::NotPinned(error),
        StartError::Refused { error, .. } => Reason::NotStarted(error),
        StartError::Ended => Reason::Panicked("without a message".to_owned()),
    }
}

/// Writes to every page of a worker's region, since the system gives a page when it is first written to: before the
/// release, so that it is not measured, and on the worker's thread, so that it comes from memory near its CPU.
fn touch(region: &mut [u8]) {
    const PAGE: usize = 4096;
    for byte in region.iter_mut().step_by(PAGE) {
        *byte = black_box(0);
    }
}

/// The number of blocks, or why the work cannot be done.
fn check_layout(work: Work<'_>, threads: Threads<'_>) -> Result<usize, String> {
    if threads.count == 0 || threads.count > MAX_THREADS {
        return Err(format!(
            "{} threads were asked for; work can be split over 1 to {MAX_THREADS}",
            threads.count
        ));
    }
    if let Some(cpus) = threads.cpus
        && cpus.len() != threads.count
    {
        return Err(format!("{} CPUs were named for {} threads", cpus.len(), threads.count));
    }
    if work.input_block == 0 || work.output_block == 0 {
        return Err("a block must have at least one byte".to_owned());
    }
    let blocks = work.input.len().div_ceil(work.input_block);
    let expected = work.output_len.div_ceil(work.output_block);
    if blocks != expected {
        return Err(format!(
            "the input has {blocks} blocks, but the output has room for {expected}"
        ));
    }
    Ok(blocks)
}

/// Gives each part its own regions.
fn partitions<'a>(work: Work<'a>, output: &'a mut [u8], parts: Vec<Part>) -> Vec<Partition<'a>> {
    let (mut input, mut output) = (work.input, output);
    parts
        .into_iter()
        .map(|part| {
            let taken = (part.blocks.len() * work.input_block).min(input.len());
            let given = (part.blocks.len() * work.output_block).min(output.len());
            let (mine, rest) = input.split_at(taken);
            input = rest;
            let (region, rest) = std::mem::take(&mut output).split_at_mut(given);
            output = rest;
            Partition {
                part,
                input: mine,
                output: Mutex::new(region),
            }
        })
        .collect()
}

fn nanoseconds(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.duration_since(from).as_nanos()).unwrap_or(u64::MAX)
}

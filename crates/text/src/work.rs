//! Work over threads: workers started, released and collected; their output in input order.
//!
//! ```text
//! split the input on block borders, one part for each worker
//! start each worker on a thread of its own, which
//!     pins itself, touches its region of the output, makes its block operation, says that it is ready,
//!     waits for the release, works through its blocks, and ends
//! once every worker is ready or has failed: release all at once, and take the time
//! collect each worker as it ends
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
        Mutex, PoisonError,
        atomic::AtomicU64,
        mpsc::{self, Sender},
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
    let blocks = check_layout(work, threads).map_err(WorkError::Layout)?;
    let mut output = vec![0; work.output_len];
    let partitions: Vec<Mutex<Option<Partition<'_>>>> = partitions(work, &mut output, split(blocks, threads.count))
        .into_iter()
        .map(|partition| Mutex::new(Some(partition)))
        .collect();
    let (done, inbox) = mpsc::channel();
    let ended: Vec<Result<PartTrace, Reason<W::Error>>> = thread::scope(|scope| {
        let (partitions, factory) = (&partitions, &factory);
        let body = move |member: Member<Instant, Reason<W::Error>>| {
            let partition = partitions[member.index].lock();
            let partition = partition.unwrap_or_else(PoisonError::into_inner).take();
            let partition = partition.expect("each thread takes its own, once");
            worker(partition, &member, factory, &done)
        };
        let (pool, started) = Pool::scoped_each(
            scope,
            pool::Threads {
                name: "part",
                count: threads.count,
                cpus: threads.cpus.unwrap_or_default(),
            },
            body,
        );
        let is_refused = |started: &Result<(), StartError<_>>| matches!(started, Err(StartError::Refused { .. }));
        let is_released = !started.iter().any(is_refused);
        let mut ended: Vec<Result<PartTrace, Reason<W::Error>>> = started
            .into_iter()
            .map(|started| Err(started.err().map_or(Reason::NotReleased, reason)))
            .collect();
        if is_released {
            let is_ready = |id: &usize| matches!(ended[*id], Err(Reason::NotReleased));
            let ready: Vec<usize> = (0..ended.len()).filter(is_ready).collect();
            let released = Instant::now();
            for &id in &ready {
                // A thread that is ready waits for this, and reports what becomes of it.
                pool.send(id, released).expect("it waits for its task");
            }
            for _ in ready {
                let (id, result) = inbox.recv().expect("a thread reports even if it panics");
                ended[id] = result;
            }
        }
        ended
    });
    let wall_ns = nanoseconds(called, Instant::now());

    let mut trace = Vec::with_capacity(ended.len());
    let mut failures = Vec::new();
    for (id, result) in ended.into_iter().enumerate() {
        match result {
            Ok(part) => trace.push(part),
            Err(reason) => failures.push(Failure { id, reason }),
        }
    }
    if !failures.is_empty() {
        return Err(WorkError::Workers(failures));
    }
    let elapsed_ns = trace.iter().map(|part| part.end_ns).max().unwrap_or(0);
    Ok(Outcome {
        output,
        trace,
        elapsed_ns,
        wall_ns,
    })
}

/// A worker's part with its own regions of input and output.
struct Partition<'a> {
    part: Part,
    input: &'a [u8],
    output: &'a mut [u8],
}

/// The report of a worker at its end, with its number.
type Ended<E> = (usize, Result<PartTrace, Reason<E>>);

/// The life of one worker, on its own thread.
fn worker<W, F>(
    partition: Partition<'_>,
    member: &Member<Instant, Reason<W::Error>>,
    factory: &F,
    done: &Sender<Ended<W::Error>>,
) -> Result<(), Reason<W::Error>>
where
    W: BlockWorker,
    F: Fn(&Part) -> Result<W, W::Error>,
{
    let Partition { part, input, output } = partition;
    touch(output);
    let mut operation = caught(|| factory(&part))?;
    // There is one task, if any: to begin.
    if let Some(released) = member.tasks().next() {
        let start = Instant::now();
        let worked = caught(|| match part.blocks.is_empty() {
            true => Ok(()),
            false => operation.work(part.blocks.start, input, output),
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
        done.send((part.id, ended)).expect("the caller waits for each");
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
                output: region,
            }
        })
        .collect()
}

fn nanoseconds(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.duration_since(from).as_nanos()).unwrap_or(u64::MAX)
}

//! One thread's part of a job: which batches, where their outputs go, and whether they are what they were.

use std::{
    mem,
    ops::Range,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rsalab_measure::{Barrier, Monotonic, Sample, barrier::Broken, time};

use crate::{
    engine::{EngineError, Prepared, RunStats, Runner},
    job::{Job, Mode},
    op::Layout,
    protocol::{Fault, FaultKind},
};

/// How long one thread's part of a throughput sample lasts, about.
const SAMPLE: Duration = Duration::from_millis(1);

/// The time of a sample where threads share a CPU and sleep in the barrier, so that waking does not count either.
const SAMPLE_OVERSUBSCRIBED: Duration = Duration::from_millis(10);

/// The value that a byte of output is set to before a run: an engine that writes nothing must not pass on what the run
/// before has left.
pub(super) const OVERWRITTEN: u8 = 0xA5;

/// The job in batches.
pub(super) struct Work<'a> {
    pub(super) prepared: &'a dyn Prepared,
    inputs: &'a [u8],
    pub(super) layout: Layout,
    /// Items in all.
    items: usize,
    /// Items in one call; the last batch may have fewer.
    pub(super) batch: usize,
    pub(super) deterministic: bool,
    /// Batches of one sample of one thread, where that is not to be chosen by time.
    pub(super) fixed_rounds: Option<usize>,
    pub(super) sample: Duration,
    /// `true` if each thread times its own calls.
    pub(super) concurrent: bool,
    /// `true` if the time of one call is the question, so that the first is of interest.
    first_call: bool,
}

impl<'a> Work<'a> {
    pub(super) fn new(job: &Job, prepared: &'a dyn Prepared, inputs: &'a [u8], oversubscribed: bool) -> Self {
        let layout = job.layout();
        // Without input there is nothing to tell items apart: one batch does for all.
        let items = inputs.len().checked_div(layout.input).unwrap_or(job.batch);
        let one_call = job.mode == Mode::Latency || !job.op.is_deterministic();
        Work {
            prepared,
            inputs,
            layout,
            items,
            batch: job.batch,
            deterministic: job.op.is_deterministic(),
            fixed_rounds: one_call.then_some(1),
            concurrent: job.mode == Mode::Concurrent,
            first_call: job.mode == Mode::Latency && job.op.is_deterministic(),
            sample: if oversubscribed { SAMPLE_OVERSUBSCRIBED } else { SAMPLE },
        }
    }

    pub(super) fn batches(&self) -> usize {
        self.items.div_ceil(self.batch)
    }

    fn items_of(&self, batch: usize) -> Range<usize> {
        let start = batch * self.batch;
        start..(start + self.batch).min(self.items)
    }

    fn inputs_of(&self, items: &Range<usize>) -> &'a [u8] {
        &self.inputs[items.start * self.layout.input..items.end * self.layout.input]
    }

    fn output_bytes(&self, items: &Range<usize>) -> Range<usize> {
        items.start * self.layout.output..items.end * self.layout.output
    }
}

/// State that the threads share.
pub(super) struct Shared<'a> {
    pub(super) work: Work<'a>,
    pub(super) barrier: Barrier,
    /// The task after the next round of the barrier: [`STOP`], [`REFERENCE`], or the number of batches of a sample;
    /// of all threads together where each times its own calls.
    pub(super) task: AtomicUsize,
    /// The outputs of the first run over all inputs.
    pub(super) reference: OnceLock<Vec<u8>>,
    pub(super) reports: Vec<Mutex<Report>>,
}

pub(super) const STOP: usize = 0;
pub(super) const REFERENCE: usize = usize::MAX;

/// The work that one thread has done since the timing thread last looked.
#[derive(Default)]
pub(super) struct Report {
    pub(super) items: u64,
    pub(super) tests: Option<u64>,
    pub(super) outputs: Vec<u8>,
    /// Where each thread times its own calls: each, with the tests behind it.
    pub(super) calls: Vec<(Sample, Option<u64>)>,
    fault: Option<Fault>,
}

impl Shared<'_> {
    pub(super) fn report(&self, index: usize) -> MutexGuard<'_, Report> {
        self.reports[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reports of all threads, the first failure of any instead.
    pub(super) fn collect(&self) -> Result<Vec<Report>, Fault> {
        let reports: Vec<Report> = (0..self.reports.len())
            .map(|index| mem::take(&mut *self.report(index)))
            .collect();
        match reports.iter().find_map(|report| report.fault.clone()) {
            Some(fault) => Err(fault),
            None => Ok(reports),
        }
    }
}

/// One thread's part of the work.
pub(super) struct Partition<'a> {
    pub(super) shared: &'a Shared<'a>,
    index: usize,
    runner: Box<dyn Runner + 'a>,
    /// The batch that the next sample begins with.
    next: usize,
    /// The outputs of a sample, in the order in which its batches are done.
    outputs: Vec<u8>,
    /// The batches that `outputs` holds, in order.
    done: BatchRange,
    stats: Counted,
    /// Where each thread times its own calls.
    calls: Vec<(Sample, Option<u64>)>,
    /// The output of the first call of all, until it can be compared.
    first_output: Vec<u8>,
    fault: Option<Fault>,
}

/// A run of consecutive batches, which begins again at the first one after the last.
#[derive(Clone, Copy, Default)]
struct BatchRange {
    first: usize,
    count: usize,
}

/// Counts over a range of batches.
#[derive(Clone, Copy, Default)]
struct Counted {
    items: u64,
    tests: Option<u64>,
}

impl<'a> Partition<'a> {
    pub(super) fn new(
        shared: &'a Shared<'a>,
        index: usize,
        mut runner: Box<dyn Runner + 'a>,
    ) -> Result<Self, EngineError> {
        let work = &shared.work;
        runner.keep(&mut (0..work.batches()).map(|batch| work.inputs_of(&work.items_of(batch))))?;
        Ok(Partition {
            shared,
            index,
            runner,
            next: index * shared.work.batches() / shared.reports.len(),
            outputs: Vec::new(),
            done: BatchRange::default(),
            stats: Counted::default(),
            calls: Vec::new(),
            first_output: Vec::new(),
            fault: None,
        })
    }

    /// The time of the very first call, if that is asked for and the call succeeds: one that fails does so again when
    /// its outputs are asked for.
    pub(super) fn first_call(&mut self) -> Option<Sample> {
        let work = &self.shared.work;
        if !work.first_call {
            return None;
        }
        let items = work.items_of(0);
        let mut output = vec![OVERWRITTEN; items.len() * work.layout.output];
        let timed = time(Monotonic::get(), || {
            self.runner
                .run_kept(0, work.inputs_of(&items), &mut output)
                .map(|_| items.len() as u64)
        });
        let timed = timed.and_then(|timed| {
            self.runner.collect(0, &mut output)?;
            Ok(timed)
        });
        self.first_output = output;
        timed.ok().or_else(|| {
            self.first_output.clear();
            None
        })
    }

    /// Checks that the first call gave what the first run did.
    pub(super) fn check_first_call(&mut self, reference: &[u8]) -> Result<(), Fault> {
        let output = mem::take(&mut self.first_output);
        let expected = &reference[..output.len()];
        compare(&output, expected, self.shared.work.layout.output, 0)
    }

    fn range(&self, task: usize) -> BatchRange {
        let batches = self.shared.work.batches();
        let threads = self.shared.reports.len();
        match task {
            REFERENCE => {
                let first = self.index * batches / threads;
                let end = (self.index + 1) * batches / threads;
                BatchRange {
                    first,
                    count: end - first,
                }
            }
            calls if self.shared.work.concurrent => BatchRange {
                first: self.next,
                count: calls / threads + usize::from(self.index < calls % threads),
            },
            rounds => BatchRange {
                first: self.next,
                count: rounds,
            },
        }
    }

    /// Does what the timing thread says, until it says that it is over.
    pub(super) fn follow(&mut self) -> Result<(), Broken> {
        loop {
            self.shared.barrier.wait()?;
            match self.shared.task.load(Ordering::Acquire) {
                STOP => return self.shared.barrier.wait(),
                task => {
                    self.work(task);
                    self.shared.barrier.wait()?;
                    self.check(task);
                    self.shared.barrier.wait()?;
                }
            }
        }
    }

    /// The measured part. Faults are kept for the check, so that the other threads are not left waiting.
    pub(super) fn work(&mut self, task: usize) {
        let work = &self.shared.work;
        let range = self.range(task);
        let bytes = range.count * work.batch * work.layout.output;
        if self.outputs.len() < bytes {
            self.outputs.resize(bytes, OVERWRITTEN);
        }
        let mut stats = Counted {
            items: 0,
            tests: Some(0),
        };
        let is_timed = work.concurrent && task != REFERENCE;
        self.calls.clear();
        let mut filled = 0;
        for (batch, items) in range.batches(work) {
            let end = filled + items.len() * work.layout.output;
            let output = &mut self.outputs[filled..end];
            let inputs = work.inputs_of(&items);
            let ran = match is_timed {
                false => self.runner.run_kept(batch, inputs, output),
                true => {
                    let mut tests = None;
                    let sample = time(Monotonic::get(), || {
                        tests = self.runner.run_kept(batch, inputs, output)?.tests;
                        Ok(items.len() as u64)
                    });
                    sample.map(|sample| {
                        self.calls.push((sample, tests));
                        RunStats { tests }
                    })
                }
            };
            match ran {
                Ok(RunStats { tests }) => {
                    stats.items += items.len() as u64;
                    stats.tests = stats.tests.zip(tests).map(|(sum, more)| sum + more);
                }
                Err(error) => {
                    self.fault = Some(placed(error, items.start));
                    break;
                }
            }
            filled = end;
        }
        self.done = range;
        self.stats = stats;
    }

    /// Compares, reports and wipes out what the measured part did.
    pub(super) fn check(&mut self, task: usize) {
        let work = &self.shared.work;
        let mut report = self.shared.report(self.index);
        report.items = self.stats.items;
        report.tests = self.stats.tests;
        report.fault = self.fault.take();
        report.calls = mem::take(&mut self.calls);
        let filled = self.stats.items as usize * work.layout.output;
        let outputs = &mut self.outputs[..filled];
        if let Err(fault) = collect(self.runner.as_mut(), work, self.done, outputs) {
            report.fault.get_or_insert(fault);
        }
        match self.shared.reference.get() {
            Some(reference) if task != REFERENCE => {
                let mut rest = &outputs[..];
                for (_, items) in self.done.batches(work) {
                    let expected = &reference[work.output_bytes(&items)];
                    let Some((output, more)) = rest.split_at_checked(expected.len()) else {
                        break;
                    };
                    rest = more;
                    if let Err(fault) = compare(output, expected, work.layout.output, items.start) {
                        report.fault.get_or_insert(fault);
                    }
                }
            }
            _ => report.outputs = outputs.to_vec(),
        }
        outputs.fill(OVERWRITTEN);
        if task != REFERENCE {
            self.next = (self.done.first + self.done.count) % work.batches();
        }
    }
}

impl BatchRange {
    /// The number of each batch, and its items.
    fn batches<'w>(self, work: &'w Work<'_>) -> impl Iterator<Item = (usize, Range<usize>)> + 'w {
        let batches = work.batches();
        let mut next = self.first;
        (0..self.count).map(move |_| {
            let batch = next;
            // Not a remainder: this is inside the timed call.
            next = if batch + 1 == batches { 0 } else { batch + 1 };
            (batch, work.items_of(batch))
        })
    }
}

/// Fetches what a range has left where the engine works. Batches beyond the outputs were not done.
fn collect(runner: &mut dyn Runner, work: &Work<'_>, done: BatchRange, outputs: &mut [u8]) -> Result<(), Fault> {
    let mut rest = outputs;
    for (batch, items) in done.batches(work) {
        let bytes = items.len() * work.layout.output;
        let Some((output, more)) = rest.split_at_mut_checked(bytes) else {
            break;
        };
        rest = more;
        runner
            .collect(batch, output)
            .map_err(|error| placed(error, items.start))?;
    }
    Ok(())
}

/// The failure with the item's place among all inputs instead of in its batch.
fn placed(error: EngineError, first_item: usize) -> Fault {
    Fault::from(match error {
        EngineError::InputOutOfRange { index } => EngineError::InputOutOfRange {
            index: first_item + index,
        },
        other => other,
    })
}

/// Checks that outputs are what they were at first; the fault names the first item that is not.
pub(super) fn compare(outputs: &[u8], expected: &[u8], output_len: usize, first_item: usize) -> Result<(), Fault> {
    if outputs == expected {
        return Ok(());
    }
    let place = outputs
        .iter()
        .zip(expected)
        .position(|(left, right)| left != right)
        .unwrap_or(outputs.len().min(expected.len()));
    let item = first_item + place / output_len;
    Err(Fault {
        kind: FaultKind::Mismatch,
        message: format!("input {item} gave another output than in the first run"),
        item: Some(item),
    })
}

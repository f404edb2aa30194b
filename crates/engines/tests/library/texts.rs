//! Texts through the protocol: that their speed is what was done over the time that it took, and that each is compared
//! with the first.

use std::{
    slice,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rsalab_engines::{
    Engine, EngineError, EngineInfo, FaultKind, Job, Ledger, Limits, Op, Own, Prepared, Reason, RunStats, Runner,
    Session, SessionError, StudyKey, Textbook, Worker,
};
use rsalab_measure::BlockPlan;

use crate::support::{job, key};

/// A text that takes a fraction of a millisecond.
fn text(threads: usize) -> Job {
    Job {
        threads,
        symbols: 2000,
        block_symbols: 50,
        ..job(Op::TextEncrypt)
    }
}

/// The share of a block's time that is in its texts, with as many busy loops beside it as CPUs.
fn share_in_texts(threads: usize) -> f64 {
    let plan = BlockPlan {
        discard_ns: 0,
        min_ns: 500_000_000,
        calls: None,
        max_samples: 100,
    };
    let is_over = AtomicBool::new(false);
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cpus {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let mut worker = Worker::in_process(Arc::new(Own::auto()), Limits::default()).unwrap();
        worker.prepare(&text(threads), &[key()], &[b'x'; 2000]).unwrap();
        let block = worker.block(&plan).map(|report| report.block);
        is_over.store(true, Ordering::Relaxed);
        let block = block.unwrap();
        block.measured_ns() as f64 / block.elapsed_ns as f64
    })
}

/// Where threads were started for each text, outside of its time, a twentieth of the time was in the texts here.
#[test]
fn what_threads_wait_for_on_a_busy_machine_is_in_the_time_of_a_text() {
    for threads in [1, 2] {
        // The best of three: whoever times can be preempted too.
        let share = (0..3).map(|_| share_in_texts(threads)).fold(0.0, f64::max);
        assert!(
            share > 0.8,
            "{share:.3} of the time is in the texts, on {threads} threads"
        );
    }
}

#[test]
fn a_text_of_which_a_part_is_not_written_is_no_text() {
    let lazy = Arc::new(Lazy(AtomicBool::new(false)));
    let mut worker = Worker::in_process(Arc::clone(&lazy) as Arc<dyn Engine>, Limits::default()).unwrap();
    let plan = BlockPlan::SINGLE_CALL;
    worker
        .prepare(&text(2), slice::from_ref(&key()), &[b'x'; 2000])
        .unwrap();
    worker.block(&plan).unwrap();
    lazy.0.store(true, Ordering::SeqCst);
    match worker.block(&plan) {
        Err(SessionError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::Mismatch, "{fault}"),
        other => panic!("{other:?}"),
    }
}

/// The textbook engine, which writes nothing once it is told so.
struct Lazy(AtomicBool);

struct LazyPrepared<'a>(&'a AtomicBool, Box<dyn Prepared + 'a>);

struct LazyRunner<'a>(&'a AtomicBool, Box<dyn Runner + 'a>);

impl Engine for Lazy {
    fn info(&self) -> EngineInfo {
        Textbook.info()
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        Textbook.supports(job)
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        Ok(Box::new(LazyPrepared(&self.0, Textbook.prepare(job, keys)?)))
    }
}

impl Prepared for LazyPrepared<'_> {
    fn kernel(&self) -> String {
        self.1.kernel()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(LazyRunner(self.0, self.1.runner()?)))
    }
}

impl Runner for LazyRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        match self.0.load(Ordering::SeqCst) {
            true => Ok(RunStats::default()),
            false => self.1.run(inputs, outputs),
        }
    }
}

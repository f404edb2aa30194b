//! The worker loop and its threads, through the protocol, in this process.

use std::{
    slice,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use num_bigint::BigUint;
use rsalab_engines::{
    Engine, EngineError, EngineInfo, FaultKind, Job, Ledger, Limits, Mode, Op, Own, Prepared, Reason, RunStats, Runner,
    Session, SessionError, StudyKey, Textbook, Worker, verify, worker::serve,
};
use rsalab_measure::BlockPlan;

use crate::support::{job, key};

const SHORT: BlockPlan = BlockPlan {
    discard_ns: 1_000_000,
    min_ns: 5_000_000,
    calls: None,
    max_samples: 100,
};

fn textbook() -> Worker {
    Worker::in_process(Arc::new(Textbook), Limits::default()).unwrap()
}

/// Small numbers, as blocks.
fn blocks(count: u8) -> Vec<u8> {
    (0..count)
        .flat_map(|value| [vec![0; 63], vec![value]].concat())
        .collect()
}

#[test]
fn outputs_come_in_input_order_for_any_threads_and_batch() {
    let key = key();
    let modulus = BigUint::from_bytes_be(&key.n);
    let inputs = blocks(11);
    let expected: Vec<u8> = (0..11u32)
        .flat_map(|value| {
            let power = BigUint::from(value).modpow(&BigUint::from(65537u32), &modulus);
            let bytes = power.to_bytes_be();
            [vec![0; 64 - bytes.len()], bytes].concat()
        })
        .collect();
    let mut worker = textbook();
    for (threads, batch) in [(1, 1), (1, 4), (3, 1), (3, 4), (5, 11), (16, 2)] {
        let job = Job {
            threads,
            batch,
            ..job(Op::Public)
        };
        worker.prepare(&job, std::slice::from_ref(&key), &inputs).unwrap();
        assert_eq!(
            worker.outputs().unwrap(),
            expected,
            "{threads} threads, batches of {batch}"
        );
        let report = worker.block(&SHORT).unwrap();
        assert!(report.block.operations() > 0);
        assert!(report.tests.is_empty() && report.outputs.is_empty() && report.trace.is_empty());
    }
    worker.release().unwrap();
}

#[test]
fn a_latency_sample_is_one_call() {
    let mut worker = textbook();
    let job = Job {
        mode: Mode::Latency,
        batch: 2,
        ..job(Op::Public)
    };
    worker.prepare(&job, &[key()], &blocks(6)).unwrap();
    let plan = BlockPlan {
        max_samples: 1 << 20,
        ..SHORT
    };
    let report = worker.block(&plan).unwrap();
    assert!(report.block.samples.len() > 1);
    assert!(report.block.samples.iter().all(|sample| sample.operations == 2));
}

#[test]
fn a_text_is_the_same_on_any_number_of_threads() {
    let mut worker = textbook();
    let text: Vec<u8> = (0..1000u32).map(|i| (i * i) as u8).collect();
    for symbols in [0, 1, 62, 63, 64, 1000] {
        let mut ciphertexts = Vec::new();
        for threads in [1, 2, 5] {
            let encrypt = Job {
                threads,
                symbols,
                block_symbols: 63,
                ..job(Op::TextEncrypt)
            };
            worker.prepare(&encrypt, &[key()], &text[..symbols]).unwrap();
            let ciphertext = worker.outputs().unwrap();
            let report = worker.block(&BlockPlan::SINGLE_CALL).unwrap();
            assert_eq!(report.trace.len(), threads);
            assert_eq!(report.trace.iter().map(|part| part.bytes).sum::<usize>(), symbols);

            let decrypt = Job {
                op: Op::TextDecrypt,
                ..encrypt
            };
            worker.prepare(&decrypt, &[key()], &ciphertext).unwrap();
            assert_eq!(
                worker.outputs().unwrap(),
                &text[..symbols],
                "{symbols} symbols, {threads} threads"
            );
            ciphertexts.push(ciphertext);
        }
        assert!(ciphertexts.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn a_throughput_sample_is_equal_work_on_every_thread() {
    let mut worker = textbook();
    // Five inputs in batches of two: the last batch has one, and every thread comes round to it.
    for threads in [1, 2, 3] {
        let job = Job {
            threads,
            batch: 2,
            ..job(Op::Public)
        };
        worker.prepare(&job, &[key()], &blocks(5)).unwrap();
        let report = worker.block(&SHORT).unwrap();
        let per_sample: Vec<u64> = report.block.samples.iter().map(|sample| sample.operations).collect();
        assert!(
            per_sample.iter().all(|operations| *operations >= threads as u64),
            "{per_sample:?}"
        );
        assert!(report.block.discarded_operations > 0);
        let spread = per_sample.iter().max().unwrap() - per_sample.iter().min().unwrap();
        assert!(spread <= threads as u64, "{per_sample:?}");
    }
}

#[test]
fn every_key_made_is_shown_and_its_tests_are_counted() {
    let mut worker = Worker::in_process(Arc::new(Own::auto()), Limits::default()).unwrap();
    for (op, threads, batch) in [(Op::PrimePair, 2, 3), (Op::Keygen, 1, 2)] {
        let job = Job {
            threads,
            batch,
            ..job(op)
        };
        worker.prepare(&job, &[], &[]).unwrap();
        let plan = BlockPlan {
            discard_ns: 1,
            min_ns: 20_000_000,
            calls: None,
            max_samples: 4,
        };
        let report = worker.block(&plan).unwrap();
        let made = report.block.operations() + report.block.discarded_operations;
        assert_eq!(report.outputs.len() as u64, made * job.layout().output as u64, "{op}");
        assert_eq!(verify(&job, &key(), &[], &report.outputs), Ok(()), "{op}");
        assert_eq!(report.tests.len(), report.block.samples.len(), "{op}");
        // Each key has two primes, and each prime passed a test.
        for (tests, sample) in report.tests.iter().zip(&report.block.samples) {
            assert!(*tests >= 2 * sample.operations, "{op}: {tests} tests");
        }
        let mut items: Vec<&[u8]> = report.outputs.chunks(job.layout().output).collect();
        items.sort();
        items.dedup();
        assert_eq!(items.len() as u64, made, "{op}: the same was made twice");
    }
}

#[test]
fn threads_that_time_their_own_calls_make_exactly_as_many() {
    let mut worker = Worker::in_process(Arc::new(Own::auto()), Limits::default()).unwrap();
    for (op, threads, calls, max_samples) in [
        (Op::PrimePair, 2, 7, 100),
        (Op::PrimePair, 1, 3, 100),
        (Op::PrimePair, 3, 2, 100),
        (Op::Public, 2, 11, 100),
        (Op::PrimePair, 2, 9, 4),
    ] {
        let job = Job {
            threads,
            mode: Mode::Concurrent,
            ..job(op)
        };
        let inputs = match op {
            Op::Public => blocks(3),
            _ => Vec::new(),
        };
        let keys = [key()];
        worker.prepare(&job, &keys, &inputs).unwrap();
        let plan = BlockPlan {
            discard_ns: 0,
            min_ns: 0,
            calls: Some(calls),
            max_samples,
        };
        for _ in 0..2 {
            let report = worker.block(&plan).unwrap();
            let block = &report.block;
            assert_eq!(block.operations(), calls, "{op}");
            assert_eq!(block.discarded_operations, 0, "{op}");
            assert!(block.samples.len() <= max_samples, "{op}");
            if calls <= max_samples as u64 {
                assert_eq!(block.samples.len() as u64, calls, "{op}");
                // Merged ones may hold calls of several threads at once.
                let longest = block.samples.iter().map(|sample| sample.elapsed_ns).max();
                assert!(longest.unwrap() <= block.elapsed_ns, "{op}");
            }
            assert!(block.measured_ns() <= threads as u64 * block.elapsed_ns, "{op}");
            if op == Op::PrimePair {
                assert_eq!(report.tests.len(), block.samples.len());
                assert!(report.tests.iter().all(|tests| *tests >= 2));
                assert_eq!(verify(&job, None, &[], &report.outputs), Ok(()));
                assert_eq!(report.outputs.len() as u64, calls * job.layout().output as u64);
            }
        }
        // Without a count, until the time is up.
        let report = worker.block(&SHORT).unwrap();
        assert!(report.block.elapsed_ns >= SHORT.discard_ns + SHORT.min_ns, "{op}");
        assert!(report.block.discarded_operations > 0, "{op}");
    }
    worker.release().unwrap();
}

#[test]
fn no_thread_takes_the_next_request_for_the_end_of_one() {
    // On a busy machine a thread is late to read what it is to do. Of two CPUs, and fewer, these leave little.
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while busy.load(Ordering::Relaxed) {
                    std::hint::spin_loop()
                }
            });
        }
        let found = std::panic::catch_unwind(|| {
            let key = key();
            let mut worker = textbook();
            let job = Job {
                threads: 2,
                mode: Mode::Concurrent,
                ..job(Op::Public)
            };
            worker.prepare(&job, slice::from_ref(&key), &blocks(2)).unwrap();
            let expected = worker.outputs().unwrap();
            let one = BlockPlan {
                discard_ns: 0,
                calls: Some(1),
                ..SHORT
            };
            let begin = std::time::Instant::now();
            while begin.elapsed() < std::time::Duration::from_secs(3) {
                let report = worker.block(&one).unwrap();
                assert_eq!(report.block.operations(), 1);
                assert_eq!(worker.outputs().unwrap(), expected);
            }
            worker.release().unwrap();
        });
        busy.store(false, Ordering::Relaxed);
        found.unwrap();
    });
}

#[test]
fn the_first_call_is_told_where_one_call_is_the_question() {
    let mut worker = textbook();
    let latency = Job {
        mode: Mode::Latency,
        ..job(Op::Private)
    };
    let first = |readiness: rsalab_engines::Readiness| readiness.first_call;
    let inputs = blocks(3);
    let told = first(worker.prepare(&latency, &[key()], &inputs).unwrap()).unwrap();
    assert_eq!(told.operations, 1);
    // An exponentiation of 512 bits takes more than this on any machine.
    assert!(told.elapsed_ns > 1_000, "{told:?}");
    worker.outputs().unwrap();
    let throughput = job(Op::Private);
    assert_eq!(first(worker.prepare(&throughput, &[key()], &inputs).unwrap()), None);
    // What cannot be done is told when it is asked for.
    let large = [0xFF; 64];
    assert_eq!(first(worker.prepare(&latency, &[key()], &large).unwrap()), None);
    assert!(worker.outputs().is_err());
}

#[test]
fn senseless_jobs_are_refused_before_anything_runs() {
    let mut worker = textbook();
    let good = job(Op::Public);
    let latency = Job {
        mode: Mode::Latency,
        threads: 2,
        ..good.clone()
    };
    let other_size = Job {
        bits: 1024,
        ..good.clone()
    };
    let none: &[StudyKey] = &[];
    let (one, inputs) = ([key()], blocks(2));
    for (job, keys, inputs, kind) in [
        (&latency, &one[..], &inputs[..], FaultKind::Unsupported),
        (&other_size, &one, &[0; 128], FaultKind::Key),
        (&good, none, &inputs, FaultKind::Key),
        (&good, &one, &inputs[1..], FaultKind::Length),
        (&good, &one, &[], FaultKind::Length),
        (&job(Op::Keygen), none, &[], FaultKind::Unsupported),
    ] {
        match worker.prepare(job, keys, inputs) {
            Err(SessionError::Fault(fault)) => assert_eq!(fault.kind, kind, "{fault}"),
            other => panic!("{kind:?}: {other:?}"),
        }
        // Nothing is prepared after a refusal.
        match worker.outputs() {
            Err(SessionError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::Sequence),
            other => panic!("{other:?}"),
        }
    }
    worker.prepare(&good, &one, &inputs).unwrap();
    assert_eq!(worker.outputs().unwrap().len(), inputs.len());
}

#[test]
fn a_line_that_is_no_request_is_not_repeated() {
    let key = serde_json::to_string(&key()).unwrap();
    // A key under an unknown name, a key of the wrong type, a key cut short.
    let requests = format!(
        "{{\"request\":\"prepare\",\"key\":{key}}}\n{{\"request\":\"prepare\",\"job\":{key}}}\n{}\n\n",
        &key[..500]
    );
    let mut answers = Vec::new();
    serve(&Textbook, &mut requests.as_bytes(), &mut answers).unwrap();
    let answers = String::from_utf8(answers).unwrap();
    assert_eq!(answers.lines().count(), 3);
    for line in answers.lines() {
        assert!(line.contains(r#""kind":"malformed""#), "{line}");
        for secret in ["fffffc2f", "ffffff43", "8e5871a7"] {
            assert!(!line.contains(secret), "{line}");
        }
    }
}

#[test]
fn one_thread_that_fails_fails_the_block_and_holds_up_nobody() {
    for manner in [Manner::Fails, Manner::Differs] {
        let spoilt = Arc::new(OneSpoilt {
            manner,
            taken: AtomicBool::new(false),
            armed: AtomicBool::new(false),
        });
        let mut worker = Worker::in_process(Arc::clone(&spoilt) as Arc<dyn Engine>, Limits::default()).unwrap();
        let job = Job {
            threads: 3,
            ..job(Op::Public)
        };
        worker.prepare(&job, slice::from_ref(&key()), &blocks(6)).unwrap();
        worker.outputs().unwrap();
        worker.block(&SHORT).unwrap();
        spoilt.armed.store(true, Ordering::SeqCst);
        match (manner, worker.block(&SHORT)) {
            (Manner::Fails, Err(SessionError::Fault(fault))) => {
                assert_eq!(fault.kind, FaultKind::InputOutOfRange);
            }
            (Manner::Differs, Err(SessionError::Fault(fault))) => {
                assert_eq!(fault.kind, FaultKind::Mismatch);
            }
            (_, other) => panic!("{other:?}"),
        }
        // The threads are still there, and do as they are told.
        spoilt.armed.store(false, Ordering::SeqCst);
        worker.block(&SHORT).unwrap();
    }
}

#[test]
fn a_runner_that_cannot_be_made_is_a_fault() {
    let mut worker = Worker::in_process(Arc::new(NoRunner), Limits::default()).unwrap();
    for op in [Op::Public, Op::TextEncrypt] {
        let job = Job {
            threads: 3,
            symbols: if op.is_text() { 100 } else { 0 },
            block_symbols: if op.is_text() { 10 } else { 0 },
            ..job(op)
        };
        let inputs = if op.is_text() { vec![1; 100] } else { blocks(3) };
        let failed = worker.prepare(&job, &[key()], &inputs).and_then(|_| worker.outputs());
        match failed {
            Err(SessionError::Fault(fault)) => {
                assert_eq!(fault.kind, FaultKind::Library, "{fault}");
                assert!(fault.message.contains("no context left"), "{fault}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[derive(Clone, Copy)]
enum Manner {
    Fails,
    Differs,
}

/// The textbook engine, of which one thread's runner does wrong once it is armed.
struct OneSpoilt {
    manner: Manner,
    taken: AtomicBool,
    armed: AtomicBool,
}

impl Engine for OneSpoilt {
    fn info(&self) -> EngineInfo {
        Textbook.info()
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        Textbook.supports(job)
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        Ok(Box::new(OneSpoiltPrepared {
            engine: self,
            prepared: Textbook.prepare(job, keys)?,
        }))
    }
}

struct OneSpoiltPrepared<'a> {
    engine: &'a OneSpoilt,
    prepared: Box<dyn Prepared + 'a>,
}

impl Prepared for OneSpoiltPrepared<'_> {
    fn kernel(&self) -> String {
        self.prepared.kernel()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let first = !self.engine.taken.swap(true, Ordering::SeqCst);
        Ok(Box::new(OneSpoiltRunner {
            engine: first.then_some(self.engine),
            runner: self.prepared.runner()?,
        }))
    }
}

struct OneSpoiltRunner<'a> {
    engine: Option<&'a OneSpoilt>,
    runner: Box<dyn Runner + 'a>,
}

impl Runner for OneSpoiltRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let stats = self.runner.run(inputs, outputs)?;
        if let Some(engine) = self.engine
            && engine.armed.load(Ordering::SeqCst)
        {
            match engine.manner {
                Manner::Fails => return Err(EngineError::InputOutOfRange { index: 0 }),
                Manner::Differs => outputs[0] ^= 1,
            }
        }
        Ok(stats)
    }
}

/// An engine that has no scratch to give.
struct NoRunner;

impl Engine for NoRunner {
    fn info(&self) -> EngineInfo {
        Textbook.info()
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        Textbook.supports(job)
    }

    fn prepare(&self, _: &Job, _: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        Ok(Box::new(NoRunner))
    }
}

impl Prepared for NoRunner {
    fn kernel(&self) -> String {
        "none".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Err(EngineError::Library {
            call: "BN_CTX_new",
            message: "no context left".to_owned(),
        })
    }
}

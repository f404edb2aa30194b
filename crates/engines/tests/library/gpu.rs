//! The engine `gpu` on whatever device there is, and on one that is lost. Without a device, each test says that it was
//! skipped.

use std::{slice, sync::Arc};

use rsalab_engines::{
    Engine, Exponent, Job, Limits, Mode, OnDevice, Op, Own, Session, StudyKey, Worker,
    conformance::{self, Case, Outcome, Scope},
    inputs,
    ledger::ThreadOwner,
    verify,
};
use rsalab_gpu::{Choice, Gpu, Launch, Survey, driver::faulty::Faults};
use rsalab_measure::BlockPlan;
use rsalab_rsa::random::InsecureStudySeed;

use crate::expected;

fn seed() -> InsecureStudySeed {
    InsecureStudySeed::new(*b"the seed of the conformance keys")
}

fn job(op: Op, variant: Option<&str>) -> Job {
    Job {
        op,
        bits: 512,
        threads: 1,
        batch: 8,
        mode: Mode::Throughput,
        variant: variant.map(str::to_owned),
        bare: false,
        exponent: Exponent::F4,
        primes: 2,
        keys: 1,
        message_bits: None,
        message_bytes: 0,
        symbols: 0,
        block_symbols: 0,
    }
}

/// A device that can be lost; none where there is no device.
fn faulty() -> Option<(Faults, Arc<dyn Gpu>)> {
    let faults = Faults::default();
    let opened = Survey::take().open_faulty(Choice::First, Launch::Tuned, &faults);
    match opened {
        Ok(device) => Some((faults, Arc::from(device))),
        Err(failure) => {
            assert!(!expected::cuda() && !expected::opencl(), "there is a device: {failure}");
            eprintln!("SKIPPED: {failure}");
            None
        }
    }
}

#[test]
fn every_form_conforms() {
    let engine = OnDevice::new();
    if let Err(reason) = engine.supports(&job(Op::Private, None)) {
        assert!(!expected::cuda() && !expected::opencl(), "there is a device: {reason}");
        eprintln!("SKIPPED: {reason}");
        return;
    }
    let is_full = Scope::is_full_asked_for();
    for form in engine.info().variants {
        let scope = Scope {
            threads: 1,
            variant: Some(form.clone()),
            ..if is_full { Scope::full() } else { Scope::quick() }
        };
        let scope = Scope {
            sizes: scope.sizes[..match (is_full, &*form) {
                (true, _) => scope.sizes.len(),
                (false, "tuned") => 2,
                (false, _) => 1,
            }]
                .to_vec(),
            keys: if form == "tuned" { scope.keys } else { Vec::new() },
            ..scope
        };
        let mut worker = Worker::in_process(Arc::new(OnDevice::new()), Limits::default()).unwrap();
        let mut tried = Vec::new();
        conformance::run(&mut worker, &scope, &seed(), &mut |case| {
            let Case { op, bits, name, .. } = case;
            match case.outcome {
                Outcome::Passed { .. } => tried.push(op),
                Outcome::Skipped { reason } => {
                    eprintln!("gpu:{form} {op} {bits}: skipped: {reason}")
                }
                Outcome::Failed { what } => {
                    panic!("gpu:{form}, {op} at {bits} bits, {name}: {what}")
                }
            }
        })
        .unwrap();
        assert!(tried.contains(&Op::Private), "{form}");
        assert_eq!(tried.contains(&Op::Public), form != "resident", "{form}");
        assert_eq!(tried.contains(&Op::Keygen), form == "tuned", "{form}");
    }
    let key = StudyKey::from_seed(&seed(), 768, Exponent::F4).unwrap();
    assert_eq!(conformance::check_lengths(&engine, &key), Ok(()));
    let ledger = engine.supports(&job(Op::Private, None)).unwrap();
    assert_eq!(ledger.threads, ThreadOwner::Engine);
    assert_eq!(
        (ledger.crt, ledger.blinding, ledger.result_check),
        (Some(true), Some(true), Some(true))
    );
}

/// Measures blocks of a job until it fails, or for so many rounds.
fn measure(engine: OnDevice, job: &Job, rounds: usize, before: impl Fn(usize)) -> Result<(), String> {
    let key = StudyKey::from_seed(&seed(), job.bits, Exponent::F4).unwrap();
    let given = inputs(job, &key, &seed(), 0, 24);
    let mut worker = Worker::in_process(Arc::new(engine), Limits::default()).unwrap();
    let failed = |error: rsalab_engines::SessionError| error.to_string();
    worker.prepare(job, slice::from_ref(&key), &given).map_err(failed)?;
    let outputs = worker.outputs().map_err(failed)?;
    assert_eq!(verify(job, &key, &given, &outputs), Ok(()));
    for round in 0..rounds {
        before(round);
        worker.block(&BlockPlan::SINGLE_CALL).map_err(failed)?;
    }
    Ok(())
}

#[test]
fn what_is_measured_with_and_without_copies_is_right() {
    for form in [None, Some("resident"), Some("article"), Some("plain"), Some("hybrid")] {
        let Some((_, device)) = faulty() else { return };
        let job = job(Op::Private, form);
        assert_eq!(measure(OnDevice::over(device), &job, 3, |_| ()), Ok(()), "{form:?}");
    }
}

#[test]
fn a_device_that_is_lost_in_the_middle_is_the_cells_reason() {
    for form in [None, Some("resident"), Some("hybrid")] {
        let Some((faults, device)) = faulty() else {
            return;
        };
        let lost = measure(OnDevice::over(device), &job(Op::Private, form), 20, |round| {
            if round == 2 {
                faults.lose_after(5);
            }
        });
        // Shared with a CPU that is faster than the device, nothing may have come to it to be lost.
        match (form, lost) {
            (Some("hybrid"), Ok(())) => {}
            (_, lost) => {
                let reason = lost.unwrap_err();
                assert!(reason.contains("the device is lost"), "{form:?}: {reason}");
            }
        }
    }
}

#[test]
fn an_engine_of_the_cpu_and_a_device_agree() {
    let Some((_, device)) = faulty() else { return };
    let gpu = OnDevice::over(device);
    let key = StudyKey::from_seed(&seed(), 1024, Exponent::F4).unwrap();
    for op in [Op::Private, Op::Public, Op::Sign] {
        let job = Job {
            bits: 1024,
            ..job(op, None)
        };
        let given = inputs(&job, &key, &seed(), 0, 9);
        let by = |engine: &dyn Engine| {
            let prepared = engine.prepare(&job, slice::from_ref(&key)).unwrap();
            let mut outputs = vec![0xA5; 9 * job.layout().output];
            prepared.runner().unwrap().run(&given, &mut outputs).unwrap();
            outputs
        };
        assert!(by(&gpu) == by(&Own::auto()), "{op}");
    }
}

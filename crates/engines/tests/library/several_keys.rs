//! Batches whose items are under several keys by turns: together where an engine can, else one by one.

use std::sync::Arc;

use rsalab_engines::{
    Engine, EngineError, Exponent, FaultKind, Job, Limits, Mode, Op, Own, Session, SessionError, StudyKey, Textbook,
    Worker, conformance, inputs_under, verify_under,
};

const KEYS: usize = 4;

fn keys() -> Vec<StudyKey> {
    let seed = conformance::test_seed();
    let key = |number| StudyKey::numbered(&seed, 1024, Exponent::F4, 2, number).unwrap();
    (0..KEYS as u64).map(key).collect()
}

fn job(op: Op) -> Job {
    Job {
        batch: 8,
        keys: KEYS,
        mode: Mode::Throughput,
        ..Job::new(op, 1024)
    }
}

fn worker(engine: impl Engine + 'static) -> Worker {
    Worker::in_process(Arc::new(engine), Limits::default()).unwrap()
}

#[test]
fn each_item_is_done_under_its_own_key() {
    let keys = keys();
    for (mut worker, variant, op, is_together) in [
        (worker(Own::auto()), None, Op::Private, true),
        (worker(Own::auto()), None, Op::Sign, true),
        (worker(Own::auto()), Some("plain"), Op::Private, false),
        (worker(Textbook), None, Op::Private, false),
    ] {
        let job = Job {
            variant: variant.map(str::to_owned),
            ..job(op)
        };
        let ledger = worker.supports(&job).unwrap().unwrap();
        assert_eq!(ledger.keys, Some(KEYS));
        assert_eq!(!ledger.setup.contains("one by one"), is_together, "{}", ledger.setup);
        let inputs = inputs_under(&job, &keys, &conformance::test_seed(), 7, 20);
        worker.prepare(&job, &keys, &inputs).unwrap();
        let outputs = worker.outputs().unwrap();
        assert_eq!(verify_under(&job, &keys, &inputs, &outputs), Ok(()));
        // In another order they are wrong, and the item is named.
        let mut turned = keys.clone();
        turned.swap(1, 2);
        let wrong = verify_under(&job, &turned, &inputs, &outputs).unwrap_err();
        assert_eq!(wrong.item, 1);
        let mut spoilt = outputs.clone();
        spoilt[18 * 128 + 5] ^= 1;
        assert_eq!(verify_under(&job, &keys, &inputs, &spoilt).unwrap_err().item, 18);
        assert!(verify_under(&job, &keys, &inputs, &outputs[..19 * 128]).is_err());
    }
}

#[test]
fn a_block_that_is_too_large_is_named_by_its_place_in_the_batch() {
    let keys = keys();
    for variant in [None, Some("plain")] {
        let job = Job {
            variant: variant.map(str::to_owned),
            ..job(Op::Private)
        };
        let mut inputs = inputs_under(&job, &keys, &conformance::test_seed(), 7, 8);
        inputs[6 * 128..][..128].copy_from_slice(&keys[2].n);
        let mut worker = worker(Own::auto());
        worker.prepare(&job, &keys, &inputs).unwrap();
        let Err(SessionError::Fault(fault)) = worker.outputs() else {
            panic!("a block that is the modulus itself was taken");
        };
        assert_eq!((fault.kind, fault.item), (FaultKind::InputOutOfRange, Some(6)));
    }
}

#[test]
fn a_job_of_more_keys_than_came_is_refused() {
    let keys = keys();
    let inputs = inputs_under(&job(Op::Sign), &keys, &conformance::test_seed(), 7, 8);
    let refused = worker(Own::auto()).prepare(&job(Op::Sign), &keys[..3], &inputs);
    let Err(SessionError::Fault(fault)) = refused else {
        panic!("a key was missing");
    };
    assert_eq!(fault.kind, FaultKind::Key);
    assert!(fault.message.contains("3 keys came with a job of 4"), "{fault}");
}

#[test]
fn a_message_is_hashed_and_signed() {
    let keys = keys();
    for message_bytes in [1, 32, 100_000] {
        let job = Job {
            message_bytes,
            ..Job::new(Op::SignMessage, 1024)
        };
        let inputs = rsalab_engines::inputs(&job, &keys[0], &conformance::test_seed(), 1, 3);
        assert_eq!(inputs.len(), 3 * message_bytes);
        let prepared = Own::auto();
        let prepared = prepared.prepare(&job, &keys[..1]).unwrap();
        let mut outputs = vec![0; 3 * 128];
        prepared.runner().unwrap().run(&inputs, &mut outputs).unwrap();
        assert_eq!(verify_under(&job, &keys[..1], &inputs, &outputs), Ok(()));
        let mut other = inputs.clone();
        other[2 * message_bytes] ^= 1;
        assert_eq!(verify_under(&job, &keys[..1], &other, &outputs).unwrap_err().item, 2);
        let short = prepared.runner().unwrap().run(&inputs[1..], &mut outputs);
        assert!(matches!(short, Err(EngineError::Length { .. })), "{short:?}");
    }
}

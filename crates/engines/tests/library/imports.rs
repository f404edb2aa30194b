//! Keys imported by our own engine: right ones, and wrong ones.

use std::{slice, sync::Arc};

use num_bigint::BigUint;
use rsalab_engines::{
    FaultKind, Job, Limits, Op, Own, Session, SessionError, StudyKey, Worker, inputs, op::private_key_bytes, verify,
};
use rsalab_rsa::random::InsecureStudySeed;

use crate::support::{job, key};

/// The outputs of an import, on three items at a time.
fn imported(variant: Option<&str>, key: &StudyKey, items: &[u8]) -> Result<Vec<u8>, SessionError> {
    let mut worker = Worker::in_process(Arc::new(Own::auto()), Limits::default()).unwrap();
    let job = Job {
        batch: 3,
        variant: variant.map(str::to_owned),
        ..job(Op::ImportPrivate)
    };
    worker.prepare(&job, slice::from_ref(key), items)?;
    worker.outputs()
}

fn items(key: &StudyKey) -> Vec<u8> {
    let seed = InsecureStudySeed::new([5; 32]);
    inputs(&job(Op::ImportPrivate), key, &seed, 1, 4)
}

#[test]
fn keys_are_read_and_show_their_moduli() {
    let key = key();
    let items = items(&key);
    assert_eq!(items.len(), 4 * private_key_bytes(512));
    for variant in [None, Some(Own::TESTED)] {
        let outputs = imported(variant, &key, &items).unwrap();
        assert_eq!(outputs, key.n.repeat(4), "{variant:?}");
        assert_eq!(verify(&job(Op::ImportPrivate), &key, &items, &outputs), Ok(()));
    }
}

#[test]
fn what_is_no_key_is_refused_and_not_repeated() {
    let key = key();
    let right = items(&key);
    // The last byte of the last number, the coefficient.
    let end = 4 + u32::from_be_bytes(right[..4].try_into().unwrap()) as usize;
    for (position, change) in [(end - 1, 2), (40, 1), (0, 0xFF)] {
        let mut wrong = right.clone();
        wrong[position] ^= change;
        match imported(None, &key, &wrong) {
            Err(SessionError::Fault(fault)) => {
                assert!(matches!(fault.kind, FaultKind::Key | FaultKind::Length), "{fault}");
                let d = hex::encode(&key.d);
                assert!(!fault.message.contains(&d[..16]), "{fault}");
            }
            other => panic!("{position}: {other:?}"),
        }
    }
}

/// Every relation holds for a number that is no prime if the exponents fit: only a test of primes finds it.
#[test]
fn composite_primes_are_found_where_they_are_tested() {
    let base = key();
    let one = BigUint::from(1u32);
    let e = BigUint::from(65537u32);
    let q = BigUint::from_bytes_be(&base.q);
    // A product of two primes of 128 bits, 2^128 - 159 and 2^128 - 173, in the place of the larger prime.
    let power = &one << 128u32;
    let (r, s) = (&power - 159u32, &power - 173u32);
    let p = &r * &s;
    let d = e.modinv(&((&p - 1u32) * (&q - 1u32))).expect("e is prime to both");
    let fixed = |value: BigUint, length: usize| {
        let bytes = value.to_bytes_be();
        [vec![0; length - bytes.len()], bytes].concat()
    };
    let (p, q) = if p > q { (p, q) } else { (q, p) };
    let mut composite = base;
    composite.n = fixed(&p * &q, 64);
    composite.dp = fixed(&d % (&p - 1u32), 32);
    composite.dq = fixed(&d % (&q - 1u32), 32);
    composite.qinv = fixed(q.modinv(&p).expect("they share no factor"), 32);
    composite.d = fixed(d, 64);
    composite.p = fixed(p, 32);
    composite.q = fixed(q, 32);
    let items = items(&composite);
    assert_eq!(imported(None, &composite, &items).unwrap(), composite.n.repeat(4));
    match imported(Some(Own::TESTED), &composite, &items) {
        Err(SessionError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::Key, "{fault}"),
        other => panic!("{other:?}"),
    }
}

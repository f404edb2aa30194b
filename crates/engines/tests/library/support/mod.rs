//! Shared by the tests of this crate: a key, a job, and an engine that misbehaves as told.

use num_bigint::BigUint;
use rsalab_engines::{Exponent, Job, Mode, Op, StudyKey};

/// A key of 512 bits. Its primes are that of the curve secp256k1 and the largest below 2^256.
pub(crate) fn key() -> StudyKey {
    let one = BigUint::from(1u32);
    let power = |bits: u32| &one << bits;
    let p = power(256) - power(32) - 977u32;
    let q = power(256) - 189u32;
    let e = BigUint::from(65537u32);
    let (p1, q1) = (&p - 1u32, &q - 1u32);
    let d = e.modinv(&(&p1 * &q1)).expect("e is prime to both");
    let fixed = |value: &BigUint, length: usize| {
        let bytes = value.to_bytes_be();
        let mut fixed = vec![0; length - bytes.len()];
        fixed.extend(bytes);
        fixed
    };
    StudyKey {
        bits: 512,
        others: Vec::new(),
        n: fixed(&(&p * &q), 64),
        e: e.to_bytes_be(),
        dp: fixed(&(&d % &p1), 32),
        dq: fixed(&(&d % &q1), 32),
        qinv: fixed(&q.modinv(&p).expect("different primes"), 32),
        d: fixed(&d, 64),
        p: fixed(&p, 32),
        q: fixed(&q, 32),
    }
}

/// A job for that key on one thread.
pub(crate) fn job(op: Op) -> Job {
    Job {
        op,
        bits: 512,
        threads: 1,
        batch: 1,
        mode: Mode::Throughput,
        variant: None,
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

//! All tests in one program: linking each takes longer than running it.

use rsalab_arith::integer;
use rsalab_engines::{Engine, Job, Op, StudyKey};
use rsalab_peer_gmp::GmpEngine;

mod engine;
mod own;

rsalab_engines::conformance_tests! {
    name: "gmp",
    engine: Ok::<_, String>(GmpEngine),
    program: env!("CARGO_BIN_EXE_rsalab-peer-gmp"),
    not_offered: [Op::Sign, Op::Verify],
    also_offered: [],
}

fn job(op: Op, bits: usize, variant: Option<&str>) -> Job {
    Job {
        variant: variant.map(str::to_owned),
        ..Job::new(op, bits)
    }
}

/// The key of two primes, for e = 65537. None if that divides p - 1 or q - 1, once in thirty thousand.
fn key_of(bits: usize, p: &[u8], q: &[u8]) -> Option<StudyKey> {
    let e = [1, 0, 1];
    let parts = integer::derive(&[p, q], &e).ok()?;
    Some(StudyKey {
        others: Vec::new(),
        bits,
        n: parts.n.to_vec(),
        e: e.to_vec(),
        d: parts.d.to_vec(),
        p: p.to_vec(),
        q: q.to_vec(),
        dp: parts.dp.to_vec(),
        dq: parts.dq.to_vec(),
        qinv: parts.qinv.to_vec(),
    })
}

/// A key of primes that GMP found.
fn found_key(bits: usize) -> StudyKey {
    let job = job(Op::PrimePair, bits, None);
    let prepared = GmpEngine.prepare(&job, &[]).unwrap();
    let mut pair = vec![0; job.layout().output];
    prepared.runner().unwrap().run(&[], &mut pair).unwrap();
    let (p, q) = pair.split_at(pair.len() / 2);
    key_of(bits, p, q).unwrap_or_else(|| found_key(bits))
}

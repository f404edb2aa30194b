//! Private operations of `own` on every kernel, taken back by OpenSSL's public operation: each must give its input.
//!
//! That suffices: an exponentiation by `e` is one-to-one below the modulus, so only the right result comes back.

use std::{
    env,
    num::NonZero,
    slice,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use rsalab_engines::{Engine, EngineError, Exponent, Job, Op, Own, StudyKey, conformance::test_seed, inputs};
use rsalab_peer_libcrypto::LibcryptoEngine;
use rsalab_rsa::{KernelInfo, kernels};

/// Sizes of batches, by turns: some leave lanes of every kernel empty.
const BATCHES: [usize; 4] = [16, 1, 13, 64];

/// Operations at once, with one key.
const CHUNK: usize = 10_000;

fn library() -> Option<LibcryptoEngine> {
    LibcryptoEngine::new(None)
        .inspect_err(|absent| eprintln!("SKIPPED: {absent}"))
        .ok()
}

fn operate(engine: &dyn Engine, job: &Job, key: &StudyKey, inputs: &[u8]) -> Result<Vec<u8>, EngineError> {
    let mut outputs = vec![0xa5; inputs.len()];
    let prepared = engine.prepare(job, slice::from_ref(key))?;
    let mut runner = prepared.runner()?;
    let (mut rest, mut free) = (inputs, &mut outputs[..]);
    for batch in BATCHES.into_iter().cycle() {
        let bytes = rest.len().min(batch * key.n.len());
        if bytes == 0 {
            break;
        }
        let (batch, others) = rest.split_at(bytes);
        let (results, places) = free.split_at_mut(bytes);
        runner.run(batch, results)?;
        (rest, free) = (others, places);
    }
    Ok(outputs)
}

/// Blocks that did not come back, of `count` with the key of this number, from the input `first` on.
fn differences_of_key(
    own: &Own,
    library: &dyn Engine,
    bits: usize,
    number: usize,
    first: usize,
    count: usize,
) -> usize {
    let job = |op| Job {
        batch: BATCHES[3],
        ..Job::new(op, bits)
    };
    let key = StudyKey::numbered(&test_seed(), bits, Exponent::F4, 2, number as u64).unwrap();
    let given = inputs(&job(Op::Private), &key, &test_seed(), first as u64, count);
    let results = operate(own, &job(Op::Private), &key, &given).unwrap();
    let back = operate(library, &job(Op::Public), &key, &results).unwrap();
    let pairs = given.chunks(key.n.len()).zip(back.chunks(key.n.len()));
    pairs.filter(|(given, back)| given != back).count()
}

/// Blocks that did not come back, of `operations` with as many keys as that needs, on all CPUs.
fn differences(kernel: &KernelInfo, library: &dyn Engine, bits: usize, operations: usize) -> usize {
    let own = Own::with_kernel(kernel.name).unwrap();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next_key = AtomicUsize::new(0);
    let take_keys = || {
        let mut wrong = 0;
        loop {
            let number = next_key.fetch_add(1, Ordering::Relaxed);
            let first = number * CHUNK;
            if first >= operations {
                return wrong;
            }
            wrong += differences_of_key(&own, library, bits, number, first, CHUNK.min(operations - first));
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(take_keys)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    })
}

fn every_kernel(sizes: &[(usize, usize)]) {
    let Some(library) = library() else { return };
    // Forms on arrays wait for the long tests where their kernels run.
    let all = env::var_os("RSALAB_ALL_KERNELS").is_some();
    let named = env::var("RSALAB_KERNELS").ok();
    let named: Option<Vec<&str>> = named.as_deref().map(|named| named.split(',').collect());
    for name in named.iter().flatten() {
        assert!(
            kernels().iter().any(|kernel| kernel.name == *name),
            "no kernel is named {name}"
        );
    }
    for kernel in kernels() {
        if named.as_ref().is_some_and(|named| !named.contains(&kernel.name)) {
            continue;
        }
        if !all && kernel.runs_in_vectors_too() {
            eprintln!(
                "SKIPPED: {} above the kernels, since its kernel runs here: RSALAB_ALL_KERNELS",
                kernel.name
            );
            continue;
        }
        if let Err(reason) = &kernel.available {
            eprintln!("SKIPPED: the kernel {}: {reason}", kernel.name);
            continue;
        }
        for &(bits, operations) in sizes {
            // Vectors on arrays take a hundred times as long.
            let operations = operations.div_ceil(if kernel.is_for_tests() { 100 } else { 1 });
            let wrong = differences(&kernel, &library, bits, operations);
            println!("{} {bits} bits: {operations} operations, {wrong} wrong", kernel.name);
            assert_eq!(wrong, 0, "{} at {bits} bits", kernel.name);
        }
    }
}

#[test]
fn what_own_signs_comes_back_on_every_kernel() {
    every_kernel(&[(1024, 50), (2048, 14)]);
}

/// `RSALAB_OPERATIONS=1024:10000000,2048:1000000,4096:100000` takes hours; `RSALAB_KERNELS=NAME,NAME` names the
/// kernels.
#[test]
#[ignore = "long: thousands of operations on every kernel"]
fn thousands_come_back_on_every_kernel() {
    let wish = env::var("RSALAB_OPERATIONS");
    let wish = wish.as_deref().unwrap_or("1024:20000,2048:5000,3072:1000,4096:1000");
    let sizes: Vec<(usize, usize)> = wish
        .split(',')
        .map(|each| {
            let (bits, operations) = each.split_once(':').expect("BITS:OPERATIONS, with commas between");
            (bits.parse().unwrap(), operations.parse().unwrap())
        })
        .collect();
    every_kernel(&sizes);
}

/// A result in which one bit is wrong does not come back.
#[test]
fn a_wrong_bit_is_found() {
    let Some(library) = library() else { return };
    let job = |op| Job::new(op, 1024);
    let key = StudyKey::from_seed(&test_seed(), 1024, Exponent::F4).unwrap();
    let given = inputs(&job(Op::Private), &key, &test_seed(), 0, 1);
    let mut result = operate(&Own::auto(), &job(Op::Private), &key, &given).unwrap();
    assert_eq!(operate(&library, &job(Op::Public), &key, &result).unwrap(), given);
    *result.last_mut().unwrap() ^= 1;
    assert_ne!(operate(&library, &job(Op::Public), &key, &result).unwrap(), given);
}

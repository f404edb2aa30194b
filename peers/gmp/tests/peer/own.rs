//! Our own engine's private operations on random inputs under random keys, each taken back by GMP's public operation,
//! and many of them compared with GMP's private one.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use rsalab_engines::{Engine, Job, Op, Own, StudyKey};
use rsalab_peer_gmp::GmpEngine;

use crate::{found_key, job};

const THREADS: u64 = 2;
/// Keys of each size and thread.
const KEYS: usize = 8;
/// Operations of each size; of them, those that GMP does too.
const ALL: [(usize, usize, usize); 4] = [
    (1024, 8_000_000, 20_000),
    (2048, 1_500_000, 20_000),
    (3072, 400_000, 20_000),
    (4096, 90_000, 20_000),
];

/// Returns the outputs of an engine for inputs under a key.
fn run(engine: &dyn Engine, job: &Job, key: &StudyKey, inputs: &[u8]) -> Vec<u8> {
    let keys = std::slice::from_ref(key);
    let prepared = engine.prepare(job, keys).unwrap();
    let mut outputs = vec![0; inputs.len()];
    prepared.runner().unwrap().run(inputs, &mut outputs).unwrap();
    outputs
}

/// Does `count` operations, the first `both` of them by GMP too.
fn operations(bits: usize, count: usize, both: usize, thread: u64) {
    let mut rng = ChaCha20Rng::seed_from_u64(bits as u64 + thread);
    let own = Own::auto();
    let len = bits / 8;
    let (mut done, mut done_by_both) = (0, 0);
    for which in 1..=KEYS {
        let key = found_key(bits);
        while done < count * which / KEYS {
            // Whole lanes and parts of them.
            let items = (1 + rng.next_u32() as usize % 2_000).min(count - done);
            let mut inputs = vec![0; items * len];
            rng.fill_bytes(&mut inputs);
            // Every n of an even length has its highest bit set.
            inputs.iter_mut().step_by(len).for_each(|byte| *byte &= 0x7f);
            let outputs = run(&own, &job(Op::Private, bits, None), &key, &inputs);
            let back = run(&GmpEngine, &job(Op::Public, bits, None), &key, &outputs);
            assert!(back == inputs, "{bits} bits, {done} operations before these");
            if done_by_both < both {
                let part = items.min(both - done_by_both) * len;
                let job = job(Op::Private, bits, Some("powm"));
                let theirs = run(&GmpEngine, &job, &key, &inputs[..part]);
                assert!(theirs == outputs[..part], "{bits} bits compared with GMP's");
                done_by_both += part / len;
            }
            done += items;
        }
    }
    assert_eq!((done, done_by_both), (count, both));
}

fn all(divisor: usize) {
    for (bits, count, both) in ALL {
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let parts = THREADS as usize * divisor;
                scope.spawn(move || operations(bits, count / parts, both / parts, thread));
            }
        });
        println!(
            "{bits} bits: {} operations, {} of them by GMP too: no difference",
            count / divisor,
            both / divisor
        );
    }
}

#[test]
fn thousands_of_operations() {
    all(500);
}

#[test]
#[ignore = "takes minutes: cargo test --release --package rsalab-peer-gmp --test peer -- --ignored --nocapture"]
fn millions_of_operations() {
    all(1);
}

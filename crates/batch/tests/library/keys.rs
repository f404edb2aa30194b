//! Keys that are added and removed while requests run: nobody is disturbed, and a key that is gone is wiped.

use std::{slice, sync::OnceLock, thread};

use futures::executor::block_on;
use rsalab_batch::{Batcher, Error};
use rsalab_rsa::{
    Backend, CpuBackend, PrivateKey, Status,
    hash::Hash,
    scheme::SignatureScheme,
    signing::{SigningKey, VerifyingKey},
};

#[allow(dead_code, reason = "other tests use the rest")]
use crate::support::{Gate, ITEMS, until, wait_for_requests};

/// Four of 1024 bits, one of 1536.
fn keys() -> &'static [PrivateKey] {
    static KEYS: OnceLock<Vec<PrivateKey>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let bits = [1024, 1024, 1024, 1024, 1536];
        let generate = |bits| PrivateKey::generate(bits).expect("there is randomness");
        bits.map(generate).to_vec()
    })
}

fn block(key: &PrivateKey, number: u8) -> Vec<u8> {
    let mut block = vec![number; key.modulus_len()];
    block[0] = 0;
    block
}

/// `true` if a result to the public exponent is the block.
fn is_valid(key: &PrivateKey, block: &[u8], result: &[u8]) -> bool {
    let prepared = CpuBackend::auto().prepare_public(key.public()).unwrap();
    let (mut power, mut status) = (vec![0; block.len()], [Status::Fault]);
    let mut runner = prepared.runner().unwrap();
    runner.run(result, &mut power, &mut status).unwrap();
    status == [Status::Done] && power == block
}

fn is_unknown<T>(result: Result<T, Error>, number: usize) -> bool {
    matches!(result, Err(Error::UnknownKey { key, .. }) if key == number)
}

#[test]
fn numbers_are_given_once() {
    let batcher = Batcher::builder().build().unwrap();
    assert!(is_unknown(batcher.private(0, &[]), 0));
    assert_eq!(batcher.add(keys()).unwrap(), [0, 1, 2, 3, 4]);
    batcher.remove(&[1, 4]).unwrap();
    assert!(is_unknown(batcher.remove(&[0, 1]), 1));
    assert!(is_unknown(batcher.remove(&[9]), 9));
    assert_eq!(batcher.add(slice::from_ref(&keys()[4])).unwrap(), [5]);
    assert_eq!(batcher.add(&[]).unwrap(), [0; 0]);
    for (number, key) in [(0, 0), (2, 2), (3, 3), (5, 4)] {
        let key = &keys()[key];
        let result = batcher.private(number, &block(key, 7)).unwrap();
        assert!(is_valid(key, &block(key, 7), &result), "{number}");
    }
    for gone in [1, 4, 6] {
        assert!(is_unknown(batcher.private(gone, &[]), gone));
        assert!(is_unknown(batcher.private_async(gone, &[]).map(drop), gone));
    }
}

/// Whoever looked a key up is answered though it is removed before he asks.
#[test]
fn a_key_that_was_looked_up_goes_on() {
    let key = &keys()[0];
    let batcher = Batcher::builder().key(key).build().unwrap();
    let found = batcher.key(0).unwrap();
    batcher.remove(&[0]).unwrap();
    assert!(is_unknown(batcher.key(0), 0));
    let result = batcher.private_with(&found, &block(key, 5)).unwrap();
    assert!(is_valid(key, &block(key, 5), &result));
}

/// Requests of a removed key that run, or wait, are answered; it is wiped with the last of them, and before that one's
/// answer is given out.
#[test]
fn a_removed_key_is_wiped_with_its_last_request() {
    let [kept, removed] = [&keys()[0], &keys()[1]];
    let gate = Gate::closed();
    let builder = Batcher::builder().key(kept).key(removed).passes(1);
    let batcher = builder.backend(gate.clone()).build().unwrap();
    // Alone, and in mixed passes.
    assert_eq!((gate.alive(kept), gate.alive(removed)), (2, 2));
    thread::scope(|scope| {
        let ask = |number, key: &'static PrivateKey| {
            let batcher = &batcher;
            scope.spawn(move || {
                let answer = batcher.private(number, &block(key, 3)).unwrap();
                assert_eq!(*answer, block(key, 3));
            })
        };
        let running = ask(1, removed);
        gate.wait_for_passes(1);
        let waiting: Vec<_> = (0..ITEMS - 1).map(|i| ask(i % 2, [kept, removed][i % 2])).collect();
        wait_for_requests(&batcher, ITEMS - 1);
        batcher.remove(&[1]).unwrap();
        assert!(is_unknown(batcher.private(1, &block(removed, 3)), 1));
        assert!(batcher.prepare_private(removed).is_err());
        assert_eq!((gate.alive(kept), gate.alive(removed)), (1, 1));
        gate.let_through(1);
        running.join().unwrap();
        assert_eq!(gate.alive(removed), 1);
        gate.let_through(ITEMS);
        waiting.into_iter().for_each(|asked| asked.join().unwrap());
    });
    assert_eq!((gate.alive(kept), gate.alive(removed)), (1, 0));
    gate.let_through(1);
    assert_eq!(*batcher.private(0, &block(kept, 5)).unwrap(), block(kept, 5));
    drop(batcher);
    assert_eq!(gate.alive(kept), 0);
}

/// A mixed pass keeps scratch memory with a copy of its keys: a removal while it runs is noticed when it ends, one
/// afterwards at once.
#[test]
fn scratch_memory_of_mixed_passes_goes_with_the_keys() {
    for is_running in [true, false] {
        let gate = Gate::closed();
        let builder = Batcher::builder().key(&keys()[0]).key(&keys()[1]).key(&keys()[2]);
        let batcher = builder.passes(1).backend(gate.clone()).build().unwrap();
        thread::scope(|scope| {
            let ask = |number: usize| {
                let batcher = &batcher;
                let key = &keys()[number];
                scope.spawn(move || batcher.private(number, &block(key, 3)).unwrap())
            };
            let first = ask(0);
            gate.wait_for_passes(1);
            let waiting: Vec<_> = (1..ITEMS).map(|i| ask(i % 2)).collect();
            wait_for_requests(&batcher, ITEMS - 1);
            gate.let_through(1);
            first.join().unwrap();
            gate.wait_for_passes(2);
            assert_eq!(gate.mixed(), 1);
            if is_running {
                batcher.remove(&[1]).unwrap();
                assert!(gate.alive(&keys()[1]) > 0);
            }
            gate.let_through(1);
            waiting.into_iter().for_each(|asked| drop(asked.join().unwrap()));
        });
        if !is_running {
            batcher.remove(&[1]).unwrap();
        }
        assert_eq!(gate.alive(&keys()[1]), 0, "{is_running}");
        assert_eq!(gate.alive(&keys()[0]), 2, "{is_running}");
    }
}

/// A task that gives up, or an operation that nobody polled, holds its key no longer.
#[test]
fn operations_hold_their_keys_until_they_are_dropped() {
    let gate = Gate::open();
    let batcher = Batcher::builder().backend(gate.clone()).build().unwrap();
    batcher.add(&keys()[..1]).unwrap();
    let operation = batcher.private_async(0, &block(&keys()[0], 1)).unwrap();
    let another = batcher.private_async(0, &block(&keys()[0], 2)).unwrap();
    batcher.remove(&[0]).unwrap();
    assert_eq!(*block_on(operation).unwrap(), block(&keys()[0], 1));
    assert_eq!(gate.alive(&keys()[0]), 1);
    drop(another);
    assert_eq!(gate.alive(&keys()[0]), 0);
}

/// As a server does that reloads a certificate: also of the same key.
#[test]
fn a_signing_key_goes_on_after_the_removal() {
    let gate = Gate::open();
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let batcher = Batcher::builder().build().unwrap();
    for reloaded in [&keys()[0], &keys()[0], &keys()[4]] {
        let before = batcher.add(slice::from_ref(&keys()[0])).unwrap();
        let old = SigningKey::with_backend(&keys()[0], scheme, &batcher).unwrap();
        let after = batcher.add(slice::from_ref(reloaded)).unwrap();
        let new = SigningKey::with_backend(reloaded, scheme, &batcher).unwrap();
        batcher.remove(&before).unwrap();
        for (key, signing) in [(&keys()[0], &old), (reloaded, &new)] {
            let signature = signing.sign(b"message").unwrap();
            let verifying = VerifyingKey::new(key.public(), scheme).unwrap();
            assert!(verifying.verify(b"message", signature.as_bytes()));
        }
        drop(old);
        assert!(SigningKey::with_backend(reloaded, scheme, &batcher).is_ok());
        batcher.remove(&after).unwrap();
        assert!(SigningKey::with_backend(reloaded, scheme, &batcher).is_err());
    }
    // It is wiped with the signing key.
    let batcher = Batcher::builder().backend(gate.clone()).build().unwrap();
    batcher.add(&keys()[..1]).unwrap();
    let prepared = batcher.prepare_private(&keys()[0]).unwrap();
    batcher.remove(&[0]).unwrap();
    assert_eq!(gate.alive(&keys()[0]), 1);
    drop(prepared);
    assert_eq!(gate.alive(&keys()[0]), 0);
}

/// Keys come and go while threads and tasks ask on this CPU; what is right is checked for every answer.
#[test]
fn answers_are_right_while_keys_change() {
    let batcher = Batcher::builder().passes(2).build().unwrap();
    let fixed = batcher.add(&keys()[..2]).unwrap();
    thread::scope(|scope| {
        let askers: Vec<_> = (0..6u8)
            .map(|thread| {
                let (batcher, fixed) = (&batcher, &fixed);
                scope.spawn(move || {
                    for i in 0..60u8 {
                        let place = usize::from(i ^ thread) % 2;
                        let (key, number) = (&keys()[place], fixed[place]);
                        let block = block(key, i);
                        let result = match thread % 3 {
                            0 => block_on(batcher.private_async(number, &block).unwrap()),
                            _ => batcher.private(number, &block),
                        };
                        assert!(is_valid(key, &block, &result.unwrap()));
                    }
                })
            })
            .collect();
        let mut turns = 0u32;
        while turns < 20 || askers.iter().any(|asker| !asker.is_finished()) {
            let numbers = batcher.add(&keys()[2..]).unwrap();
            for (number, key) in numbers.iter().zip(&keys()[2..]) {
                let block = block(key, turns.to_le_bytes()[0]);
                let result = batcher.private(*number, &block).unwrap();
                assert!(is_valid(key, &block, &result));
            }
            batcher.remove(&numbers).unwrap();
            turns += 1;
        }
    });
    until(|| batcher.waiting() == 0);
}

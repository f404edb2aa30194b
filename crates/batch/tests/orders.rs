//! `cargo test -p rsalab-batch --features shuttle --test orders`: threads and tasks in many orders, chosen at random by
//! a scheduler that knows when all of them are stuck.

use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Waker},
};

use futures::FutureExt;
use rsalab_batch::{Batcher, Error, JobQueue, Key, Keys};
use rsalab_rsa::PrivateKey;
use shuttle::{future::block_on, thread};

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "library/support/mod.rs"]
mod support;
use support::{FAILS, Gate};

const ORDERS: usize = 5_000;

fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| PrivateKey::generate(1024).expect("there is randomness"))
}

fn block(number: u8) -> Vec<u8> {
    let mut block = vec![number; key().modulus_len()];
    block[0] = 0;
    block
}

/// Everybody who asks gets an answer, the own one, in every order; and all threads end.
fn in_many_orders(passes: usize, waiting: usize, ask: &'static (dyn Fn(&Batcher, u8) + Sync), threads: u8) {
    key();
    let run = move || {
        let builder = Batcher::builder().key(key()).backend(Gate::open());
        let batcher = builder.passes(passes).waiting(waiting).build().unwrap();
        let threads: Vec<_> = (0..threads)
            .map(|number| {
                let batcher = batcher.clone();
                thread::spawn(move || ask(&batcher, number))
            })
            .collect();
        drop(batcher);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    shuttle::check_random(run, ORDERS);
    shuttle::check_pct(run, ORDERS, 3);
}

/// The own answer, or the failure of one that it shared a pass with.
fn is_answer(number: u8, answer: Result<impl AsRef<[u8]>, Error>) {
    match answer {
        Ok(answer) => assert_eq!(answer.as_ref(), block(number)),
        Err(error) => assert!(matches!(error, Error::Failed { .. }), "{error}"),
    }
}

fn as_a_thread(batcher: &Batcher, number: u8) {
    is_answer(number, batcher.private(0, &block(number)).map(|answer| answer.to_vec()));
}

fn as_a_task(batcher: &Batcher, number: u8) {
    let operation = batcher.private_async(0, &block(number)).unwrap();
    is_answer(number, block_on(operation).map(|answer| answer.to_vec()));
}

fn giving_up(batcher: &Batcher, number: u8) {
    let mut operation = batcher.private_async(0, &block(number)).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let _ = Pin::new(&mut operation).poll_unpin(&mut context);
    thread::yield_now();
}

fn one_of_each(batcher: &Batcher, number: u8) {
    match number % 4 {
        0 => as_a_thread(batcher, number),
        1 => as_a_task(batcher, number),
        2 => giving_up(batcher, number),
        _ => {
            let mut block = block(number);
            block[0] = FAILS;
            assert!(matches!(batcher.private(0, &block), Err(Error::Failed { .. })));
        }
    }
}

/// Each thread brings a key and removes it while its requests wait; who has the answers of them all knows that all its
/// keys are wiped.
#[test]
fn keys_that_come_and_go() {
    for passes in [1, 2] {
        key();
        let run = move || {
            let gate = Gate::open();
            let builder = Batcher::builder().key(key()).backend(gate.clone());
            let batcher = builder.passes(passes).waiting(2).build().unwrap();
            let threads: Vec<_> = (0..4u8)
                .map(|number| {
                    let batcher = batcher.clone();
                    thread::spawn(move || match number {
                        0 => as_a_thread(&batcher, number),
                        1 => giving_up(&batcher, number),
                        _ => bring_and_remove(&batcher, number),
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            // The pass of a request that was given up may still run. Then the fixed key is left, alone.
            while gate.alive(key()) > 1 {
                thread::yield_now();
            }
            drop(batcher);
        };
        shuttle::check_random(run, ORDERS);
        shuttle::check_pct(run, ORDERS, 3);
    }
}

fn bring_and_remove(batcher: &Batcher, number: u8) {
    let own = batcher.add(std::slice::from_ref(key())).unwrap();
    let operation = batcher.private_async(own[0], &block(number)).unwrap();
    let again = batcher.clone();
    let asked = own[0];
    let asker = thread::spawn(move || match again.private(asked, &block(number)) {
        Err(Error::UnknownKey { .. }) => {}
        answer => is_answer(number, answer.map(|answer| answer.to_vec())),
    });
    batcher.remove(&own).unwrap();
    is_answer(number, block_on(operation).map(|answer| answer.to_vec()));
    asker.join().unwrap();
    assert!(matches!(
        batcher.private(own[0], &block(number)),
        Err(Error::UnknownKey { .. })
    ));
}

#[test]
fn threads() {
    in_many_orders(
        1,
        100,
        &|batcher, number| (0..2).for_each(|_| as_a_thread(batcher, number)),
        4,
    );
    in_many_orders(2, 1, &as_a_thread, 5);
    // Enough of them for full passes beside those that run.
    in_many_orders(1, 100, &as_a_thread, 9);
}

#[test]
fn tasks() {
    in_many_orders(1, 1, &as_a_task, 4);
    in_many_orders(2, 100, &as_a_task, 4);
}

#[test]
fn threads_and_tasks_and_those_that_give_up_or_fail() {
    in_many_orders(1, 1, &one_of_each, 4);
    in_many_orders(2, 2, &one_of_each, 6);
    in_many_orders(1, 100, &one_of_each, 10);
}

/// Jobs of one thread, of which some go on in others, and some never: each that goes on gets its own answer, and no
/// request holds the key in the end. Threads ask a batcher for the same key meanwhile.
#[test]
fn jobs() {
    key();
    let run = || {
        let gate = Gate::open();
        let keys = Keys::new(gate.clone(), 1, |_| Some(Box::new(())));
        let keys: Vec<Arc<Key>> = (0..2).map(|_| keys.key(key().clone())).collect();
        let batcher = Batcher::builder().passes(1).overlap(false).build().unwrap();
        let mut threads = Vec::new();
        for number in 0..2u8 {
            let (batcher, key) = (batcher.clone(), Arc::clone(&keys[0]));
            let asked = move || is_answer(number, batcher.private_with(&key, &block(number)));
            threads.push(thread::spawn(asked));
        }
        let jobs = JobQueue::new();
        let mut paused = Vec::new();
        for number in 0..7u8 {
            let key = &keys[usize::from(number) % 2];
            let ticket = jobs.ask(key, block(number).into()).unwrap();
            match number {
                _ if ticket.is_due() => is_answer(number, ticket.answer()),
                1 | 4 => threads.push(thread::spawn(move || is_answer(number, ticket.answer()))),
                2 | 5 => {
                    let take_back = ticket.take_back();
                    std::mem::forget(ticket);
                    threads.push(thread::spawn(move || take_back.now()));
                }
                _ => paused.push((number, ticket)),
            }
        }
        for (number, ticket) in paused {
            is_answer(number, ticket.take().unwrap_or_else(|| ticket.answer()));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        drop((keys, batcher, jobs));
        assert_eq!(gate.alive(key()), 0);
    };
    shuttle::check_random(run, ORDERS);
    shuttle::check_pct(run, ORDERS, 3);
}

//! A batcher: who computes, who waits, and that everybody gets the own answer.

use std::{
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use futures::{FutureExt, executor::block_on, future::join_all, task::noop_waker};
use rsalab_batch::{Batcher, Error, Operation};
use rsalab_rsa::{
    Backend, CpuBackend, PrivateKey, Status,
    encryption::{DecryptionKey, EncryptionKey, Unpadder},
    hash::Hash,
    scheme::{EncryptionScheme, Oaep, Pss, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};

#[allow(dead_code, reason = "other tests use the rest")]
use crate::support::{Gate, ITEMS, PANICS, until, wait_for_requests};

/// Three keys of 1024 bits and one of 1536.
fn keys() -> &'static [PrivateKey] {
    static KEYS: OnceLock<Vec<PrivateKey>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let bits = [1024, 1024, 1536, 1024];
        let generate = |bits| PrivateKey::generate(bits).expect("there is randomness");
        bits.map(generate).to_vec()
    })
}

fn on_this_cpu() -> rsalab_batch::Builder {
    keys().iter().fold(Batcher::builder(), |builder, key| builder.key(key))
}

fn through(gate: &Gate) -> rsalab_batch::Builder {
    Batcher::builder().key(&keys()[0]).backend(gate.clone())
}

/// A block for a key, below its modulus: each number gives another.
fn block(key: &PrivateKey, number: usize) -> Vec<u8> {
    let mut block = vec![0x5a; key.modulus_len()];
    block[0] = 0;
    block[1..9].copy_from_slice(&number.to_be_bytes());
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

fn poll(operation: &mut Operation) -> Poll<Result<(), Error>> {
    let mut context = Context::from_waker(std::task::Waker::noop());
    Pin::new(operation).poll_unpin(&mut context).map_ok(drop)
}

#[test]
fn everybody_gets_the_own_answer() {
    const THREADS: usize = 8;
    const EACH: usize = 30;
    for passes in [1, 2, 5] {
        let batcher = on_this_cpu().passes(passes).build().unwrap();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let batcher = &batcher;
                scope.spawn(move || {
                    for i in 0..EACH {
                        let number = thread * EACH + i;
                        let place = number * 7 % keys().len();
                        let (key, block) = (&keys()[place], block(&keys()[place], number));
                        let result = match number % 3 {
                            0 => block_on(batcher.private_async(place, &block).unwrap()),
                            _ => batcher.private(place, &block),
                        };
                        assert!(is_valid(key, &block, &result.unwrap()), "request {number}");
                    }
                });
            }
        });
        let statistics = batcher.statistics();
        let requests = (THREADS * EACH) as u64;
        assert_eq!(statistics.requests(), requests);
        assert_eq!(statistics.waits().iter().sum::<u64>(), requests);
        assert_eq!(batcher.waiting(), 0);
    }
}

#[test]
fn who_is_alone_never_waits() {
    let batcher = on_this_cpu().build().unwrap();
    for number in 0..20 {
        batcher.private(0, &block(&keys()[0], number)).unwrap();
    }
    let statistics = batcher.statistics();
    assert_eq!((statistics.passes()[1], statistics.requests()), (20, 20));
    assert_eq!(statistics.waits()[0], 20);
}

#[test]
fn what_is_asked_meanwhile_shares_the_next_pass() {
    let gate = Gate::closed();
    let batcher = through(&gate).passes(1).build().unwrap();
    thread::scope(|scope| {
        let ask = |number| {
            let batcher = &batcher;
            scope.spawn(move || {
                let block = block(&keys()[0], number);
                assert_eq!(*batcher.private(0, &block).unwrap(), block);
            });
        };
        ask(0);
        gate.wait_for_passes(1);
        let more = ITEMS - 1;
        (1..=more).for_each(ask);
        wait_for_requests(&batcher, more);
        assert_eq!(gate.passes(), [1]);
        gate.let_through(1);
        gate.wait_for_passes(2);
        wait_for_requests(&batcher, 0);
        gate.let_through(1);
    });
    assert_eq!(gate.passes(), [1, ITEMS - 1]);
    let mut passes = vec![0; ITEMS + 1];
    passes[1] += 1;
    passes[ITEMS - 1] += 1;
    assert_eq!(batcher.statistics().passes(), passes);
}

#[test]
fn a_full_pass_does_not_wait_until_twice_as_many_run() {
    for passes in [1, 2].repeat(50) {
        let gate = Gate::closed();
        let batcher = through(&gate).passes(passes).build().unwrap();
        thread::scope(|scope| {
            let ask = || scope.spawn(|| batcher.private(0, &block(&keys()[0], 0)).unwrap());
            for pass in 1..=passes {
                ask();
                gate.wait_for_passes(pass);
            }
            for full in 1..=passes {
                (1..ITEMS).for_each(|_| drop(ask()));
                wait_for_requests(&batcher, ITEMS - 1);
                assert_eq!(gate.passes().len(), passes + full - 1);
                ask();
                gate.wait_for_passes(passes + full);
                assert_eq!(batcher.waiting(), 0);
            }
            // Now even full ones wait. The one that may begin is taken along whole, though more wait than that.
            (0..2 * ITEMS).for_each(|_| drop(ask()));
            wait_for_requests(&batcher, 2 * ITEMS);
            gate.let_through(1);
            gate.wait_for_passes(2 * passes + 1);
            wait_for_requests(&batcher, ITEMS);
            gate.let_through(2 * passes + 1);
        });
        let full = vec![ITEMS; passes + 2];
        assert_eq!(gate.passes(), [vec![1; passes], full].concat());
    }
}

#[test]
fn tasks_and_threads_share_passes() {
    let gate = Gate::closed();
    let batcher = through(&gate).passes(1).build().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| batcher.private(0, &block(&keys()[0], 0)).unwrap());
        gate.wait_for_passes(1);
        scope.spawn(|| batcher.private(0, &block(&keys()[0], 1)).unwrap());
        wait_for_requests(&batcher, 1);
        let blocks = [2, 3].map(|number| block(&keys()[0], number));
        let mut operations = blocks.each_ref().map(|block| batcher.private_async(0, block).unwrap());
        for operation in &mut operations {
            assert!(poll(operation).is_pending());
        }
        wait_for_requests(&batcher, 3);
        gate.let_through(2);
        for (result, block) in block_on(join_all(operations)).into_iter().zip(blocks) {
            assert_eq!(*result.unwrap(), block);
        }
    });
    assert_eq!(gate.passes(), [1, 3]);
}

#[test]
fn no_more_wait_than_may() {
    let gate = Gate::closed();
    let batcher = through(&gate).passes(1).waiting(2).build().unwrap();
    let block = block(&keys()[0], 0);
    thread::scope(|scope| {
        let ask = || {
            scope.spawn(|| batcher.private(0, &block).unwrap());
        };
        ask();
        gate.wait_for_passes(1);
        ask();
        ask();
        wait_for_requests(&batcher, 2);
        let refused = batcher.try_private(0, &block);
        assert!(matches!(refused, Err(Error::Full { waiting: 2 })), "{refused:?}");
        // One thread and two tasks, of which one gives up, wait for room.
        ask();
        let [mut gone, mut stays] = [(); 2].map(|()| batcher.private_async(0, &block).unwrap());
        assert!(poll(&mut gone).is_pending());
        assert!(poll(&mut stays).is_pending());
        let stays = scope.spawn(|| block_on(stays).unwrap());
        drop(gone);
        assert_eq!(batcher.waiting(), 2);
        gate.let_through(10);
        stays.join().unwrap();
    });
    assert_eq!(gate.passes().iter().sum::<usize>(), 5);
    assert_eq!(
        batcher.try_private(0, &block).map(|result| *result == block).ok(),
        Some(true)
    );
}

#[test]
fn what_is_given_up_is_not_computed() {
    let gate = Gate::closed();
    let batcher = through(&gate).passes(1).build().unwrap();
    let block = block(&keys()[0], 0);
    thread::scope(|scope| {
        scope.spawn(|| batcher.private(0, &block).unwrap());
        gate.wait_for_passes(1);
        let [mut given_up, mut kept] = [(); 2].map(|()| batcher.private_async(0, &block).unwrap());
        assert!(poll(&mut given_up).is_pending());
        assert!(poll(&mut kept).is_pending());
        drop(batcher.private_async(0, &block).unwrap());
        drop(given_up);
        assert_eq!(batcher.waiting(), 1);
        gate.let_through(2);
        block_on(kept).unwrap();
    });
    assert_eq!(gate.passes(), [1, 1]);

    // Its pass has begun: it is computed for nobody.
    let mut given_up = batcher.private_async(0, &block).unwrap();
    assert!(poll(&mut given_up).is_pending());
    gate.wait_for_passes(3);
    drop(given_up);
    gate.let_through(2);
    assert_eq!(*batcher.private(0, &block).unwrap(), block);
}

#[test]
fn a_back_end_that_panics_harms_nobody_else() {
    let gate = Gate::open();
    let batcher = through(&gate).passes(1).build().unwrap();
    let mut bad = block(&keys()[0], 0);
    let good = bad.clone();
    bad[0] = PANICS;
    for _ in 0..3 {
        assert!(matches!(batcher.private(0, &bad), Err(Error::Failed { .. })));
        let operation = batcher.private_async(0, &bad).unwrap();
        assert!(matches!(block_on(operation), Err(Error::Failed { .. })));
        assert_eq!(*batcher.private(0, &good).unwrap(), good);
        assert_eq!(*block_on(batcher.private_async(0, &good).unwrap()).unwrap(), good);
    }
}

#[test]
fn bad_requests_are_refused_one_by_one() {
    let batcher = on_this_cpu().build().unwrap();
    let len = keys()[0].modulus_len();
    assert!(matches!(
        batcher.private(9, &[0]),
        Err(Error::UnknownKey { key: 9, keys: 4 })
    ));
    let stranger = PrivateKey::generate(1024).unwrap();
    assert!(batcher.prepare_private(&stranger).is_err());
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let refused = batcher.sign_async(0, scheme, b"no digest").map(drop);
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    let short = batcher.private_async(0, &[1, 2]);
    assert!(matches!(short, Err(Error::Length { got: 2, .. })));
    assert!(matches!(batcher.private(0, &vec![0xff; len]), Err(Error::OutOfRange)));
    let operation = batcher.private_async(0, &vec![0xff; len]).unwrap();
    assert!(matches!(block_on(operation), Err(Error::OutOfRange)));

    // Many blocks of one call, one of them bad.
    let count = 11;
    let mut inputs: Vec<u8> = (0..count).flat_map(|number| block(&keys()[0], number)).collect();
    inputs[5 * len..6 * len].fill(0xff);
    let (mut outputs, mut status) = (vec![1; inputs.len()], vec![Status::Fault; count]);
    let prepared = batcher.prepare_private(&keys()[0]).unwrap();
    let mut runner = prepared.runner().unwrap();
    runner.run(&inputs, &mut outputs, &mut status).unwrap();
    for (i, (input, output)) in inputs.chunks(len).zip(outputs.chunks(len)).enumerate() {
        if i == 5 {
            assert_eq!(status[i], Status::OutOfRange);
            assert!(output.iter().all(|&byte| byte == 0));
        } else {
            assert_eq!(status[i], Status::Done);
            assert!(is_valid(&keys()[0], input, output), "block {i}");
        }
    }
}

#[test]
fn keys_sign_and_decrypt_by_way_of_it() {
    let batcher = on_this_cpu().build().unwrap();
    for (place, key) in keys().iter().enumerate() {
        for scheme in [
            SignatureScheme::Pkcs1v15(Hash::Sha256),
            SignatureScheme::Pss(Pss::new(Hash::Sha256)),
        ] {
            let verifying = VerifyingKey::new(key.public(), scheme).unwrap();
            let signing = SigningKey::with_backend(key, scheme, &batcher).unwrap();
            let signature = signing.sign(b"a message").unwrap();
            assert!(verifying.verify(b"a message", signature.as_bytes()));
            let digest = Hash::Sha256.digest(b"another");
            let signature = batcher.sign_async(place, scheme, &digest).unwrap();
            assert!(verifying.verify(b"another", &block_on(signature).unwrap()));
        }
        for scheme in [
            EncryptionScheme::Pkcs1v15,
            EncryptionScheme::Oaep(Oaep::new(Hash::Sha256)),
        ] {
            let encryption = EncryptionKey::new(key.public(), scheme.clone()).unwrap();
            let decryption = DecryptionKey::with_backend(key, &scheme, &batcher).unwrap();
            let unpadder = Unpadder::new(key, &scheme).unwrap();
            let mut ciphertext = encryption.encrypt(b"a secret").unwrap();
            let later = batcher.decrypt_async(place, &unpadder, &ciphertext).unwrap();
            let messages = [decryption.decrypt(&ciphertext).unwrap(), block_on(later).unwrap()];
            for message in messages {
                assert_eq!(**message.expect("it is whole"), *b"a secret");
            }
            // Damaged, both fail alike, or give the same made-up message; above the modulus, there is none.
            ciphertext[20] ^= 1;
            let later = batcher.decrypt_async(place, &unpadder, &ciphertext).unwrap();
            assert_eq!(block_on(later).unwrap(), decryption.decrypt(&ciphertext).unwrap());
            let later = batcher.decrypt_async(place, &unpadder, &vec![0xff; ciphertext.len()]);
            assert_eq!(block_on(later.unwrap()).unwrap(), None);
        }
    }
    assert_eq!(batcher.statistics().requests(), 4 * (4 + 2 * 5));
}

#[test]
fn a_pass_waits_to_be_full_if_it_is_told_to() {
    let long = Duration::from_secs(50);
    let gate = Gate::open();
    let batcher = through(&gate).passes(1).linger(long).build().unwrap();
    let since = Instant::now();
    thread::scope(|scope| {
        for number in 0..ITEMS {
            let batcher = &batcher;
            scope.spawn(move || batcher.private(0, &block(&keys()[0], number)).unwrap());
        }
    });
    assert_eq!(gate.passes(), [ITEMS]);
    assert!(since.elapsed() < long, "a full pass waits no longer");

    let short = Duration::from_millis(30);
    let batcher = through(&gate).linger(short).build().unwrap();
    let since = Instant::now();
    batcher.private(0, &block(&keys()[0], 0)).unwrap();
    assert!(since.elapsed() >= short);
    let since = Instant::now();
    block_on(batcher.private_async(0, &block(&keys()[0], 0)).unwrap()).unwrap();
    assert!(since.elapsed() >= short);
}

/// Threads, tasks and tasks that give up, with room for few.
#[test]
fn nothing_is_stuck_and_nothing_is_lost() {
    const THREADS: usize = 8;
    const EACH: usize = 400;
    for (passes, waiting) in [(1, 1), (2, 3), (3, 100)] {
        let gate = Gate::open();
        let batcher = through(&gate).passes(passes).waiting(waiting).build().unwrap();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let batcher = &batcher;
                scope.spawn(move || {
                    for i in 0..EACH {
                        let block = block(&keys()[0], thread * EACH + i);
                        let mut operation = batcher.private_async(0, &block).unwrap();
                        match (thread + i) % 4 {
                            0 => assert_eq!(*batcher.private(0, &block).unwrap(), block),
                            1 => assert_eq!(*block_on(operation).unwrap(), block),
                            2 => drop(poll(&mut operation)),
                            _ => match batcher.try_private(0, &block) {
                                Ok(result) => assert_eq!(*result, block),
                                Err(Error::Full { .. }) => {}
                                Err(other) => panic!("{other}"),
                            },
                        }
                    }
                });
            }
        });
        until(|| batcher.waiting() == 0);
    }
}

#[test]
fn wakers_of_the_last_poll_are_woken() {
    let gate = Gate::closed();
    let batcher = through(&gate).passes(1).build().unwrap();
    let mut operation = batcher.private_async(0, &block(&keys()[0], 0)).unwrap();
    assert!(
        operation
            .poll_unpin(&mut Context::from_waker(&noop_waker()))
            .is_pending()
    );
    gate.let_through(1);
    block_on(operation).unwrap();
}

#[test]
fn candidates_are_sieved_and_searched_for_as_the_back_end_likes_it() {
    let gate = Gate::open();
    let batcher = through(&gate).build().unwrap();
    assert_eq!(batcher.searches(), gate.searches());
    drop(batcher.sieve(512));
    assert_eq!(gate.sieves(), 1);
}

/// A task that panics when it is woken.
struct Panicking;

impl Wake for Panicking {
    fn wake(self: Arc<Self>) {
        panic!("as the test wants it");
    }
}

/// How often a task was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_waker_that_panics_harms_nobody_else() {
    let block = block(&keys()[0], 0);
    let panicking = Waker::from(Arc::new(Panicking));
    let poll_badly = |operation: &mut Operation| {
        let polled = operation.poll_unpin(&mut Context::from_waker(&panicking));
        assert!(polled.is_pending());
    };

    // A worker computes for the task and for two threads.
    let gate = Gate::closed();
    let batcher = through(&gate).passes(1).build().unwrap();
    thread::scope(|scope| {
        let ask = || scope.spawn(|| batcher.private(0, &block).unwrap());
        ask();
        gate.wait_for_passes(1);
        let mut bad = batcher.private_async(0, &block).unwrap();
        poll_badly(&mut bad);
        let threads = [ask(), ask()];
        wait_for_requests(&batcher, 3);
        gate.let_through(3);
        threads.into_iter().for_each(|asked| drop(asked.join().unwrap()));
        assert_eq!(*block_on(bad).unwrap(), block);
        // The worker goes on: it computes for another task.
        assert_eq!(*block_on(batcher.private_async(0, &block).unwrap()).unwrap(), block);
    });
    assert_eq!(gate.passes(), [1, 3, 1]);

    // A thread that ends its pass tells those who wait for room.
    let gate = Gate::closed();
    let batcher = through(&gate).passes(1).waiting(1).build().unwrap();
    thread::scope(|scope| {
        let ask = || {
            scope.spawn(|| batcher.private(0, &block).unwrap());
        };
        ask();
        gate.wait_for_passes(1);
        ask();
        wait_for_requests(&batcher, 1);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let [mut bad, mut good] = [(); 2].map(|()| batcher.private_async(0, &block).unwrap());
        poll_badly(&mut bad);
        assert!(good.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
        gate.let_through(10);
        until(|| woken.0.load(Ordering::Relaxed) == 1);
        assert_eq!(*block_on(good).unwrap(), block);
        assert_eq!(*block_on(bad).unwrap(), block);
    });
}

#[test]
fn a_task_that_waits_for_room_leaves_one_waker_and_takes_it_along() {
    let gate = Gate::closed();
    let batcher = through(&gate).passes(1).waiting(1).build().unwrap();
    let block = block(&keys()[0], 0);
    let woken = Arc::new(Woken::default());
    thread::scope(|scope| {
        let ask = || {
            scope.spawn(|| batcher.private(0, &block).unwrap());
        };
        ask();
        gate.wait_for_passes(1);
        ask();
        wait_for_requests(&batcher, 1);
        let mut operation = batcher.private_async(0, &block).unwrap();
        for _ in 0..5 {
            let waker = Waker::from(Arc::clone(&woken));
            assert!(operation.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!((batcher.waiting(), Arc::strong_count(&woken)), (1, 2));
        drop(operation);
        assert_eq!(Arc::strong_count(&woken), 1);
        gate.let_through(2);
    });
    assert_eq!((gate.passes(), woken.0.load(Ordering::Relaxed)), (vec![1, 1], 0));
}

//! Jobs of an event loop: which of them computes, with whom, and what becomes of those that are never resumed.

use std::{
    sync::{Arc, OnceLock},
    thread,
};

use rsalab_batch::{Batcher, Error, JobQueue, Key, Keys, Ticket};
use rsalab_rsa::{CpuBackend, PrivateKey};

#[allow(dead_code, reason = "other tests use the rest")]
use crate::support::{FAILS, Gate, ITEMS, PANICS, wait_for_requests};

/// Three of 1024 bits, one of 1536.
fn privates() -> &'static [PrivateKey] {
    static KEYS: OnceLock<Vec<PrivateKey>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let generate = |bits| PrivateKey::generate(bits).expect("there is randomness");
        [1024, 1024, 1024, 1536].map(generate).to_vec()
    })
}

fn through(gate: &Gate) -> Vec<Arc<Key>> {
    let keys = Keys::new(gate.clone(), 1, |_| Some(Box::new(())));
    privates().iter().map(|key| keys.key(key.clone())).collect()
}

fn block(key: &Key, number: u8) -> Vec<u8> {
    let mut block = vec![number; key.private_key().modulus_len()];
    block[0] = 0;
    block
}

fn ask(jobs: &JobQueue, key: &Arc<Key>, number: u8) -> Ticket {
    jobs.ask(key, block(key, number).into()).unwrap()
}

fn is_answered(ticket: &Ticket, key: &Key, number: u8) -> bool {
    ticket
        .take()
        .is_some_and(|answer| *answer.unwrap() == block(key, number))
}

#[test]
fn a_job_that_fills_a_pass_computes_it_and_others_find_their_answers() {
    let gate = Gate::open();
    let keys = through(&gate);
    let jobs = JobQueue::new();
    let mut tickets: Vec<Ticket> = (0..ITEMS as u8).map(|number| ask(&jobs, &keys[0], number)).collect();
    let due: Vec<bool> = tickets.iter().map(Ticket::is_due).collect();
    assert_eq!(due, [false, false, false, true]);
    assert!(tickets.iter().all(|ticket| ticket.take().is_none()));
    let last = tickets.pop().unwrap();
    assert_eq!(*last.answer().unwrap(), block(&keys[0], ITEMS as u8 - 1));
    assert_eq!(gate.passes(), [ITEMS]);
    for (number, ticket) in (0..).zip(&tickets) {
        assert!(is_answered(ticket, &keys[0], number));
        assert!(ticket.take().is_none(), "an answer is given once");
    }
}

/// The first that is resumed computes for those of its size; one of another size computes for itself.
#[test]
fn what_waits_shares_the_pass_of_who_is_resumed_first() {
    let gate = Gate::open();
    let keys = through(&gate);
    let jobs = JobQueue::new();
    let [one, long, other] = [(0, 1), (3, 2), (0, 3)].map(|(key, number)| ask(&jobs, &keys[key], number));
    assert_eq!(*one.answer().unwrap(), block(&keys[0], 1));
    assert!(is_answered(&other, &keys[0], 3));
    assert!(long.take().is_none());
    assert_eq!(*long.answer().unwrap(), block(&keys[3], 2));
    assert_eq!(gate.passes(), [2, 1]);
}

#[test]
fn who_finds_nobody_pauses_seldom_until_somebody_comes() {
    let gate = Gate::open();
    let keys = through(&gate);
    let jobs = JobQueue::new();
    let pauses = |requests: u32| -> u32 {
        let one = |_| {
            let ticket = ask(&jobs, &keys[0], 1);
            let pauses = !ticket.is_due();
            ticket.answer().unwrap();
            u32::from(pauses)
        };
        (0..requests).map(one).sum()
    };
    assert_eq!(pauses(16), 16);
    assert_eq!(pauses(80), 10);
    // One is paused: whoever comes joins it.
    let paused = std::iter::repeat_with(|| ask(&jobs, &keys[0], 2)).find_map(|ticket| match ticket.is_due() {
        true => {
            ticket.answer().unwrap();
            None
        }
        false => Some(ticket),
    });
    let joins = ask(&jobs, &keys[0], 3);
    assert!(!joins.is_due());
    let paused = paused.unwrap();
    paused.answer().unwrap();
    assert!(is_answered(&joins, &keys[0], 3));
    // They shared a pass: the next ones pause again.
    assert_eq!(pauses(16), 16);
}

#[test]
fn what_is_taken_back_is_not_computed_and_holds_its_key_no_longer() {
    let gate = Gate::open();
    let mut keys = through(&gate);
    let jobs = JobQueue::new();
    let [dropped, kept, abandoned] = [1, 2, 3].map(|number| ask(&jobs, &keys[0], number));
    let take_back = abandoned.take_back();
    // As the ticket of a job that is never resumed.
    std::mem::forget(abandoned);
    drop(dropped);
    thread::spawn(|| take_back.now()).join().unwrap();
    // A place that was answered, or is another's now, is not taken back.
    let late = kept.take_back();
    assert_eq!(*kept.answer().unwrap(), block(&keys[0], 2));
    let next = ask(&jobs, &keys[0], 4);
    late.now();
    assert_eq!(*next.answer().unwrap(), block(&keys[0], 4));
    assert_eq!(gate.passes(), [1, 1]);
    assert_eq!(gate.alive(&privates()[0]), 1);
    let gone = ask(&jobs, &keys[0], 5);
    let take_back = gone.take_back();
    std::mem::forget(gone);
    keys.remove(0);
    assert_eq!(gate.alive(&privates()[0]), 1);
    take_back.now();
    assert_eq!(gate.alive(&privates()[0]), 0);
}

/// A job may go on in another thread than it began in: it computes with all that wait, or waits for the pass of
/// another.
#[test]
fn jobs_go_on_in_other_threads() {
    let gate = Gate::closed();
    let keys = through(&gate);
    let jobs = JobQueue::new();
    let [elsewhere, here, gone] = [1, 2, 3].map(|number| ask(&jobs, &keys[0], number));
    thread::scope(|scope| {
        let elsewhere = scope.spawn(|| *elsewhere.answer().unwrap() == block(&keys[0], 1));
        gate.wait_for_passes(1);
        assert!(here.take().is_none());
        drop(gone);
        let here = scope.spawn(|| *here.answer().unwrap() == block(&keys[0], 2));
        // This thread's next request does not wait for them.
        let next = ask(&jobs, &keys[0], 4);
        let next = scope.spawn(|| *next.answer().unwrap() == block(&keys[0], 4));
        gate.wait_for_passes(2);
        gate.let_through(2);
        assert!([elsewhere, here, next].into_iter().all(|job| job.join().unwrap()));
    });
    assert_eq!(gate.passes(), [3, 1]);
}

#[test]
fn bad_requests_harm_nobody_else() {
    let gate = Gate::open();
    let jobs = JobQueue::new();
    let keys = through(&gate);
    let short = jobs.ask(&keys[0], vec![0; 2].into()).map(drop);
    assert!(matches!(short, Err(Error::Length { got: 2, .. })), "{short:?}");
    for bad in [PANICS, FAILS] {
        let keys = through(&gate);
        let mut wrong = block(&keys[0], 1);
        wrong[0] = bad;
        let wrong = jobs.ask(&keys[0], wrong.into()).unwrap();
        // Of another key, and not yet ready to share a pass.
        let other = ask(&jobs, &keys[1], 2);
        assert!(matches!(wrong.answer(), Err(Error::Failed { .. })));
        assert!(is_answered(&other, &keys[1], 2));
        assert_eq!(*ask(&jobs, &keys[0], 3).answer().unwrap(), block(&keys[0], 3));
    }
    let jobs = JobQueue::new();
    let keys = Keys::new(CpuBackend::auto(), 2, |_| None);
    let key = keys.key(privates()[0].clone());
    let above = jobs.ask(&key, vec![0xff; 128].into()).unwrap();
    assert!(matches!(above.answer(), Err(Error::OutOfRange)));
    assert!(matches!(key.private(&[0xff; 128]), Err(Error::OutOfRange)));
    assert_eq!(keys.passes().iter().sum::<u64>(), 2);
}

/// Keys are made ready together once that has paid, for jobs and for the threads of a batcher that has no keys itself.
#[test]
fn keys_that_are_asked_for_together_come_to_share_passes() {
    let gate = Gate::open();
    let keys = through(&gate);
    let jobs = JobQueue::new();
    let round = || {
        let tickets: Vec<Ticket> = (0..3)
            .map(|number| ask(&jobs, &keys[number as usize], number))
            .collect();
        for (number, ticket) in (0..).zip(tickets) {
            let answer = ticket.take().unwrap_or_else(|| ticket.answer());
            assert_eq!(*answer.unwrap(), block(&keys[usize::from(number)], number));
        }
    };
    let shared = (1..9).find(|_| {
        round();
        gate.mixed() > 0
    });
    assert_eq!(shared, Some(2), "{:?}", gate.passes());
    assert_eq!(gate.passes(), [1, 1, 1, 3]);

    let batcher = Batcher::builder().passes(1).overlap(false).build().unwrap();
    let closed = Gate::closed();
    let held = &through(&closed)[0];
    let before = gate.mixed();
    thread::scope(|scope| {
        let (keys, batcher) = (&keys, &batcher);
        scope.spawn(|| batcher.private_with(held, &block(held, 9)).unwrap());
        closed.wait_for_passes(1);
        for number in 0..3_u8 {
            scope.spawn(move || {
                let key = &keys[usize::from(number)];
                assert_eq!(
                    *batcher.private_with(key, &block(key, number)).unwrap(),
                    block(key, number)
                );
            });
        }
        wait_for_requests(batcher, 3);
        closed.let_through(1);
    });
    assert_eq!(gate.mixed(), before + 1);
}

/// Where full passes do not overlap, they wait for those that run.
#[test]
fn a_full_pass_waits_where_it_is_to() {
    let gate = Gate::closed();
    let key = &privates()[0];
    let builder = Batcher::builder().key(key).backend(gate.clone());
    let batcher = builder.passes(1).overlap(false).build().unwrap();
    let block = vec![0; key.modulus_len()];
    thread::scope(|scope| {
        let ask = || drop(scope.spawn(|| batcher.private(0, &block).unwrap()));
        ask();
        gate.wait_for_passes(1);
        (0..ITEMS).for_each(|_| ask());
        wait_for_requests(&batcher, ITEMS);
        assert_eq!(gate.passes(), [1]);
        gate.let_through(2);
    });
    assert_eq!(gate.passes(), [1, ITEMS]);
}

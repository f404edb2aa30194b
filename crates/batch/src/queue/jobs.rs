//! Requests of an event loop's jobs: there is no thread that waits, and none that computes for others.
//!
//! ```text
//! job: ask ── a full pass has gathered, or a pause would be in vain: it is due, and computes with all that wait
//!          └─ else it pauses, and others run
//! resumed: take ── answered meanwhile: done ── else compute with all that wait, and answer them
//! ```
//!
//! An event loop resumes its paused jobs in its next round. What entered in the round before is computed by the first
//! that is resumed.

use std::{
    cell::RefCell,
    sync::{Arc, TryLockError},
};

use zeroize::Zeroizing;

use super::{
    Limits, Queue,
    state::{Request, Stage, State, Waiter},
};
use crate::{
    Error, Key,
    keys::of_one,
    pass::{Blocks, Outcome},
    sync::{MutexGuard, thread},
};

type Block = Zeroizing<Vec<u8>>;

/// The requests of one thread's jobs. In a child of a fork it begins anew.
pub struct JobQueue {
    queue: RefCell<Arc<Queue>>,
}

impl JobQueue {
    /// A queue that nobody has asked yet.
    pub fn new() -> Self {
        JobQueue {
            queue: RefCell::new(queue()),
        }
    }

    /// Enters a request: `block` is a number below the key's modulus, and of as many bytes. Makes the key ready, if it
    /// is not.
    ///
    /// # Errors
    ///
    /// [`Error::Length`], and [`Error::Failed`] if the key cannot be made ready.
    pub fn ask(&self, key: &Arc<Key>, block: Block) -> Result<Ticket, Error> {
        key.check(&block)?;
        let items = key.items().map_err(Error::failed)?;
        let mut queue = self.queue.borrow_mut();
        if queue.is_forked() {
            *queue = self::queue();
        }
        let queue = Arc::clone(&queue);
        let mut state = queue.lock();
        let is_worth_a_pause = state.is_worth_a_pause();
        let size = state.size(key, items);
        let blocks = Blocks {
            key: Arc::clone(key),
            bytes: block,
        };
        let place = state.add(size, blocks, Waiter::Job, Stage::Waiting);
        state.enter(place);
        let arrival = state.requests[place].arrival;
        let is_due = !is_worth_a_pause || state.sizes[size].blocks >= items;
        drop(state);
        let request = TakeBack { queue, place, arrival };
        Ok(Ticket { request, is_due })
    }
}

impl Default for JobQueue {
    fn default() -> Self {
        JobQueue::new()
    }
}

/// At first somebody may come who shares a pass.
fn queue() -> Arc<Queue> {
    let limits = Limits {
        passes: 1,
        waiting: usize::MAX,
        linger: None,
        overlap: false,
    };
    Arc::new(Queue::after(0, limits))
}

/// A request of a job. Dropped, it is taken back.
#[must_use = "nothing is computed until it is asked for its answer"]
pub struct Ticket {
    request: TakeBack,
    is_due: bool,
}

impl Ticket {
    /// `true` if the job should [`answer`](Self::answer) it now, and not pause.
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// The answer, if another job has computed it.
    ///
    /// # Errors
    ///
    /// [`Error`], of this request alone.
    pub fn take(&self) -> Option<Result<Block, Error>> {
        let mut state = lock(&self.request.queue).ok()?;
        let is_done = matches!(self.request.of(&mut state)?.stage, Stage::Done(_));
        is_done.then(|| answer(state.take(self.request.place)))
    }

    /// The answer. If no other job has computed it, this one does, with what else waits and fits. A job that goes on in
    /// another thread, which may do so as well, waits for a pass that has begun.
    ///
    /// # Errors
    ///
    /// [`Error`], of this request alone; [`Error::Forked`] in a child of a fork, if a thread that is not there was
    /// about to answer.
    pub fn answer(self) -> Result<Block, Error> {
        let TakeBack { queue, place, .. } = &self.request;
        loop {
            let mut state = lock(queue)?;
            let request = self.request.of(&mut state).ok_or_else(taken_back)?;
            match request.stage {
                Stage::Waiting => {
                    let size = state.lead(*place);
                    let own = queue.lead(state, size, Some(*place));
                    return answer(own.expect("its own answer"));
                }
                Stage::Done(_) => return answer(state.take(*place)),
                _ if queue.is_forked() => return Err(Error::Forked),
                _ => request.waiter = Waiter::Thread(thread::current()),
            }
            drop(state);
            thread::park();
        }
    }

    /// For a job that may never go on, so that its ticket is never dropped.
    pub fn take_back(&self) -> TakeBack {
        self.request.clone()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.request.forget();
    }
}

/// Takes the request of a [`Ticket`] back, on any thread.
#[derive(Clone)]
pub struct TakeBack {
    queue: Arc<Queue>,
    place: usize,
    /// The place may be another request's later.
    arrival: u64,
}

impl TakeBack {
    /// Wipes the request: it is not computed, unless its pass has begun.
    pub fn now(self) {
        self.forget();
    }

    fn of<'state>(&self, state: &'state mut State) -> Option<&'state mut Request> {
        let request = state.requests.get_mut(self.place);
        request.filter(|request| request.arrival == self.arrival)
    }

    fn forget(&self) {
        let Ok(mut state) = lock(&self.queue) else { return };
        if self.of(&mut state).is_some() {
            let forgotten = state.forget(self.place);
            drop(state);
            drop(forgotten);
        }
    }
}

/// A child of a fork has what its parent had: a job that goes on there is answered, unless a thread that is not there
/// holds the lock.
fn lock(queue: &Queue) -> Result<MutexGuard<'_, State>, Error> {
    match queue.state.try_lock() {
        Ok(state) => Ok(state),
        Err(TryLockError::WouldBlock) if queue.is_forked() => Err(Error::Forked),
        Err(_) => Ok(queue.lock()),
    }
}

fn taken_back() -> Error {
    Error::Failed {
        reason: "the request was taken back".to_owned(),
    }
}

fn answer(outcome: Outcome) -> Result<Block, Error> {
    let answer = outcome?;
    of_one(answer.bytes, &answer.status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keys;
    use rsalab_rsa::{CpuBackend, PrivateKey};

    /// As a fork leaves it: the queue of another process, with a request of a job that goes on here.
    fn forked(jobs: &JobQueue) {
        let queue = &mut *jobs.queue.borrow_mut();
        Arc::get_mut(queue).expect("nobody has a ticket").process ^= 1;
    }

    fn two(key: &Key) -> Block {
        let mut block = vec![0; key.modulus_len()];
        block[key.modulus_len() - 1] = 2;
        block.into()
    }

    #[test]
    fn a_child_of_a_fork_begins_anew_and_answers_what_goes_on() {
        let key = Keys::new(CpuBackend::auto(), 1, |_| None).key(PrivateKey::generate(512).unwrap());
        let expected = key.private(&two(&key)).unwrap();
        let jobs = JobQueue::new();
        forked(&jobs);
        // The first request here leaves the parent's queue alone, with whatever it has.
        let before = Arc::clone(&jobs.queue.borrow());
        let ticket = jobs.ask(&key, two(&key)).unwrap();
        assert!(!Arc::ptr_eq(&before, &ticket.request.queue));
        assert_eq!(ticket.answer().unwrap(), expected);

        // A job of the parent's goes on here: it is answered, unless a thread that is not here holds the lock.
        let of_parent = |size| {
            let mut state = before.state.lock().unwrap();
            let blocks = Blocks {
                key: Arc::clone(&key),
                bytes: two(&key),
            };
            let size = state.size(&key, size);
            let place = state.add(size, blocks, Waiter::Job, Stage::Waiting);
            state.enter(place);
            let arrival = state.requests[place].arrival;
            let queue = Arc::clone(&before);
            Ticket {
                request: TakeBack { queue, place, arrival },
                is_due: false,
            }
        };
        let [goes_on, locked, running] = [of_parent(4), of_parent(5), of_parent(6)];
        assert!(goes_on.take().is_none());
        assert_eq!(goes_on.answer().unwrap(), expected);
        before.state.lock().unwrap().requests[running.request.place].stage = Stage::Running;
        assert!(matches!(running.answer(), Err(Error::Forked)));
        let held = before.state.lock().unwrap();
        assert!(locked.take().is_none());
        assert!(matches!(locked.answer(), Err(Error::Forked)));
        drop(held);
    }
}

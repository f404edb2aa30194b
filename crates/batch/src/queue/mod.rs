//! The queue: who computes, who waits, and what goes into a pass.
//!
//! As many passes run at once as there may be. A thread that asks while fewer run computes at once, and takes along
//! whatever waits. Else it enters its request and sleeps, until its answer is there or it is its turn to compute:
//! whoever ends a pass hands over to the request that has waited longest. Requests of tasks have no thread to hand over
//! to; workers, which are started when the first task asks, compute for them.
//!
//! Full passes do not wait for others to end, until twice as many run: a thread that is handed over to needs time to
//! wake, in which its CPU would be idle. (Unless the limits say that they wait.)
//!
//! A [`JobQueue`] is a queue of one thread, whose event loop resumes its jobs by itself: whichever comes first
//! computes.

mod jobs;
mod state;
mod tasks;

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use rsalab_rsa::Status;
use zeroize::Zeroizing;

use crate::{
    Error,
    keys::Key,
    pass::{self, Blocks, Outcome},
    statistics::Waits,
    sync::{Condvar, Mutex, MutexGuard, thread},
};
use state::{QUIET_PASSES, Size, Stage, State, Waiter, shielded, wake};

pub use jobs::{JobQueue, TakeBack, Ticket};

/// The limits of a queue.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Passes that run at once.
    pub(crate) passes: usize,
    /// Requests that wait.
    pub(crate) waiting: usize,
    /// How long a pass that is not full waits for more.
    pub(crate) linger: Option<Duration>,
    /// Full passes begin beside as many as may run.
    pub(crate) overlap: bool,
}

pub(crate) struct Queue {
    process: u32,
    limits: Limits,
    pub(crate) waits: Waits,
    state: Mutex<State>,
    /// For threads that have not entered: fewer requests wait.
    room: Condvar,
    /// For workers: a task's request waits, or this is the end.
    work: Condvar,
    /// For a pass that waits to be full: there is another request.
    more: Condvar,
}

impl Queue {
    pub(crate) fn new(limits: Limits) -> Self {
        Queue::after(QUIET_PASSES, limits)
    }

    /// As after so many passes of one request each.
    fn after(quiet: u32, limits: Limits) -> Self {
        Queue {
            process: std::process::id(),
            limits,
            waits: Waits::new(),
            state: Mutex::new(State::new(quiet)),
            room: Condvar::new(),
            work: Condvar::new(),
            more: Condvar::new(),
        }
    }

    /// In a fork the lock may be held by a thread that the child does not have.
    pub(crate) fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    pub(crate) fn waiting(&self) -> usize {
        if self.is_forked() { 0 } else { self.lock().queued }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics under this lock")
    }

    /// Computes for the thread that asks, or has it computed, and returns when it is done. `can_wait`: for room as
    /// well.
    pub(crate) fn run(
        &self,
        key: &Arc<Key>,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
        can_wait: bool,
    ) -> Result<(), Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        let items = key.items().map_err(Error::failed)?;
        let mut state = self.lock();
        let size = state.size(key, items);
        let blocks = status.len();
        let is_alone = |state: &State| state.sizes[size].waiting.is_empty() && !state.is_crowded();
        if state.running < self.limits.passes && is_alone(&state) && self.limits.linger.is_none() {
            state.running += 1;
            drop(state);
            let done = key.run(inputs, outputs, status);
            self.waits.count(Duration::ZERO, blocks);
            self.end(self.lock(), Vec::new());
            return done;
        }
        let leads = loop {
            let leads = self.may_lead(&state, size, blocks);
            if leads || state.queued < self.limits.waiting {
                break leads;
            }
            if !can_wait {
                return Err(Error::Full { waiting: state.queued });
            }
            state.threads_for_room += 1;
            state = self.room.wait(state).expect("nothing panics under this lock");
            state.threads_for_room -= 1;
        };
        let bytes = Zeroizing::new(inputs.to_vec());
        let waiter = Waiter::Thread(thread::current());
        let blocks = Blocks {
            key: Arc::clone(key),
            bytes,
        };
        let place = if leads {
            state.begin(size, blocks.count());
            state.add(size, blocks, waiter, Stage::Leading)
        } else {
            let place = state.add(size, blocks, waiter, Stage::Waiting);
            state.enter(place);
            state.quiet = 0;
            self.tell_lingering(&state);
            place
        };
        let outcome = loop {
            match state.requests[place].stage {
                Stage::Leading => {
                    break self.lead(state, size, Some(place)).expect("its own answer");
                }
                Stage::Done(_) => break state.take(place),
                _ => {}
            }
            drop(state);
            thread::park();
            state = self.lock();
        };
        let answer = outcome?;
        outputs.copy_from_slice(&answer.bytes);
        status.copy_from_slice(&answer.status);
        Ok(())
    }

    /// Computes one pass: the request that leads, if any, and what waits. Returns the leader's answer.
    fn lead<'queue>(
        &'queue self,
        mut state: MutexGuard<'queue, State>,
        size: usize,
        leader: Option<usize>,
    ) -> Option<Outcome> {
        let items = state.sizes[size].items;
        let own_blocks = leader.map_or(0, |leader| state.requests[leader].count);
        let oldest = leader.or_else(|| state.sizes[size].waiting.front().copied());
        if let (Some(linger), Some(oldest)) = (self.limits.linger, oldest) {
            let until = state.requests[oldest].since + linger;
            loop {
                let blocks = own_blocks + state.sizes[size].blocks;
                let left = until.saturating_duration_since(Instant::now());
                if blocks >= items || left.is_zero() {
                    break;
                }
                state.lingering += 1;
                let waited = self.more.wait_timeout(state, left);
                state = waited.expect("nothing panics under this lock").0;
                state.lingering -= 1;
            }
        }
        let is_thread = leader.is_some_and(|leader| matches!(state.requests[leader].waiter, Waiter::Thread(_)));
        if is_thread && state.is_crowded() && state.sizes[size].waiting.len() + 1 < items {
            // There are more threads that ask than CPUs: those that are about to, but do not run, come first.
            drop(state);
            thread::yield_now();
            state = self.lock();
        }
        let mut places: Vec<usize> = leader.into_iter().collect();
        let mut blocks = own_blocks;
        state.sizes[size].end_reservation(own_blocks);
        while let Some(&place) = state.sizes[size].waiting.front()
            && (places.is_empty() || blocks + state.requests[place].count <= items)
        {
            blocks += state.requests[place].count;
            state.leave(size, Stage::Running);
            places.push(place);
        }
        state.note(places.len());
        let now = Instant::now();
        let mut requests = Vec::with_capacity(places.len());
        for &place in &places {
            let request = &mut state.requests[place];
            let wait = now.saturating_duration_since(request.since);
            self.waits.count(wait, request.count);
            requests.push((place, request.blocks.take().expect("its pass begins now")));
        }
        // Some that were reserved for this pass may not have fitted.
        let mut waiters = self.hand_over(&mut state);
        waiters.extend(self.make_room(&mut state));
        drop(state);
        wake(waiters);

        // Those of one key stand together, in case each key computes for itself.
        requests.sort_by_key(|(_, blocks)| blocks.key.id);
        let (places, requests): (Vec<usize>, Vec<Blocks>) = requests.into_iter().unzip();
        let outcomes = pass::compute(&requests);
        // A key that was removed meanwhile is wiped before its last answer is given out.
        drop(requests);
        let mut state = self.lock();
        let mut own = None;
        let mut waiters = Vec::new();
        // Dropped without the lock, as wakers are woken.
        let mut abandoned = Vec::new();
        for (place, outcome) in places.into_iter().zip(outcomes) {
            if Some(place) == leader {
                state.requests.remove(place);
                own = Some(outcome);
                continue;
            }
            let request = &mut state.requests[place];
            if let Stage::Abandoned = request.stage {
                // A task is gone; a thread is to learn that its request was taken back.
                if let Waiter::Thread(thread) = &request.waiter {
                    waiters.push(Waiter::Thread(thread.clone()));
                }
                abandoned.push(state.requests.remove(place));
                continue;
            }
            waiters.push(mem::replace(&mut request.waiter, Waiter::Job));
            request.stage = Stage::Done(outcome);
        }
        self.end(state, waiters);
        shielded(|| drop(abandoned));
        own
    }

    /// After a pass: whoever is done is told, and somebody else may compute.
    fn end(&self, mut state: MutexGuard<'_, State>, mut waiters: Vec<Waiter>) {
        state.running -= 1;
        waiters.extend(self.hand_over(&mut state));
        waiters.extend(self.make_room(&mut state));
        // Not under the lock: a waker may drop a task, and with it another operation.
        drop(state);
        wake(waiters);
    }

    /// Passes begin that may: returns the threads that lead them. Workers see for themselves.
    fn hand_over(&self, state: &mut State) -> Vec<Waiter> {
        let mut leaders = Vec::new();
        while let Some((size, place)) = self.next(state) {
            let request = &state.requests[place];
            let Waiter::Thread(thread) = &request.waiter else {
                if state.idle_workers > 0 {
                    self.work.notify_one();
                }
                break;
            };
            leaders.push(Waiter::Thread(thread.clone()));
            let blocks = request.count;
            state.leave(size, Stage::Leading);
            state.begin(size, blocks);
        }
        leaders
    }

    /// `true` if a pass of this size may begin, with what waits and so many blocks more.
    fn may_lead(&self, state: &State, size: usize, more: usize) -> bool {
        let passes = self.limits.passes;
        let Size { items, .. } = state.sizes[size];
        let blocks = state.sizes[size].free(more);
        let most = if self.limits.overlap { 2 * passes } else { passes };
        state.running < passes && blocks > 0 || state.running < most && blocks >= items
    }

    /// Whose turn it is to compute, if it is anybody's: the size, and the request of it that has waited longest.
    fn next(&self, state: &State) -> Option<(usize, usize)> {
        state.oldest(|size| self.may_lead(state, size, 0))
    }

    /// Tells those that wait for a fuller pass that they may have one now. Looks first, for a notice is a system call.
    fn tell_lingering(&self, state: &State) {
        if state.lingering > 0 {
            self.more.notify_all();
        }
    }

    /// Tells those who wait for room, if there is any: threads here, tasks by the wakers that it returns. All of them,
    /// for one may be gone.
    fn make_room(&self, state: &mut State) -> Vec<Waiter> {
        if state.queued >= self.limits.waiting {
            return Vec::new();
        }
        if state.threads_for_room > 0 {
            self.room.notify_all();
        }
        let outside = mem::take(&mut state.outside);
        let waiter = |place: usize| mem::replace(&mut state.requests[place].waiter, Waiter::Job);
        outside.into_iter().map(waiter).collect()
    }
}

/// In a child of a fork another thread of its parent may have been about to change what the lock protects: then it is
/// left as it is.
impl Drop for Queue {
    fn drop(&mut self) {
        if self.is_forked() && self.state.try_lock().is_err() {
            let state = mem::replace(&mut self.state, Mutex::new(State::new(0)));
            mem::forget(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keys;
    use rsalab_rsa::{CpuBackend, PrivateKey};
    use std::task::{Poll, Waker};

    /// As it is in a child: another process made the queue, and holds its lock.
    #[test]
    fn a_fork_is_told_and_does_not_lock() {
        let key = PrivateKey::generate(1024).unwrap();
        let key = Keys::new(CpuBackend::auto(), 1, |_| None).key(key);
        let limits = Limits {
            passes: 1,
            waiting: 1,
            linger: None,
            overlap: true,
        };
        let mut queue = Queue::new(limits);
        queue.process ^= 1;
        let queue = Arc::new(queue);
        let _held = queue.state.lock().unwrap();
        let (block, mut result) = ([0; 128], [0; 128]);
        let asked = queue.run(&key, &block, &mut result, &mut [Status::Done], true);
        assert!(matches!(asked, Err(Error::Forked)));
        let bytes = Zeroizing::new(block.to_vec());
        let entered = queue.enter(&mut Some(Blocks { key, bytes }), Waker::noop());
        assert!(matches!(entered, Err(Error::Forked)));
        assert!(matches!(queue.poll(0, Waker::noop()), Poll::Ready(Err(Error::Forked))));
        queue.abandon(0);
        queue.close();
        assert_eq!(queue.waiting(), 0);
    }
}

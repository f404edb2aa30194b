//! Who computes, who waits, and what goes into a pass.
//!
//! As many passes run at once as there may be. A thread that asks while fewer run computes at once, and takes along
//! whatever waits. Else it enters its request and sleeps, until its answer is there or it is its turn to compute:
//! whoever ends a pass hands over to the request that has waited longest. Requests of tasks have no thread to hand over
//! to; workers, which are started when the first task asks, compute for them.
//!
//! Full passes do not wait for others to end, until twice as many run: a thread that is handed over to needs time to
//! wake, in which its CPU would be idle.

mod state;
mod tasks;

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Waker,
    time::{Duration, Instant},
};

use rsalab_rsa::Status;
use zeroize::Zeroizing;

use crate::{
    Error,
    pass::{Blocks, Key, Scratch, Together},
    statistics::Counters,
    sync::{Condvar, Mutex, MutexGuard, thread},
};
use state::{Outcome, Size, Stage, State, Waiter};

/// What a batcher may do.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Passes that run at once, and as many again if they are full.
    pub(crate) passes: usize,
    /// Requests that wait.
    pub(crate) waiting: usize,
    /// How long a pass that is not full waits for more.
    pub(crate) linger: Option<Duration>,
}

/// Passes of one request each after which a crowd is taken to be gone.
const CROWD: u32 = 16;

pub(crate) struct Queue {
    process: u32,
    limits: Limits,
    pub(crate) counters: Counters,
    state: Mutex<State>,
    /// For threads that have not entered: fewer requests wait.
    room: Condvar,
    /// For workers: a task's request waits, or this is the end.
    work: Condvar,
    /// For a pass that waits to be full: there is another request.
    more: Condvar,
}

impl Queue {
    /// Without keys, for passes of at most so many blocks.
    pub(crate) fn new(most: usize, limits: Limits) -> Self {
        Queue {
            process: std::process::id(),
            limits,
            counters: Counters::new(most),
            state: Mutex::new(State::new()),
            room: Condvar::new(),
            work: Condvar::new(),
            more: Condvar::new(),
        }
    }

    /// From now on these keys share passes. `size` is known, or the next one, whose full pass has so many blocks.
    pub(crate) fn share(&self, size: usize, items: usize, together: Option<Arc<Together>>) {
        let mut state = self.lock();
        if size == state.sizes.len() {
            state.sizes.push(Size {
                items,
                waiting: VecDeque::new(),
                blocks: 0,
                promised: 0,
                together: None,
                scratch: Vec::new(),
            });
        }
        let own = &mut state.sizes[size];
        // What runs now goes on with what it has, and notices when it ends.
        let before = std::mem::replace(&mut own.together, together);
        let together = own.together.as_ref();
        let idle = own.scratch.iter_mut();
        let stale: Vec<_> = idle.filter_map(|scratch| scratch.stale(together)).collect();
        drop(state);
        drop((before, stale));
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
        let size = key.size;
        if self.is_forked() {
            return Err(Error::Forked);
        }
        let mut state = self.lock();
        let blocks = status.len();
        let is_alone = |state: &State| state.sizes[size].waiting.is_empty() && state.crowd == 0;
        if state.running < self.limits.passes && is_alone(&state) && self.limits.linger.is_none() {
            state.running += 1;
            drop(state);
            return self.run_alone(key, inputs, outputs, status);
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
            state.add(blocks, waiter, Stage::Leading)
        } else {
            let place = state.add(blocks, waiter, Stage::Waiting);
            state.enter(place);
            state.crowd = CROWD;
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

    fn run_alone(&self, key: &Key, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        let blocks = status.len();
        let done = guarded(|| key.run(inputs, outputs, status));
        self.counters.pass(blocks);
        (0..blocks).for_each(|_| self.counters.wait(Duration::ZERO));
        self.end(self.lock(), key.size, None, Vec::new());
        done
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
        if leader.is_some() && state.crowd > 0 && state.sizes[size].waiting.len() + 1 < items {
            // There are more threads that ask than CPUs: those that are about to, but do not run, come first.
            drop(state);
            thread::yield_now();
            state = self.lock();
        }
        let mut places: Vec<usize> = leader.into_iter().collect();
        let mut blocks = own_blocks;
        state.sizes[size].keep_promise(own_blocks);
        while let Some(&place) = state.sizes[size].waiting.front()
            && (places.is_empty() || blocks + state.requests[place].count <= items)
        {
            blocks += state.requests[place].count;
            state.leave(size, Stage::Running);
            places.push(place);
        }
        state.crowd = match places.len() {
            0 | 1 => state.crowd.saturating_sub(1),
            _ => CROWD,
        };
        let now = Instant::now();
        let mut requests = Vec::with_capacity(places.len());
        for &place in &places {
            let request = &mut state.requests[place];
            let wait = now.saturating_duration_since(request.since);
            (0..request.count).for_each(|_| self.counters.wait(wait));
            requests.push(request.blocks.take().expect("its pass begins now"));
        }
        let own = &mut state.sizes[size];
        let (scratch, together) = (own.scratch.pop(), own.together.clone());
        // Some that were promised to this pass may not have fitted.
        let leaders = self.hand_over(&mut state);
        let tasks = self.make_room(&mut state);
        drop(state);
        leaders.into_iter().for_each(Waiter::wake);
        tasks.into_iter().for_each(Waker::wake);

        let mut outcomes = Vec::new();
        let mut scratch = scratch.unwrap_or_default();
        let mut done = Ok(());
        if !places.is_empty() {
            self.counters.pass(blocks);
            match guarded(|| scratch.pass(together.as_ref(), &requests)) {
                Ok(answers) => outcomes.extend(answers.into_iter().map(Ok)),
                Err(error) => {
                    done = Err(());
                    outcomes.resize_with(places.len(), || Err(error.clone()));
                }
            }
        }
        // A key that was removed meanwhile is wiped before its last answer is given out.
        drop((requests, together));
        let mut state = self.lock();
        while let Some(stale) = scratch.stale(state.sizes[size].together.as_ref()) {
            drop(state);
            drop(stale);
            state = self.lock();
        }
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
                abandoned.push(state.requests.remove(place));
                continue;
            }
            request.stage = Stage::Done(outcome);
            waiters.push(request.waiter.clone());
        }
        self.end(state, size, done.is_ok().then_some(scratch), waiters);
        own
    }

    /// After a pass: whoever is done is told, and somebody else may compute.
    fn end(&self, mut state: MutexGuard<'_, State>, size: usize, scratch: Option<Scratch>, mut waiters: Vec<Waiter>) {
        state.sizes[size].scratch.extend(scratch);
        state.running -= 1;
        waiters.extend(self.hand_over(&mut state));
        let tasks = self.make_room(&mut state);
        // Not under the lock: a waker may drop a task, and with it another operation.
        drop(state);
        waiters.into_iter().for_each(Waiter::wake);
        tasks.into_iter().for_each(Waker::wake);
    }

    /// Passes begin that may: returns the threads that lead them. Workers see for themselves.
    fn hand_over(&self, state: &mut State) -> Vec<Waiter> {
        let mut leaders = Vec::new();
        while let Some((size, place)) = self.next(state) {
            let request = &state.requests[place];
            let Waiter::Thread(_) = request.waiter else {
                if state.idle_workers > 0 {
                    self.work.notify_one();
                }
                break;
            };
            leaders.push(request.waiter.clone());
            let blocks = request.count;
            state.leave(size, Stage::Leading);
            state.begin(size, blocks);
        }
        leaders
    }

    /// Whether a pass of this size may begin, with what waits and so many blocks more.
    fn may_lead(&self, state: &State, size: usize, more: usize) -> bool {
        let passes = self.limits.passes;
        let Size { items, .. } = state.sizes[size];
        let blocks = state.sizes[size].free(more);
        state.running < passes && blocks > 0 || state.running < 2 * passes && blocks >= items
    }

    /// Whose turn it is to compute, if it is anybody's: the size, and the request of it that has waited longest.
    fn next(&self, state: &State) -> Option<(usize, usize)> {
        state.oldest(|size| self.may_lead(state, size, 0))
    }

    /// Who waits for a fuller pass may have one now. Asked first, for a notice is a system call.
    fn tell_lingering(&self, state: &State) {
        if state.lingering > 0 {
            self.more.notify_all();
        }
    }

    /// Lets in who waits for room, if there is any: threads by themselves, tasks by these wakers. All of them, for one
    /// may be gone.
    fn make_room(&self, state: &mut State) -> Vec<Waker> {
        if state.queued >= self.limits.waiting {
            return Vec::new();
        }
        if state.threads_for_room > 0 {
            self.room.notify_all();
        }
        std::mem::take(&mut state.for_room)
    }
}

/// Does what may panic. The back end that did is not used again.
fn guarded<T>(compute: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(compute)).unwrap_or_else(|_| {
        Err(Error::Failed {
            reason: "the back end panicked".to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsalab_rsa::{CpuBackend, PrivateKey};
    use std::task::Poll;

    /// As it is in a child: another process made the queue, and holds its lock.
    #[test]
    fn a_fork_is_told_and_does_not_lock() {
        let key = PrivateKey::generate(1024).unwrap();
        let key = Arc::new(Key::new(&CpuBackend::auto(), &key, 0, 0, 1).unwrap());
        let limits = Limits {
            passes: 1,
            waiting: 1,
            linger: None,
        };
        let mut queue = Queue::new(1, limits);
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

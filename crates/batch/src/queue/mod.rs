//! Who computes, who waits, and what goes into a pass.
//!
//! So many passes run at once as there may be. A thread that asks while fewer run computes at once, and takes along whatever waits. Else it
//! enters its request and sleeps, until its answer is there or it is its turn to compute: whoever ends a pass hands over to the request that
//! has waited longest. Requests of tasks have no thread to hand over to; workers, which are started when the first task asks, compute for them.

mod state;
mod tasks;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    task::Waker,
    time::{Duration, Instant},
};

use rsalab_rsa::Status;
use zeroize::Zeroizing;

use crate::{
    Error,
    pass::{Blocks, Hands, Size},
    statistics::Counters,
    sync::{Condvar, Mutex, MutexGuard, thread},
};
use state::{Outcome, Stage, State, Waiter};

/// What a batcher may do.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Passes that run at once.
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
    pub(crate) sizes: Vec<Size>,
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
    pub(crate) fn new(sizes: Vec<Size>, limits: Limits) -> Self {
        let most = sizes.iter().map(|size| size.items).max().unwrap_or(0);
        Queue {
            process: std::process::id(),
            limits,
            counters: Counters::new(most),
            state: Mutex::new(State::new(sizes.len())),
            sizes,
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
        if self.is_forked() {
            0
        } else {
            self.lock().queued
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics under this lock")
    }

    /// Computes for the thread that asks, or has it computed, and returns when it is done. `can_wait`: for room as well.
    pub(crate) fn run(
        &self,
        size: usize,
        key: usize,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
        can_wait: bool,
    ) -> Result<(), Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        let mut state = self.lock();
        let is_free = |state: &State| state.running < self.limits.passes;
        let is_alone = |state: &State| state.waiting[size].is_empty() && state.crowd == 0;
        if is_free(&state) && is_alone(&state) && self.limits.linger.is_none() {
            state.running += 1;
            let hands = state.hands[size].pop();
            drop(state);
            return self.run_alone(hands, size, key, inputs, outputs, status);
        }
        while !is_free(&state) && state.queued >= self.limits.waiting {
            if !can_wait {
                return Err(Error::Full {
                    waiting: state.queued,
                });
            }
            state = self
                .room
                .wait(state)
                .expect("nothing panics under this lock");
        }
        let bytes = Zeroizing::new(inputs.to_vec());
        let waiter = Waiter::Thread(thread::current());
        let place = if is_free(&state) {
            state.running += 1;
            state.add(size, Blocks { key, bytes }, waiter, Stage::Leading)
        } else {
            let place = state.add(size, Blocks { key, bytes }, waiter, Stage::Waiting);
            state.enter(place);
            state.crowd = CROWD;
            self.more.notify_all();
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

    fn run_alone(
        &self,
        hands: Option<Hands>,
        size: usize,
        key: usize,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let sized = &self.sizes[size];
        let mut hands = hands.unwrap_or_else(|| Hands::new(sized));
        let blocks = status.len();
        let done = guarded(|| hands.alone(sized, key, inputs, outputs, status));
        self.counters.pass(blocks);
        (0..blocks).for_each(|_| self.counters.wait(Duration::ZERO));
        self.end(self.lock(), size, done.is_ok().then_some(hands), Vec::new());
        done
    }

    /// Computes one pass: the request that leads, if any, and what waits. Returns the leader's answer.
    fn lead<'queue>(
        &'queue self,
        mut state: MutexGuard<'queue, State>,
        size: usize,
        leader: Option<usize>,
    ) -> Option<Outcome> {
        let sized = &self.sizes[size];
        let count = |state: &State, place: usize| {
            state.requests[place].blocks.bytes.len() / sized.modulus_len
        };
        let oldest = leader.or_else(|| state.waiting[size].front().copied());
        if let (Some(linger), Some(oldest)) = (self.limits.linger, oldest) {
            let until = state.requests[oldest].since + linger;
            loop {
                let mut blocks: usize = state.waiting[size]
                    .iter()
                    .map(|&place| count(&state, place))
                    .sum();
                blocks += leader.map_or(0, |leader| count(&state, leader));
                let left = until.saturating_duration_since(Instant::now());
                if blocks >= sized.items || left.is_zero() {
                    break;
                }
                let waited = self.more.wait_timeout(state, left);
                state = waited.expect("nothing panics under this lock").0;
            }
        }
        if leader.is_some() && state.crowd > 0 && state.waiting[size].len() + 1 < sized.items {
            // There are more threads that ask than CPUs: those that are about to, but do not run, come first.
            drop(state);
            thread::yield_now();
            state = self.lock();
        }
        let mut places: Vec<usize> = leader.into_iter().collect();
        let mut blocks = leader.map_or(0, |leader| count(&state, leader));
        while let Some(&place) = state.waiting[size].front()
            && (places.is_empty() || blocks + count(&state, place) <= sized.items)
        {
            blocks += count(&state, place);
            state.waiting[size].pop_front();
            state.queued -= 1;
            state.requests[place].stage = Stage::Running;
            places.push(place);
        }
        state.crowd = match places.len() {
            0 | 1 => state.crowd.saturating_sub(1),
            _ => CROWD,
        };
        let requests: Vec<Blocks> = places
            .iter()
            .map(|&place| {
                let blocks = &mut state.requests[place].blocks;
                Blocks {
                    key: blocks.key,
                    bytes: std::mem::take(&mut blocks.bytes),
                }
            })
            .collect();
        let now = Instant::now();
        for (&place, request) in places.iter().zip(&requests) {
            let wait = now.saturating_duration_since(state.requests[place].since);
            (0..request.bytes.len() / sized.modulus_len).for_each(|_| self.counters.wait(wait));
        }
        let hands = state.hands[size].pop();
        let tasks = self.make_room(&mut state);
        drop(state);
        tasks.into_iter().for_each(Waker::wake);

        let mut outcomes = Vec::new();
        let mut hands = hands.unwrap_or_else(|| Hands::new(sized));
        let mut done = Ok(());
        if !places.is_empty() {
            self.counters.pass(blocks);
            match guarded(|| hands.pass(sized, &requests)) {
                Ok(answers) => outcomes.extend(answers.into_iter().map(Ok)),
                Err(error) => {
                    done = Err(());
                    outcomes.resize_with(places.len(), || Err(error.clone()));
                }
            }
        }
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
                abandoned.push(state.requests.remove(place));
                continue;
            }
            request.stage = Stage::Done(outcome);
            waiters.push(request.waiter.clone());
        }
        self.end(state, size, done.is_ok().then_some(hands), waiters);
        own
    }

    /// After a pass: whoever is done is told, and somebody else may compute.
    fn end(
        &self,
        mut state: MutexGuard<'_, State>,
        size: usize,
        hands: Option<Hands>,
        mut waiters: Vec<Waiter>,
    ) {
        state.hands[size].extend(hands);
        state.running -= 1;
        while state.running < self.limits.passes
            && let Some((size, place)) = state.oldest()
        {
            let request = &mut state.requests[place];
            let Waiter::Thread(_) = request.waiter else {
                self.work.notify_one();
                break;
            };
            request.stage = Stage::Leading;
            waiters.push(request.waiter.clone());
            state.waiting[size].pop_front();
            state.queued -= 1;
            state.running += 1;
        }
        let tasks = self.make_room(&mut state);
        // Not under the lock: a waker may drop a task, and with it another operation.
        drop(state);
        waiters.into_iter().for_each(Waiter::wake);
        tasks.into_iter().for_each(Waker::wake);
    }

    /// Lets in who waits for room, if there is any: threads by themselves, tasks by these wakers. All of them, for one may be gone.
    fn make_room(&self, state: &mut State) -> Vec<Waker> {
        if state.queued >= self.limits.waiting {
            return Vec::new();
        }
        self.room.notify_all();
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
    use std::{sync::Arc, task::Poll};

    /// As it is in a child: another process made the queue, and holds its lock.
    #[test]
    fn a_fork_is_told_and_does_not_lock() {
        let key = PrivateKey::generate(1024).unwrap();
        let size = Size::new(&CpuBackend::auto(), &[key]).unwrap();
        let limits = Limits {
            passes: 1,
            waiting: 1,
            linger: None,
        };
        let mut queue = Queue::new(vec![size], limits);
        queue.process ^= 1;
        let queue = Arc::new(queue);
        let _held = queue.state.lock().unwrap();
        let (block, mut result) = ([0; 128], [0; 128]);
        let asked = queue.run(0, 0, &block, &mut result, &mut [Status::Done], true);
        assert!(matches!(asked, Err(Error::Forked)));
        let bytes = Zeroizing::new(block.to_vec());
        let entered = queue.enter(0, &mut Some(Blocks { key: 0, bytes }), Waker::noop());
        assert!(matches!(entered, Err(Error::Forked)));
        assert!(matches!(
            queue.poll(0, Waker::noop()),
            Poll::Ready(Err(Error::Forked))
        ));
        queue.abandon(0);
        queue.close();
        assert_eq!(queue.waiting(), 0);
    }
}

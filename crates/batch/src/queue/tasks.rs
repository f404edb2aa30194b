//! Requests of tasks, and the workers that compute for them.

use std::{
    sync::Arc,
    task::{Poll, Waker},
};

use super::{
    Queue,
    state::{Stage, State, Waiter, wake},
};
use crate::{
    Error,
    pass::{Blocks, Outcome},
    sync::thread,
};

impl Queue {
    /// Enters a task's request, and returns its place. If as many wait as may it stays outside, and the task is woken
    /// when there is room. `blocks` is taken.
    pub(crate) fn enter(self: &Arc<Self>, blocks: &mut Option<Blocks>, waker: &Waker) -> Result<usize, Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        let blocks = blocks.take().expect("it has not entered yet");
        let items = blocks.key.items().map_err(Error::failed)?;
        let waiter = Waiter::Task(waker.clone());
        let mut state = self.lock();
        let size = state.size(&blocks.key, items);
        let place = state.add(size, blocks, waiter, Stage::Outside);
        let let_in = self.let_in(&mut state, place);
        let forgotten = let_in.is_err().then(|| state.forget(place));
        drop(state);
        drop(forgotten);
        let_in.map(|()| place)
    }

    /// Lets a request in that is outside, if there is room, and sees to it that a worker computes for it.
    fn let_in(self: &Arc<Self>, state: &mut State, place: usize) -> Result<(), Error> {
        if state.queued >= self.limits.waiting {
            state.outside.insert(place);
            return Ok(());
        }
        state.let_in(place);
        self.tell_lingering(state);
        if state.idle_workers > 0 {
            self.work.notify_one();
        } else if state.workers < self.limits.passes {
            state.workers += 1;
            let queue = Arc::clone(self);
            let started = thread::Builder::new()
                .name("rsalab-batch".to_owned())
                .spawn(move || queue.work());
            if let Err(error) = started {
                state.workers -= 1;
                if state.workers == 0 {
                    return Err(Error::Failed {
                        reason: format!("no thread can be started: {error}"),
                    });
                }
            }
        }
        Ok(())
    }

    /// A task's answer, if it is there. A request that is outside enters, if there is room.
    pub(crate) fn poll(self: &Arc<Self>, place: usize, waker: &Waker) -> Poll<Outcome> {
        if self.is_forked() {
            return Poll::Ready(Err(Error::Forked));
        }
        let waiter = Waiter::Task(waker.clone());
        let mut state = self.lock();
        let request = &mut state.requests[place];
        if let Stage::Done(_) = request.stage {
            let outcome = state.take(place);
            drop(state);
            return Poll::Ready(outcome);
        }
        let before = std::mem::replace(&mut request.waiter, waiter);
        let mut forgotten = None;
        let mut polled = Poll::Pending;
        if matches!(request.stage, Stage::Outside)
            && let Err(error) = self.let_in(&mut state, place)
        {
            forgotten = state.forget(place);
            polled = Poll::Ready(Err(error));
        }
        drop(state);
        drop((before, forgotten));
        polled
    }

    /// Forgets a task's request, and its waker: it is not computed, unless its pass has begun.
    pub(crate) fn abandon(&self, place: usize) {
        if self.is_forked() {
            return;
        }
        let mut state = self.lock();
        let forgotten = state.forget(place);
        let tasks = self.make_room(&mut state);
        drop(state);
        wake(tasks);
        drop(forgotten);
    }

    /// A worker: computes for tasks until the queue is closed.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            match self.next(&state) {
                Some((size, _)) => {
                    state.begin(size, 0);
                    self.lead(state, size, None);
                    state = self.lock();
                }
                None if state.is_closed && state.queued == 0 => break,
                _ => {
                    state.idle_workers += 1;
                    state = self.work.wait(state).expect("nothing panics under this lock");
                    state.idle_workers -= 1;
                }
            }
        }
        state.workers -= 1;
    }

    /// Nobody can ask any more: workers end.
    pub(crate) fn close(&self) {
        if !self.is_forked() {
            self.lock().is_closed = true;
            self.work.notify_all();
        }
    }
}

//! Requests of tasks, and the workers that compute for them.

use std::{
    sync::Arc,
    task::{Poll, Waker},
};

use super::{
    Queue,
    state::{Stage, Waiter},
};
use crate::{
    Error,
    pass::{Blocks, Outcome},
    sync::thread,
};

impl Queue {
    /// Enters a task's request, unless as many wait as may: then the task is woken when there is room. `blocks` is
    /// taken if it enters.
    pub(crate) fn enter(self: &Arc<Self>, blocks: &mut Option<Blocks>, waker: &Waker) -> Result<Option<usize>, Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        let items = blocks.as_ref().map_or(Ok(1), |blocks| blocks.key.items());
        let items = items.map_err(Error::failed)?;
        let mut state = self.lock();
        if state.queued >= self.limits.waiting {
            state.for_room.push(waker.clone());
            return Ok(None);
        }
        let blocks = blocks.take().expect("it has not entered yet");
        let size = state.size(&blocks.key, items);
        let place = state.add(size, blocks, Waiter::Task(waker.clone()), Stage::Waiting);
        state.enter(place);
        self.tell_lingering(&state);
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
                    state.forget(place);
                    return Err(Error::Failed {
                        reason: format!("no thread can be started: {error}"),
                    });
                }
            }
        }
        Ok(Some(place))
    }

    /// A task's answer, if it is there.
    pub(crate) fn poll(&self, place: usize, waker: &Waker) -> Poll<Outcome> {
        if self.is_forked() {
            return Poll::Ready(Err(Error::Forked));
        }
        let mut state = self.lock();
        let request = &mut state.requests[place];
        if let Stage::Done(_) = request.stage {
            return Poll::Ready(state.take(place));
        }
        let before = std::mem::replace(&mut request.waiter, Waiter::Task(waker.clone()));
        drop(state);
        drop(before);
        Poll::Pending
    }

    /// Forgets a task's request: it is not computed, unless its pass has begun.
    pub(crate) fn abandon(&self, place: usize) {
        if self.is_forked() {
            return;
        }
        let mut state = self.lock();
        let forgotten = state.forget(place);
        let tasks = self.make_room(&mut state);
        drop(state);
        drop(forgotten);
        tasks.into_iter().for_each(Waker::wake);
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

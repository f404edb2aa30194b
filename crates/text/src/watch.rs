//! The calling thread's side of work over threads: each worker's state, and the barrier before the start.

use std::{
    any::Any,
    sync::{Condvar, Mutex, PoisonError, mpsc::Sender},
    thread::ScopedJoinHandle,
    time::Instant,
};

use crate::outcome::{PartTrace, Reason};

/// The stages of a worker. `Waiting` leads to `Running` or `Failed`, `Running` to `Finished` or `Failed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Started, or about to be; not released yet.
    Waiting,
    /// Released.
    Running,
    /// Its part of the output is complete.
    Finished,
    /// Ended by an error or a panic.
    Failed,
}

/// A change of state, as the watcher receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The worker's number.
    pub id: usize,
    /// The stage it has entered.
    pub state: State,
}

/// The barrier behind which ready workers wait. Unlike [`std::sync::Barrier`] it needs no count: a worker that fails
/// before it, or that never got a thread, delays nobody.
#[derive(Default)]
pub(crate) struct StartBarrier {
    released: Mutex<Option<Release>>,
    opened: Condvar,
}

/// What ends the wait.
#[derive(Clone, Copy)]
enum Release {
    /// The release, at this time.
    At(Instant),
    /// Nothing is to be done.
    Cancelled,
}

impl StartBarrier {
    pub(crate) fn release(&self) {
        self.set(|| Release::At(Instant::now()));
    }

    /// Ends the wait of everybody, now or later, with nothing to do.
    pub(crate) fn cancel(&self) {
        self.set(|| Release::Cancelled);
    }

    /// Only the first call has an effect.
    fn set(&self, release: impl FnOnce() -> Release) {
        let mut released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        released.get_or_insert_with(release);
        self.opened.notify_all();
    }

    /// Waits, and returns the time of the release; `None` if the work was cancelled.
    pub(crate) fn wait(&self) -> Option<Instant> {
        let mut released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *released {
                Some(Release::At(instant)) => return Some(instant),
                Some(Release::Cancelled) => return None,
                None => {}
            }
            released = self
                .opened
                .wait(released)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Releases the barrier at the latest when the calling thread leaves, so that a panicking watcher does not leave workers waiting.
pub(crate) struct StartOnDrop<'a>(pub(crate) &'a StartBarrier);

impl Drop for StartOnDrop<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// The table of workers.
pub(crate) struct Watch<'scope, 'w, E> {
    entries: Vec<Entry<'scope, E>>,
    preparing: usize,
    watcher: &'w mut dyn FnMut(Event),
}

struct Entry<'scope, E> {
    state: State,
    ready: bool,
    handle: Option<ScopedJoinHandle<'scope, Result<PartTrace, Reason<E>>>>,
    result: Option<Result<PartTrace, Reason<E>>>,
}

impl<'scope, 'w, E> Watch<'scope, 'w, E> {
    pub(crate) fn new(threads: usize, watcher: &'w mut dyn FnMut(Event)) -> Self {
        let entries = (0..threads)
            .map(|_| Entry {
                state: State::Waiting,
                ready: false,
                handle: None,
                result: None,
            })
            .collect();
        Watch {
            entries,
            preparing: 0,
            watcher,
        }
    }

    pub(crate) fn started(
        &mut self,
        id: usize,
        handle: ScopedJoinHandle<'scope, Result<PartTrace, Reason<E>>>,
    ) {
        self.entries[id].handle = Some(handle);
        self.preparing += 1;
        (self.watcher)(Event {
            id,
            state: State::Waiting,
        });
    }

    pub(crate) fn not_started(&mut self, id: usize, error: std::io::Error) {
        self.entries[id].result = Some(Err(Reason::NotStarted(error)));
        self.enter(id, State::Failed);
    }

    pub(crate) fn anyone_preparing(&self) -> bool {
        self.preparing > 0
    }

    pub(crate) fn receive(&mut self, Signal { id, stage }: Signal) {
        match stage {
            Stage::Ready => {
                self.entries[id].ready = true;
                self.preparing -= 1;
            }
            Stage::Ended => self.collect(id),
        }
    }

    pub(crate) fn released(&mut self) {
        for id in 0..self.entries.len() {
            if self.entries[id].ready {
                self.enter(id, State::Running);
            }
        }
    }

    /// Takes in the result of a worker whose thread is at its end.
    fn collect(&mut self, id: usize) {
        let entry = &mut self.entries[id];
        // A thread that could not be started drops its reporter too; its reason is already in the table.
        let Some(handle) = entry.handle.take() else {
            return;
        };
        if !entry.ready {
            self.preparing -= 1;
        }
        let result = handle
            .join()
            .unwrap_or_else(|payload| Err(Reason::Panicked(panic_message(payload.as_ref()))));
        let state = if result.is_ok() {
            State::Finished
        } else {
            State::Failed
        };
        entry.result = Some(result);
        self.enter(id, state);
    }

    fn enter(&mut self, id: usize, next: State) {
        let state = &mut self.entries[id].state;
        assert!(
            state.leads_to(next),
            "worker {id} went from {state:?} to {next:?}"
        );
        *state = next;
        (self.watcher)(Event { id, state: next });
    }

    pub(crate) fn into_results(self) -> Vec<Result<PartTrace, Reason<E>>> {
        self.entries
            .into_iter()
            .map(|entry| {
                entry
                    .result
                    .expect("every reporter is gone, so every worker has been collected")
            })
            .collect()
    }
}

impl State {
    fn leads_to(self, next: State) -> bool {
        matches!(
            (self, next),
            (State::Waiting, State::Running | State::Failed)
                | (State::Running, State::Finished | State::Failed)
        )
    }
}

/// What a worker reports.
pub(crate) struct Signal {
    id: usize,
    stage: Stage,
}

pub(crate) enum Stage {
    Ready,
    Ended,
}

/// The worker's end of the channel. It reports even when its thread unwinds, so that no worker can end unnoticed.
pub(crate) struct Reporter {
    pub(crate) id: usize,
    pub(crate) signals: Sender<Signal>,
}

impl Reporter {
    pub(crate) fn send(&self, stage: Stage) {
        // The receiver lives until every reporter is gone; if its thread panicked, nobody needs the signal.
        let _ = self.signals.send(Signal { id: self.id, stage });
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.send(Stage::Ended);
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

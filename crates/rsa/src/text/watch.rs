//! The manager's side of work over threads: every worker's stage, and the gate they wait behind.

use std::{
    any::Any,
    sync::{Condvar, Mutex, PoisonError, mpsc::Sender},
    thread::ScopedJoinHandle,
    time::Instant,
};

use super::work::{PartTrace, Reason};

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

/// A change that the watcher is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The worker's number.
    pub id: usize,
    /// The stage it has entered.
    pub state: State,
}

/// The barrier behind which ready workers wait. Unlike [`std::sync::Barrier`] it needs no count, so a worker that fails
/// before it, or that never got a thread, holds nobody up.
#[derive(Default)]
pub(super) struct Gate {
    released: Mutex<Option<Release>>,
    opened: Condvar,
}

/// What those who wait are told.
#[derive(Clone, Copy)]
enum Release {
    /// Begin: they were released at this time.
    At(Instant),
    /// Leave without having done anything.
    CalledOff,
}

impl Gate {
    pub(super) fn open(&self) {
        self.tell(|| Release::At(Instant::now()));
    }

    /// Sends everybody away who waits, now or later.
    pub(super) fn call_off(&self) {
        self.tell(|| Release::CalledOff);
    }

    /// The first word counts.
    fn tell(&self, word: impl FnOnce() -> Release) {
        let mut released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        released.get_or_insert_with(word);
        self.opened.notify_all();
    }

    /// Returns when the gate was opened; none if the work was called off.
    pub(super) fn wait(&self) -> Option<Instant> {
        let mut released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *released {
                Some(Release::At(instant)) => return Some(instant),
                Some(Release::CalledOff) => return None,
                None => {}
            }
            released = self
                .opened
                .wait(released)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Opens the gate at the latest when the manager leaves, so that a panicking watcher does not leave workers waiting.
pub(super) struct OpenOnDrop<'a>(pub(super) &'a Gate);

impl Drop for OpenOnDrop<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// The manager's table of workers.
pub(super) struct Watch<'scope, 'w, E> {
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
    pub(super) fn new(threads: usize, watcher: &'w mut dyn FnMut(Event)) -> Self {
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

    pub(super) fn started(
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

    pub(super) fn not_started(&mut self, id: usize, error: std::io::Error) {
        self.entries[id].result = Some(Err(Reason::NotStarted(error)));
        self.enter(id, State::Failed);
    }

    pub(super) fn anyone_preparing(&self) -> bool {
        self.preparing > 0
    }

    pub(super) fn take(&mut self, Signal { id, stage }: Signal) {
        match stage {
            Stage::Ready => {
                self.entries[id].ready = true;
                self.preparing -= 1;
            }
            Stage::Ended => self.collect(id),
        }
    }

    pub(super) fn released(&mut self) {
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

    pub(super) fn into_results(self) -> Vec<Result<PartTrace, Reason<E>>> {
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

/// What a worker tells the manager.
pub(super) struct Signal {
    id: usize,
    stage: Stage,
}

pub(super) enum Stage {
    Ready,
    Ended,
}

/// The worker's line to the manager. It speaks even when its thread unwinds, so that no worker can end unnoticed.
pub(super) struct Reporter {
    pub(super) id: usize,
    pub(super) signals: Sender<Signal>,
}

impl Reporter {
    pub(super) fn tell(&self, stage: Stage) {
        // The manager listens until every reporter is gone; if it has itself panicked, nobody needs the signal.
        let _ = self.signals.send(Signal { id: self.id, stage });
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.tell(Stage::Ended);
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

//! What the calling thread hears of work over threads: the state of each worker.

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

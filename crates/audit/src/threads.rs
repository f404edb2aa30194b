//! Work on several CPUs.

use std::{
    panic::resume_unwind,
    sync::{Mutex, MutexGuard},
    thread,
};

/// A mutex's content, which a thread that panicked left as good as before: its panic ends the audit.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The results of a function for each item, each computed on a thread of its own, as far as the system gives threads.
pub(crate) fn on_threads<T: Send, R: Send>(items: Vec<T>, work: &(impl Fn(T) -> R + Sync)) -> Vec<R> {
    let cells: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let of_cell = |cell: &Mutex<Option<T>>| lock(cell).take().map(work);
    thread::scope(|scope| {
        let start = |cell| thread::Builder::new().spawn_scoped(scope, move || of_cell(cell)).ok();
        let started: Vec<_> = cells.iter().skip(1).map(start).collect();
        let first = cells.first().and_then(of_cell);
        let others = started
            .into_iter()
            .zip(cells.iter().skip(1))
            .map(|(thread, cell)| match thread {
                Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                None => of_cell(cell),
            });
        first.into_iter().chain(others.flatten()).collect()
    })
}

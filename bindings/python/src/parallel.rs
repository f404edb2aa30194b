//! Work shared by threads, detached from the interpreter.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use pyo3::prelude::*;
use rsalab_rsa::Result;

use crate::errors::raised;

/// How long a call may take before it looks whether somebody has pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(200);

/// Does parts of work on `threads` threads, the caller among them. Each thread makes what it works with, and takes the
/// next part whenever it has done one.
///
/// The caller is detached from the interpreter. In a long call it looks for signals from time to time.
///
/// # Errors
///
/// The first error, after which nothing is begun, or what a handler of a signal raised.
pub(crate) fn run<P: Send, W>(
    py: Python<'_>,
    parts: impl ExactSizeIterator<Item = P> + Send,
    threads: usize,
    prepare: impl Fn() -> Result<W> + Sync,
    work: impl Fn(&mut W, P) -> Result<()> + Sync,
) -> PyResult<()> {
    let threads = threads.min(parts.len());
    if threads == 0 {
        return Ok(());
    }
    let parts = Mutex::new(parts);
    let failure: Mutex<Option<PyErr>> = Mutex::new(None);
    let is_over = AtomicBool::new(false);
    let fail = |error| {
        is_over.store(true, Ordering::Relaxed);
        lock(&failure).get_or_insert(error);
    };
    let next = || match is_over.load(Ordering::Relaxed) {
        true => None,
        false => lock(&parts).next(),
    };
    let work_on = |after_each: &mut dyn FnMut() -> PyResult<()>| {
        let mut own = match prepare() {
            Ok(own) => own,
            Err(error) => return fail(raised(error)),
        };
        while let Some(part) = next() {
            if let Err(error) = work(&mut own, part).map_err(raised).and_then(|()| after_each()) {
                return fail(error);
            }
        }
    };
    py.detach(|| {
        thread::scope(|scope| {
            for _ in 1..threads {
                let started = thread::Builder::new().spawn_scoped(scope, || work_on(&mut || Ok(())));
                // Those that there are do it all.
                if started.is_err() {
                    break;
                }
            }
            let mut looked = Instant::now();
            work_on(&mut || {
                if looked.elapsed() < PATIENCE {
                    return Ok(());
                }
                let signals = Python::attach(|py| py.check_signals());
                looked = Instant::now();
                signals
            });
        });
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Threads that share a computation.
//!
//! `std::thread` gives each thread values with destructors, and the C library aborts where it cannot register those.
//! These threads are started without.

use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr,
};

/// The work of one thread, and what came of it.
struct Task<'a, R, W> {
    work: &'a W,
    number: usize,
    result: Option<R>,
}

/// Works with the numbers below `count`, each on a thread of its own, the first one on this, as are those for which the
/// system starts no thread. Gives what came of each: none of a thread that panicked.
pub fn on_threads<R: Send, W: Fn(usize) -> R + Sync>(count: usize, work: W) -> Vec<Option<R>> {
    let mut tasks: Vec<_> = (0..count)
        .map(|number| Task {
            work: &work,
            number,
            result: None,
        })
        .collect();
    let mut started: Vec<libc::pthread_t> = Vec::with_capacity(count);
    let mut own = Vec::with_capacity(count);
    for task in &mut tasks {
        if task.number == 0 {
            own.push(task);
            continue;
        }
        let mut thread = 0;
        let task = ptr::from_mut(task);
        // SAFETY: a place for the thread's name, and a function with what it works on, which stays until it is joined
        // below, whatever happens before.
        let refused = unsafe { libc::pthread_create(&mut thread, ptr::null(), run::<R, W>, task.cast()) };
        match refused {
            0 => started.push(thread),
            // SAFETY: no thread has it.
            _ => own.push(unsafe { &mut *task }),
        }
    }
    let done = catch_unwind(AssertUnwindSafe(|| {
        for task in own {
            task.result = Some(work(task.number));
        }
    }));
    for thread in started {
        // SAFETY: it was started above and is joined once.
        unsafe { libc::pthread_join(thread, ptr::null_mut()) };
    }
    if let Err(panic) = done {
        resume_unwind(panic);
    }
    tasks.into_iter().map(|task| task.result).collect()
}

extern "C" fn run<R, W: Fn(usize) -> R>(task: *mut c_void) -> *mut c_void {
    // SAFETY: `on_threads` passes a task to each thread, and looks at it after the thread's end.
    let task = unsafe { &mut *task.cast::<Task<'_, R, W>>() };
    match catch_unwind(AssertUnwindSafe(|| (task.work)(task.number))) {
        Ok(result) => task.result = Some(result),
        // Dropping it could panic anew.
        Err(panic) => std::mem::forget(panic),
    }
    ptr::null_mut()
}

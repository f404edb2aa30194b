//! A stack that is large enough for the arithmetic.
//!
//! The stack of an asynchronous job in OpenSSL has 32 KiB and no guard page. Each thread that computes in jobs maps one
//! of its own, with a guard page, once; it is unmapped when the thread ends. Nothing pauses on it, so that one serves
//! all jobs of a thread.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr,
};

use rsalab_reserve::PerThread;

use crate::failure::{Failure, Result};

/// Bytes of the stack: half of what Rust gives a thread of its own.
const SIZE: usize = 1 << 20;
/// Bytes of the guard: a page of 4 KiB to 64 KiB.
const GUARD: usize = 1 << 16;

struct Mapped(*mut u8);

impl Mapped {
    fn new() -> Option<Mapped> {
        // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                SIZE + GUARD,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let mapped = Mapped(base.cast());
        // SAFETY: the first `GUARD` bytes are of the mapping that was just made.
        let guarded = unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) };
        (guarded == 0).then_some(mapped)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody runs on it: `on_large_stack` takes it out while it is
        // used.
        unsafe { libc::munmap(self.0.cast(), SIZE + GUARD) };
    }
}

static STACK: PerThread<Cell<Option<Mapped>>> = PerThread::new(|| Cell::new(None));

/// Runs on a stack of 1 MiB. Fails if the system has no memory for one: what we have is too small.
pub(crate) fn on_large_stack<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    let kept = STACK.with(Cell::take).flatten();
    let mapped = kept.or_else(Mapped::new).ok_or(Failure::NO_MEMORY)?;
    // SAFETY: the `SIZE` bytes above the guard are mapped, aligned to pages and used by nobody else; no panic leaves
    // the closure.
    let result = unsafe { psm::on_stack(mapped.0.add(GUARD), SIZE, || catch_unwind(AssertUnwindSafe(body))) };
    // A thread that has no place for it maps another one the next time.
    let _ = STACK.with(|kept| kept.replace(Some(mapped)));
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs as [`on_large_stack`] inside an asynchronous job, and as it is outside.
pub(crate) fn on_large_stack_in_job<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    match super::jobs::current() {
        Some(_) => on_large_stack(body),
        None => body(),
    }
}

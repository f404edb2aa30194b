//! A stack with room for the arithmetic.
//!
//! The stack of an asynchronous job in OpenSSL has 32 KiB and no guard page. Each thread that computes in jobs maps one of its own,
//! with a guard page, once; it is unmapped when the thread ends. Nothing pauses on it, so that one serves all jobs of a thread.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr,
};

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
        // SAFETY: it was mapped with this length, and nobody runs on it: `roomy` takes it out while it is used.
        unsafe { libc::munmap(self.0.cast(), SIZE + GUARD) };
    }
}

thread_local! {
    static STACK: RefCell<Option<Mapped>> = const { RefCell::new(None) };
}

/// Runs on a stack of 1 MiB. Where none can be mapped, on the one we have.
pub(crate) fn roomy<T>(body: impl FnOnce() -> T) -> T {
    let taken = STACK.with_borrow_mut(Option::take).or_else(Mapped::new);
    let Some(mapped) = taken else {
        return body();
    };
    // SAFETY: the `SIZE` bytes above the guard are mapped, aligned to pages and used by nobody else; no panic leaves the closure.
    let result = unsafe {
        psm::on_stack(mapped.0.add(GUARD), SIZE, || {
            catch_unwind(AssertUnwindSafe(body))
        })
    };
    STACK.set(Some(mapped));
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// As [`roomy`] inside an asynchronous job, and as it is outside.
pub(crate) fn roomy_in_job<T>(body: impl FnOnce() -> T) -> T {
    match super::jobs::current() {
        Some(_) => roomy(body),
        None => body(),
    }
}

//! Private operations inside OpenSSL's asynchronous jobs, gathered into batches.
//!
//! ```text
//! job: enter the request ── a full pass has gathered: compute all of it, and answer
//!                        └─ else make the wait descriptor ready, and pause
//! resumed: answered meanwhile: return ── else compute all that has gathered, and answer
//! ```
//!
//! The descriptor of every paused job is ready at once, so that the event loop resumes it in its next round. What entered in the
//! round before is computed by the first that is resumed. There is no thread and no timer. The request of a job that is never
//! resumed is taken back when its connection is freed.

use std::{cell::RefCell, mem, process, sync::Arc};

use rsalab_rsa::Result;
use zeroize::Zeroizing;

use crate::{
    ffi::{
        jobs::{self, Job},
        stack,
    },
    key::Key,
    pass::{Asked, Request, alone, compute, fills},
    threads,
};

/// What has gathered on one thread.
#[derive(Default)]
struct Gathering {
    process: u32,
    waiting: Vec<Asked>,
}

thread_local! {
    static GATHERING: RefCell<Gathering> = RefCell::default();
}

/// The private operation on a block as long as the modulus: with others inside a job, and outside as `threads` has it.
///
/// # Errors
///
/// If the block is not below the modulus, the key has no private half, or the result failed its check.
pub(crate) fn private(key: &Arc<Key>, input: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>> {
    match jobs::current() {
        None => threads::private(key, input),
        Some(job) if job.may_pause() && stack::roomy(|| key.lanes())? > 1 => {
            together(key, input, job)
        }
        Some(_) => stack::roomy(|| alone(key, &input)),
    }
}

fn together(key: &Arc<Key>, input: Zeroizing<Vec<u8>>, job: Job) -> Result<Zeroizing<Vec<u8>>> {
    let lanes = key.lanes()?;
    let request = Arc::new(Request::of_job(input));
    let is_full = GATHERING.with_borrow_mut(|gathering| {
        if gathering.process != process::id() {
            // What gathered before a fork is the parent's.
            gathering.waiting.clear();
            gathering.process = process::id();
        }
        gathering.waiting.push(Asked::new(key, &request));
        fills(&gathering.waiting, key, lanes)
    });
    if !is_full {
        let request = Arc::clone(&request);
        // Where a job cannot pause, it computes what is there.
        job.pause(move || forget(&request));
    }
    // One that was resumed on another thread finds its request nowhere there, and computes for itself alone.
    if request.is_waiting() {
        let mut gathered = GATHERING.with_borrow_mut(|gathering| mem::take(&mut gathering.waiting));
        if !gathered.iter().any(|asked| asked.is(&request)) {
            gathered.push(Asked::new(key, &request));
        }
        stack::roomy(|| compute(&gathered));
    }
    request.answer()
}

/// Takes back the request of a job that is never resumed.
fn forget(request: &Arc<Request>) {
    request.take_back();
    // Of another thread's, or at the end of a thread, an empty request stays behind.
    let _ = GATHERING.try_with(|gathering| {
        if let Ok(mut gathering) = gathering.try_borrow_mut() {
            let waiting = &mut gathering.waiting;
            waiting.retain(|asked| !asked.is(request));
        }
    });
}

//! Private operations inside OpenSSL's asynchronous jobs, gathered into batches.
//!
//! ```text
//! job: enter the request ── a full pass has gathered: compute all of it, and answer
//!                        └─ else make the wait descriptor ready, and pause
//! resumed: answered meanwhile: return ── else compute all that has gathered, and answer
//! ```
//!
//! The descriptor of every paused job is ready at once, so that the event loop resumes it in its next round. What entered in the
//! round before is computed by the first that is resumed. There is no thread and no timer. No job waits for one that
//! is never resumed: its request stays with the others, and is computed with them.

use std::{
    cell::RefCell,
    mem, process,
    sync::{Arc, Mutex, PoisonError},
};

use rsalab_rsa::{Error, Result, Status};
use zeroize::Zeroizing;

use crate::{ffi::jobs, ffi::stack, key::Key};

/// The result of one private operation.
type Answer = std::result::Result<Zeroizing<Vec<u8>>, String>;

/// On the heap: OpenSSL frees the stacks of paused jobs without running a destructor.
struct Request {
    key: Arc<Key>,
    input: Zeroizing<Vec<u8>>,
    answer: Mutex<Option<Answer>>,
}

/// What has gathered on one thread.
#[derive(Default)]
struct Gathering {
    process: u32,
    waiting: Vec<Arc<Request>>,
}

thread_local! {
    static GATHERING: RefCell<Gathering> = RefCell::default();
}

/// The private operation on a block as long as the modulus: at once outside a job, with others inside.
///
/// # Errors
///
/// If the block is not below the modulus, the key has no private half, or the result failed its check.
pub(crate) fn private(key: &Arc<Key>, input: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let Some(job) = jobs::current() else {
        return alone(key, input);
    };
    let lanes = stack::roomy(|| key.lanes())?;
    if lanes < 2 {
        return stack::roomy(|| alone(key, input));
    }
    let request = Arc::new(Request {
        key: Arc::clone(key),
        input: Zeroizing::new(input.to_vec()),
        answer: Mutex::new(None),
    });
    let is_full = GATHERING.with_borrow_mut(|gathering| {
        if gathering.process != process::id() {
            // What gathered before a fork is the parent's.
            gathering.waiting.clear();
            gathering.process = process::id();
        }
        gathering.waiting.push(Arc::clone(&request));
        let same = gathering.waiting.iter();
        same.filter(|other| Arc::ptr_eq(&other.key, key)).count() >= lanes
    });
    if !is_full {
        // Where a job cannot pause, it computes what is there.
        job.pause();
    }
    // One that was resumed on another thread finds its request nowhere there, and computes for itself alone.
    if !is_answered(&request) {
        let mut gathered = GATHERING.with_borrow_mut(|gathering| mem::take(&mut gathering.waiting));
        if !gathered.iter().any(|other| Arc::ptr_eq(other, &request)) {
            gathered.push(Arc::clone(&request));
        }
        stack::roomy(|| compute(gathered));
    }
    let answer = request
        .answer
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    match answer {
        Some(Ok(output)) => Ok(output),
        Some(Err(reason)) => Err(Error::Scheme { reason }),
        None => Err(Error::Scheme {
            reason: "the operation was not computed".into(),
        }),
    }
}

fn is_answered(request: &Request) -> bool {
    let answer = request.answer.lock();
    answer.unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Computes requests, those of one key together.
fn compute(mut gathered: Vec<Arc<Request>>) {
    while let Some(first) = gathered.first().cloned() {
        let (group, rest) = gathered
            .into_iter()
            .partition(|other| Arc::ptr_eq(&other.key, &first.key));
        gathered = rest;
        answer(&first.key, &group);
    }
}

fn answer(key: &Key, group: &[Arc<Request>]) {
    let k = key.modulus_len();
    let mut inputs = Zeroizing::new(Vec::with_capacity(group.len() * k));
    for request in group {
        inputs.extend_from_slice(&request.input);
    }
    let mut outputs = Zeroizing::new(vec![0; inputs.len()]);
    let mut status = vec![Status::Done; group.len()];
    let ran = key.run_private(&inputs, &mut outputs, &mut status);
    for ((request, output), status) in group.iter().zip(outputs.chunks(k)).zip(status) {
        let answer = match (&ran, status) {
            (Ok(()), Status::Done) => Ok(Zeroizing::new(output.to_vec())),
            (Ok(()), status) => Err(reason(status).to_owned()),
            (Err(error), _) => Err(error.to_string()),
        };
        *request
            .answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }
}

fn alone(key: &Key, input: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let mut output = Zeroizing::new(vec![0; key.modulus_len()]);
    let mut status = [Status::Done];
    key.run_private(input, &mut output, &mut status)?;
    match status[0] {
        Status::Done => Ok(output),
        status => Err(Error::Scheme {
            reason: reason(status).into(),
        }),
    }
}

fn reason(status: Status) -> &'static str {
    match status {
        Status::OutOfRange => "the block is not below the modulus",
        _ => "the result failed its check and was withheld",
    }
}

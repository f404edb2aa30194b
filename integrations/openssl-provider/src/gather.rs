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
//!
//! A pass is of requests of one size, of one key or of several (see `shared`); what does not fill one is computed key by key.

use std::{
    cell::RefCell,
    mem, process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rsalab_rsa::{Error, Result, Status};
use zeroize::Zeroizing;

use crate::{
    ffi::{
        jobs::{self, Job},
        stack,
    },
    key::Key,
    shared::{self, Shape},
};

/// The result of one private operation.
type Answer = std::result::Result<Zeroizing<Vec<u8>>, String>;

enum State {
    Waiting(Zeroizing<Vec<u8>>),
    Answered(Answer),
    /// Its job has the answer, or will never be resumed.
    Done,
}

/// On the heap, and emptied when its connection is freed: a paused job that is never resumed drops nothing.
struct Request(Mutex<State>);

impl Request {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> State {
        mem::replace(&mut self.state(), State::Done)
    }
}

/// What has gathered on one thread.
#[derive(Default)]
struct Gathering {
    process: u32,
    waiting: Vec<(Arc<Key>, Arc<Request>)>,
}

thread_local! {
    static GATHERING: RefCell<Gathering> = RefCell::default();
}

/// The private operation on a block as long as the modulus: at once outside a job, with others inside.
///
/// # Errors
///
/// If the block is not below the modulus, the key has no private half, or the result failed its check.
pub(crate) fn private(key: &Arc<Key>, input: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>> {
    match jobs::current() {
        None => alone(key, &input),
        Some(job) if job.may_pause() && stack::roomy(|| key.lanes())? > 1 => {
            together(key, input, job)
        }
        Some(_) => stack::roomy(|| alone(key, &input)),
    }
}

fn together(key: &Arc<Key>, input: Zeroizing<Vec<u8>>, job: Job) -> Result<Zeroizing<Vec<u8>>> {
    let lanes = key.lanes()?;
    let request = Arc::new(Request(Mutex::new(State::Waiting(input))));
    let is_full = GATHERING.with_borrow_mut(|gathering| {
        if gathering.process != process::id() {
            // What gathered before a fork is the parent's.
            gathering.waiting.clear();
            gathering.process = process::id();
        }
        gathering
            .waiting
            .push((Arc::clone(key), Arc::clone(&request)));
        let shape = shape(key);
        let same = gathering.waiting.iter();
        same.filter(|(other, _)| self::shape(other) == shape)
            .count()
            >= lanes
    });
    if !is_full {
        let request = Arc::clone(&request);
        // Where a job cannot pause, it computes what is there.
        job.pause(move || forget(&request));
    }
    // One that was resumed on another thread finds its request nowhere there, and computes for itself alone.
    if matches!(*request.state(), State::Waiting(..)) {
        let mut gathered = GATHERING.with_borrow_mut(|gathering| mem::take(&mut gathering.waiting));
        if !gathered
            .iter()
            .any(|(_, other)| Arc::ptr_eq(other, &request))
        {
            gathered.push((Arc::clone(key), Arc::clone(&request)));
        }
        stack::roomy(|| compute(gathered));
    }
    match request.take() {
        State::Answered(Ok(output)) => Ok(output),
        State::Answered(Err(reason)) => Err(Error::Scheme { reason }),
        State::Waiting(..) | State::Done => Err(Error::Scheme {
            reason: "the operation was not computed".into(),
        }),
    }
}

/// Takes back the request of a job that is never resumed.
fn forget(request: &Arc<Request>) {
    request.take();
    // Of another thread's, or at the end of a thread, an empty request stays behind.
    let _ = GATHERING.try_with(|gathering| {
        if let Ok(mut gathering) = gathering.try_borrow_mut() {
            let waiting = &mut gathering.waiting;
            waiting.retain(|(_, other)| !Arc::ptr_eq(other, request));
        }
    });
}

fn shape(key: &Key) -> Option<Shape> {
    key.sharing().map(|sharing| sharing.shape())
}

/// A request with its input, which is not taken back while it is computed.
struct Entry {
    key: Arc<Key>,
    request: Arc<Request>,
    input: Zeroizing<Vec<u8>>,
}

/// Computes requests, those of one size together.
fn compute(gathered: Vec<(Arc<Key>, Arc<Request>)>) {
    let entry = |(key, request): (_, Arc<Request>)| {
        let input = match &*request.state() {
            State::Waiting(input) => input.clone(),
            State::Answered(_) | State::Done => return None,
        };
        Some(Entry {
            key,
            request,
            input,
        })
    };
    let mut entries: Vec<Entry> = gathered.into_iter().filter_map(entry).collect();
    while let Some(first) = entries.first() {
        let shape = shape(&first.key);
        let (mut same, rest) = entries
            .into_iter()
            .partition(|entry: &Entry| self::shape(&entry.key) == shape);
        entries = rest;
        // Those of one key stand together, in case each computes for itself.
        same.sort_by_key(|entry| entry.key.sharing().map(|sharing| sharing.id()));
        let together = worth_sharing(&same);
        match together > 0 && pass(&same[..together]) {
            true => by_key(&same[together..]),
            false => by_key(&same),
        }
    }
}

/// How many of these, which are of one size and sorted by key, are worth passes that keys share.
fn worth_sharing(entries: &[Entry]) -> usize {
    let [first, .., last] = entries else { return 0 };
    if Arc::ptr_eq(&first.key, &last.key) {
        return 0;
    }
    // What is left over after whole passes may be faster one by one.
    let fills = |items: &usize| first.key.fills(*items).unwrap_or(false);
    (2..=entries.len()).rev().find(fills).unwrap_or(0)
}

fn by_key(entries: &[Entry]) {
    for group in entries.chunk_by(|one, other| Arc::ptr_eq(&one.key, &other.key)) {
        let key = &group[0].key;
        run(group, |inputs, outputs, status| {
            Some(key.run_private(inputs, outputs, status))
        });
    }
}

/// Whether the keys were ready to share a pass.
fn pass(entries: &[Entry]) -> bool {
    let keys = entries.iter().map(|entry| entry.key.sharing().cloned());
    let Some(keys) = keys.collect::<Option<Vec<_>>>() else {
        return false;
    };
    run(entries, |inputs, outputs, status| {
        shared::run(&keys, inputs, outputs, status)
    })
}

/// Computes requests of one size, and answers them unless there is no result at all.
fn run(
    entries: &[Entry],
    compute: impl FnOnce(&[u8], &mut [u8], &mut [Status]) -> Option<Result<()>>,
) -> bool {
    let k = entries[0].key.modulus_len();
    let mut inputs = Zeroizing::new(Vec::with_capacity(k * entries.len()));
    for entry in entries {
        inputs.extend_from_slice(&entry.input);
    }
    let mut outputs = Zeroizing::new(vec![0; inputs.len()]);
    let mut status = vec![Status::Done; entries.len()];
    let Some(ran) = compute(&inputs, &mut outputs, &mut status) else {
        return false;
    };
    for ((entry, output), status) in entries.iter().zip(outputs.chunks(k)).zip(status) {
        let answer = match (&ran, status) {
            (Ok(()), Status::Done) => Ok(Zeroizing::new(output.to_vec())),
            (Ok(()), status) => Err(reason(status).to_owned()),
            (Err(error), _) => Err(error.to_string()),
        };
        let mut state = entry.request.state();
        // One that was taken back meanwhile has no job to answer.
        if matches!(*state, State::Waiting(..)) {
            *state = State::Answered(answer);
        }
    }
    true
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

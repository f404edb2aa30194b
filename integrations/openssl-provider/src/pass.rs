//! Private operations that were asked for side by side, and what computes them.
//!
//! A pass is of requests of one size, of one key or of several (see `shared`); what does not fill one is computed key
//! by key.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, Thread},
};

use rsalab_rsa::{Error, Result, Status};
use zeroize::Zeroizing;

use crate::{
    key::Key,
    memory::NO_MEMORY,
    shared::{self, Shape},
};

/// The result of one private operation.
type Answer = std::result::Result<Zeroizing<Vec<u8>>, String>;

enum State {
    Waiting(Zeroizing<Vec<u8>>),
    Answered(Answer),
    /// Whoever asked has the answer, or will never fetch it.
    Done,
}

/// On the heap, and emptied when its connection is freed: a paused job that is never resumed drops nothing.
pub(crate) struct Request {
    state: Mutex<State>,
    /// The thread that sleeps until there is an answer.
    thread: Option<Thread>,
}

impl Request {
    pub(crate) fn of_job(input: Zeroizing<Vec<u8>>) -> Request {
        let state = Mutex::new(State::Waiting(input));
        Request { state, thread: None }
    }

    /// Of this thread, which is [woken](Self::wake) when there is an answer.
    pub(crate) fn of_thread(input: Zeroizing<Vec<u8>>) -> Request {
        Request {
            thread: Some(thread::current()),
            ..Request::of_job(input)
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> State {
        mem::replace(&mut self.state(), State::Done)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        matches!(*self.state(), State::Waiting(..))
    }

    /// What was given; a failure if nothing was.
    pub(crate) fn answer(&self) -> Result<Zeroizing<Vec<u8>>> {
        let reason = match self.take() {
            State::Answered(Ok(output)) => return Ok(output),
            State::Answered(Err(reason)) => reason,
            State::Waiting(..) | State::Done => "the operation was not computed".into(),
        };
        Err(Error::Scheme { reason })
    }

    /// Nobody will fetch the answer.
    pub(crate) fn take_back(&self) {
        self.take();
    }

    /// Answers, unless there is an answer, or nobody to fetch it.
    fn give(&self, answer: Answer) {
        let mut state = self.state();
        if matches!(*state, State::Waiting(..)) {
            *state = State::Answered(answer);
            drop(state);
            self.wake();
        }
    }

    /// Answers that nothing was computed, where that is so.
    pub(crate) fn give_up(&self) {
        self.give(Err("the operation was not computed".into()));
    }

    /// Answers that there was no memory, where there is no other answer.
    pub(crate) fn refuse(&self) {
        self.give(Err(NO_MEMORY.into()));
    }

    pub(crate) fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

/// A request and its key.
pub(crate) struct Asked {
    key: Arc<Key>,
    pub(crate) request: Arc<Request>,
}

impl Asked {
    pub(crate) fn new(key: &Arc<Key>, request: &Arc<Request>) -> Asked {
        Asked {
            key: Arc::clone(key),
            request: Arc::clone(request),
        }
    }

    pub(crate) fn is(&self, request: &Arc<Request>) -> bool {
        Arc::ptr_eq(&self.request, request)
    }

    /// Whether it can share a pass with requests of this key.
    pub(crate) fn fits(&self, key: &Key) -> bool {
        shape(&self.key) == shape(key)
    }
}

/// Whether as many of these as there are lanes can share a pass with requests of this key.
pub(crate) fn fills(asked: &[Asked], key: &Key, lanes: usize) -> bool {
    asked.iter().filter(|asked| asked.fits(key)).count() >= lanes
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
pub(crate) fn compute(asked: &[Asked]) {
    let entry = |Asked { key, request }: &Asked| {
        let input = match &*request.state() {
            State::Waiting(input) => input.clone(),
            State::Answered(_) | State::Done => return None,
        };
        Some(Entry {
            key: Arc::clone(key),
            request: Arc::clone(request),
            input,
        })
    };
    let mut entries: Vec<Entry> = asked.iter().filter_map(entry).collect();
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
fn run(entries: &[Entry], compute: impl FnOnce(&[u8], &mut [u8], &mut [Status]) -> Option<Result<()>>) -> bool {
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
        entry.request.give(answer);
    }
    true
}

/// One operation, at once.
pub(crate) fn alone(key: &Key, input: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
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

//! Private operations inside OpenSSL's asynchronous jobs, gathered into batches.
//!
//! ```text
//! job: enter the request ── a full pass has gathered: compute all of it, and answer
//!                        └─ else make the wait descriptor ready, and pause
//! resumed: answered meanwhile: return ── else compute all that has gathered, and answer
//! ```
//!
//! The descriptor of every paused job is ready at once, so that the event loop resumes it in its next round. What
//! entered in the round before is computed by the first that is resumed. There is no thread and no timer. The request
//! of a job that is never resumed is taken back when its connection is freed. A thread whose requests come one at a
//! time pauses few of them.

use std::{cell::RefCell, mem, process, sync::Arc};

use rsalab_reserve::PerThread;
use rsalab_rsa::Result;
use zeroize::Zeroizing;

use crate::{
    ffi::{
        jobs::{self, Job},
        stack,
    },
    key::Key,
    memory,
    pass::{Asked, Request, alone, compute, fills},
    settings::Settings,
    threads,
};

/// What has gathered on one thread.
#[derive(Default)]
struct Gathering {
    process: u32,
    waiting: Vec<Asked>,
    /// How many requests, one after the other, found nobody to share a pass with.
    alone: u32,
}

/// After so many requests in a row that found nobody, a pause is in vain, and the next ones are computed at once,
const ALONE: u32 = 16;
/// except one in so many, which finds company when it comes: whoever asks while a job is paused joins it.
const PROBE: u32 = 8;

impl Gathering {
    /// Whether a job is to pause, so that others may join.
    fn is_worth_a_pause(&self) -> bool {
        !self.waiting.is_empty() || self.alone < ALONE || self.alone.is_multiple_of(PROBE)
    }

    fn note(&mut self, requests: usize) {
        self.alone = match requests {
            0 | 1 => self.alone.wrapping_add(1),
            _ => 0,
        };
    }
}

static GATHERING: PerThread<RefCell<Gathering>> = PerThread::new(RefCell::default);

/// The private operation on a block as long as the modulus: with others inside a job, and outside as `threads` has it.
///
/// # Errors
///
/// If the block is not below the modulus, the key has no private half, or the result failed its check.
pub(crate) fn private(settings: &Settings, key: &Arc<Key>, input: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>> {
    match jobs::current() {
        None => {
            let _memory = memory::operation()?;
            threads::private(settings.sharing, key, input)
        }
        Some(job) if job.may_pause(settings.abandoned_jobs) && lanes_in_job(key)? > 1 => together(key, input, job),
        Some(_) => alone_in_job(key, &input),
    }
}

/// The first time makes the key ready.
fn lanes_in_job(key: &Key) -> Result<usize> {
    let lanes = || {
        let _memory = memory::operation()?;
        key.lanes()
    };
    stack::roomy(lanes).ok_or_else(memory::refused)?
}

fn alone_in_job(key: &Key, input: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let alone = || {
        let _memory = memory::operation()?;
        alone(key, input)
    };
    stack::roomy(alone).ok_or_else(memory::refused)?
}

fn together(key: &Arc<Key>, input: Zeroizing<Vec<u8>>, job: Job) -> Result<Zeroizing<Vec<u8>>> {
    let lanes = key.lanes()?;
    let request = Arc::new(Request::of_job(input));
    let computes = GATHERING.with(|gathering| {
        let gathering = &mut *gathering.borrow_mut();
        if gathering.process != process::id() {
            // What gathered before a fork is the parent's.
            gathering.waiting.clear();
            gathering.process = process::id();
        }
        let is_worth_a_pause = gathering.is_worth_a_pause();
        gathering.waiting.push(Asked::new(key, &request));
        !is_worth_a_pause || fills(&gathering.waiting, key, lanes)
    });
    // A thread that has no place for what gathers computes at once.
    if computes == Some(false) {
        let request = Arc::clone(&request);
        // Where a job cannot pause, it computes what is there.
        job.pause(move || forget(&request));
    }
    // One that was resumed on another thread finds its request nowhere there, and computes for itself alone.
    if request.is_waiting() {
        let gathered = GATHERING.with(|gathering| {
            let gathering = &mut *gathering.borrow_mut();
            gathering.note(gathering.waiting.len());
            mem::take(&mut gathering.waiting)
        });
        let mut gathered = gathered.unwrap_or_default();
        if !gathered.iter().any(|asked| asked.is(&request)) {
            gathered.push(Asked::new(key, &request));
        }
        let computed: Option<Result<()>> = stack::roomy(|| {
            let _memory = memory::requests(gathered.len())?;
            compute(&gathered);
            Ok(())
        });
        if !matches!(computed, Some(Ok(()))) {
            gathered.iter().for_each(|asked| asked.request.refuse());
        }
    }
    request.answer()
}

/// Takes back the request of a job that is never resumed.
fn forget(request: &Arc<Request>) {
    request.take_back();
    // Of another thread's, or at the end of a thread, an empty request stays behind.
    let _ = GATHERING.with_made(|gathering| {
        if let Ok(mut gathering) = gathering.try_borrow_mut() {
            let waiting = &mut gathering.waiting;
            waiting.retain(|asked| !asked.is(request));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsalab_rsa::PrivateKey;

    #[test]
    fn who_finds_nobody_pauses_seldom_until_somebody_comes() {
        let mut gathering = Gathering::default();
        let pauses = |gathering: &mut Gathering, requests: u32, size| -> u32 {
            let one = |_| {
                let pause = gathering.is_worth_a_pause();
                gathering.note(size);
                u32::from(pause)
            };
            (0..requests).map(one).sum()
        };
        assert_eq!(pauses(&mut gathering, ALONE, 1), ALONE);
        assert_eq!(pauses(&mut gathering, 10 * PROBE, 1), 10);
        // One is paused: whoever comes joins it.
        let key = PrivateKey::generate(512).unwrap();
        let key = Arc::new(Key::from_private(key));
        let request = Arc::new(Request::of_job(vec![0; 64].into()));
        gathering.alone = ALONE + 1;
        assert!(!gathering.is_worth_a_pause());
        gathering.waiting.push(Asked::new(&key, &request));
        assert!(gathering.is_worth_a_pause());
        gathering.waiting.clear();
        // They shared a pass: the next ones pause again.
        gathering.note(2);
        assert_eq!(pauses(&mut gathering, ALONE, 1), ALONE);
    }
}

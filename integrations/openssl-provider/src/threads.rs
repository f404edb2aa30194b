//! Private operations outside jobs: of threads that ask side by side, together, where openssl.cnf wants that.
//!
//! ```text
//! ask ── fewer passes run than may: compute at once, with those that wait and fit
//!     │   (with a time to wait: once a pass is full, or the time is over)
//!     └─ else wait; who computes meanwhile answers, or wakes the oldest that waits when it is done
//! ```
//!
//! As many passes run at once as there are CPUs: more threads than that would wait for a CPU anyway. There is no thread
//! of our own.

use std::{
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rsalab_rsa::Result;
use zeroize::Zeroizing;

use crate::{
    key::Key,
    pass::{Asked, Request, alone, compute, fills},
};

/// How threads share passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// How many passes run at once.
    passes: usize,
    /// How long a request waits for a full pass, where it could be computed.
    wait: Duration,
}

impl Plan {
    /// One that could compute waits so long for a full pass.
    pub(crate) fn new(wait: Duration) -> Plan {
        Plan {
            passes: thread::available_parallelism().map_or(1, usize::from),
            wait,
        }
    }
}

struct Queue {
    running: usize,
    /// From the oldest to the youngest.
    waiting: Vec<Asked>,
}

impl Queue {
    /// Which then sees whether it may run.
    fn wake_oldest(&self) {
        if let Some(oldest) = self.waiting.first() {
            oldest.request.wake();
        }
    }
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    running: 0,
    waiting: Vec::new(),
});
/// The process that locked [`QUEUE`] last.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn lock() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// None in a child of a fork while another thread of its parent held the lock: nobody there will open it.
fn queue() -> Option<MutexGuard<'static, Queue>> {
    let process = process::id();
    if PROCESS.load(Ordering::Relaxed) == process {
        return Some(lock());
    }
    let mut queue = QUEUE.try_lock().ok()?;
    // Another thread may have come first.
    if PROCESS.swap(process, Ordering::Relaxed) != process {
        // What runs and waits is the parent's.
        queue.running = 0;
        queue.waiting.clear();
    }
    Some(queue)
}

/// The private operation on a block as long as the modulus; without a plan, by this thread alone.
///
/// # Errors
///
/// If the block is not below the modulus, the key has no private half, or the result failed its check.
pub(crate) fn private(plan: Option<Plan>, key: &Arc<Key>, input: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>> {
    let Some(plan) = plan else {
        return alone(key, &input);
    };
    let lanes = key.lanes()?;
    match queue() {
        Some(queue) if lanes > 1 => together(key, lanes, input, &plan, queue),
        _ => alone(key, &input),
    }
}

fn together(
    key: &Arc<Key>,
    lanes: usize,
    input: Zeroizing<Vec<u8>>,
    plan: &Plan,
    mut queue: MutexGuard<'static, Queue>,
) -> Result<Zeroizing<Vec<u8>>> {
    let request = Arc::new(Request::of_thread(input));
    queue.waiting.push(Asked::new(key, &request));
    let due = match plan.wait.is_zero() {
        true => None,
        false => Some(Instant::now() + plan.wait),
    };
    loop {
        let is_ours = queue.waiting.iter().any(|asked| asked.is(&request));
        let may_run = is_ours && queue.running < plan.passes;
        let left = due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
        if may_run && (left.is_zero() || fills(&queue.waiting, key, lanes)) {
            let pass = Pass::begin(&mut queue, key, lanes, &request, plan);
            drop(queue);
            compute(&pass.asked);
            drop(pass);
            return request.answer();
        }
        drop(queue);
        match may_run {
            true => thread::park_timeout(left),
            // Whoever computes answers this request, or wakes the oldest one at the end.
            false => thread::park(),
        }
        if !request.is_waiting() {
            return request.answer();
        }
        queue = lock();
    }
}

/// A pass that runs. At its end, even by a panic, its requests have answers, and the oldest that waits is woken.
struct Pass {
    asked: Vec<Asked>,
}

impl Pass {
    /// Takes this request and the oldest that fit, until all lanes are full.
    fn begin(queue: &mut Queue, key: &Key, lanes: usize, request: &Arc<Request>, plan: &Plan) -> Pass {
        let mut room = lanes - 1;
        let (asked, waiting) = queue.waiting.drain(..).partition(|asked| {
            let is_ours = asked.is(request);
            let is_taken = is_ours || room > 0 && asked.fits(key);
            room -= usize::from(is_taken && !is_ours);
            is_taken
        });
        queue.waiting = waiting;
        queue.running += 1;
        if queue.running < plan.passes {
            queue.wake_oldest();
        }
        Pass { asked }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        for asked in &self.asked {
            asked.request.give_up();
        }
        let mut queue = lock();
        queue.running -= 1;
        queue.wake_oldest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsalab_rsa::PrivateKey;

    /// 2 to the private exponent, which no other thread disturbs.
    fn two(key: &Arc<Key>) -> Zeroizing<Vec<u8>> {
        let plan = Some(Plan::new(Duration::ZERO));
        let mut block = vec![0; key.modulus_len()];
        *block.last_mut().unwrap() = 2;
        private(plan, key, block.into()).unwrap()
    }

    #[test]
    fn a_child_of_a_fork_waits_for_no_pass_of_its_parent() {
        let key = || Arc::new(Key::from_private(PrivateKey::generate(512).unwrap()));
        let (one, other) = (key(), key());
        let expected = alone(&one, &{
            let mut block = vec![0; 64];
            block[63] = 2;
            block
        });
        let expected = expected.unwrap();
        assert_eq!(two(&one), expected);
        // As a fork leaves it: passes that nobody runs here, and a request that nobody fetches.
        let stale = Arc::new(Request::of_job(vec![0; 64].into()));
        {
            let mut queue = lock();
            queue.running = Plan::new(Duration::ZERO).passes;
            queue.waiting.push(Asked::new(&other, &stale));
        }
        PROCESS.store(0, Ordering::Relaxed);
        assert_eq!(two(&one), expected);
        assert!(stale.is_waiting());
        {
            let queue = lock();
            assert_eq!((queue.running, queue.waiting.len()), (0, 0));
        }
        // And with the lock held by a thread that is not there.
        PROCESS.store(0, Ordering::Relaxed);
        let held = lock();
        assert_eq!(two(&one), expected);
        drop(held);
    }
}

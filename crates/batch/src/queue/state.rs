//! Requests, and where each of them stands.

use std::{
    collections::{BTreeSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    task::Waker,
    time::Instant,
};

use slab::Slab;

use crate::{
    keys::Key,
    pass::{Blocks, Outcome},
    shape::Shape,
    sync::thread::Thread,
};

/// Passes of one request each, one after another, after which nobody is expected to share the next one.
pub(super) const QUIET_PASSES: u32 = 16;

/// Of the jobs that are asked for then, one in so many is paused all the same: who asks meanwhile joins it.
const PROBE: u32 = 8;

pub(super) struct State {
    pub(super) running: usize,
    pub(super) requests: Slab<Request>,
    pub(super) sizes: Vec<Size>,
    pub(super) queued: usize,
    /// Passes of one request each since somebody had to wait, or shared one.
    pub(super) quiet: u32,
    pub(super) arrivals: u64,
    pub(super) workers: usize,
    pub(super) idle_workers: usize,
    /// Threads that wait for a fuller pass.
    pub(super) lingering: usize,
    /// Threads that have not entered.
    pub(super) threads_for_room: usize,
    /// Requests of tasks that have not entered, and are to be woken when there is room.
    pub(super) outside: BTreeSet<usize>,
    pub(super) is_closed: bool,
}

/// Requests for keys of one size.
pub(super) struct Size {
    shape: Shape,
    /// Blocks of a full pass.
    pub(super) items: usize,
    /// Requests that wait, the oldest first.
    pub(super) waiting: VecDeque<usize>,
    /// Blocks of those that wait.
    pub(super) blocks: usize,
    /// Of them, and of those to come, what passes will take along that have begun, but have not looked at what waits.
    pub(super) reserved_blocks: usize,
}

pub(super) struct Request {
    pub(super) size: usize,
    pub(super) count: usize,
    /// Until its pass begins.
    pub(super) blocks: Option<Blocks>,
    pub(super) arrival: u64,
    pub(super) since: Instant,
    pub(super) waiter: Waiter,
    pub(super) stage: Stage,
}

/// Not to be cloned or dropped under the lock: a waker is somebody else's code.
pub(super) enum Waiter {
    Thread(Thread),
    Task(Waker),
    /// Looks by itself: a job, when its event loop resumes it, or a task that was woken.
    Job,
}

pub(super) enum Stage {
    /// A task's, which has not entered: there was no room.
    Outside,
    Waiting,
    /// It is the waiter's turn to compute.
    Leading,
    Running,
    /// Nobody wants the answer any more.
    Abandoned,
    Done(Outcome),
}

/// Wakes those who wait, not under the lock: threads first, for a waker may take its time, or panic.
pub(super) fn wake(waiters: Vec<Waiter>) {
    let mut wakers = Vec::new();
    for waiter in waiters {
        match waiter {
            Waiter::Thread(thread) => thread.unpark(),
            Waiter::Task(waker) => wakers.push(waker),
            Waiter::Job => {}
        }
    }
    for waker in wakers {
        shielded(|| waker.wake());
    }
}

/// Calls what wakers do. If one panics, the others are woken all the same, and the thread, which may be a worker, goes
/// on.
pub(super) fn shielded(call: impl FnOnce()) {
    // The hook has reported the panic.
    let _ = catch_unwind(AssertUnwindSafe(call));
}

impl Size {
    /// Blocks that wait and are not reserved, with so many more.
    pub(super) fn free(&self, more: usize) -> usize {
        (self.blocks + more).saturating_sub(self.reserved_blocks)
    }

    /// A pass whose leader has so many blocks takes along what waits now.
    pub(super) fn end_reservation(&mut self, own: usize) {
        self.reserved_blocks -= self.items.saturating_sub(own);
    }
}

impl State {
    /// Of a queue that nobody has asked yet.
    pub(super) fn new(quiet: u32) -> Self {
        State {
            running: 0,
            requests: Slab::new(),
            sizes: Vec::new(),
            queued: 0,
            quiet,
            arrivals: 0,
            workers: 0,
            idle_workers: 0,
            lingering: 0,
            threads_for_room: 0,
            outside: BTreeSet::new(),
            is_closed: false,
        }
    }

    /// The place of a key's size, where a full pass has so many blocks.
    pub(super) fn size(&mut self, key: &Key, items: usize) -> usize {
        let is = |size: &Size| size.shape == key.shape && size.items == items;
        self.sizes.iter().position(is).unwrap_or_else(|| {
            self.sizes.push(Size {
                shape: key.shape,
                items,
                waiting: VecDeque::new(),
                blocks: 0,
                reserved_blocks: 0,
            });
            self.sizes.len() - 1
        })
    }

    /// `true` if requests come side by side, as far as is known.
    pub(super) fn is_crowded(&self) -> bool {
        self.quiet < QUIET_PASSES
    }

    /// `true` if a job is to pause, so that others may join it.
    pub(super) fn is_worth_a_pause(&self) -> bool {
        self.queued > 0 || self.is_crowded() || self.quiet.is_multiple_of(PROBE)
    }

    /// Takes note of a pass.
    pub(super) fn note(&mut self, requests: usize) {
        self.quiet = match requests {
            0 | 1 => self.quiet.wrapping_add(1),
            _ => 0,
        };
    }

    pub(super) fn add(&mut self, size: usize, blocks: Blocks, waiter: Waiter, stage: Stage) -> usize {
        self.arrivals += 1;
        self.requests.insert(Request {
            size,
            count: blocks.count(),
            blocks: Some(blocks),
            arrival: self.arrivals,
            since: Instant::now(),
            waiter,
            stage,
        })
    }

    pub(super) fn enter(&mut self, place: usize) {
        let Request { size, count, .. } = self.requests[place];
        let size = &mut self.sizes[size];
        size.waiting.push_back(place);
        size.blocks += count;
        self.queued += 1;
    }

    /// A request that was outside enters: its wait begins now.
    pub(super) fn let_in(&mut self, place: usize) {
        self.outside.remove(&place);
        self.arrivals += 1;
        let request = &mut self.requests[place];
        request.arrival = self.arrivals;
        request.since = Instant::now();
        request.stage = Stage::Waiting;
        self.enter(place);
    }

    /// The first of a size waits no longer.
    pub(super) fn leave(&mut self, size: usize, stage: Stage) {
        let size = &mut self.sizes[size];
        let place = size.waiting.pop_front().expect("one waits");
        let request = &mut self.requests[place];
        size.blocks -= request.count;
        self.queued -= 1;
        request.stage = stage;
    }

    /// Begins a pass, which takes along what waits when its leader, of so many blocks, runs.
    pub(super) fn begin(&mut self, size: usize, own: usize) {
        let size = &mut self.sizes[size];
        size.reserved_blocks += size.items.saturating_sub(own);
        self.running += 1;
    }

    /// The request that has waited longest, of those whose size may compute, and its size.
    pub(super) fn oldest(&self, may: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let sizes = self.sizes.iter().enumerate();
        sizes
            .filter_map(|(place, size)| Some((place, *size.waiting.front()?)))
            .filter(|&(place, _)| may(place))
            .min_by_key(|&(_, place)| self.requests[place].arrival)
    }

    /// A request waits no longer, wherever it stands.
    fn withdraw(&mut self, place: usize) {
        let Request { size, count, .. } = self.requests[place];
        let size = &mut self.sizes[size];
        size.waiting.retain(|&waiting| waiting != place);
        size.blocks -= count;
        self.queued -= 1;
    }

    /// A request that waits leads a pass, whoever came before it. Returns its size.
    pub(super) fn lead(&mut self, place: usize) -> usize {
        self.withdraw(place);
        let Request { size, count, stage, .. } = &mut self.requests[place];
        *stage = Stage::Leading;
        let (size, count) = (*size, *count);
        self.begin(size, count);
        size
    }

    /// Takes a request out, unless its pass runs.
    pub(super) fn forget(&mut self, place: usize) -> Option<Request> {
        match &mut self.requests[place].stage {
            stage @ Stage::Running => {
                *stage = Stage::Abandoned;
                return None;
            }
            Stage::Leading | Stage::Abandoned => return None,
            Stage::Outside => {
                self.outside.remove(&place);
            }
            Stage::Waiting => self.withdraw(place),
            Stage::Done(_) => {}
        }
        Some(self.requests.remove(place))
    }

    pub(super) fn take(&mut self, place: usize) -> Outcome {
        match self.requests.remove(place).stage {
            Stage::Done(outcome) => outcome,
            _ => unreachable!("it is done"),
        }
    }
}

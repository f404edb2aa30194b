//! Requests, and where each of them stands.

use std::{collections::VecDeque, sync::Arc, task::Waker, time::Instant};

use slab::Slab;

use crate::{
    Error,
    pass::{Answer, Blocks, Scratch, Together},
    sync::thread::Thread,
};

pub(crate) type Outcome = Result<Answer, Error>;

pub(super) struct State {
    pub(super) running: usize,
    pub(super) requests: Slab<Request>,
    pub(super) sizes: Vec<Size>,
    pub(super) queued: usize,
    /// Above 0 after threads had to wait: whoever computes lets others ask first.
    pub(super) crowd: u32,
    pub(super) arrivals: u64,
    pub(super) workers: usize,
    pub(super) idle_workers: usize,
    /// Threads that wait for a fuller pass.
    pub(super) lingering: usize,
    /// Threads that have not entered.
    pub(super) threads_for_room: usize,
    /// Tasks that have not entered.
    pub(super) for_room: Vec<Waker>,
    pub(super) is_closed: bool,
}

/// Keys of one size, and the requests for them.
pub(super) struct Size {
    /// Blocks of a full pass.
    pub(super) items: usize,
    /// Those that wait, the oldest first.
    pub(super) waiting: VecDeque<usize>,
    /// Blocks of those that wait.
    pub(super) blocks: usize,
    /// Blocks that passes will take along which have been begun, but have not looked yet at what waits.
    pub(super) promised: usize,
    /// For passes of several keys, where there are several.
    pub(super) together: Option<Arc<Together>>,
    /// Scratch memory that nobody uses.
    pub(super) scratch: Vec<Scratch>,
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

pub(super) enum Waiter {
    Thread(Thread),
    Task(Waker),
}

pub(super) enum Stage {
    Waiting,
    /// It is the waiter's turn to compute.
    Leading,
    Running,
    /// Nobody wants the answer any more.
    Abandoned,
    Done(Outcome),
}

impl Waiter {
    pub(super) fn wake(self) {
        match self {
            Waiter::Thread(thread) => thread.unpark(),
            Waiter::Task(waker) => waker.wake(),
        }
    }
}

impl Clone for Waiter {
    fn clone(&self) -> Self {
        match self {
            Waiter::Thread(thread) => Waiter::Thread(thread.clone()),
            Waiter::Task(waker) => Waiter::Task(waker.clone()),
        }
    }
}

impl Size {
    /// Blocks that wait and are not promised, with so many more.
    pub(super) fn free(&self, more: usize) -> usize {
        (self.blocks + more).saturating_sub(self.promised)
    }

    /// A pass whose leader has so many blocks takes along what waits now.
    pub(super) fn keep_promise(&mut self, own: usize) {
        self.promised -= self.items.saturating_sub(own);
    }
}

impl State {
    /// Of a queue without keys.
    pub(super) fn new() -> Self {
        State {
            running: 0,
            requests: Slab::new(),
            sizes: Vec::new(),
            queued: 0,
            crowd: 0,
            arrivals: 0,
            workers: 0,
            idle_workers: 0,
            lingering: 0,
            threads_for_room: 0,
            for_room: Vec::new(),
            is_closed: false,
        }
    }

    pub(super) fn add(&mut self, blocks: Blocks, waiter: Waiter, stage: Stage) -> usize {
        self.arrivals += 1;
        self.requests.insert(Request {
            size: blocks.key.size,
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
        size.promised += size.items.saturating_sub(own);
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

    /// Takes a request out, unless its pass runs.
    pub(super) fn forget(&mut self, place: usize) -> Option<Request> {
        let Request { size, count, stage, .. } = &mut self.requests[place];
        match stage {
            Stage::Running => {
                *stage = Stage::Abandoned;
                return None;
            }
            Stage::Waiting => {
                let size = &mut self.sizes[*size];
                size.waiting.retain(|&waiting| waiting != place);
                size.blocks -= *count;
                self.queued -= 1;
            }
            _ => {}
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

//! Requests, and where each of them stands.

use std::{collections::VecDeque, task::Waker, time::Instant};

use slab::Slab;

use crate::{
    Error,
    pass::{Answer, Blocks, Hands},
    sync::thread::Thread,
};

pub(crate) type Outcome = Result<Answer, Error>;

pub(super) struct State {
    pub(super) running: usize,
    pub(super) requests: Slab<Request>,
    /// Those that wait, by their sizes, the oldest first.
    pub(super) waiting: Vec<VecDeque<usize>>,
    pub(super) queued: usize,
    /// Above 0 after threads had to wait: whoever computes lets others ask first.
    pub(super) crowd: u32,
    pub(super) arrivals: u64,
    /// Scratch memory that nobody uses, by sizes.
    pub(super) hands: Vec<Vec<Hands>>,
    pub(super) workers: usize,
    pub(super) idle_workers: usize,
    /// Tasks that have not entered.
    pub(super) for_room: Vec<Waker>,
    pub(super) is_closed: bool,
}

pub(super) struct Request {
    pub(super) size: usize,
    pub(super) blocks: Blocks,
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

impl State {
    /// Of a queue for so many sizes of keys.
    pub(super) fn new(sizes: usize) -> Self {
        State {
            running: 0,
            requests: Slab::new(),
            waiting: (0..sizes).map(|_| VecDeque::new()).collect(),
            queued: 0,
            crowd: 0,
            arrivals: 0,
            hands: (0..sizes).map(|_| Vec::new()).collect(),
            workers: 0,
            idle_workers: 0,
            for_room: Vec::new(),
            is_closed: false,
        }
    }

    pub(super) fn add(
        &mut self,
        size: usize,
        blocks: Blocks,
        waiter: Waiter,
        stage: Stage,
    ) -> usize {
        self.arrivals += 1;
        self.requests.insert(Request {
            size,
            blocks,
            arrival: self.arrivals,
            since: Instant::now(),
            waiter,
            stage,
        })
    }

    pub(super) fn enter(&mut self, place: usize) {
        let size = self.requests[place].size;
        self.waiting[size].push_back(place);
        self.queued += 1;
    }

    /// The request that has waited longest, and its size.
    pub(super) fn oldest(&self) -> Option<(usize, usize)> {
        let fronts = self.waiting.iter().enumerate();
        fronts
            .filter_map(|(size, waiting)| Some((size, *waiting.front()?)))
            .min_by_key(|&(_, place)| self.requests[place].arrival)
    }

    /// Takes a request out, unless its pass runs.
    pub(super) fn forget(&mut self, place: usize) -> Option<Request> {
        let Request { size, stage, .. } = &mut self.requests[place];
        match stage {
            Stage::Running => {
                *stage = Stage::Abandoned;
                return None;
            }
            Stage::Waiting => {
                let waiting = &mut self.waiting[*size];
                waiting.retain(|&waiting| waiting != place);
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

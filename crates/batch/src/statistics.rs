//! How many requests each pass had, and how long they waited for it.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Classes of waiting times: class i holds those below 2^i µs, and at least half of that.
const WAITS: usize = 40;

/// What is counted while requests are answered.
pub(crate) struct Counters {
    passes: Vec<AtomicU64>,
    waits: [AtomicU64; WAITS],
}

impl Counters {
    /// For passes of at most so many requests.
    pub(crate) fn new(items: usize) -> Self {
        Counters {
            passes: (0..=items).map(|_| AtomicU64::new(0)).collect(),
            waits: [const { AtomicU64::new(0) }; WAITS],
        }
    }

    pub(crate) fn pass(&self, items: usize) {
        self.passes[items].fetch_add(1, Relaxed);
    }

    pub(crate) fn wait(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let class = (u64::BITS - micros.leading_zeros()) as usize;
        self.waits[class.min(WAITS - 1)].fetch_add(1, Relaxed);
    }

    pub(crate) fn so_far(&self) -> Statistics {
        let read = |counters: &[AtomicU64]| counters.iter().map(|count| count.load(Relaxed)).collect();
        Statistics {
            passes: read(&self.passes),
            waits: read(&self.waits),
        }
    }
}

/// What a [`Batcher`](crate::Batcher) has done since it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistics {
    passes: Vec<u64>,
    waits: Vec<u64>,
}

impl Statistics {
    /// How many passes had so many requests, for every number from 0 to the most that a pass has.
    pub fn passes(&self) -> &[u64] {
        &self.passes
    }

    /// How many requests waited below 1 µs, 2 µs, 4 µs and so on for their pass to begin, and not below half of that.
    /// One that is computed for at once does not wait.
    pub fn waits(&self) -> &[u64] {
        &self.waits
    }

    /// Requests that were computed.
    pub fn requests(&self) -> u64 {
        (0..).zip(&self.passes).map(|(items, passes)| items * passes).sum()
    }
}

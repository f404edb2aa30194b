//! How many requests each pass had, and how long they waited for it.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Classes of waiting times: class i holds those below 2^i µs, and at least half of that.
const WAITS: usize = 40;

/// How many passes had so many requests, for every number from 0 to the most that a pass has.
pub(crate) struct Passes(Vec<AtomicU64>);

impl Passes {
    /// For passes of at most so many requests.
    pub(crate) fn new(most: usize) -> Self {
        Passes((0..=most).map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn most(&self) -> usize {
        self.0.len() - 1
    }

    pub(crate) fn count(&self, requests: usize) {
        self.0[requests.min(self.most())].fetch_add(1, Relaxed);
    }

    pub(crate) fn so_far(&self) -> Vec<u64> {
        so_far(&self.0)
    }
}

/// How long requests waited.
pub(crate) struct Waits([AtomicU64; WAITS]);

impl Waits {
    pub(crate) fn new() -> Self {
        Waits([const { AtomicU64::new(0) }; WAITS])
    }

    pub(crate) fn count(&self, time: Duration, requests: usize) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let class = (u64::BITS - micros.leading_zeros()) as usize;
        self.0[class.min(WAITS - 1)].fetch_add(requests as u64, Relaxed);
    }

    pub(crate) fn so_far(&self) -> Vec<u64> {
        so_far(&self.0)
    }
}

fn so_far(counts: &[AtomicU64]) -> Vec<u64> {
    counts.iter().map(|count| count.load(Relaxed)).collect()
}

/// Counts of what a [`Batcher`](crate::Batcher) has done since it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistics {
    pub(crate) passes: Vec<u64>,
    pub(crate) waits: Vec<u64>,
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

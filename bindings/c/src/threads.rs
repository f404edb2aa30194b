//! How many threads work for a call.

use std::{num::NonZero, thread};

/// As many threads as the caller asks for, 0 for as many as there are CPUs; at least one, the caller's own, and no more
/// than there are parts of the work.
pub(crate) fn as_many_as(threads: usize, parts: usize) -> usize {
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    };
    threads.min(parts).max(1)
}

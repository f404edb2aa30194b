//! The histogram of batch sizes.

use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
};

/// Batches larger than this are counted with those of this size.
const MOST: usize = 64;

static BATCHES: [AtomicU64; MOST + 1] = [const { AtomicU64::new(0) }; MOST + 1];

/// Counts a batch of private operations.
pub(crate) fn count(size: usize) {
    BATCHES[size.min(MOST)].fetch_add(1, Ordering::Relaxed);
}

/// `size:batches` pairs, separated by spaces; the sizes that never occurred are left out.
pub(crate) fn histogram() -> String {
    let mut text = String::new();
    for (size, count) in BATCHES.iter().enumerate() {
        let count = count.load(Ordering::Relaxed);
        if count > 0 {
            let space = if text.is_empty() { "" } else { " " };
            let _ = write!(text, "{space}{size}:{count}");
        }
    }
    text
}

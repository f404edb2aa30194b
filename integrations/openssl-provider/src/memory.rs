//! How much memory a function that OpenSSL calls takes at most.
//!
//! Each takes a small reserve before it begins: for parameters, sentences of failures, and blocks of a few moduli. What
//! computes takes a large one within, so that a job that is paused holds the small one alone.

use std::{
    any::Any,
    sync::atomic::{AtomicUsize, Ordering},
};

use rsalab_reserve::{Reserve, need};

use crate::failure::{Failure, Result};

/// Enough for keys of 16384 bits: some blocks, names and sentences.
const SMALL: usize = 1 << 16;

/// Bits of the longest key so far, of all in this process.
static MOST_BITS: AtomicUsize = AtomicUsize::new(4096);

/// Takes note of a key.
pub(crate) fn note(bits: usize) {
    MOST_BITS.fetch_max(bits, Ordering::Relaxed);
}

fn most_bits() -> usize {
    MOST_BITS.load(Ordering::Relaxed)
}

/// For a function that does not compute. None if the system has no memory.
pub(crate) fn call() -> Option<Reserve> {
    Reserve::enter(SMALL)
}

/// For what computes with a key that was noted.
pub(crate) fn operation() -> Result<Reserve> {
    enter(need::operation(most_bits()))
}

/// For so many requests that are computed together.
pub(crate) fn requests(count: usize) -> Result<Reserve> {
    enter(need::operation(most_bits()) + count * need::item(most_bits()))
}

/// For so many keys that are made ready to share passes. None if the system has no memory.
pub(crate) fn shared_keys(count: usize) -> Option<Box<dyn Any>> {
    let reserve = Reserve::enter(need::operation(most_bits()) + count * need::shared_key(most_bits()))?;
    Some(Box::new(reserve))
}

/// For the generation of a key, or a test of its primes.
pub(crate) fn generation(bits: usize) -> Result<Reserve> {
    enter(need::generation(bits, 1))
}

/// For copies of what is as long as a caller likes, such as a label.
pub(crate) fn copies(len: usize) -> Result<Option<Reserve>> {
    match len {
        0..=1024 => Ok(None),
        len => enter(len.saturating_mul(8)).map(Some),
    }
}

fn enter(bytes: usize) -> Result<Reserve> {
    Reserve::enter(bytes).ok_or(Failure::NO_MEMORY)
}

//! The most that a plan may ask for.

use std::ops::RangeInclusive;

use rsalab_engines::{
    Exponent,
    job::{MAX_BATCH, MAX_KEYS, MAX_MESSAGE_BYTES, MAX_THREADS, MODULUS_BITS},
};

/// Modulus sizes that a study accepts, in bits; even ones only.
pub const BITS: RangeInclusive<usize> = MODULUS_BITS;
/// Thread counts that a study accepts; beyond the machine's CPUs a cell is marked as oversubscribed.
pub const THREADS: RangeInclusive<usize> = 1..=MAX_THREADS;
/// Batch sizes that a study accepts.
pub const BATCH: RangeInclusive<usize> = 1..=MAX_BATCH;
/// Primes that a study's keys may have; of how many a size may have there is
/// [`most_primes`](rsalab_rsa::keys::most_primes).
pub const PRIMES: RangeInclusive<usize> = rsalab_engines::job::PRIMES;
/// Keys that the items of a batch may be under by turns.
pub const KEYS: RangeInclusive<usize> = 1..=MAX_KEYS;
/// Bytes that a message to be signed may have.
pub const MESSAGE_BYTES: RangeInclusive<usize> = 1..=MAX_MESSAGE_BYTES;
/// Sizes of a text that a study accepts, in symbols of one byte.
pub const SYMBOLS: RangeInclusive<usize> = 1..=100_000_000;
/// Bytes that a plan's own text may have: it is a part of the plan.
pub const MAX_TEXT: usize = 1_000_000;
/// Messages that a text may be of.
pub const MAX_MESSAGES: usize = 1_000_000;
/// Blocks that one message may be cut into.
pub const MAX_PORTIONS: usize = MAX_THREADS;
/// Counts of calls after which a study ends a cell.
pub const REPEATS: RangeInclusive<u64> = 1..=1_000_000_000_000;
/// The most bytes that the ciphertext of one text may take: it is held in memory.
pub const MAX_CIPHERTEXT_BYTES: usize = 1 << 30;
/// The most bytes a plan file may have.
pub const MAX_FILE_BYTES: u64 = 1 << 20;
/// The most cells a plan may unfold into.
pub const MAX_CELLS: usize = 100_000;
/// The public exponent where a plan names none.
pub const DEFAULT_EXPONENT: Exponent = Exponent::F4;

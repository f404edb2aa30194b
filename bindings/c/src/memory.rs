//! How much memory calls take at most: each takes as much as its reserve before it begins.

use std::sync::atomic::{AtomicUsize, Ordering};

use rsalab_reserve::need;

/// Memory of scrypt that an encrypted key may ask for, and some.
const PASSWORD: usize = 56 << 20;

/// Bits of the longest key so far, of all in this process.
static MOST_BITS: AtomicUsize = AtomicUsize::new(4096);

/// Takes note of a key.
pub(crate) fn note(bits: usize) {
    MOST_BITS.fetch_max(bits, Ordering::Relaxed);
}

fn most_bits() -> usize {
    MOST_BITS.load(Ordering::Relaxed)
}

/// For a call about one item or a few.
pub(crate) fn call() -> usize {
    need::operation(most_bits())
}

/// For a call about so many items.
pub(crate) fn items(count: usize) -> usize {
    many(count, need::item(most_bits()))
}

/// For a call that makes so many keys of a batcher ready.
pub(crate) fn keys(count: usize) -> usize {
    many(count, need::shared_key(most_bits()))
}

/// For a call about many. More than any memory holds is refused by the checks of the arguments.
fn many(count: usize, each: usize) -> usize {
    match count > isize::MAX as usize / size_of::<[usize; 2]>() {
        true => call(),
        false => call().saturating_add(count.saturating_mul(each)),
    }
}

/// For a call that reads or writes a file of a key, under a password or not.
pub(crate) fn file(len: usize, has_password: bool) -> usize {
    let password = if has_password { PASSWORD } else { 0 };
    call()
        .saturating_add(need::file(len.min(MOST_FILE)))
        .saturating_add(password)
}

/// For a call that reads files of private keys of so many bytes each, under a password or not, and tests primes.
pub(crate) fn files(lens: impl Iterator<Item = usize>, has_password: bool) -> usize {
    let (mut longest, mut kept) = (0, 0_usize);
    for len in lens {
        longest = longest.max(len);
        kept = kept.saturating_add(KEPT).saturating_add(4 * len.min(MOST_FILE));
    }
    file(longest, has_password).saturating_add(kept)
}

/// What is kept of a file is as long as the file at most, and this.
const KEPT: usize = 4096;

/// Longer files are refused unread.
const MOST_FILE: usize = 1 << 20;

/// For a thread that generates so many keys of so many bits.
pub(crate) use rsalab_reserve::need::generation;

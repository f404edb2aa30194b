//! How much memory calls take at most: each takes as much as its reserve before it begins.

use std::sync::atomic::{AtomicUsize, Ordering};

use rsalab_reserve::need;

/// Memory of scrypt that an encrypted key may ask for, and some.
const PASSWORD: usize = 56 << 20;

/// A call takes as much as with a key of so many bits at least.
const LEAST_BITS: usize = 4096;

/// An entry of a list takes less than an item with a key of so many bits.
const LISTED_BITS: usize = 1024;

/// Bits of the longest key so far, of all in this process.
static MOST_BITS: AtomicUsize = AtomicUsize::new(LEAST_BITS);

/// Takes note of a key.
pub(crate) fn note(bits: usize) {
    MOST_BITS.fetch_max(bits, Ordering::Relaxed);
}

/// For a call about one item or a few, with a key of whatever length.
pub(crate) fn call() -> usize {
    need::operation(MOST_BITS.load(Ordering::Relaxed))
}

/// For a call about so many items with a key of so many bits: what it asks for does not depend on other keys, which
/// may be longer. More than any memory holds is refused by the checks of the arguments.
pub(crate) fn items(count: usize, bits: usize) -> usize {
    let call = need::operation(bits.max(LEAST_BITS));
    match count > isize::MAX as usize / size_of::<[usize; 2]>() {
        true => call,
        false => call.saturating_add(count.saturating_mul(need::item(bits))),
    }
}

/// For a call about so many keys or files, of each of which there is little but what others of these functions count.
pub(crate) fn list(count: usize) -> usize {
    items(count, LISTED_BITS)
}

/// For making keys of so many bits each ready for a batcher.
pub(crate) fn shared_keys(bits: impl Iterator<Item = usize>) -> usize {
    bits.map(need::shared_key).fold(0, usize::saturating_add)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_batch_asks_for_does_not_depend_on_other_keys() {
        let (before, call_before) = (items(1000, 1024), call());
        note(16384);
        assert!(call() > call_before);
        assert_eq!(items(1000, 1024), before);
        assert_eq!(items(1000, 1024) - items(0, 1024), 1000 * need::item(1024));
        assert_eq!(items(usize::MAX, 1024), items(0, 1024));
        let shared = shared_keys([1024, 2048].into_iter());
        assert_eq!(shared, need::shared_key(1024) + need::shared_key(2048));
        assert_eq!(shared_keys(std::iter::empty()), 0);
    }
}

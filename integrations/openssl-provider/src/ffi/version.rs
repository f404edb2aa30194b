//! The version of OpenSSL that has us loaded, and what depends on it.

use std::sync::atomic::{AtomicU32, Ordering};

/// Major and minor number. A process has one libcrypto.
static VERSION: AtomicU32 = AtomicU32::new(3 << 16);

const fn number(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}

/// Takes note of a version, as `3.5.5`.
pub(super) fn set(text: &str) {
    let mut parts = text.split('.').map_while(|part| part.parse().ok());
    if let (Some(major), Some(minor)) = (parts.next(), parts.next()) {
        VERSION.store(number(major, minor), Ordering::Relaxed);
    }
}

fn is_at_least(major: u32, minor: u32) -> bool {
    VERSION.load(Ordering::Relaxed) >= number(major, minor)
}

/// Whether there are signature algorithms with a digest in their name. Before, some of their names are names of digests.
pub(super) fn has_sigalgs() -> bool {
    is_at_least(3, 4)
}

/// Whether a salt may be as long as the digest or as possible; then it is, unless something else is asked for. Before, it is as long as possible.
pub(crate) fn has_auto_digest_max() -> bool {
    is_at_least(3, 1)
}

/// Whether a key that is restricted to a length of salt signs with a length of "auto", and does not verify with it. Since 3.4 it is the other way round.
pub(crate) fn signs_with_auto() -> bool {
    !is_at_least(3, 4)
}

/// Primes of a private key that OpenSSL takes at most. From 3.5 to 4.0 it takes those after the second one in reverse, and their coefficients are
/// wrong then; 3.0 does not. What those between do was not seen.
pub(super) fn most_primes() -> usize {
    match is_at_least(3, 1) {
        true => 3,
        false => usize::MAX,
    }
}

/// Why a key with more primes is refused.
pub(super) const TOO_MANY_PRIMES: &str =
    "this version of OpenSSL mixes up the primes of a key that has more than three";

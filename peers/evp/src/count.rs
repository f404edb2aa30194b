//! The count of primality tests, from the events that libcrypto reports while it searches primes.
//!
//! An event is a kind and a number. Two searches report differently (sources: `bn_prime.c`, `bn_rsa_fips186_4.c` and
//! its successor `bn_rsa_fips186_5.c`, `rsa_gen.c`):
//!
//! | event | plain search | search by auxiliary primes |
//! |---|---|---|
//! | 0 | a candidate passed the sieve and goes to Miller–Rabin | a candidate, before trial division |
//! | 1, −1 | – | a candidate passed trial division and goes to Miller–Rabin |
//! | 1, i | it passed round i | it passed round i |
//! | 2 | a prime is refused | an auxiliary prime is found |
//! | 3 | a prime of the key is found | a prime of the key is found |
//!
//! Events come on the thread that asked for the prime, through a C function that takes no pointer common to all
//! versions: the count is therefore kept per thread.

use std::{cell::Cell, ffi::c_int};

use crate::table::{GenCallback, PkeyCtx};

/// How primes are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Candidates upward from a random start, sieved by small primes.
    Plain,
    /// AWS-LC's: independent random candidates. It reports those for whole keys before trial division, so that their
    /// tests are not known; those for single primes after it.
    Independent,
    /// FIPS 186-4 B.3.6, FIPS 186-5 A.1.6: candidates congruent to conditions set by two auxiliary primes.
    Auxiliary,
}

/// Reads the two numbers of the event that is being reported.
pub(crate) type KeygenInfo = unsafe extern "C" fn(*mut PkeyCtx, c_int) -> c_int;

/// The counts so far on this thread.
#[derive(Clone, Copy)]
struct Count {
    search: Search,
    info: Option<KeygenInfo>,
    /// Auxiliary primes found since the last prime of the key; there are two to each.
    auxiliary_found: u8,
    tests: u64,
}

thread_local! {
    static COUNT: Cell<Count> = const {
        Cell::new(Count { search: Search::Plain, info: None, auxiliary_found: 0, tests: 0 })
    };
}

/// Counts the primality tests of candidates for primes of a key that `body` does on this thread.
pub(crate) fn tests_of<T>(search: Search, info: KeygenInfo, body: impl FnOnce() -> T) -> (T, u64) {
    COUNT.set(Count {
        search,
        info: Some(info),
        auxiliary_found: 0,
        tests: 0,
    });
    let result = body();
    (result, COUNT.get().tests)
}

/// The callback of a `BN_GENCB`.
pub(crate) extern "C" fn prime_event(kind: c_int, number: c_int, _: *mut GenCallback) -> c_int {
    record(kind, number);
    1
}

/// The callback of a key generation.
pub(crate) extern "C" fn keygen_event(ctx: *mut PkeyCtx) -> c_int {
    if let Some(info) = COUNT.get().info {
        // SAFETY: libcrypto hands its own live context to this callback, and 0 and 1 are the two numbers of an event.
        let (kind, number) = unsafe { (info(ctx, 0), info(ctx, 1)) };
        record(kind, number);
    }
    1
}

fn record(kind: c_int, number: c_int) {
    let mut count = COUNT.get();
    match (count.search, kind, number) {
        (Search::Plain | Search::Independent, 0, _) => count.tests += 1,
        (Search::Auxiliary, 2, _) => count.auxiliary_found += 1,
        (Search::Auxiliary, 3, _) => count.auxiliary_found = 0,
        (Search::Auxiliary, 1, -1) if count.auxiliary_found == 2 => count.tests += 1,
        _ => {}
    }
    COUNT.set(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn no_info(_: *mut PkeyCtx, _: c_int) -> c_int {
        0
    }

    fn counted(search: Search, events: &[(c_int, c_int)]) -> u64 {
        tests_of(search, no_info, || {
            events.iter().for_each(|&(kind, number)| record(kind, number))
        })
        .1
    }

    #[test]
    fn plain_search_counts_candidates_after_the_sieve() {
        // Two candidates fail, the third passes two rounds and is a prime of the key.
        assert_eq!(
            counted(Search::Plain, &[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (3, 0)]),
            3
        );
    }

    #[test]
    fn auxiliary_search_counts_neither_auxiliary_primes_nor_trial_division() {
        let auxiliary = [(0, 1), (1, -1), (0, 2), (1, -1), (1, 0), (2, 2)];
        let prime = [(0, 2), (0, 2), (1, -1), (0, 2), (1, -1), (1, 0), (3, 0)];
        let one: Vec<_> = auxiliary.iter().chain(&auxiliary).chain(&prime).copied().collect();
        assert_eq!(counted(Search::Auxiliary, &one), 2);
        assert_eq!(
            counted(Search::Auxiliary, &[one.as_slice(), one.as_slice()].concat()),
            4
        );
    }
}

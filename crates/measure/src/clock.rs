//! Clocks, and the cost of reading them.

use std::sync::{Mutex, OnceLock};

use crate::tsc::Tsc;

/// One look at the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Nanoseconds of a monotonic clock.
    pub ns: u64,
    /// Ticks of the time-stamp counter, where there is one that runs at a constant rate.
    pub tsc_ticks: Option<u64>,
}

/// A clock that stretches of code can be timed with.
///
/// `begin` and `end` are apart because their fences are: see [`tsc`](crate::tsc).
pub trait Clock {
    /// Nanoseconds since the clock's epoch; never runs backwards.
    fn now_ns(&self) -> u64;

    /// A reading that nothing after it can move in front of.
    fn begin(&self) -> Reading;

    /// A reading that waits for everything before it.
    fn end(&self) -> Reading;

    /// The time that `begin` and `end` report with nothing between them: to be subtracted from every interval.
    fn overhead(&self) -> Reading;
}

/// The operating system's monotonic clock, together with the time-stamp counter.
///
/// On Unix this is `CLOCK_MONOTONIC`: readings of several processes on one machine share an epoch, so that the brackets
/// of a coordinator and the blocks of its workers can be compared. It is slewed by NTP by at most 500 parts in a
/// million, alike for everything that is measured in interleaved blocks.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    tsc: Option<Tsc>,
    overhead: Reading,
}

impl Monotonic {
    /// The clock of this process. The first call measures the overhead, which takes less than a millisecond.
    pub fn get() -> &'static Monotonic {
        static CLOCK: OnceLock<Monotonic> = OnceLock::new();
        CLOCK.get_or_init(|| {
            let mut clock = Monotonic {
                tsc: Tsc::detect().ok(),
                overhead: Reading::default(),
            };
            clock.overhead = clock.smallest_empty_interval();
            clock
        })
    }

    /// The minimum of many empty pairs: what the reading itself costs when nothing disturbs it. A mean would subtract
    /// interrupts that the measured interval did not suffer.
    fn smallest_empty_interval(&self) -> Reading {
        const PAIRS: usize = 4096;
        let mut least = Reading {
            ns: u64::MAX,
            tsc_ticks: self.tsc.map(|_| u64::MAX),
        };
        for _ in 0..PAIRS {
            let begin = self.begin();
            let end = self.end();
            least.ns = least.ns.min(end.ns - begin.ns);
            least.tsc_ticks = least
                .tsc_ticks
                .map(|ticks| ticks.min(ticks_between(begin, end).unwrap_or(ticks)));
        }
        least
    }
}

impl Clock for Monotonic {
    fn now_ns(&self) -> u64 {
        monotonic_ns()
    }

    #[inline]
    fn begin(&self) -> Reading {
        let ns = monotonic_ns();
        Reading {
            ns,
            tsc_ticks: self.tsc.map(Tsc::begin),
        }
    }

    #[inline]
    fn end(&self) -> Reading {
        let tsc_ticks = self.tsc.map(Tsc::end);
        Reading {
            ns: monotonic_ns(),
            tsc_ticks,
        }
    }

    fn overhead(&self) -> Reading {
        self.overhead
    }
}

/// Ticks from one reading to another. The counters of two cores may disagree by a little, so that a thread that moved
/// can see a negative interval: that is no ticks, not 2⁶⁴ of them.
pub(crate) fn ticks_between(begin: Reading, end: Reading) -> Option<u64> {
    Some(end.tsc_ticks?.saturating_sub(begin.tsc_ticks?))
}

#[cfg(unix)]
#[inline]
fn monotonic_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Seconds since boot are not negative, and nanoseconds are below 10⁹.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(not(unix))]
fn monotonic_ns() -> u64 {
    static EPOCH: OnceLock<std::time::Instant> = OnceLock::new();
    EPOCH.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

/// A clock that tests move by hand.
///
/// Time stands still until [`advance`](MockClock::advance); the operation under test calls it to say how long it took.
/// Its counter runs at two ticks a nanosecond.
#[derive(Debug, Default)]
pub struct MockClock {
    now_ns: Mutex<u64>,
    read_cost_ns: u64,
}

impl MockClock {
    /// A clock at 0 whose readings cost nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A clock at 0 on which every `end` comes `read_cost_ns` late, and which states that as its overhead.
    pub fn with_read_cost(read_cost_ns: u64) -> Self {
        MockClock {
            read_cost_ns,
            ..Self::default()
        }
    }

    /// Lets time pass.
    pub fn advance(&self, ns: u64) {
        *self.lock() += ns;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, u64> {
        // A number cannot be left half written by a panic elsewhere.
        self.now_ns.lock().unwrap_or_else(|held| held.into_inner())
    }

    fn reading(ns: u64) -> Reading {
        Reading {
            ns,
            tsc_ticks: Some(2 * ns),
        }
    }
}

impl Clock for MockClock {
    fn now_ns(&self) -> u64 {
        *self.lock()
    }

    fn begin(&self) -> Reading {
        Self::reading(self.now_ns())
    }

    fn end(&self) -> Reading {
        self.advance(self.read_cost_ns);
        Self::reading(self.now_ns())
    }

    fn overhead(&self) -> Reading {
        Self::reading(self.read_cost_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_passes_and_never_runs_backwards() {
        let clock = Monotonic::get();
        let start_ns = clock.now_ns();
        let mut last_ns = start_ns;
        while last_ns == start_ns {
            let now_ns = clock.now_ns();
            assert!(now_ns >= last_ns);
            last_ns = now_ns;
        }
    }

    #[test]
    fn overhead_is_no_more_than_an_empty_interval() {
        let clock = Monotonic::get();
        // The minimum of many cannot exceed the median of others by much, whatever else runs on the machine.
        let mut empty_ns: Vec<u64> = (0..1001)
            .map(|_| {
                let begin = clock.begin();
                clock.end().ns - begin.ns
            })
            .collect();
        empty_ns.sort_unstable();
        assert!(clock.overhead().ns <= empty_ns[500]);
    }

    #[test]
    fn a_counter_that_ran_backwards_is_no_interval() {
        let at = |tsc_ticks| Reading { ns: 0, tsc_ticks };
        assert_eq!(ticks_between(at(Some(7)), at(Some(9))), Some(2));
        assert_eq!(ticks_between(at(Some(9)), at(Some(7))), Some(0));
        assert_eq!(ticks_between(at(None), at(Some(7))), None);
    }

    #[test]
    fn the_mock_clock_moves_only_when_told() {
        let clock = MockClock::with_read_cost(3);
        assert_eq!(clock.begin().ns, 0);
        clock.advance(10);
        assert_eq!(
            clock.end(),
            Reading {
                ns: 13,
                tsc_ticks: Some(26)
            }
        );
        assert_eq!(clock.overhead().ns, 3);
    }
}

//! Finds whether a process was kept from running while it was measured.
//!
//! A worker that is stopped for three seconds (SIGSTOP, a debugger, a frozen container, a paused virtual machine) has a
//! sample of three seconds, and nothing in the sample tells. Three observations do:
//!
//! | what | who sees it | how |
//! |---|---|---|
//! | the process is stopped for [`LEAST`] | whoever waits for it | its state in `/proc`, looked at every [`LOOK`] |
//! | nobody runs | whoever waits for it | a wait of [`LOOK`] that took longer than [`LEAST`] more; the time in suspension |
//! | the process runs, and seldom | the process | its CPU time compared with the wall time |
//!
//! Preemption is not interruption: on a busy machine a process waits for its CPU for milliseconds, many times, and so
//! does one with a quota. That is counted in [`losses`](crate::losses). What the thresholds are is said at [`LEAST`]
//! and [`LEAST_SHARE`].

use std::{
    fmt, fs,
    time::{Duration, Instant},
};

use crate::cpu_time::CpuTime;

/// How often whoever waits for a process should look at it.
pub const LOOK: Duration = Duration::from_millis(100);

/// The shortest pause that is called an interruption: many times what a scheduler lets a runnable thread wait on a busy
/// machine, and what CPU time is counted in (10 ms on Linux).
pub const LEAST: Duration = Duration::from_millis(500);

/// A process that computes gets at least one part in so many of the time, or it was interrupted: with two CPUs that is
/// one process among seven others of the same priority.
pub const LEAST_SHARE: u64 = 4;

/// A cause that kept a process from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interruption {
    /// It was seen stopped.
    Stopped,
    /// Whoever watched it did not run either: a frozen container, a paused virtual machine, or the watcher was stopped.
    Unwatched {
        /// For how long nobody watched.
        pause: Duration,
    },
    /// The machine was suspended. The monotonic clock stands still meanwhile; caches and the core's clock do not last.
    Suspended {
        /// For how long.
        pause: Duration,
    },
    /// It computed, and had little of the CPU.
    Starved {
        /// CPU time of all its threads.
        cpu: Duration,
        /// Time that passed.
        wall: Duration,
    },
    /// A process with a clock of its own took longer than it says: it waited for a CPU, or does something that it does
    /// not time. Nobody sees which.
    Unreported {
        /// Time that passed.
        wall: Duration,
        /// The part of it that the process reported.
        reported: Duration,
    },
    /// As [`Unreported`](Self::Unreported), between the calls that it timed.
    Unexplained {
        /// Time of the blocks.
        blocks: Duration,
        /// The part of it that their calls can have taken.
        calls: Duration,
    },
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interruption::Stopped => f.write_str("its process was stopped"),
            Interruption::Unwatched { pause } => write!(
                f,
                "the program that measures did not run for {:.1} s",
                pause.as_secs_f64()
            ),
            Interruption::Suspended { pause } => {
                write!(f, "the machine was suspended for {:.1} s", pause.as_secs_f64())
            }
            Interruption::Unreported { wall, reported } => write!(
                f,
                "of {:.2} s it reported {:.2} s, and the rest is unexplained: the machine was busy, or the engine works unseen",
                wall.as_secs_f64(),
                reported.as_secs_f64()
            ),
            Interruption::Unexplained { blocks, calls } => write!(
                f,
                "its calls explain {:.2} s of {:.2} s, and most is left over: the machine was busy, or the engine works unseen",
                calls.as_secs_f64(),
                blocks.as_secs_f64()
            ),
            Interruption::Starved { cpu, wall } => write!(
                f,
                "its process had {:.2} s of CPU time in {:.2} s",
                cpu.as_secs_f64(),
                wall.as_secs_f64()
            ),
        }
    }
}

/// Finds whether a process that should have computed all the time was kept from it, judged by its CPU time.
///
/// At any moment at least one of its threads has something to do, so that it should have as much CPU time as passed;
/// with several threads it has more, and the judgement is milder. A process with no CPU time at all is not judged:
/// there are systems that do not count it.
pub fn starved(cpu: CpuTime, wall: Duration) -> Option<Interruption> {
    let cpu = Duration::from_nanos(cpu.user_ns.saturating_add(cpu.system_ns));
    let is_counted = !cpu.is_zero();
    let is_long = wall.saturating_sub(cpu) >= LEAST;
    let is_little = cpu.as_nanos() * u128::from(LEAST_SHARE) < wall.as_nanos();
    (is_counted && is_long && is_little).then_some(Interruption::Starved { cpu, wall })
}

/// Watches a process while somebody waits for its answer.
#[derive(Debug)]
pub struct Watch {
    /// None: only the watcher itself is watched.
    pid: Option<u32>,
    begun: Instant,
    looked: Instant,
    suspended: Option<Duration>,
    found: Option<Interruption>,
    unwatched: Duration,
    /// Since when each look has found the process stopped.
    stopped: Option<Instant>,
}

impl Watch {
    /// Begins to watch.
    pub fn begin(pid: Option<u32>) -> Self {
        let now = Instant::now();
        Watch {
            pid,
            begun: now,
            looked: now,
            suspended: in_suspension(),
            found: None,
            unwatched: Duration::ZERO,
            stopped: None,
        }
    }

    /// Looks at the process: to be called after each wait, which lasts for [`LOOK`] at most.
    pub fn look(&mut self) {
        let now = Instant::now();
        let pause = (now - self.looked).saturating_sub(LOOK);
        self.looked = now;
        if pause >= LEAST {
            self.unwatched += pause;
            self.find(Interruption::Unwatched { pause });
        }
        if !self.pid.is_some_and(is_stopped) {
            self.stopped = None;
            return;
        }
        // Shorter stops are losses of the block, which are counted: see the module `losses`.
        let since = *self.stopped.get_or_insert(now);
        if now - since + LOOK >= LEAST {
            self.find(Interruption::Stopped);
        }
    }

    /// How long the watcher itself did not run: nobody else is to blame for that time.
    pub fn unwatched(&self) -> Duration {
        self.unwatched
    }

    /// From the beginning to the last look.
    pub fn watched(&self) -> Duration {
        self.looked - self.begun
    }

    /// Ends the watch; what was seen first.
    pub fn end(mut self) -> Option<Interruption> {
        if let (Some(before), Some(after)) = (self.suspended, in_suspension()) {
            let pause = after.saturating_sub(before);
            if pause >= LEAST {
                self.find(Interruption::Suspended { pause });
            }
        }
        self.found
    }

    fn find(&mut self, interruption: Interruption) {
        self.found.get_or_insert(interruption);
    }
}

/// Returns whether a process is stopped, by a signal or a debugger. False where the system does not tell.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| matches!(state(&stat), Some('T' | 't')))
}

/// Field 3 of proc_pid_stat(5), which follows the name.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// The time since the machine was started that it was suspended for.
#[cfg(target_os = "linux")]
fn in_suspension() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let read = |clock| Duration::try_from(clock_gettime(clock)).ok();
    // Read first, the clock that stands still cannot be ahead of the other.
    let running = read(ClockId::Monotonic)?;
    Some(read(ClockId::Boottime)?.saturating_sub(running))
}

#[cfg(not(target_os = "linux"))]
fn in_suspension() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn cpu(ms: u64) -> CpuTime {
        CpuTime {
            user_ns: ms * 700_000,
            system_ns: ms * 300_000,
        }
    }

    #[test]
    fn a_pause_is_told_from_preemption() {
        let rows = [
            // Stopped for 3 s in a block of 110 ms, on one thread and on many.
            (110, 3_110, true),
            (700, 3_110, true),
            (880, 3_110, false),
            // Every other turn went to others, or three of four did.
            (60, 120, false),
            (1_000, 2_000, false),
            (1_000, 4_000, false),
            (1_000, 4_010, true),
            // However little it was, less than half a second was lost.
            (10, 509, false),
            (10, 510, true),
            // A system that does not count.
            (0, 60_000, false),
            // More CPU time than time: many threads.
            (9_000, 1_000, false),
        ];
        for (cpu_ms, wall_ms, is_interrupted) in rows {
            let found = starved(cpu(cpu_ms), ms(wall_ms));
            assert_eq!(found.is_some(), is_interrupted, "{cpu_ms} of {wall_ms} ms");
        }
        let found = starved(cpu(110), ms(3_110)).unwrap();
        assert_eq!(found.to_string(), "its process had 0.11 s of CPU time in 3.11 s");
    }

    #[test]
    fn a_watcher_that_did_not_run_knows_it() {
        let mut watch = Watch::begin(None);
        thread::sleep(ms(20));
        watch.look();
        assert_eq!(watch.unwatched(), Duration::ZERO);
        assert!(watch.watched() >= ms(20));
        watch.looked -= ms(3_000);
        watch.look();
        assert!(watch.unwatched() >= ms(2_900));
        let found = watch.end();
        assert!(matches!(found, Some(Interruption::Unwatched { pause }) if pause >= ms(2_900)));
    }

    #[test]
    fn a_suspension_is_seen_by_the_two_clocks() {
        let mut watch = Watch::begin(None);
        let Some(suspended) = watch.suspended else {
            eprintln!("SKIPPED: this system does not tell the time in suspension");
            return;
        };
        assert_eq!(Watch::begin(None).end(), None);
        let Some(earlier) = suspended.checked_sub(ms(600)) else {
            eprintln!("SKIPPED: this machine was never suspended");
            return;
        };
        watch.suspended = Some(earlier);
        assert!(matches!(watch.end(), Some(Interruption::Suspended { .. })));
    }

    #[test]
    fn states_are_read_behind_any_name() {
        assert_eq!(state("77 (a) b (c)) T 1 2"), Some('T'));
        assert_eq!(state("77 (sleep) S 1 2"), Some('S'));
        assert_eq!(state(""), None);
    }
}

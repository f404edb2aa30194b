//! Core cycles: counted by the hardware where it offers a counter, else reckoned from the clock of the core.
//!
//! The clock of a core is not the rate of the time-stamp counter: the first follows load, temperature and the kind of
//! instructions, the second does not. Where no hardware counter can be had, the core's clock is measured with a chain
//! of dependent additions, each of which takes one cycle on every core of the last decades.
//!
//! A counter is believed only where it counts. It does not where a hypervisor offers one that stands still, where
//! somebody else holds it, and on the second kind of core of a hybrid CPU, whose counters are other ones.
//!
//! Two roads were rejected. `add register, immediate` is not a cycle on cores that eliminate small immediates when they
//! rename registers (Golden Cove and later), so that a chain of them runs at several a cycle. A long-latency
//! instruction such as `imul` would need its latency known for each core.

use serde::{Deserialize, Serialize};

use crate::{
    clock::{Clock, Monotonic},
    sample::time,
    stats::{median::median_of_sorted, sorted},
};

/// How fast the core runs scalar code, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreClock {
    /// Cycles per second. Wide vector instructions may run at a lower clock.
    pub hz: f64,
    /// The source of the count.
    pub source: CycleSource,
}

/// A source that counts cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CycleSource {
    /// The performance counter of the core.
    HardwareCounter,
    /// The time that a chain of dependent additions takes.
    AddChain,
}

impl CycleSource {
    /// For tables: no figure in cycles is shown without it.
    pub fn label(self) -> &'static str {
        match self {
            CycleSource::HardwareCounter => "hardware cycle counter",
            CycleSource::AddChain => "core clock by a dependent add chain",
        }
    }
}

impl CoreClock {
    /// Measures the clock of the core that the calling thread is on, which takes about 50 ms; or says why that is not
    /// possible here.
    pub fn measure() -> Result<CoreClock, String> {
        warm_up()?;
        Self::measure_by_counter().or_else(|_| Self::measure_by_add_chain())
    }

    fn measure_by_counter() -> Result<CoreClock, String> {
        let mut counter = CycleCounter::open()?;
        let hz = median_hz(|| {
            let (cycles, ns) = counter.count(chain_ns)?;
            check_count(cycles)?;
            Ok((cycles, ns?))
        })?;
        let source = CycleSource::HardwareCounter;
        Ok(CoreClock { hz, source })
    }

    fn measure_by_add_chain() -> Result<CoreClock, String> {
        let hz = median_hz(|| Ok((CHAIN_ADDITIONS, chain_ns()?)))?;
        let source = CycleSource::AddChain;
        Ok(CoreClock { hz, source })
    }

    /// The cycles in a time at this clock.
    pub fn cycles(&self, ns: f64) -> f64 {
        ns * self.hz / 1e9
    }
}

/// About 100 µs at 3 GHz: long compared with the reading of the clock, short compared with the time between two
/// interrupts.
const CHAIN_LOOPS: u64 = 3000;

/// Each takes a cycle, on every core.
const CHAIN_ADDITIONS: u64 = CHAIN_LOOPS * add_chain::ADDITIONS_PER_LOOP;

/// The time of one run of the chain, and of nothing around it: to start and to stop a counter are calls of the system,
/// which take some per cent of a run.
fn chain_ns() -> Result<u64, String> {
    let run = time(Monotonic::get(), || {
        add_chain::run(CHAIN_LOOPS).map(|()| CHAIN_ADDITIONS)
    })?;
    Ok(run.elapsed_ns)
}

/// The median rate of many runs, of which each tells its cycles and its nanoseconds. Runs that were interrupted are too
/// slow, but few.
fn median_hz(mut run: impl FnMut() -> Result<(u64, u64), String>) -> Result<f64, String> {
    const RUNS: usize = 201;
    let mut rates = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let (cycles, ns) = run()?;
        rates.push(cycles as f64 / ns.max(1) as f64 * 1e9);
    }
    Ok(median_of_sorted(&sorted(&rates)).expect("there were runs"))
}

/// Refuses a count of one run of the chain that has fewer cycles than additions, by more than rounding.
fn check_count(cycles: u64) -> Result<(), String> {
    match cycles >= CHAIN_ADDITIONS / 10 * 9 {
        true => Ok(()),
        false => Err(format!(
            "the hardware cycle counter does not count: {cycles} cycles in a chain of {CHAIN_ADDITIONS} additions"
        )),
    }
}

/// A core that was idle takes some milliseconds to reach its clock.
fn warm_up() -> Result<(), String> {
    const WARM_UP_NS: u64 = 20_000_000;
    let clock = Monotonic::get();
    let begin_ns = clock.now_ns();
    while clock.now_ns() - begin_ns < WARM_UP_NS {
        add_chain::run(CHAIN_LOOPS)?;
    }
    Ok(())
}

/// The core's own counter of cycles, for the calling thread, in user space only.
#[derive(Debug)]
pub struct CycleCounter(counter::Counter);

impl CycleCounter {
    /// Opens the counter, or says why it cannot be had, or does not count on the core that the calling thread is on.
    pub fn open() -> Result<CycleCounter, String> {
        let mut counter = counter::open().map(CycleCounter)?;
        let (cycles, ran) = counter.count(|| add_chain::run(CHAIN_LOOPS))?;
        // Without a chain there is nothing to compare with.
        match ran {
            Ok(()) => check_count(cycles).map(|()| counter),
            Err(_) => Ok(counter),
        }
    }

    /// The cycles that `work` takes on this thread, and what it returns.
    pub fn count<T>(&mut self, work: impl FnOnce() -> T) -> Result<(u64, T), String> {
        counter::count(&mut self.0, work)
    }
}

#[cfg(target_os = "linux")]
mod counter {
    use std::io;

    use perf_event::{Builder, events::Hardware};
    use rustix::io::Errno;

    use crate::system_files::SystemFiles;

    pub(super) type Counter = perf_event::Counter;

    pub(super) fn open() -> Result<Counter, String> {
        Builder::new(Hardware::CPU_CYCLES)
            .observe_self()
            // Never shared in turns with other counters: a figure scaled up from a part of the time is an estimate.
            .pinned(true)
            .build()
            .map_err(|error| why_not(&error))
    }

    pub(super) fn count<T>(counter: &mut Counter, work: impl FnOnce() -> T) -> Result<(u64, T), String> {
        let failed = |error: io::Error| format!("the hardware cycle counter failed: {error}");
        counter.reset().map_err(failed)?;
        counter.enable().map_err(failed)?;
        let result = work();
        counter.disable().map_err(failed)?;
        Ok((counter.read().map_err(failed)?, result))
    }

    fn why_not(error: &io::Error) -> String {
        let paranoid: Option<i32> = SystemFiles::of_this_machine()
            .number("/proc/sys/kernel/perf_event_paranoid")
            .ok();
        match (Errno::from_io_error(error), paranoid) {
            (Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV), _) => format!(
                "perf_event_open: {error}: this machine offers no hardware cycle counter, as is usual for virtual machines"
            ),
            (Some(Errno::ACCESS | Errno::PERM), Some(level)) if level > 2 => {
                format!("perf_event_open: {error}: kernel.perf_event_paranoid is {level}, and 2 would do")
            }
            (Some(Errno::ACCESS | Errno::PERM), _) => {
                format!("perf_event_open: {error}: not permitted, as is usual in containers")
            }
            (Some(Errno::NOSYS), _) => {
                format!("perf_event_open: {error}: this kernel or container does without it")
            }
            _ => format!("perf_event_open: {error}"),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod counter {
    pub(super) type Counter = std::convert::Infallible;

    pub(super) fn open() -> Result<Counter, String> {
        Err("hardware cycle counters are read on Linux only".to_owned())
    }

    pub(super) fn count<T>(counter: &mut Counter, _work: impl FnOnce() -> T) -> Result<(u64, T), String> {
        match *counter {}
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod add_chain {
    use std::arch::asm;

    pub(super) const ADDITIONS_PER_LOOP: u64 = 100;

    /// `loops · ADDITIONS_PER_LOOP` additions, each of which waits for the one before. The counter of the loop is
    /// parallel to the chain, not in it.
    pub(super) fn run(loops: u64) -> Result<(), String> {
        assert!(loops > 0, "the loop counts down to 0");
        // SAFETY: the code changes its own three registers and the flags, which `asm!` takes as changed unless told
        // otherwise, and touches no memory and no stack. It ends because `loops` is not 0, by the assertion above.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "2:",
                ".rept 100",
                "add {sum}, {step}",
                ".endr",
                "dec {loops}",
                "jnz 2b",
                sum = inout(reg) 0u64 => _,
                step = in(reg) 1u64,
                loops = inout(reg) loops => _,
                options(nomem, nostack),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "2:",
                ".rept 100",
                "add {sum}, {sum}, {step}",
                ".endr",
                "subs {loops}, {loops}, #1",
                "b.ne 2b",
                sum = inout(reg) 0u64 => _,
                step = in(reg) 1u64,
                loops = inout(reg) loops => _,
                options(nomem, nostack),
            );
        }
        Ok(())
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod add_chain {
    pub(super) const ADDITIONS_PER_LOOP: u64 = 100;

    pub(super) fn run(_loops: u64) -> Result<(), String> {
        Err("there is no add chain for this kind of CPU".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_clock_is_one_a_core_can_have() {
        match CoreClock::measure() {
            Ok(clock) => {
                // From a slow phone to beyond the fastest desktop: an addition that was folded away would show.
                assert!((2e8..1e10).contains(&clock.hz), "{clock:?}");
                assert!((clock.cycles(1e9) - clock.hz).abs() < 1.0);
            }
            Err(reason) => eprintln!("SKIPPED: {reason}"),
        }
    }

    #[test]
    fn an_addition_of_the_chain_is_one_cycle() {
        let mut counter = match CycleCounter::open() {
            Ok(counter) => counter,
            Err(reason) => return eprintln!("SKIPPED: {reason}"),
        };
        let (cycles, ran) = counter.count(|| add_chain::run(CHAIN_LOOPS)).unwrap();
        ran.unwrap();
        let per_addition = cycles as f64 / CHAIN_ADDITIONS as f64;
        assert!((0.98..1.1).contains(&per_addition), "{per_addition}");
    }

    /// To start and to stop a counter takes time, which is not that of the cycles.
    #[test]
    fn what_surrounds_a_run_is_not_in_its_time() {
        let hz = median_hz(|| {
            let begin_ns = Monotonic::get().now_ns();
            while Monotonic::get().now_ns() - begin_ns < 10_000 {}
            Ok((300, 100))
        });
        assert_eq!(hz, Ok(3e9));
        assert_eq!(median_hz(|| Err("no".to_owned())), Err("no".to_owned()));
    }

    #[test]
    fn a_counter_that_stands_still_is_no_counter() {
        assert_eq!(check_count(CHAIN_ADDITIONS), Ok(()));
        // With what starts and stops it.
        assert_eq!(check_count(CHAIN_ADDITIONS + 2000), Ok(()));
        for stands_still in [0, 1, CHAIN_ADDITIONS / 2] {
            let refused = check_count(stands_still).unwrap_err();
            assert!(refused.contains("does not count"), "{refused}");
        }
    }

    #[test]
    fn a_chain_twice_as_long_takes_twice_as_long() {
        if let Err(reason) = add_chain::run(1) {
            return eprintln!("SKIPPED: {reason}");
        }
        let clock = Monotonic::get();
        let least_ns = |loops| {
            (0..200)
                .map(|_| {
                    let begin = clock.begin();
                    add_chain::run(loops).unwrap();
                    clock.end().ns - begin.ns
                })
                .min()
                .unwrap()
        };
        warm_up().unwrap();
        let ratio = least_ns(2000) as f64 / least_ns(1000) as f64;
        assert!((1.7..2.3).contains(&ratio), "{ratio}");
    }
}

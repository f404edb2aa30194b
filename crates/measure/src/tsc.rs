//! The time-stamp counter of x86-64. Its ticks are not cycles: it runs at a constant rate whatever the core does.
//!
//! The counter is read while other instructions are in flight, so a bare `rdtsc` times a blurred stretch. Fences
//! sharpen both edges, as Intel's SDM (volume 2, RDTSC and RDTSCP) and Paoloni, "How to Benchmark Code Execution
//! Times on Intel IA-32 and IA-64" (2010) describe, with `lfence` in the place of the far slower `cpuid`:
//!
//! ```text
//! begin:  lfence   everything before has completed
//!         rdtsc
//!         lfence   nothing after starts before the counter was read
//! end:    rdtscp   waits until everything before has completed
//!         lfence   nothing after starts before the counter was read
//! ```
//!
//! `lfence` dispatches nothing until it completes on Intel, and on AMD where the operating system sets the bit that
//! makes it so, as Linux has since 2018. It does not wait for stores to be visible to other cores, which is not part of
//! what is timed.

use std::{sync::OnceLock, time::Duration};

use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Monotonic};

/// Proof that this machine has a time-stamp counter that runs at a constant rate in all power states.
#[derive(Clone, Copy, Debug)]
pub struct Tsc(Proof);

/// Private, so that only [`Tsc::detect`] makes one.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
struct Proof;

/// No value of it can exist.
#[cfg(not(target_arch = "x86_64"))]
type Proof = std::convert::Infallible;

/// How fast the counter runs, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TscRate {
    /// Ticks per second.
    pub hz: f64,
    /// Who says so.
    pub source: TscRateSource,
}

/// How the rate of the counter is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TscRateSource {
    /// The CPU states it: leaf 15h of CPUID.
    Cpuid,
    /// The hypervisor states it: leaf 4000_0010h of CPUID.
    Hypervisor,
    /// It was counted against the monotonic clock.
    Calibrated,
}

impl TscRateSource {
    /// For tables.
    pub fn label(self) -> &'static str {
        match self {
            TscRateSource::Cpuid => "stated by the CPU",
            TscRateSource::Hypervisor => "stated by the hypervisor",
            TscRateSource::Calibrated => "counted against the monotonic clock",
        }
    }
}

impl Tsc {
    /// The rate of the counter; the first call takes 50 ms.
    ///
    /// A stated rate is believed only when counting agrees with it: a virtual machine that was moved to another host
    /// may still state the rate of the old one.
    pub fn rate(self) -> TscRate {
        static RATE: OnceLock<TscRate> = OnceLock::new();
        *RATE.get_or_init(|| {
            let counted = self.count_against(Monotonic::get(), Duration::from_millis(50));
            self.stated_rate()
                .filter(|stated| (stated.hz / counted - 1.0).abs() < 0.001)
                .unwrap_or(TscRate {
                    hz: counted,
                    source: TscRateSource::Calibrated,
                })
        })
    }

    fn count_against(self, clock: &impl Clock, duration: Duration) -> f64 {
        let (begin_ns, begin_ticks) = self.simultaneous(clock);
        std::thread::sleep(duration);
        let (end_ns, end_ticks) = self.simultaneous(clock);
        (end_ticks - begin_ticks) as f64 / (end_ns - begin_ns) as f64 * 1e9
    }

    /// Clock and counter at the same moment: of several attempts, that with the least time between the clock's readings
    /// on both sides of the counter's.
    fn simultaneous(self, clock: &impl Clock) -> (u64, u64) {
        (0..100)
            .map(|_| {
                let before_ns = clock.now_ns();
                let ticks = self.begin();
                let after_ns = clock.now_ns();
                (after_ns - before_ns, before_ns.midpoint(after_ns), ticks)
            })
            .min()
            .map(|(_, ns, ticks)| (ns, ticks))
            .expect("there are attempts")
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

    use super::{Proof, Tsc, TscRate, TscRateSource};

    impl Tsc {
        /// Looks for the counter, `rdtscp`, and the promise of a constant rate (CPUID 8000_0007h, EDX bit 8).
        pub fn detect() -> Result<Tsc, &'static str> {
            let cpuid = raw_cpuid::CpuId::new();
            if !cpuid
                .get_feature_info()
                .is_some_and(|features| features.has_tsc())
            {
                return Err("this CPU has no time-stamp counter");
            }
            if !cpuid
                .get_extended_processor_and_feature_identifiers()
                .is_some_and(|features| features.has_rdtscp())
            {
                return Err("this CPU has no rdtscp instruction");
            }
            if !cpuid
                .get_advanced_power_mgmt_info()
                .is_some_and(|power| power.has_invariant_tsc())
            {
                return Err("the time-stamp counter is not promised to run at a constant rate");
            }
            Ok(Tsc(Proof))
        }

        pub(super) fn stated_rate(self) -> Option<TscRate> {
            let cpuid = raw_cpuid::CpuId::new();
            let by_cpu = cpuid
                .get_tsc_info()
                .and_then(|info| info.tsc_frequency())
                .map(|hz| (hz as f64, TscRateSource::Cpuid));
            let by_hypervisor = || {
                let khz = cpuid.get_hypervisor_info()?.tsc_frequency()?;
                Some((f64::from(khz) * 1e3, TscRateSource::Hypervisor))
            };
            by_cpu
                .or_else(by_hypervisor)
                .filter(|&(hz, _)| hz > 0.0)
                .map(|(hz, source)| TscRate { hz, source })
        }

        /// The counter, read before what is to be timed.
        #[inline]
        pub fn begin(self) -> u64 {
            // SAFETY: `lfence` is part of SSE2, which every x86-64 CPU has; `rdtsc` is there because `self` was made by
            // `detect`. Neither touches memory.
            unsafe {
                _mm_lfence();
                let ticks = _rdtsc();
                _mm_lfence();
                ticks
            }
        }

        /// The counter, read after what is to be timed.
        #[inline]
        pub fn end(self) -> u64 {
            let mut core = 0;
            // SAFETY: `rdtscp` is there because `self` was made by `detect`; it writes to `core` only, which is a live
            // local. `lfence` is part of SSE2, which every x86-64 CPU has.
            unsafe {
                let ticks = __rdtscp(&mut core);
                _mm_lfence();
                ticks
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Tsc {
    /// There is none: this is not an x86-64 CPU.
    pub fn detect() -> Result<Tsc, &'static str> {
        Err("only x86-64 has a time-stamp counter")
    }

    fn stated_rate(self) -> Option<TscRate> {
        match self.0 {}
    }

    /// Cannot be called: no value of this type exists here.
    pub fn begin(self) -> u64 {
        match self.0 {}
    }

    /// Cannot be called: no value of this type exists here.
    pub fn end(self) -> u64 {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_pass() {
        let Ok(tsc) = Tsc::detect().inspect_err(|reason| eprintln!("skipped: {reason}")) else {
            return;
        };
        // Within one thread that may move between cores, the counter of an invariant TSC stays close to monotonic;
        // over a stretch of thousands of ticks it must have moved on.
        let begin = tsc.begin();
        let mut sum = 0u64;
        for i in 0..100_000u64 {
            sum = std::hint::black_box(sum + i);
        }
        assert!(tsc.end() > begin, "{sum}");
    }
    #[test]
    fn the_rate_is_what_the_clock_sees() {
        let Ok(tsc) = Tsc::detect().inspect_err(|reason| eprintln!("skipped: {reason}")) else {
            return;
        };
        let rate = tsc.rate();
        assert_eq!(rate, tsc.rate());
        let counted = tsc.count_against(Monotonic::get(), Duration::from_millis(20));
        assert!(
            (rate.hz / counted - 1.0).abs() < 0.01,
            "{rate:?}, counted {counted}"
        );
    }
}

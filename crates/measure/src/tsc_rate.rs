//! The rate of the time-stamp counter: stated, or counted against the monotonic clock.

use std::{sync::OnceLock, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    clock::{Clock, Monotonic},
    tsc::Tsc,
};

/// How fast the counter runs, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TscRate {
    /// Ticks per second.
    pub hz: f64,
    /// The source of the rate.
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

/// Rates that the CPU or the hypervisor states.
#[cfg(target_arch = "x86_64")]
impl Tsc {
    fn stated_rate(self) -> Option<TscRate> {
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
}

#[cfg(not(target_arch = "x86_64"))]
impl Tsc {
    fn stated_rate(self) -> Option<TscRate> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_what_the_clock_sees() {
        let Ok(tsc) = Tsc::detect().inspect_err(|reason| eprintln!("SKIPPED: {reason}")) else {
            return;
        };
        let rate = tsc.rate();
        assert_eq!(rate, tsc.rate());
        let counted = tsc.count_against(Monotonic::get(), Duration::from_millis(20));
        assert!((rate.hz / counted - 1.0).abs() < 0.01, "{rate:?}, counted {counted}");
    }
}

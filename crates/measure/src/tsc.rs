//! The time-stamp counter of x86-64. Its ticks are not cycles: it runs at a constant rate whatever the core does.
//!
//! The counter is read while other instructions are in flight, so a bare `rdtsc` times a blurred interval. Fences
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

pub use crate::tsc_rate::{TscRate, TscRateSource};

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

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

    use super::{Proof, Tsc};

    impl Tsc {
        /// Looks for the counter, `rdtscp`, and the promise of a constant rate (CPUID 8000_0007h, EDX bit 8).
        pub fn detect() -> Result<Tsc, &'static str> {
            let cpuid = raw_cpuid::CpuId::new();
            if !cpuid.get_feature_info().is_some_and(|features| features.has_tsc()) {
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
        let Ok(tsc) = Tsc::detect().inspect_err(|reason| eprintln!("SKIPPED: {reason}")) else {
            return;
        };
        // Within one thread that may move between cores, the counter of an invariant TSC stays close to monotonic;
        // over thousands of ticks it must have moved on.
        let begin = tsc.begin();
        let mut sum = 0u64;
        for i in 0..100_000u64 {
            sum = std::hint::black_box(sum + i);
        }
        assert!(tsc.end() > begin, "{sum}");
    }
}

//! The most multiply-adds that a core does in a second, instruction by instruction.
//!
//! Long arithmetic is multiplications and additions. How near a kernel is to what the core could do at most is its rate
//! divided by that of a loop of independent multiply-adds in registers, which waits for nothing. Instructions multiply
//! numbers of different lengths, so that they are counted by the bits that they multiply, in units of 64 by 64:
//!
//! | instruction | lanes × bits | multiply-adds of 64 bits |
//! |---|---|---|
//! | `mulx`, whose additions are other instructions | 64 × 64, both halves | 1 |
//! | `mul` and two additions, on CPUs without `mulx` | 64 × 64, both halves | 1 |
//! | `vfmadd` of 256 or 512 bits | 4 or 8 of 47 × 47, a half each | lanes · 47² / 64² / 2 |
//! | `vpmadd52` of 256 or 512 bits | 4 or 8 of 52 × 52, a half each | lanes · 52² / 64² / 2 |
//!
//! Doubles have 53 bits, of which exact arithmetic leaves digits of 47 (`rsalab-arith`, `mont47`).

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Monotonic};

/// The most multiply-adds that one instruction does in a cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// The instruction and its width.
    pub instruction: String,
    /// Multiply-adds of 64 by 64 bits in a second, of one thread.
    pub per_second: f64,
}

/// The peaks of this core, of every instruction that it has and that long arithmetic uses. Takes about 20 ms for each.
pub fn measure() -> Vec<Peak> {
    #[cfg(target_arch = "x86_64")]
    let mut peaks = x86_64::measure();
    #[cfg(not(target_arch = "x86_64"))]
    let mut peaks = vec![mul()];
    peaks.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
    peaks
}

/// Runs for about as long as an interrupt is away.
const RUN_NS: u64 = 150_000;
/// Wide instructions change the clock of the core, which takes some milliseconds.
const WARM_UP_NS: u64 = 15_000_000;
/// Runs, of which the fastest counts: a peak is what is possible.
const RUNS: usize = 31;

fn peak(instruction: &str, worth: f64, per_loop: u64, run: impl Fn(u64)) -> Peak {
    let clock = Monotonic::get();
    let time = |loops: u64| {
        let begin = clock.now_ns();
        run(loops);
        (clock.now_ns() - begin).max(1)
    };
    let mut loops = 100;
    let began = clock.now_ns();
    while clock.now_ns() - began < WARM_UP_NS {
        if time(loops) < RUN_NS {
            loops += loops / 4;
        }
    }
    let best_ns = (0..RUNS).map(|_| time(loops)).min().expect("there were runs");
    Peak {
        instruction: instruction.to_owned(),
        per_second: (loops * per_loop) as f64 * worth / best_ns as f64 * 1e9,
    }
}

const SCALAR_PER_LOOP: u64 = 16;

fn mul() -> Peak {
    peak("mul of 64 bits", 1.0, SCALAR_PER_LOOP, scalar)
}

/// Sums of products of 64 bits, four of them, each as long as its carries take.
fn scalar(loops: u64) {
    let mut sums = [0_u128; 4];
    let mut factors = black_box([3_u64, 5, 7, 11]);
    let others = black_box([13_u64, 17, 19, 23]);
    for _ in 0..loops {
        // Otherwise the products would be worked out once, before the loop.
        factors = black_box(factors);
        for factor in factors {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = sum.wrapping_add(u128::from(factor) * u128::from(other));
            }
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::{
        arch::{asm, x86_64::*},
        hint::black_box,
    };

    use super::{Peak, mul, peak};

    /// Independent sums: as many as hide four cycles at two instructions a cycle, with room for both factors.
    const SUMS_256: usize = 12;
    const SUMS_512: usize = 24;

    /// Multiply-adds of 64 bits of an instruction that gives a half of each product.
    const fn worth(lanes: u32, bits: u32) -> f64 {
        (lanes * bits * bits) as f64 / 8192.0
    }

    const MULX_PER_LOOP: u64 = 16;

    pub(super) fn measure() -> Vec<Peak> {
        let mut peaks = vec![match is_x86_feature_detected!("bmi2") {
            true => peak("mulx of 64 bits", 1.0, MULX_PER_LOOP, mulx),
            false => mul(),
        }];
        if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
            peaks.push(peak("vfmadd of 256 bits", worth(4, 47), SUMS_256 as u64, |loops| {
                // SAFETY: the CPU has the instructions, by the condition above.
                unsafe { doubles_256(loops) }
            }));
        }
        if is_x86_feature_detected!("avxifma") {
            peaks.push(peak("vpmadd52 of 256 bits", worth(4, 52), SUMS_256 as u64, |loops| {
                // SAFETY: as above.
                unsafe { integers_256(loops) }
            }));
        }
        if is_x86_feature_detected!("avx512f") {
            peaks.push(peak("vfmadd of 512 bits", worth(8, 47), SUMS_512 as u64, |loops| {
                // SAFETY: as above.
                unsafe { doubles_512(loops) }
            }));
        }
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma") {
            peaks.push(peak("vpmadd52 of 512 bits", worth(8, 52), SUMS_512 as u64, |loops| {
                // SAFETY: as above.
                unsafe { integers_512(loops) }
            }));
        }
        peaks
    }

    /// Products that wait for nothing, in assembly: what a compiler makes of the same moves more than it multiplies.
    /// Without additions, since a kernel may have them in other cycles than this loop would.
    fn mulx(loops: u64) {
        // SAFETY: the caller has seen that the CPU has the instruction. The code changes the registers that it names
        // and the flags, and touches no memory and no stack; it ends, as `loops` is made 1 at least.
        unsafe {
            asm!(
                "2:",
                ".rept 8",
                "mulx {high}, {low}, {factor}",
                "mulx {other_high}, {other_low}, {factor}",
                ".endr",
                "dec {loops}",
                "jnz 2b",
                loops = inout(reg) loops.max(1) => _,
                factor = in(reg) 0x1234_5678_9abc_def1_u64,
                high = out(reg) _,
                low = out(reg) _,
                other_high = out(reg) _,
                other_low = out(reg) _,
                in("rdx") 0xfedc_ba98_7654_3211_u64,
                options(nomem, nostack),
            );
        }
    }

    /// A loop of one instruction over as many sums.
    macro_rules! sums {
        ($name:ident, $features:literal, $sums:ident, $zero:expr, $factor:expr, $multiply_add:expr) => {
            #[target_feature(enable = $features)]
            fn $name(loops: u64) {
                let mut sums = [$zero; $sums];
                let (one, other) = black_box(($factor, $factor));
                for _ in 0..loops {
                    for sum in &mut sums {
                        *sum = $multiply_add(*sum, one, other);
                    }
                }
                black_box(sums);
            }
        };
    }

    sums!(
        doubles_256,
        "avx2,fma",
        SUMS_256,
        _mm256_setzero_pd(),
        _mm256_set1_pd(3.0),
        |sum, one, other| _mm256_fmadd_pd(one, other, sum)
    );
    sums!(
        integers_256,
        "avx2,avxifma",
        SUMS_256,
        _mm256_setzero_si256(),
        _mm256_set1_epi64x(3),
        |sum, one, other| _mm256_madd52lo_avx_epu64(sum, one, other)
    );
    sums!(
        doubles_512,
        "avx512f",
        SUMS_512,
        _mm512_setzero_pd(),
        _mm512_set1_pd(3.0),
        |sum, one, other| _mm512_fmadd_pd(one, other, sum)
    );
    sums!(
        integers_512,
        "avx512f,avx512ifma",
        SUMS_512,
        _mm512_setzero_si512(),
        _mm512_set1_epi64(3),
        |sum, one, other| _mm512_madd52lo_epu64(sum, one, other)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycles::CoreClock;

    /// From a tenth of a multiply-add a cycle on the slowest core to twenty on one to come: one that was worked out
    /// before the loop, or done once for many, would show.
    #[test]
    fn peaks_are_such_as_a_core_can_have() {
        let Ok(clock) = CoreClock::measure() else {
            return eprintln!("SKIPPED: the clock of the core is not known");
        };
        let peaks = measure();
        assert!(peaks.is_sorted_by(|one, other| one.per_second <= other.per_second));
        for peak in &peaks {
            let a_cycle = peak.per_second / clock.hz;
            eprintln!("{}: {a_cycle:.3} a cycle", peak.instruction);
            assert!((0.05..20.0).contains(&a_cycle), "{peak:?} at {clock:?}");
        }
        assert!(peaks.iter().any(|peak| peak.instruction.starts_with("mul")));
    }

    #[test]
    fn twice_the_loops_take_twice_the_time() {
        let clock = Monotonic::get();
        let ns = |loops| {
            let begin = clock.now_ns();
            scalar(loops);
            clock.now_ns() - begin
        };
        // In turns, and by the median of their ratios: who shares the core's multiplier holds up all of them, and lets
        // go for a moment that may be long enough for one kind alone.
        let mut ratios: Vec<f64> = (0..1001)
            .map(|_| (ns(4000), ns(8000)))
            .map(|(once, twice)| twice as f64 / once as f64)
            .collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2];
        assert!((1.7..2.3).contains(&ratio), "{ratio}");
    }
}

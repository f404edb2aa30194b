//! The kernels: their text, their names, and how a device is cut up to run them.
//!
//! `rsa.cl` is the whole of the arithmetic on a device, `vendor.h` what compilers do not agree on. They are OpenCL C,
//! and C for the host, where tests run them under sanitizers.

use crate::driver::description::Description;

/// The macros for what compilers do not agree on.
pub const VENDOR: &str = include_str!("vendor.h");

/// The kernels.
pub const SOURCE: &str = include_str!("rsa.cl");

/// The kernels for NVIDIA's driver, made of both by `scripts/make-ptx.sh`.
///
/// It is generated, and committed all the same: making it takes a clang with the NVPTX target, which few machines have,
/// and the driver's library (NVRTC) that could do it at run time is part of CUDA's toolkit, which users of a graphics
/// processor need not have. It begins with the hash of its sources, which a test compares.
pub const PTX: &str = include_str!("rsa.ptx");

/// The most limbs of 32 bits that a number can have.
pub const MAX_LIMBS: usize = 256;

/// Bits of a Miller–Rabin base's exponent that are looked up at once. It divides 32, so that no digit lies in two
/// limbs.
pub(crate) const BASE_WINDOW: usize = 4;

/// A kernel. What each does, and which arguments it takes, says `rsa.cl`.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kernel {
    PrepareModulus,
    PrepareFactor,
    ReadBlocks,
    WriteBlocks,
    PowerEnter,
    PowerDigits,
    PowerLeave,
    Recombine,
    Blind,
    Unblind,
    RenewPairs,
    PublicEnter,
    PublicBits,
    PublicLeave,
    PublicCheck,
    CandidateEnter,
    TwoBits,
    TwoVerdict,
    BaseEnter,
    BaseDigits,
    BaseVerdict,
}

impl Kernel {
    /// All of them, with their names in the source.
    pub const ALL: [(Kernel, &str); 21] = [
        (Kernel::PrepareModulus, "prepare_modulus"),
        (Kernel::PrepareFactor, "prepare_factor"),
        (Kernel::ReadBlocks, "read_blocks"),
        (Kernel::WriteBlocks, "write_blocks"),
        (Kernel::PowerEnter, "power_enter"),
        (Kernel::PowerDigits, "power_digits"),
        (Kernel::PowerLeave, "power_leave"),
        (Kernel::Recombine, "recombine"),
        (Kernel::Blind, "blind"),
        (Kernel::Unblind, "unblind"),
        (Kernel::RenewPairs, "renew_pairs"),
        (Kernel::PublicEnter, "public_enter"),
        (Kernel::PublicBits, "public_bits_vartime"),
        (Kernel::PublicLeave, "public_leave"),
        (Kernel::PublicCheck, "public_check"),
        (Kernel::CandidateEnter, "candidate_enter"),
        (Kernel::TwoBits, "two_bits"),
        (Kernel::TwoVerdict, "two_verdict"),
        (Kernel::BaseEnter, "base_enter"),
        (Kernel::BaseDigits, "base_digits"),
        (Kernel::BaseVerdict, "base_verdict"),
    ];

    /// Its name in the source.
    pub fn name(self) -> &'static str {
        let named = Kernel::ALL.iter().find(|(kernel, _)| *kernel == self);
        named.expect("every kernel is listed").1
    }
}

/// How many work-items are started, and in which groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Groups of work-items; blocks, in CUDA's words.
    pub groups: usize,
    /// Work-items of a group; threads of a block.
    pub group: usize,
}

/// How a grid is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Launch {
    /// One work-item for each number, in groups that suit the device.
    #[default]
    Tuned,
    /// One grid whatever there is to do.
    Fixed(Grid),
}

impl Launch {
    /// Article (d)'s: 512 blocks of 128 threads, also for a single message.
    pub const ARTICLE: Launch = Launch::Fixed(Grid {
        groups: 512,
        group: 128,
    });

    /// The grid for so many numbers.
    pub fn grid(self, numbers: usize, device: &Description) -> Grid {
        /// Threads that a graphics processor moves in step, of most makes.
        const TOGETHER: usize = 32;
        const LARGEST: usize = 64;
        match self {
            Launch::Fixed(grid) => grid,
            Launch::Tuned => {
                // Few numbers are spread over the units; where threads move in step, fewer would gain nothing.
                let spread = numbers.div_ceil(device.units.max(1)).next_power_of_two();
                let smallest = if device.is_cpu { 1 } else { TOGETHER };
                let group = spread.clamp(smallest, LARGEST).min(device.largest_group);
                Grid {
                    groups: numbers.div_ceil(group).max(1),
                    group,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_in_the_source_and_no_other() {
        let found: Vec<&str> = SOURCE
            .lines()
            .filter_map(|line| line.strip_prefix("KERNEL "))
            .map(|line| line.split('(').next().unwrap())
            .collect();
        let mut named = Kernel::ALL.map(|(_, name)| name).to_vec();
        named.sort_unstable();
        let mut sorted = found.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, named);
    }

    #[test]
    fn the_ptx_is_made_of_these_sources() {
        use sha2::{Digest, Sha256};
        use std::fmt::Write;
        let digest = Sha256::digest([VENDOR, SOURCE].concat());
        let digest = digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let first = PTX.lines().next().unwrap();
        assert!(
            first.ends_with(&digest),
            "rsa.ptx is older than its sources: run scripts/make-ptx.sh"
        );
        for (_, name) in Kernel::ALL {
            let entry = format!(".entry {name}(");
            assert!(PTX.contains(&entry), "{entry}");
        }
    }

    #[test]
    fn a_tuned_grid_has_a_work_item_for_each_number() {
        for is_cpu in [true, false] {
            let device = Description {
                units: 4,
                is_cpu,
                ..Description::default()
            };
            for numbers in [1, 2, 3, 7, 64, 65, 1000, 100_000] {
                let Grid { groups, group } = Launch::Tuned.grid(numbers, &device);
                assert!(groups * group >= numbers && (groups - 1) * group < numbers);
                assert!(group <= 64 && (is_cpu || group >= 32));
            }
        }
        assert_eq!(
            Launch::ARTICLE.grid(1, &Description::default()),
            Grid {
                groups: 512,
                group: 128
            }
        );
    }
}

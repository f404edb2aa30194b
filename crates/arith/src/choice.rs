//! Which kernel is fastest for how many items of which operation: measured, and counted in passes.

use crate::limbs::LIMB_BITS;
use crate::{Kernel, KernelInfo, dispatch, kernels};
use std::sync::OnceLock;

/// What a kernel is chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// x^d mod n by the CRT, under one key.
    Private,
    /// x^e mod n, under one key.
    Public,
}

/// The longest moduli that a time of a [`Pass`] is for, in bits, but for the last one.
const LONGEST: [usize; 2] = [1024, 2048];

/// The CPUs on which times were measured (`rsalab bench --engines own:<kernel> --batch <items>`), by what matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cpu {
    /// AMD's Zen 4: instructions on 512 bits are done in two halves. Stands for every CPU that is not named here.
    Zen4,
    /// AMD's Zen 5: they are done whole, two multiplications a cycle.
    Zen5,
}

impl Cpu {
    /// This machine's.
    fn here() -> Self {
        static HERE: OnceLock<Cpu> = OnceLock::new();
        *HERE.get_or_init(Self::detect)
    }

    #[cfg(target_arch = "x86_64")]
    fn detect() -> Self {
        let id = raw_cpuid::CpuId::new();
        let is_amd = id
            .get_vendor_info()
            .is_some_and(|vendor| vendor.as_str() == "AuthenticAMD");
        let family = id.get_feature_info().map(|features| features.family_id());
        match (is_amd, family) {
            (true, Some(0x1a..)) => Cpu::Zen5,
            _ => Cpu::Zen4,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> Self {
        Cpu::Zen4
    }
}

/// What one pass of a kernel does and how long it takes, for moduli of up to 1024 bits, of up to 2048, and longer ones.
#[derive(Debug, Clone, Copy)]
struct Pass {
    items: usize,
    /// In hundredths of one operation of `mont64x1_adx` on the same CPU, on whole blocks.
    time: [usize; 3],
}

impl Pass {
    fn of(cpu: Cpu, operation: Operation, kernel: &str) -> Option<Self> {
        use Cpu::Zen5;
        use Operation::{Private, Public};
        let (items, time) = match (operation, kernel) {
            (Private, "mont52x8_ifma512") if cpu == Zen5 => (4, [72, 60, 65]),
            (Private, "mont52x2_ifma") if cpu == Zen5 => (1, [109, 39, 27]),
            (Private, "mont47x8_avx512f") if cpu == Zen5 => (4, [179, 129, 114]),
            (Private, "mont47x4_avx2fma") if cpu == Zen5 => (2, [128, 112, 107]),
            (Private, "mont64x1_portable") if cpu == Zen5 => (1, [170, 160, 160]),
            (Public, "mont52x8_ifma512") if cpu == Zen5 => (8, [162, 150, 148]),
            (Public, "mont52x2_ifma") if cpu == Zen5 => (1, [72, 46, 40]),
            (Public, "mont47x8_avx512f") if cpu == Zen5 => (8, [272, 249, 253]),
            (Public, "mont47x4_avx2fma") if cpu == Zen5 => (4, [224, 217, 211]),
            (Private, "mont52x8_ifma512") => (4, [80, 96, 103]),
            (Private, "mont52x2_ifma") => (1, [81, 43, 35]),
            (Private, "mont47x8_avx512f") => (4, [157, 154, 152]),
            (Private, "mont47x4_avx2fma" | "mont47x4_neon") => (2, [85, 91, 92]),
            (Public, "mont52x8_ifma512") => (8, [222, 222, 214]),
            (Public, "mont52x2_ifma") => (1, [59, 41, 33]),
            (Public, "mont47x8_avx512f") => (8, [324, 312, 303]),
            (Public, "mont47x4_avx2fma" | "mont47x4_neon") => (4, [196, 188, 172]),
            (_, "mont64x1_adx") => (1, [100; 3]),
            (_, "mont64x1_portable") => (1, [160; 3]),
            // Portable forms of vectors, which are for tests.
            _ => return None,
        };
        Some(Self { items, time })
    }

    /// For numbers of so many limbs, where that makes a difference: what has code for whole blocks only runs as the portable kernel elsewhere.
    fn at(cpu: Cpu, operation: Operation, kernel: &str, whole_blocks: bool) -> Option<Self> {
        match kernel {
            "mont64x1_adx" if !whole_blocks => Self::of(cpu, operation, "mont64x1_portable"),
            kernel => Self::of(cpu, operation, kernel),
        }
    }

    fn time(self, bits: usize, count: usize) -> usize {
        let class = LONGEST.iter().position(|&longest| bits <= longest);
        count.div_ceil(self.items) * self.time[class.unwrap_or(LONGEST.len())]
    }
}

/// Whether the numbers of an operation under a modulus of `bits` bits, its primes or itself, have a multiple of eight limbs.
fn in_whole_blocks(operation: Operation, bits: usize) -> bool {
    let bits = match operation {
        Operation::Private => bits.div_ceil(2),
        Operation::Public => bits,
    };
    bits.div_ceil(LIMB_BITS).is_multiple_of(8)
}

impl Kernel {
    /// The kernel that is fastest for `count` items at once of an operation whose modulus has `bits` bits. A program that was built to
    /// choose one kernel chooses that.
    ///
    /// From times measured on a Zen 5, and on a Zen 4, whose order is taken to be that of every other CPU.
    pub fn for_batch(operation: Operation, bits: usize, count: usize) -> Self {
        if dispatch::BUILT_FOR.is_some() {
            return Self::auto();
        }
        let whole_blocks = in_whole_blocks(operation, bits);
        let time = |kernel: &KernelInfo| {
            let pass = Pass::at(Cpu::here(), operation, kernel.name, whole_blocks)?;
            kernel
                .available
                .is_ok()
                .then(|| pass.time(bits, count.max(1)))
        };
        kernels()
            .iter()
            .filter_map(|kernel| Some((time(kernel)?, kernel.name)))
            .min_by_key(|(time, _)| *time)
            .and_then(|(_, name)| Self::named(name).ok())
            .unwrap_or_else(Self::auto)
    }

    /// Items of an operation that one pass of this kernel does.
    pub fn items(self, operation: Operation) -> usize {
        Pass::of(Cpu::here(), operation, self.name()).map_or(self.lanes(), |pass| pass.items)
    }
}

/// How many items at once run on which kernel on this CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// What is done.
    pub operation: Operation,
    /// The longest modulus this is for, in bits; none if there is no limit.
    pub bits: Option<usize>,
    /// Whether it is for lengths whose numbers, the primes of a private operation or the modulus of a public one, have a multiple of eight
    /// limbs of 64 bits, or for all others; none if that makes no difference.
    pub whole_blocks: Option<bool>,
    /// The fewest items.
    pub from: usize,
    /// The most items; none where more are cut into passes of this kernel, and what is left over goes by its own number.
    pub to: Option<usize>,
    /// What they run on.
    pub kernel: Kernel,
}

/// The whole table that [`Kernel::for_batch`] goes by, as it comes out on this CPU.
pub fn shares() -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for operation in [Operation::Private, Operation::Public] {
        for class in LONGEST.into_iter().map(Some).chain([None]) {
            let longest = class.unwrap_or(2 * LONGEST[LONGEST.len() - 1]);
            let [whole, others] = [longest, longest - 2 * LIMB_BITS].map(|bits| {
                debug_assert_eq!(in_whole_blocks(operation, bits), bits == longest);
                shares_at(operation, bits)
            });
            let kinds = match whole == others {
                true => vec![(None, whole)],
                false => vec![(Some(true), whole), (Some(false), others)],
            };
            for (whole_blocks, parts) in kinds {
                shares.extend(parts.into_iter().map(|(from, to, kernel)| Share {
                    operation,
                    bits: class,
                    whole_blocks,
                    from,
                    to,
                    kernel,
                }));
            }
        }
    }
    shares
}

/// The numbers of items, from and to, that run on each kernel.
fn shares_at(operation: Operation, bits: usize) -> Vec<(usize, Option<usize>, Kernel)> {
    let kernel = |count| Kernel::for_batch(operation, bits, count);
    let whole = Kernel::auto().items(operation);
    let mut shares = Vec::new();
    let mut from = 1;
    for count in 1..=whole {
        if count < whole && kernel(count) == kernel(count + 1) {
            continue;
        }
        shares.push((from, (count < whole).then_some(count), kernel(count)));
        from = count + 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATIONS: [Operation; 2] = [Operation::Private, Operation::Public];

    #[test]
    fn every_kernel_that_is_preferred_to_the_portable_one_has_its_times() {
        for kernel in kernels() {
            let is_for_tests = kernel.name.ends_with("_portable") && kernel.lanes > 1;
            for operation in OPERATIONS {
                for cpu in [Cpu::Zen4, Cpu::Zen5] {
                    let pass = Pass::of(cpu, operation, kernel.name);
                    assert_eq!(pass.is_none(), is_for_tests, "{}", kernel.name);
                    assert!(pass.is_none_or(|pass| pass.items <= kernel.lanes));
                }
            }
        }
    }

    #[test]
    fn many_items_run_on_the_preferred_kernel() {
        for operation in OPERATIONS {
            for bits in [512, 1024, 2048, 4096, 16384] {
                assert_eq!(Kernel::for_batch(operation, bits, 64), Kernel::auto());
            }
        }
    }

    #[test]
    fn the_table_of_shares_says_what_runs() {
        let shares = shares();
        for operation in OPERATIONS {
            for bits in [512, 960, 1024, 1025, 2048, 3072, 3136, 4096] {
                let class = LONGEST.into_iter().find(|&longest| bits <= longest);
                for count in 1..=Kernel::auto().items(operation) {
                    let fitting: Vec<_> = shares
                        .iter()
                        .filter(|share| (share.operation, share.bits) == (operation, class))
                        .filter(|share| {
                            let whole_blocks = in_whole_blocks(operation, bits);
                            share.whole_blocks.is_none_or(|own| own == whole_blocks)
                        })
                        .filter(|share| {
                            share.from <= count && share.to.is_none_or(|to| count <= to)
                        })
                        .map(|share| share.kernel)
                        .collect();
                    assert_eq!(fitting, [Kernel::for_batch(operation, bits, count)]);
                }
            }
        }
    }

    #[test]
    fn more_items_never_take_less_time() {
        for kernel in kernels() {
            for operation in OPERATIONS {
                let Some(pass) = Pass::of(Cpu::here(), operation, kernel.name) else {
                    continue;
                };
                for bits in [1024, 2048, 4096] {
                    assert!((1..40).all(|n| pass.time(bits, n) <= pass.time(bits, n + 1)));
                }
            }
        }
    }

    #[test]
    fn one_item_runs_on_one_number_where_that_is_faster() {
        if dispatch::BUILT_FOR.is_some() || Kernel::named("mont52x2_ifma").is_err() {
            return eprintln!("skipped: this CPU has no AVX-512 IFMA, or one kernel was built for");
        }
        let name = |operation, bits, count| Kernel::for_batch(operation, bits, count).name();
        assert_eq!(name(Operation::Private, 1024, 1), "mont52x8_ifma512");
        assert_eq!(name(Operation::Private, 2048, 1), "mont52x2_ifma");
        let two = match Cpu::here() {
            Cpu::Zen4 => "mont52x2_ifma",
            Cpu::Zen5 => "mont52x8_ifma512",
        };
        assert_eq!(name(Operation::Private, 2048, 2), two);
        assert_eq!(name(Operation::Private, 2048, 3), "mont52x8_ifma512");
        assert_eq!(name(Operation::Public, 2048, 3), "mont52x2_ifma");
        assert_eq!(name(Operation::Public, 2048, 8), "mont52x8_ifma512");
    }
}

//! The fastest kernel for a number of items of an operation, by times that were measured.
//!
//! `choice/` has a table for each CPU on which they were, printed by `cargo bench -p rsalab-rsa --bench kernels`: for
//! each operation and length the time of one pass of each kernel. Only the order within a row matters, so that a row
//! may have any unit.

use crate::{Kernel, KernelInfo, dispatch, kernels};
use once_cell::race::OnceBox;

/// The operation that a kernel is chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// x^d mod n by the CRT, under one key.
    Private,
    /// x^e mod n, under one key.
    Public,
}

const OPERATIONS: [Operation; 2] = [Operation::Private, Operation::Public];

/// AMD's Zen 3, which has no AVX-512. Stands for every CPU without.
const ZEN3: &str = include_str!("choice/zen3.csv");
/// AMD's Zen 4: instructions on 512 bits are done in two halves. Stands for every CPU with AVX-512 that has no table.
const ZEN4: &str = include_str!("choice/zen4.csv");
/// AMD's Zen 5: they are done whole, two multiplications a cycle.
#[cfg(any(target_arch = "x86_64", test))]
const ZEN5: &str = include_str!("choice/zen5.csv");

/// The table for this machine's CPU; with its AVX-512 disabled, that for a CPU without.
fn measured() -> &'static str {
    if has_avx512() { with_avx512() } else { ZEN3 }
}

/// `true` if this CPU can run a kernel that needs AVX-512.
fn has_avx512() -> bool {
    kernels()
        .iter()
        .any(|kernel| kernel.row.needs.contains("AVX-512") && kernel.available.is_ok())
}

#[cfg(target_arch = "x86_64")]
fn with_avx512() -> &'static str {
    let id = raw_cpuid::CpuId::new();
    let is_amd = id
        .get_vendor_info()
        .is_some_and(|vendor| vendor.as_str() == "AuthenticAMD");
    let family = id.get_feature_info().map(|features| features.family_id());
    match (is_amd, family) {
        (true, Some(0x1a..)) => ZEN5,
        _ => ZEN4,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn with_avx512() -> &'static str {
    ZEN4
}

/// A table of times.
struct Times {
    kernels: Vec<&'static str>,
    /// Of each operation, the shortest length first.
    rows: Vec<Row>,
}

/// The time of a pass of each kernel.
struct Row {
    operation: Operation,
    /// Of the modulus.
    bits: usize,
    /// In the order of the table's kernels.
    times: Vec<u64>,
}

impl Times {
    /// This machine's. Threads that come first side by side read it each: nobody waits for another, who in a child of a
    /// fork may be a thread of the parent's.
    fn here() -> &'static Self {
        static HERE: OnceBox<Times> = OnceBox::new();
        HERE.get_or_init(|| Box::new(Self::read(measured())))
    }

    /// Reads a table of this program's own, which a test has read.
    fn read(table: &'static str) -> Self {
        let mut lines = table.lines();
        let head = lines.next().expect("a table has a head");
        let rows = lines.map(|line| {
            let mut fields = line.split(',');
            let operation = match fields.next() {
                Some("private") => Operation::Private,
                Some("public") => Operation::Public,
                other => panic!("{other:?} is no operation"),
            };
            let mut numbers = fields.map(|field| field.parse().expect("a number"));
            let bits = numbers.next().expect("a length");
            Row {
                operation,
                bits: usize::try_from(bits).expect("a length"),
                times: numbers.collect(),
            }
        });
        Self {
            kernels: head.split(',').skip(2).collect(),
            rows: rows.collect(),
        }
    }

    fn rows(&self, operation: Operation) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.operation == operation)
    }

    /// The row that goes for moduli of so many bits: the shortest one that is as long, or the last.
    fn row(&self, operation: Operation, bits: usize) -> &Row {
        let row = self.rows(operation).find(|row| bits <= row.bits);
        row.or_else(|| self.rows(operation).last())
            .expect("each operation has rows")
    }

    /// One pass of a kernel. Nothing for those that are for tests, and for what was not measured there.
    fn time(&self, row: &Row, kernel: &KernelInfo) -> Option<u64> {
        let times = kernel.row.times?;
        let column = self.kernels.iter().position(|known| *known == times)?;
        row.times.get(column).copied()
    }
}

impl KernelInfo {
    /// Items of an operation that one pass does.
    fn items(&self, operation: Operation) -> usize {
        items(operation, self.lanes)
    }
}

/// A private operation takes two lanes. A kernel of two lanes is for the halves of one operation, and a public one has
/// one number.
fn items(operation: Operation, lanes: usize) -> usize {
    match (operation, lanes) {
        (_, 1 | 2) => 1,
        (Operation::Private, lanes) => lanes / 2,
        (Operation::Public, lanes) => lanes,
    }
}

/// Times that differ by less, in hundredths, are alike: as much as two runs differ by. Of kernels alike the one that
/// comes first in [`kernels`] runs, so that few kernels do all and a key is prepared for few.
const TIE_PERCENT: u64 = 3;

impl Kernel {
    /// The kernel that is fastest for `count` items at once of an operation whose modulus has `bits` bits. A program
    /// that was built to choose one kernel chooses that.
    ///
    /// From times measured on a Zen 5; on a Zen 4, whose order is taken to be that of every other CPU with AVX-512; and
    /// on a Zen 3, for those without. A kernel that was not measured there is not chosen.
    pub fn for_batch(operation: Operation, bits: usize, count: usize) -> Self {
        Self::for_passes(operation, bits, |kernel| count.max(1).div_ceil(kernel.items(operation)))
    }

    /// [`for_batch`](Self::for_batch) for private operations of keys of so many primes, at least two. Those of more
    /// than two are counted as the operations of two primes of that length that have as many powers.
    pub fn for_multi_prime(bits: usize, primes: usize, count: usize) -> Self {
        let powers = count.max(1) * primes;
        Self::for_passes(Operation::Private, 2 * bits.div_ceil(primes), |kernel| {
            powers.div_ceil(2 * kernel.items(Operation::Private))
        })
    }

    /// The kernel that is fastest for as many passes as it would take.
    fn for_passes(operation: Operation, bits: usize, passes: impl Fn(&KernelInfo) -> usize) -> Self {
        if dispatch::BUILT_FOR.is_some() {
            return Self::auto();
        }
        let table = Times::here();
        let row = table.row(operation, bits);
        let time = |kernel: &KernelInfo| {
            let pass = table.time(row, kernel)?;
            let is_available = kernel.available.is_ok();
            is_available.then(|| passes(kernel) as u64 * pass)
        };
        let kernels = kernels();
        let times = kernels.iter().filter_map(|kernel| Some((time(kernel)?, kernel.name)));
        let least = times.clone().map(|(time, _)| time).min().unwrap_or(0);
        times
            .into_iter()
            .find(|&(time, _)| time * 100 <= least * (100 + TIE_PERCENT))
            .and_then(|(_, name)| Self::named(name).ok())
            .unwrap_or_else(Self::auto)
    }

    /// Items of an operation that one pass of this kernel does.
    pub fn items(self, operation: Operation) -> usize {
        items(operation, self.lanes())
    }
}

/// A range of numbers of items at once, and the kernel that they run on on this CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelRange {
    /// The operation.
    pub operation: Operation,
    /// The longest modulus this is for, in bits, from the one before on; none if there is no limit.
    pub bits: Option<usize>,
    /// The fewest items.
    pub from: usize,
    /// The most items; none where more are cut into passes of this kernel, and what is left over goes by its own
    /// number.
    pub to: Option<usize>,
    /// The kernel that they run on.
    pub kernel: Kernel,
}

/// The whole table that [`Kernel::for_batch`] goes by, as it comes out on this CPU.
pub fn kernel_ranges() -> Vec<KernelRange> {
    OPERATIONS.into_iter().flat_map(ranges_of).collect()
}

fn ranges_of(operation: Operation) -> Vec<KernelRange> {
    // Lengths that come out alike are one interval.
    let mut intervals: Vec<(usize, Vec<Part>)> = Vec::new();
    for row in Times::here().rows(operation) {
        let parts = parts_at(operation, row.bits);
        match intervals.last_mut() {
            Some((longest, last)) if *last == parts => *longest = row.bits,
            _ => intervals.push((row.bits, parts)),
        }
    }
    let last = intervals.len() - 1;
    let intervals = intervals.into_iter().enumerate();
    let ranges = intervals.flat_map(|(i, (longest, parts))| {
        parts.into_iter().map(move |(from, to, kernel)| KernelRange {
            operation,
            bits: (i < last).then_some(longest),
            from,
            to,
            kernel,
        })
    });
    ranges.collect()
}

/// Numbers of items, from and to, that run on a kernel.
type Part = (usize, Option<usize>, Kernel);

fn parts_at(operation: Operation, bits: usize) -> Vec<Part> {
    let kernel = |count| Kernel::for_batch(operation, bits, count);
    let whole = Kernel::auto().items(operation);
    let mut parts = Vec::new();
    let mut from = 1;
    for count in 1..=whole {
        if count < whole && kernel(count) == kernel(count + 1) {
            continue;
        }
        parts.push((from, (count < whole).then_some(count), kernel(count)));
        from = count + 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All tables.
    fn tables() -> [Times; 3] {
        [ZEN3, ZEN4, ZEN5].map(Times::read)
    }

    #[test]
    fn every_kernel_that_is_not_for_tests_has_its_times() {
        for kernel in kernels() {
            let mut tables = tables().into_iter();
            let is_measured = tables.any(|table| table.time(&table.rows[0], &kernel).is_some());
            assert_eq!(is_measured, !kernel.is_for_tests(), "{}", kernel.name);
            assert!(
                !kernel.is_for_tests() || kernel.name.ends_with("_portable"),
                "{}",
                kernel.name
            );
        }
    }

    #[test]
    fn keys_of_more_primes_go_by_their_powers() {
        let private = Operation::Private;
        for (bits, count) in [(1024, 1), (2048, 3), (4096, 1), (8064, 5)] {
            let two = Kernel::for_multi_prime(bits, 2, count);
            assert_eq!(two, Kernel::for_batch(private, bits, count));
            // Six powers are those of two keys of three primes, and of three keys of two.
            let three = Kernel::for_multi_prime(3 * bits / 2, 3, 2);
            assert_eq!(three, Kernel::for_batch(private, bits, 3));
        }
        // Three powers fill a pass of four lanes better than two of two, where such a pass takes less than twice the
        // time.
        let row = Times::here().row(private, 2816);
        let time = |name| {
            let kernel = kernels().into_iter().find(|kernel| kernel.name == name);
            Times::here().time(row, &kernel.expect("it is in the table"))
        };
        let kernel = Kernel::for_multi_prime(4096, 3, 1).name();
        if let (Some(four), Some(two)) = (time("mont47x4_avx2fma"), time("mont47x2_avx2fma"))
            && dispatch::BUILT_FOR.is_none()
            && kernel != "mont52x2_ifma"
        {
            assert!(kernel != "mont47x2_avx2fma" || 2 * two < four, "{kernel}");
        }
    }

    #[test]
    fn every_table_is_whole() {
        for table in tables() {
            for row in &table.rows {
                assert_eq!(row.times.len(), table.kernels.len());
                assert!(!row.times.contains(&0));
            }
            // What runs where nothing else does.
            assert!(table.kernels.contains(&"mont64x1_portable"));
        }
    }

    #[test]
    fn rows_are_in_order() {
        for table in tables() {
            for operation in OPERATIONS {
                assert!(table.rows(operation).is_sorted_by(|a, b| a.bits < b.bits));
                let bits = |bits| table.row(operation, bits).bits;
                let first = bits(0);
                assert_eq!((bits(first), bits(1024), bits(1025) > 1024), (first, 1024, true));
                assert_eq!(bits(usize::MAX), table.rows(operation).last().unwrap().bits);
            }
        }
    }

    #[test]
    fn many_items_run_on_the_preferred_kernel() {
        for operation in OPERATIONS {
            for bits in [512, 1024, 2048, 4096, 16384] {
                let items = Kernel::auto().items(operation);
                assert_eq!(
                    Kernel::for_batch(operation, bits, 8 * items),
                    Kernel::auto(),
                    "{operation:?}, {bits} bits"
                );
            }
        }
    }

    #[test]
    fn the_table_of_shares_says_what_runs() {
        let ranges = kernel_ranges();
        for operation in OPERATIONS {
            for bits in [512, 960, 1024, 1025, 2048, 3072, 3136, 4096, 8192, 10_000] {
                let mine = ranges.iter().filter(|range| range.operation == operation);
                let long_enough = |range: &&KernelRange| range.bits.is_none_or(|longest| bits <= longest);
                let class = mine.clone().find(long_enough).unwrap().bits;
                for count in 1..=Kernel::auto().items(operation) {
                    let fitting: Vec<_> = mine
                        .clone()
                        .filter(|range| range.bits == class)
                        .filter(|range| range.from <= count && range.to.is_none_or(|to| count <= to))
                        .map(|range| range.kernel)
                        .collect();
                    assert_eq!(fitting, [Kernel::for_batch(operation, bits, count)]);
                }
            }
        }
    }

    #[test]
    fn one_item_runs_on_one_number_where_that_is_faster() {
        if dispatch::BUILT_FOR.is_some() || Kernel::named("mont52x2_ifma").is_err() {
            return eprintln!("SKIPPED: this CPU has no AVX-512 IFMA, or one kernel was built for");
        }
        let name = |operation, bits, count| Kernel::for_batch(operation, bits, count).name();
        assert_eq!(name(Operation::Private, 2048, 1), "mont52x2_ifma");
        assert_eq!(name(Operation::Private, 2048, 3), "mont52x8_ifma512");
        assert_eq!(name(Operation::Public, 2048, 3), "mont52x2_ifma");
        assert_eq!(name(Operation::Public, 2048, 8), "mont52x8_ifma512");
    }

    #[test]
    fn one_item_runs_on_one_number_without_avx512_too() {
        let has_others = has_avx512() || Kernel::named("mont47x2_avx2fma").is_err();
        if dispatch::BUILT_FOR.is_some() || has_others {
            return eprintln!("SKIPPED: this CPU has AVX-512, or neither AVX2 nor FMA; or one kernel was built for");
        }
        let name = |operation, bits, count| Kernel::for_batch(operation, bits, count).name();
        for bits in [1536, 2048, 3072, 4096] {
            assert_eq!(name(Operation::Private, bits, 1), "mont47x2_avx2fma");
            assert_eq!(name(Operation::Public, bits, 1), "mont47x2_avx2fma");
            assert_eq!(name(Operation::Private, bits, 2), "mont47x4_avx2fma");
            assert_eq!(name(Operation::Public, bits, 4), "mont47x4_avx2fma");
        }
    }
}

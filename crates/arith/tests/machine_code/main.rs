//! The kernels' machine code, of the compiler and of assembly: an intrinsic that became a call would be correct, and
//! slow; a digit might end in a branch, an address, or a mask that decides what is loaded.

#[cfg(target_arch = "x86_64")]
mod certify;
mod disassembly;
mod instruction;
mod leaks;
mod secrets;
#[path = "../../src/kernel/table.rs"]
mod table;

use disassembly::{Function, disassembled};
use instruction::{stack_offset, width};
use rsalab_arith::Kernel;
use secrets::{Memory, Reading};
use std::hint::black_box;
use table::for_each_kernel;

const KERNEL: &str = "mont52x8_ifma512";

/// Numbers live in vector registers and in the memory that these load and store. General registers hold pointers and
/// counts.
const IN_VECTORS: Reading = Reading {
    memory: Memory::Fields,
    in_vectors_alone: true,
};
/// [`IN_VECTORS`] but for carries, which pass through general registers.
const CARRIES: Reading = Reading {
    memory: Memory::Fields,
    in_vectors_alone: false,
};
/// General registers hold what is in the structures that two of them point to; see `build/tiles/`.
const TILES: Reading = Reading {
    memory: Memory::Arguments(&["%rdi", "%rsi"]),
    in_vectors_alone: true,
};
/// General registers hold arguments and immediates; see `build/rows/`.
const ROWS: Reading = Reading {
    memory: Memory::Digits,
    in_vectors_alone: true,
};
/// General registers hold pointers and counts, some of them from an array of structures; see `build/blocks/`.
const BLOCKS: Reading = IN_VECTORS;
/// Numbers live in general registers.
const LIMBS: Reading = Reading {
    memory: Memory::Digits,
    in_vectors_alone: false,
};

/// Some functions of a kernel, as the table has them.
type Code = (&'static str, &'static str, &'static str, [usize; 2], Reading);

/// Every kernel's functions.
macro_rules! codes {
    (
        {}
        $($(#[$cfg:meta])? $name:ident: dispatch $dispatch:tt says $says:tt
            tests { limbs: $limbs:expr, code: $code:expr, };)*
    ) => {
        [$((stringify!($name), stringify!($($cfg)?), Vec::<Code>::from($code))),*]
    };
}

/// The sieve's functions, and every kernel's.
fn codes() -> Vec<Code> {
    let sieve = [("avx2::run_avx2", "vpmuludq", "%ymm", [2, 100], IN_VECTORS)];
    let kernels = for_each_kernel! { codes, };
    let codes = kernels.into_iter().flat_map(|(.., code)| code);
    sieve.into_iter().chain(codes).collect()
}

#[test]
fn every_kernel_with_instructions_of_its_own_says_where_they_are() {
    for (name, cfg, code) in for_each_kernel! { codes, } {
        assert_eq!(cfg.contains("x86_64"), !code.is_empty(), "{name}");
    }
}

#[test]
fn no_vector_intrinsic_became_a_call() {
    let Some(functions) = disassembled() else {
        return;
    };
    for Function { name, .. } in functions {
        let register = [
            "Zmm as",
            "ZmmDoubles as",
            "Ymm as",
            "YmmWords as",
            "OneQuad as",
            "TwoQuads as",
        ];
        let outside = name.contains("core_arch::x86::avx")
            || name.contains("core_arch::x86::fma")
            || name.contains("avx2fma::row")
            || name.contains("opaque::opaque_")
            || register.iter().any(|form| name.contains(form)) && !name.ends_with("::run");
        assert!(!outside, "{name} was not inlined");
    }
    for (run, product, register, [least, least_products], _) in codes() {
        let kernels: Vec<_> = functions.iter().filter(|f| f.name.contains(run)).collect();
        let products = kernels
            .iter()
            .flat_map(|kernel| &kernel.instructions)
            .filter(|instruction| instruction.contains(product) && instruction.contains(register))
            .count();
        assert!(
            kernels.len() >= least,
            "only {} functions of {run} found in the machine code",
            kernels.len()
        );
        assert!(products > least_products, "only {products} vector products in {run}");
    }
}

/// No branch, no address, and no mask over memory is made of a digit; no division and no shift takes its time by one.
#[test]
fn no_function_shows_a_digit() {
    if cfg!(debug_assertions) {
        return eprintln!(
            "SKIPPED: with assertions this is not the code that ships; `cargo test --release` reads that"
        );
    }
    #[cfg(target_arch = "x86_64")]
    black_box(planted::entry as fn(_, _) -> _);
    let Some(functions) = disassembled() else {
        return;
    };
    let read = codes().into_iter().flat_map(|(run, .., reading)| {
        let functions = functions.iter().filter(move |function| function.name.contains(run));
        functions.filter_map(move |function| Some((&function.name, function.shows_a_digit(reading)?)))
    });
    // The bits of a candidate, which say when to double, are bytes.
    let doublings = functions
        .iter()
        .filter(|f| f.name.contains("LaneKernel>::square_and_double"));
    let doublings: Vec<_> = doublings.map(|f| (&f.name, f.shows_a_digit(CARRIES))).collect();
    if doublings.is_empty() {
        eprintln!("SKIPPED: doublings are no function of their own here; `cargo test --profile profiling` reads them");
    }
    let doublings = doublings.into_iter().filter_map(|(name, shown)| Some((name, shown?)));
    let shown: Vec<_> = read.chain(doublings).collect();
    assert!(shown.is_empty(), "{shown:#?}");
    let planted: Vec<_> = functions.iter().filter(|f| f.name.contains("planted::entry")).collect();
    let shown = planted.iter().map(|function| function.shows_a_digit(LIMBS));
    let how: Vec<_> = shown.map(|shown| shown.map(|(_, how)| how)).collect();
    assert_eq!(how, [Some("an address")], "a planted load by a digit");
}

/// A processor need not touch what a mask leaves out. So a look-up reads every entry whole, and no load and no store
/// anywhere is under a mask, but under those that are constants.
#[test]
fn no_load_and_no_store_is_under_a_mask() {
    #[cfg(target_arch = "x86_64")]
    black_box(planted::look_up as unsafe fn(_, _, _, _) -> _);
    let Some(functions) = disassembled() else {
        return;
    };
    let is_planted = |function: &Function| function.name.contains("planted::look_up");
    let (planted, others): (Vec<_>, Vec<_>) = functions.iter().partition(|f| is_planted(f));
    for function in others {
        let access = function.accesses_under_a_mask();
        assert_eq!(access, None, "under a mask: {}", function.name);
    }
    let [planted] = planted[..] else {
        panic!("{} planted functions", planted.len());
    };
    assert!(
        planted.accesses_under_a_mask().is_some(),
        "not found: {:#?}",
        planted.instructions
    );
}

/// Functions that show digits.
#[cfg(target_arch = "x86_64")]
mod planted {
    use std::arch::x86_64::*;

    /// An entry of a table at a place that a digit makes.
    #[inline(never)]
    pub(super) fn entry(digits: &[u64; 8], table: &[u64; 8]) -> u64 {
        table[(digits[0] & 7) as usize]
    }

    /// A look-up whose mask the compiler knows, of which it makes a load under a mask.
    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    pub(super) fn look_up(picked: __m512i, wanted: __m512i, index: i64, entry: &[i64; 8]) -> __m512i {
        let [a, b, c, d, e, f, g, h] = *entry;
        let here = _mm512_cmpeq_epi64_mask(wanted, _mm512_set1_epi64(index));
        _mm512_mask_mov_epi64(picked, here, _mm512_setr_epi64(a, b, c, d, e, f, g, h))
    }
}

#[test]
fn operands_are_understood() {
    assert_eq!(stack_offset("vmovdqu64 %zmm1,0x40(%rsp)"), Some(64));
    assert_eq!(stack_offset("mov (%rsp),%rax"), Some(0));
    assert_eq!(stack_offset("mov 0x8(%rdi),%rax"), None);
    for (instruction, bytes) in [
        ("vmovdqu64 %zmm1,0x40(%rsp)", 64),
        ("vmovupd %ymm1,0x40(%rsp)", 32),
        ("mov %rax,0x8(%rsp)", 8),
        ("mov %r10,0x8(%rsp)", 8),
        ("mov %r10d,0x8(%rsp)", 4),
        ("mov %ecx,0x8(%rsp)", 4),
        ("mov %cl,0x8(%rsp)", 1),
        ("movb $0x1,0x8(%rsp)", 1),
        ("movq $0x0,0x8(%rsp)", 8),
        ("cmpq $0x0,0x8(%rsp)", 8),
        ("testb $0x1,0x8(%rsp)", 1),
        ("movzbl 0x8(%rsp),%ecx", 1),
        ("movslq 0x8(%rsp),%rcx", 4),
    ] {
        assert_eq!(width(instruction), bytes, "{instruction}");
    }
}

#[test]
fn an_access_under_a_mask_is_seen() {
    for (instruction, seen) in [
        ("vmovdqu64 (%r10),%zmm3{%k1}", true),
        ("vmovupd 0x40(%r10),%ymm3{%k1}{z}", true),
        ("vporq (%rdx),%ymm3,%ymm3{%k1}", true),
        ("vpblendmq (%rax,%rcx,8),%zmm1,%zmm2{%k1}", true),
        ("vpaddq 0x0(%rip){1to8},%zmm1,%zmm1{%k2}", true),
        ("vmovdqu64 %zmm2,(%rsi,%rdi,1){%k1}", true),
        ("vpcmpeqq (%rsi),%zmm2,%k1{%k2}", true),
        ("vpcompressq %zmm1,(%rax){%k1}", true),
        ("vmovdqu8 %fs:0x28,%xmm0{%k1}", true),
        ("vpmaskmovq (%rax),%ymm1,%ymm2", true),
        ("vmaskmovpd %ymm1,%ymm2,(%rax)", true),
        ("maskmovdqu %xmm1,%xmm2", true),
        ("vpgatherqq (%rax,%ymm1,8),%ymm2,%ymm3", true),
        ("vmovdqu64 (%r10),%zmm3", false),
        ("vmovdqa64 %zmm2,%zmm3{%k1}", false),
        ("vpcmpeqq (%rsi),%zmm2,%k1", false),
        ("vpternlogq $0xca,(%rsi),%zmm2,%zmm1", false),
        ("vpaddq (%rip){1to8},%zmm1,%zmm1", false),
        ("vblendvpd %ymm1,(%rax),%ymm2,%ymm3", false),
        ("cmove (%rax),%rcx", false),
    ] {
        let access = straight(&[instruction]).accesses_under_a_mask().is_some();
        assert_eq!(access, seen, "{instruction}");
    }
    let load = "vmovdqu64 (%r10),%zmm3{%k1}";
    for (before, seen) in [
        (&["mov $0xfe,%eax", "kmovb %eax,%k1"][..], false),
        (&["mov $0xfe,%eax", "kmovb %eax,%k2"], true),
        (&["mov (%rdi),%eax", "kmovb %eax,%k1"], true),
        (&["mov $0xfe,%ecx", "kmovb %eax,%k1"], true),
        (&["mov $0xfe,%eax", "kmovb %eax,%k1", "vpcmpeqq %zmm1,%zmm2,%k1"], true),
        (&["mov $0xfe,%eax", "kmovb %eax,%k1", "kshiftrq $0x8,%k1,%k1"], true),
        (&["mov $0xfe,%eax", "kmovb %eax,%k1", "call 1000 <f>"], true),
        // Twice around: the second time by another mask.
        (
            &[
                "mov $0xfe,%eax",
                "kmovb %eax,%k1",
                "vmovdqu64 (%r10),%zmm3{%k1}",
                "vpcmpeqq %zmm1,%zmm2,%k1",
                "jne 2 <loop>",
                "mov $0xfe,%eax",
                "kmovb %eax,%k1",
            ],
            true,
        ),
    ] {
        let instructions = [before, &[load]].concat();
        let access = straight(&instructions).accesses_under_a_mask().is_some();
        assert_eq!(access, seen, "{instructions:?}");
    }
}

/// A function of these instructions, at the addresses from 0 on.
fn straight(instructions: &[&str]) -> Function {
    Function {
        name: String::new(),
        instructions: instructions.iter().map(|&i| i.to_owned()).collect(),
        addresses: (0..instructions.len() as u64).collect(),
    }
}

#[test]
fn ifma_is_reached_where_it_is_present() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
    {
        assert_eq!(Kernel::named(KERNEL).unwrap().lanes(), 8);
        // A build may have been made to choose another.
        let chosen = option_env!("RSALAB_BUILD_KERNEL").unwrap_or(KERNEL);
        assert_eq!(Kernel::auto().name(), chosen);
        return;
    }
    eprintln!("SKIPPED: this CPU has no AVX-512 IFMA");
    assert!(Kernel::named(KERNEL).is_err());
    assert_ne!(Kernel::auto().name(), KERNEL);
}

//! What the compiler made of the vector kernels: an intrinsic that became a call would be correct, and slow; a number
//! that came into a general register might end in a branch or an address; a mask that decides what is loaded might show
//! in the cache.

mod disassembly;
mod instruction;

use disassembly::{Function, disassembled};
use instruction::{leak, stack_offset, width};
use rsalab_arith::Kernel;
use std::hint::black_box;

const KERNEL: &str = "mont52x8_ifma512";

/// The forms whose digits lie across a vector. Their last carries go through general registers, so that their code
/// cannot be read as that of the others: their form on arrays is tracked by valgrind, and their times are compared
/// (`make timing`).
const ACROSS: &str = "run_quad";

/// Of each form on vector registers: the function that its code is compiled into, the products that are to be found
/// there, and at least how many of both.
const KERNELS: [(&str, &str, &str, [usize; 2]); 8] = [
    ("run_ifma512", "vpmadd52luq", "%zmm", [3, 1000]),
    ("run_quad_of_one", "vpmadd52luq", "%ymm", [3, 1000]),
    ("run_quad_of_first", "vpmadd52luq", "%ymm", [2, 500]),
    ("run_quad_of_two", "vpmadd52luq", "%zmm", [3, 1000]),
    ("run_avx512f", "vfmadd", "%zmm", [3, 1000]),
    ("run_avx2fma", "vfmadd", "%ymm", [3, 1000]),
    ("avx2_tiles::code::code", "vfmadd", "%ymm", [80, 5000]),
    // The sieve.
    ("avx2::run_avx2", "vpmuludq", "%ymm", [2, 100]),
];

impl Function {
    fn is_kernel(&self) -> bool {
        KERNELS
            .iter()
            .any(|&(run, ..)| !run.contains(ACROSS) && self.name.contains(run))
    }
}

#[test]
fn no_vector_intrinsic_became_a_call() {
    let Some(functions) = disassembled() else {
        return;
    };
    for Function { name, .. } in &functions {
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
    for (run, product, register, [least, least_products]) in KERNELS {
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

/// Numbers live in vector registers and in the memory that these load and store. So no branch and no address depends on
/// one, if nothing goes from a vector or a mask to a general register or to the flags, and if general registers load
/// nothing but what they have themselves put on the stack and the fields of the structures that hold pointers and
/// lengths.
#[test]
fn no_number_reaches_a_branch_or_an_address_of_the_register_form() {
    if cfg!(debug_assertions) {
        return eprintln!(
            "skipped: with assertions this is not the code that ships; `cargo test --release` reads that"
        );
    }
    let Some(functions) = disassembled() else {
        return;
    };
    for function in functions.iter().filter(|function| function.is_kernel()) {
        for instruction in &function.instructions {
            let leak = leak(instruction);
            assert_eq!(leak, None, "{instruction} of {}", function.name);
        }
        let read = function.reads_a_part_of_a_vector();
        assert_eq!(read, None, "reads a part of a vector: {}", function.name);
    }
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

/// What the compiler makes of a look-up whose mask it knows: a load under a mask.
#[cfg(target_arch = "x86_64")]
mod planted {
    use std::arch::x86_64::*;

    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    pub(super) fn look_up(picked: __m512i, wanted: __m512i, index: i64, entry: &[i64; 8]) -> __m512i {
        let [a, b, c, d, e, f, g, h] = *entry;
        let here = _mm512_cmpeq_epi64_mask(wanted, _mm512_set1_epi64(index));
        _mm512_mask_mov_epi64(picked, here, _mm512_setr_epi64(a, b, c, d, e, f, g, h))
    }
}

#[test]
fn a_leak_in_machine_code_is_seen() {
    for (instruction, seen) in [
        ("vpmadd52luq (%rax),%zmm1,%zmm2", false),
        ("vmovdqu64 %zmm1,0x40(%rsp)", false),
        ("vmovdqu64 %zmm2,(%rsi,%rdi,1)", false),
        ("vpcmpeqq %zmm1,%zmm2,%k1", false),
        ("vpternlogq $0xca,(%rax,%rcx,8),%zmm1,%zmm2", false),
        ("mov 0x18(%rdi),%rcx", false),
        ("mov %rcx,0x18(%rsp)", false),
        ("lea 0x40(%rax,%rcx,8),%rdx", false),
        ("data16 cs nopw 0x0(%rax,%rax,1)", false),
        ("kmovb %k1,%eax", true),
        ("kortestb %k1,%k1", true),
        ("vmovq %xmm1,%rax", true),
        ("vpextrq $0x1,%xmm1,%rax", true),
        ("vptest %ymm1,%ymm1", true),
        ("vpgatherqq (%rax,%zmm1,8),%zmm2{%k1}", true),
        ("mov (%rax,%rcx,8),%rdx", true),
        ("movzbl 0x3(%rsi),%eax", true),
        // The stack is followed: see below.
        ("movzbl 0x8(%rsp),%eax", false),
    ] {
        assert_eq!(leak(instruction).is_some(), seen, "{instruction}");
    }
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
    for (instructions, seen) in [
        (["vmovupd %zmm1,0x0(%rsp)", "mov 0x38(%rsp),%rax"], true),
        (["vmovupd %ymm1,0x0(%rsp)", "mov 0x38(%rsp),%rax"], false),
        (["vmovupd %ymm1,0x0(%rsp)", "movzbl 0x1f(%rsp),%eax"], true),
        (["mov %cl,0x8(%rsp)", "movzbl 0x8(%rsp),%ecx"], false),
    ] {
        assert_eq!(reads_after(&instructions), seen, "{instructions:?}");
    }
    // One byte stored says nothing of the seven beside it.
    let beside = ["vmovupd %zmm1,0x0(%rsp)", "mov %cl,0x8(%rsp)"];
    assert!(!reads_after(&[&beside[..], &["movzbl 0x8(%rsp),%ecx"]].concat()));
    assert!(reads_after(&[&beside[..], &["mov 0x8(%rsp),%rcx"]].concat()));
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

/// Whether these instructions, one after another, read a part of a vector.
fn reads_after(instructions: &[&str]) -> bool {
    straight(instructions).reads_a_part_of_a_vector().is_some()
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
    eprintln!("skipped: this CPU has no AVX-512 IFMA");
    assert!(Kernel::named(KERNEL).is_err());
    assert_ne!(Kernel::auto().name(), KERNEL);
}

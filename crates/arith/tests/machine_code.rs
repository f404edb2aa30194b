//! What the compiler made of the vector kernels: an intrinsic that became a call would be correct, and slow; a number that
//! came into a general register might end in a branch or an address.

use rsalab_arith::{
    CheckedPublicKey, Kernel, MultiKeyContext, PrivateContext, PublicContext, Status,
    candidate::{PreTester, Sieve, Tester},
};
use std::{
    collections::{BTreeSet, HashMap},
    hint::black_box,
    process::Command,
};

const KERNEL: &str = "mont52x8_ifma512";

/// The forms whose digits lie across a vector. Their last carries go through general registers, so that their code cannot be read as that of the
/// others: their form on arrays is tracked by valgrind, and their times are compared (`make timing`).
const ACROSS: &str = "run_quad";

/// Of each form on vector registers: the function that its code is compiled into, the products that are to be found there, and at least how many
/// of both.
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

/// A function's name and its instructions, in the order of AT&T (sources first), with their addresses.
struct Function {
    name: String,
    instructions: Vec<String>,
    addresses: Vec<u64>,
}

/// The functions of this program that concern the register form, if they can be read here.
fn disassembled() -> Option<Vec<Function>> {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: the kernel is for x86-64");
        return None;
    }
    // All that runs on a kernel is linked in because it can be asked for, and the kernels because they can be chosen.
    black_box((
        PrivateContext::new as fn(&_, _) -> _,
        MultiKeyContext::new as fn(&_, _) -> _,
        Tester::new as fn(_, _) -> _,
        PreTester::new as fn(_, _) -> _,
        Sieve::new as fn(_, _) -> _,
        Sieve::interval as fn(&_, &_) -> _,
    ));
    let modulus = [vec![0xff; 63], vec![0xfb]].concat();
    let key = CheckedPublicKey::new(&modulus, &[3]).unwrap();
    let context = PublicContext::new(&key, Kernel::auto());
    let (mut output, mut status) = (vec![0; 64], [Status::Fault]);
    context
        .apply_vartime(&mut context.scratch(), &[0; 64], &mut output, &mut status)
        .unwrap();
    let disassembly = Command::new("objdump")
        .args(["--disassemble", "--demangle", "--no-show-raw-insn"])
        .arg(std::env::current_exe().unwrap())
        .output();
    let Ok(disassembly) = disassembly else {
        eprintln!("skipped: there is no objdump here");
        return None;
    };
    let text = String::from_utf8_lossy(&disassembly.stdout);
    let head = |line: &str| -> Option<(u64, String)> {
        let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
        Some((u64::from_str_radix(address, 16).ok()?, name.to_owned()))
    };
    let names: HashMap<u64, String> = text.lines().filter_map(head).collect();
    let callees = callees(&names);
    let mut functions: Vec<Function> = Vec::new();
    for line in text.lines() {
        if let Some((_, name)) = head(line) {
            functions.push(Function {
                name,
                instructions: Vec::new(),
                addresses: Vec::new(),
            });
        } else if let (Some(function), Some((address, instruction))) =
            (functions.last_mut(), line.split_once('\t'))
        {
            let Ok(address) = u64::from_str_radix(address.trim().trim_end_matches(':'), 16) else {
                continue;
            };
            function.addresses.push(address);
            let (instruction, place) = instruction.split_once('#').unwrap_or((instruction, ""));
            let mut instruction = instruction.split_whitespace().collect::<Vec<_>>().join(" ");
            let place = place.split_whitespace().next().unwrap_or_default();
            let callee = u64::from_str_radix(place, 16).map(|place| callees.get(&place));
            if let (true, Ok(Some(callee))) = (instruction.starts_with("call"), callee) {
                instruction = format!("call {callee}");
            }
            function.instructions.push(instruction);
        }
    }
    Some(functions)
}

/// The names of this program's functions that are called by way of a table, by the place in the table.
fn callees(names: &HashMap<u64, String>) -> HashMap<u64, String> {
    let relocations = Command::new("objdump")
        .arg("--dynamic-reloc")
        .arg(std::env::current_exe().unwrap())
        .output()
        .expect("it ran before");
    let entry = |line: &str| -> Option<(u64, String)> {
        let mut words = line.split_whitespace();
        let place = u64::from_str_radix(words.next()?, 16).ok()?;
        let target = words.nth(1)?.strip_prefix("*ABS*+0x")?;
        let target = u64::from_str_radix(target, 16).ok()?;
        Some((place, names.get(&target)?.clone()))
    };
    let text = String::from_utf8_lossy(&relocations.stdout);
    text.lines().filter_map(entry).collect()
}

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
        assert!(
            products > least_products,
            "only {products} vector products in {run}"
        );
    }
}

/// Numbers live in vector registers and in the memory that these load and store. So no branch and no address depends on
/// one, if nothing goes from a vector or a mask to a general register or to the flags, and if general registers load
/// nothing but what they have themselves put on the stack and the fields of the structures that hold pointers and lengths.
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

impl Function {
    /// An instruction on general registers that reads from the stack what a vector may have left there, on some way through the function.
    fn reads_a_part_of_a_vector(&self) -> Option<&str> {
        let places: HashMap<u64, usize> = self.addresses.iter().copied().zip(0..).collect();
        // Before each instruction: bytes of the stack that a vector may be in.
        let mut before: Vec<Option<BTreeSet<i64>>> = vec![None; self.instructions.len()];
        before[0] = Some(BTreeSet::new());
        let mut changed = vec![0];
        while let Some(i) = changed.pop() {
            let instruction = &self.instructions[i];
            let mut vectors = before[i].clone().expect("it has been reached");
            if let Some(at) = stack_offset(instruction) {
                let is_store = instruction.ends_with("(%rsp)");
                let bytes = at..at + width(instruction);
                if is_vector(instruction) && is_store {
                    vectors.extend(bytes);
                } else if is_vector(instruction) {
                } else if is_store && instruction.starts_with("mov") {
                    vectors.retain(|byte| !bytes.contains(byte));
                } else if vectors.range(bytes).next().is_some() {
                    return Some(instruction);
                }
            }
            let (mnemonic, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
            let is_jump = mnemonic.starts_with('j');
            let target = operands.split(' ').next().unwrap_or_default();
            let target = u64::from_str_radix(target, 16).ok();
            let target = target.and_then(|target| places.get(&target)).copied();
            let panics = ["panic", "_fail"]
                .iter()
                .any(|name| operands.contains(name));
            let ends = ["jmp", "ret", "ud2"].contains(&mnemonic) || mnemonic == "call" && panics;
            for next in [target.filter(|_| is_jump), (!ends).then_some(i + 1)] {
                let Some(next) = next.filter(|&next| next < before.len()) else {
                    continue;
                };
                let known = before[next].get_or_insert_with(|| {
                    changed.push(next);
                    BTreeSet::new()
                });
                if !vectors.is_subset(known) {
                    known.extend(&vectors);
                    changed.push(next);
                }
            }
        }
        None
    }
}

/// How an instruction could carry a number out of the vectors.
fn leak(instruction: &str) -> Option<&'static str> {
    let (mnemonic, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    if is_vector(instruction) {
        let sets_flags = ["vptest", "vtest", "kortest", "ktest", "vcomi", "vucomi"];
        let destination = operands.rsplit_once(',').map_or(operands, |(_, last)| last);
        let is_kept = destination.starts_with("%zmm")
            || destination.starts_with("%ymm")
            || destination.starts_with("%xmm")
            || destination.starts_with("%k")
            || destination.contains(')');
        return match () {
            () if sets_flags.iter().any(|flags| mnemonic.starts_with(flags)) => Some("the flags"),
            () if ["gather", "scatter"]
                .iter()
                .any(|way| mnemonic.contains(way)) =>
            {
                Some("an address")
            }
            () if !is_kept => Some("a general register"),
            () => None,
        };
    }
    let loads = mnemonic != "lea" && !instruction.contains("nop") && operands.contains('(');
    let address = operands
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or("", |(address, _)| address);
    match () {
        () if !loads || mnemonic == "call" || mnemonic == "jmp" => None,
        // Fields are read whole, and none is found by counting; an element of a table would be. What is read from the stack
        // is known by what was last stored there: `reads_a_part_of_a_vector`.
        () if address.contains(',') => Some("a general register, from a place that is counted"),
        () if address == "%rsp" => None,
        () if ["movz", "movs", "movb", "movw"]
            .iter()
            .any(|m| mnemonic.starts_with(m)) =>
        {
            Some("a general register, in part")
        }
        () => None,
    }
}

fn is_vector(instruction: &str) -> bool {
    ["%zmm", "%ymm", "%xmm", "%k"]
        .iter()
        .any(|register| instruction.contains(register))
}

/// How many bytes of memory an instruction reads or writes: what its register or its suffix says.
fn width(instruction: &str) -> i64 {
    let (mnemonic, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    let extended = ["movz", "movs"]
        .iter()
        .find_map(|m| mnemonic.strip_prefix(m));
    let register = operands
        .split(',')
        .find_map(|operand| operand.strip_prefix('%'));
    let suffix = match (extended.filter(|widths| widths.len() == 2), register) {
        (Some(widths), _) => &widths[..1],
        (None, Some(register)) => return register_width(register),
        (None, None) => &mnemonic[mnemonic.len() - 1..],
    };
    match suffix {
        "b" => 1,
        "w" => 2,
        "l" => 4,
        _ => 8,
    }
}

fn register_width(register: &str) -> i64 {
    let is_numbered = register.len() > 1 && register.as_bytes()[1].is_ascii_digit();
    match register.as_bytes() {
        [b'z', ..] => 64,
        [b'y', ..] => 32,
        [b'x', ..] => 16,
        [b'r', .., b'b'] if is_numbered => 1,
        [b'r', .., b'w'] if is_numbered => 2,
        [b'r', .., b'd'] if is_numbered => 4,
        [b'r', ..] => 8,
        [b'e', ..] => 4,
        [.., b'l' | b'h'] => 1,
        // Of a mask, the most that one holds.
        [b'k', ..] => 8,
        _ => 2,
    }
}

/// Where on the stack an instruction reads or writes.
fn stack_offset(instruction: &str) -> Option<i64> {
    let (before, _) = instruction.split_once("(%rsp)")?;
    let offset = before.rsplit([' ', ',']).next().unwrap_or_default();
    match offset.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => offset.is_empty().then_some(0),
    }
}

#[test]
fn a_leak_in_machine_code_is_seen() {
    for (instruction, seen) in [
        ("vpmadd52luq (%rax),%zmm1,%zmm2", false),
        ("vmovdqu64 %zmm1,0x40(%rsp)", false),
        ("vmovdqu64 %zmm2,(%rsi,%rdi,1){%k1}", false),
        ("vpcmpeqq %zmm1,%zmm2,%k1", false),
        ("vpblendmq (%rax,%rcx,8),%zmm1,%zmm2{%k1}", false),
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
    assert!(!reads_after(
        &[&beside[..], &["movzbl 0x8(%rsp),%ecx"]].concat()
    ));
    assert!(reads_after(
        &[&beside[..], &["mov 0x8(%rsp),%rcx"]].concat()
    ));
}

/// Whether these instructions, one after another, read a part of a vector.
fn reads_after(instructions: &[&str]) -> bool {
    let function = Function {
        name: String::new(),
        instructions: instructions.iter().map(|&i| i.to_owned()).collect(),
        addresses: (0..instructions.len() as u64).collect(),
    };
    function.reads_a_part_of_a_vector().is_some()
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

//! What the compiler made of the vector kernels: intrinsics that became calls would be correct, and slow.

use rsalab_arith::{Kernel, PublicContext, Status};
use std::process::Command;

const KERNEL: &str = "mont52x8_ifma512";

#[test]
fn no_vector_intrinsic_became_a_call() {
    if !cfg!(target_arch = "x86_64") {
        return eprintln!("skipped: the kernel is for x86-64");
    }
    // The kernels are linked in because they can be chosen.
    let modulus = [vec![0xff; 63], vec![0xfb]].concat();
    let context = PublicContext::new(&modulus, &[3], Kernel::auto()).unwrap();
    let (mut output, mut status) = (vec![0; 64], [Status::Fault]);
    context
        .apply_vartime(&mut context.scratch(), &[0; 64], &mut output, &mut status)
        .unwrap();
    let disassembly = Command::new("objdump")
        .args(["--disassemble", "--demangle", "--no-show-raw-insn"])
        .arg(std::env::current_exe().unwrap())
        .output();
    let Ok(disassembly) = disassembly else {
        return eprintln!("skipped: there is no objdump here");
    };
    let text = String::from_utf8_lossy(&disassembly.stdout);
    let mut kernels = 0;
    let mut products = 0;
    let mut function = "";
    for line in text.lines() {
        if let Some((_, name)) = line
            .strip_suffix(">:")
            .and_then(|line| line.split_once('<'))
        {
            function = name;
            kernels += usize::from(function.contains("run_ifma512"));
            let outside = function.contains("core_arch::x86::avx512")
                || function.contains("Zmm as") && !function.ends_with("::run");
            assert!(!outside, "{function} was not inlined");
        } else if function.contains("run_ifma512") {
            products += usize::from(line.contains("vpmadd52luq") && line.contains("%zmm"));
        }
    }
    assert!(
        kernels >= 3,
        "only {kernels} kernels found in the machine code"
    );
    assert!(products > 1000, "only {products} vector products found");
}

#[test]
fn ifma_is_reached_where_it_is_present() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
    {
        assert_eq!(Kernel::auto().name(), KERNEL);
        assert_eq!(Kernel::auto().lanes(), 8);
        return;
    }
    eprintln!("skipped: this CPU has no AVX-512 IFMA");
    assert!(Kernel::named(KERNEL).is_err());
    assert_ne!(Kernel::auto().name(), KERNEL);
}

//! A function that is compiled without a kernel's instructions calls intrinsics instead of containing them: products
//! are right, and ten times as slow.

use std::process::Command;

use rsalab_product::{Kernel, Multiplier};

#[test]
fn no_intrinsic_became_a_call() {
    // So that every kernel is in this program.
    for &kernel in Kernel::all() {
        assert_eq!(Multiplier::with_kernel(kernel, 1).square(&[3; 64])[0], 9);
    }
    let program = std::env::current_exe().expect("a test has a program");
    let Ok(objdump) = Command::new("objdump")
        .args(["-d", "--no-show-raw-insn"])
        .arg(program)
        .output()
    else {
        println!("SKIPPED: no objdump here: whether intrinsics became calls is not known");
        return;
    };
    let text = String::from_utf8_lossy(&objdump.stdout);
    // "0000000000012345 <name>:" opens a function.
    let mut ours = false;
    let mut functions = 0;
    let mut calls = Vec::new();
    for line in text.lines() {
        if line.ends_with(">:") {
            ours = line.contains("rsalab_product");
            functions += usize::from(ours);
        } else if ours && line.contains("call") && ["_mm256_", "_mm512_"].iter().any(|mm| line.contains(mm)) {
            calls.push(line);
        }
    }
    if functions == 0 && !cfg!(debug_assertions) {
        println!("SKIPPED: functions have no names in what ships: whether intrinsics became calls is not known");
        return;
    }
    assert!(functions > 0, "functions have names");
    assert!(calls.is_empty(), "{calls:#?}");
}

//! The kernels in PTX, assembled by NVIDIA's assembler: registers, memory for registers that did not suffice, and
//! instructions. Needs no device, and no more than `scripts/install-ptxas.sh` installs. Where that is missing, each
//! test says that it was skipped. `RSALAB_CONFORMANCE=full` assembles every length for every architecture, which takes
//! minutes; else it is a part.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use rsalab_gpu::{
    kernel::Kernel,
    ptx::{self, rates},
};

use crate::length::is_full;

/// A program of the toolkit, if it is installed.
fn tool(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let prefix = std::env::var_os("RSALAB_PREFIX").map_or(root.join("prefix"), PathBuf::from);
    let path = prefix.join("ptxas").join(name);
    if !path.exists() {
        eprintln!("SKIPPED: there is no {}: run scripts/install-ptxas.sh", path.display());
        return None;
    }
    Some(path)
}

/// The assembler's figures of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Use {
    registers: usize,
    /// Bytes that are written for lack of registers, by all instructions together.
    spilled: usize,
}

struct Assembled {
    uses: HashMap<String, Use>,
    binary: PathBuf,
}

/// The assembler's figures of each kernel.
fn uses_of(said: &str) -> HashMap<String, Use> {
    let mut uses: HashMap<String, Use> = HashMap::new();
    let mut kernel = String::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = |what: &str, back: usize| -> Option<usize> {
            let place = words.iter().position(|word| word.starts_with(what))?;
            words[place.checked_sub(back)?].parse().ok()
        };
        if line.contains("Function properties for") {
            kernel = (*words.last().unwrap()).to_owned();
        } else if let Some(bytes) = before("spill", 2) {
            uses.entry(kernel.clone()).or_default().spilled = bytes;
        } else if let Some(registers) = before("registers", 1) {
            uses.entry(kernel.clone()).or_default().registers = registers;
        }
    }
    uses
}

/// Assembles a text; what the assembler says, and the binary.
fn assemble_text(ptxas: &Path, text: &str, name: &str, architecture: &str) -> (String, PathBuf) {
    // Tests assemble the same texts side by side.
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let name = format!("{name}-{architecture}-{}-{number}", std::process::id());
    let source = folder.join(format!("{name}.ptx"));
    let binary = folder.join(format!("{name}.cubin"));
    std::fs::write(&source, text).unwrap();
    let output = Command::new(ptxas)
        .args(["-v", &format!("-arch={architecture}"), "-o"])
        .args([&binary, &source])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {said}");
    std::fs::remove_file(source).unwrap();
    (said, binary)
}

/// The instructions of a binary, which is removed.
fn disassemble(nvdisasm: &Path, binary: &Path) -> String {
    let output = Command::new(nvdisasm).arg("-c").arg(binary).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_file(binary).unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assemble(ptxas: &Path, limbs: usize, architecture: &str) -> Assembled {
    let text = ptx::module(limbs).unwrap();
    let (said, binary) = assemble_text(ptxas, &text, &limbs.to_string(), architecture);
    let uses = uses_of(&said);
    assert_eq!(uses.len(), ptx::kernels(limbs).len(), "{said}");
    Assembled { uses, binary }
}

#[test]
fn numbers_stay_in_registers() {
    let Some(ptxas) = tool("ptxas") else { return };
    for limbs in ptx::LIMBS {
        for architecture in ["sm_70", "sm_80", "sm_90", "sm_120"] {
            // Counting instructions assembles all lengths for sm_90.
            if limbs == 16 || is_full() {
                let assembled = assemble(&ptxas, limbs, architecture);
                std::fs::remove_file(&assembled.binary).unwrap();
                check_uses(&assembled, limbs, architecture);
            }
        }
    }
}

fn check_uses(assembled: &Assembled, limbs: usize, architecture: &str) {
    for (kernel, Use { registers, spilled }) in &assembled.uses {
        let what = format!("{kernel}, {limbs} limbs, {architecture}");
        eprintln!("{what}: {registers} registers, {spilled} bytes spilled");
        assert!(*registers > 0, "{what}");
        // Up to 1024-bit halves nothing is spilled; above, no more than a few limbs are.
        let most = if limbs <= 32 { 0 } else { 8 * limbs };
        assert!(*spilled <= most, "{what}: {spilled} bytes spilled");
    }
}

/// A kernel's instructions for sm_90: multiplications of 32 by 32 bits with both halves, and all.
struct Counts {
    limbs: usize,
    kernel: Kernel,
    wide: usize,
    all: usize,
}

const fn counts(limbs: usize, kernel: Kernel, wide: usize, all: usize) -> Counts {
    Counts {
        limbs,
        kernel,
        wide,
        all,
    }
}

/// The counts of the last version. A change of more than a fiftieth is to be known about, and this table changed with
/// it.
const TABLE: [Counts; 8] = [
    counts(16, Kernel::PowerDigits, 918, 1808),
    counts(32, Kernel::PowerDigits, 3614, 5088),
    counts(48, Kernel::PowerDigits, 1868, 4969),
    counts(64, Kernel::PowerDigits, 2996, 7132),
    counts(16, Kernel::TwoBits, 408, 950),
    counts(32, Kernel::TwoBits, 1584, 2578),
    counts(32, Kernel::PublicBits, 3629, 5017),
    counts(64, Kernel::PublicBits, 3027, 7315),
];

/// By more than a fiftieth.
fn differs(got: usize, table: usize) -> bool {
    got.abs_diff(table) * 50 > table
}

/// The products of a kernel's text: those of `mad.hi` and `mul.hi`, as each has its `lo`.
fn products(kernel: Kernel, limbs: usize) -> usize {
    let text = ptx::kernel(kernel, limbs).unwrap();
    text.lines().filter(|line| line.contains(".hi.")).count()
}

#[test]
fn two_instructions_become_one() {
    let (Some(ptxas), Some(nvdisasm)) = (tool("ptxas"), tool("nvdisasm")) else {
        return;
    };
    let mut wrong = Vec::new();
    for limbs in ptx::LIMBS {
        let assembled = assemble(&ptxas, limbs, "sm_90");
        check_uses(&assembled, limbs, "sm_90");
        let text = disassemble(&nvdisasm, &assembled.binary);
        for expected in TABLE.iter().filter(|counts| counts.limbs == limbs) {
            let name = expected.kernel.name();
            let section = text
                .split(".section")
                .find(|section| section.starts_with(&format!("\t.text.{name},")));
            let section = section.unwrap_or_else(|| panic!("{name} is not in the binary"));
            let code: Vec<&str> = section.lines().filter_map(instruction).collect();
            let count = |what: &str| code.iter().filter(|name| name.starts_with(what)).count();
            let (wide, all, of_text) = (count("IMAD.WIDE"), code.len(), products(expected.kernel, limbs));
            eprintln!("{name}, {limbs} limbs: {wide} wide of {of_text} products, {all} instructions");
            // Each product of the text takes one instruction, but for one in ten.
            assert!(
                wide + count("IMAD.HI") <= of_text + of_text / 10 + 20,
                "{name}, {limbs} limbs"
            );
            assert!(
                count("IMAD.HI") * 10 < of_text,
                "{name}, {limbs} limbs: halves are multiplied apart"
            );
            if differs(wide, expected.wide) || differs(all, expected.all) {
                wrong.push(format!("{name}, {limbs} limbs: {wide} wide, {all} in all"));
            }
        }
    }
    assert!(wrong.is_empty(), "the table has other counts:\n{}", wrong.join("\n"));
}

/// The counts of private powers in doubles: fused multiply-adds, and all instructions, for sm_90.
const IN_DOUBLES: [(usize, usize, usize); 4] = [(16, 1121, 4616), (32, 820, 4608), (48, 1530, 7616), (64, 2440, 11192)];

#[test]
fn columns_of_doubles_stay_in_registers() {
    let (Some(ptxas), Some(nvdisasm)) = (tool("ptxas"), tool("nvdisasm")) else {
        return;
    };
    let mut wrong = Vec::new();
    for (limbs, fused_last, all_last) in IN_DOUBLES {
        let text = ptx::power_digits_in_doubles(limbs).unwrap();
        let of_text = text.matches("fma.rz.f64").count();
        for architecture in ["sm_70", "sm_80", "sm_90", "sm_120"] {
            if architecture != "sm_90" && !is_full() {
                continue;
            }
            let name = format!("{limbs}-doubles");
            let (said, binary) = assemble_text(&ptxas, &text, &name, architecture);
            let assembled = Assembled {
                uses: uses_of(&said),
                binary,
            };
            check_uses(&assembled, limbs, architecture);
            if architecture != "sm_90" {
                std::fs::remove_file(&assembled.binary).unwrap();
                continue;
            }
            let code = disassemble(&nvdisasm, &assembled.binary);
            let code: Vec<&str> = code.lines().filter_map(instruction).collect();
            let (fused, all) = (code.iter().filter(|name| name.starts_with("DFMA")).count(), code.len());
            eprintln!("{limbs} limbs in doubles: {fused} DFMA of {of_text}, {all} instructions");
            // Some more are of the assembler's making.
            assert!((of_text..of_text + 20).contains(&fused), "{limbs} limbs");
            if differs(fused, fused_last) || differs(all, all_last) {
                wrong.push(format!("{limbs} limbs: {fused} DFMA, {all} in all"));
            }
        }
    }
    assert!(wrong.is_empty(), "the table has other counts:\n{}", wrong.join("\n"));
}

#[test]
fn a_rate_is_that_of_its_instruction() {
    let (Some(ptxas), Some(nvdisasm)) = (tool("ptxas"), tool("nvdisasm")) else {
        return;
    };
    for kind in rates::Kind::ALL {
        let text = rates::module(kind);
        // Some additions are done by the multiplier, so that both have something to do.
        let names: &[&str] = match kind {
            rates::Kind::Wide | rates::Kind::WideCarry => &["IMAD.WIDE"],
            rates::Kind::AddCarry => &["IADD3", "IMAD.X"],
            rates::Kind::Logic => &["LOP3"],
            rates::Kind::Double => &["DFMA"],
        };
        let (_, binary) = assemble_text(&ptxas, &text, kind.name(), "sm_90");
        let text = disassemble(&nvdisasm, &binary);
        let is_meant = |found: &&str| names.iter().any(|name| found.starts_with(name));
        let found = text.lines().filter_map(instruction).filter(is_meant).count();
        // Some more begin and end the kernel.
        let most = rates::OF_A_TURN + 24;
        assert!((rates::OF_A_TURN..=most).contains(&found), "{found} of {names:?}");
    }
}

/// The name of an instruction in a line of a disassembly, without what it depends on.
fn instruction(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("/*")?.split_once("*/")?.1;
    let mut words = rest.split_whitespace();
    let first = words.next()?;
    match first.starts_with('@') {
        true => words.next(),
        false => Some(first),
    }
    .map(|name| name.trim_end_matches(';'))
    .filter(|name| *name != "NOP")
}

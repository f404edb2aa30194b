//! The functions of this program, as `objdump` reads them.

use super::instruction::{access_under_a_mask, makes_a_constant, written_mask};
use rsalab_arith::{
    CheckedPublicKey, Kernel, MultiKeyContext, PrivateContext, PublicContext, Status,
    candidate::{PreTester, Sieve, Tester},
};
use std::{
    collections::{BTreeSet, HashMap},
    hint::black_box,
    process::Command,
    sync::OnceLock,
};

/// A function's name and its instructions, in the order of AT&T (sources first), with their addresses.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) instructions: Vec<String>,
    pub(super) addresses: Vec<u64>,
}

/// The functions of this program, if they can be read here.
pub(super) fn disassembled() -> Option<&'static [Function]> {
    static FUNCTIONS: OnceLock<Option<Vec<Function>>> = OnceLock::new();
    FUNCTIONS.get_or_init(disassemble).as_deref()
}

fn disassemble() -> Option<Vec<Function>> {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("SKIPPED: the kernel is for x86-64");
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
        eprintln!("SKIPPED: there is no objdump here");
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
        } else if let (Some(function), Some((address, instruction))) = (functions.last_mut(), line.split_once('\t')) {
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
    /// An instruction of which a mask decides what bytes of memory it reads or writes, on some way through the
    /// function: a mask that is not a constant.
    pub(super) fn accesses_under_a_mask(&self) -> Option<&str> {
        // Most functions have none at all, and need not be followed.
        self.instructions
            .iter()
            .find(|instruction| access_under_a_mask(instruction).is_some())?;
        // Masks that may be anything; those of the caller, too.
        self.follow((1..8).collect(), |unknown: &mut BTreeSet<u8>, at| {
            let instruction = &self.instructions[at];
            if let Some(access) = access_under_a_mask(instruction) {
                return access.is_none_or(|mask| unknown.contains(&mask));
            }
            if let Some(mask) = written_mask(instruction) {
                let before = at.checked_sub(1).map(|before| &*self.instructions[before]);
                match before.is_some_and(|before| makes_a_constant(before, instruction)) {
                    true => unknown.remove(&mask),
                    false => unknown.insert(mask),
                };
            } else if instruction.starts_with("call") {
                unknown.extend(1..8);
            }
            false
        })
    }

    /// The first instruction found on some way through the function of which `found` says so. It is given what may be
    /// so before an instruction, of all ways there, with the instruction's number, and makes of it what may be so after
    /// it.
    pub(super) fn follow<T: Ord + Clone>(
        &self,
        at_first: BTreeSet<T>,
        mut found: impl FnMut(&mut BTreeSet<T>, usize) -> bool,
    ) -> Option<&str> {
        let places: HashMap<u64, usize> = self.addresses.iter().copied().zip(0..).collect();
        let mut before: Vec<Option<BTreeSet<T>>> = vec![None; self.instructions.len()];
        *before.first_mut()? = Some(at_first);
        let mut changed = vec![0];
        while let Some(i) = changed.pop() {
            let instruction = &self.instructions[i];
            let mut after = before[i].clone().expect("it has been reached");
            if found(&mut after, i) {
                return Some(instruction);
            }
            let (mnemonic, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
            let is_jump = mnemonic.starts_with('j');
            let target = operands.split(' ').next().unwrap_or_default();
            let target = u64::from_str_radix(target, 16).ok();
            let target = target.and_then(|target| places.get(&target)).copied();
            let panics = ["panic", "_fail"].iter().any(|name| operands.contains(name));
            let ends = ["jmp", "ret", "ud2"].contains(&mnemonic) || mnemonic == "call" && panics;
            for next in [target.filter(|_| is_jump), (!ends).then_some(i + 1)] {
                let Some(next) = next.filter(|&next| next < before.len()) else {
                    continue;
                };
                let known = before[next].get_or_insert_with(|| {
                    changed.push(next);
                    BTreeSet::new()
                });
                if !after.is_subset(known) {
                    known.extend(after.iter().cloned());
                    changed.push(next);
                }
            }
        }
        None
    }
}

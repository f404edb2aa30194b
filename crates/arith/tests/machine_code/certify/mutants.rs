//! Every instruction changed in every way of a few: what is still certified does the same.

use super::code::{Code, Instruction, Operand};

/// Instructions with one operand or the whole changed.
fn changes(instruction: &Instruction) -> Vec<(String, Option<Instruction>)> {
    let mut all = vec![("is left out".to_owned(), None)];
    for (i, operand) in instruction.operands.iter().enumerate() {
        let mut put = |what: &str, operand: Operand| {
            let mut changed = instruction.clone();
            changed.operands[i] = operand;
            all.push((format!("operand {i}: {what}"), Some(changed)));
        };
        match operand {
            &Operand::Vector(register, lanes) => {
                put("the next register", Operand::Vector((register + 1) % 32, lanes));
            }
            &Operand::General(register) => put("the next register", Operand::General((register + 1) % 16)),
            &Operand::Mask(mask) => put("the next mask", Operand::Mask((mask + 1) % 8)),
            &Operand::Immediate(number) => put("one more", Operand::Immediate(number + 1)),
            Operand::Memory(memory) => {
                for by in [-8, 8, 64] {
                    let mut memory = memory.clone();
                    memory.displacement += by;
                    put("another place", Operand::Memory(memory));
                }
            }
        }
    }
    // All of it half as wide, where it is wider than one number's part of a vector.
    if let Some(Operand::Vector(_, lanes @ 4..)) = instruction.operands.first() {
        let mut changed = instruction.clone();
        for operand in &mut changed.operands {
            if let Operand::Vector(_, of) = operand {
                *of = (*of).min(lanes / 2);
            }
        }
        all.push(("half as wide".to_owned(), Some(changed)));
    }
    if let Some(mask) = instruction.under {
        for under in [None, Some(mask % 7 + 1)] {
            let mut changed = instruction.clone();
            changed.under = under;
            all.push(("another mask".to_owned(), Some(changed)));
        }
    }
    all.retain(|(_, changed)| changed.as_ref() != Some(instruction));
    all
}

/// How many changed codes there are, and those that are certified.
pub(super) fn survivors(code: &Code, is_certified: impl Fn(&Code) -> bool) -> (usize, Vec<String>) {
    let (mut mutants, mut survivors) = (0, Vec::new());
    for (at, instruction) in code.instructions.iter().enumerate() {
        for (what, changed) in changes(instruction) {
            let mut mutant = code.clone();
            match changed {
                Some(changed) => mutant.instructions[at] = changed,
                None => mutant.leave_out(at),
            }
            mutants += 1;
            if is_certified(&mutant) {
                survivors.push(format!(
                    "{at} {} {:?}: {what}",
                    instruction.mnemonic, instruction.operands
                ));
            }
        }
    }
    (mutants, survivors)
}

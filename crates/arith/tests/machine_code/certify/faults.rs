//! Planted faults, each of which must be refused.

use super::code::{Code, Instruction, Memory, Operand};
use super::rows::{self, Contract};
use super::text;

/// The numbers of the instructions of one kind.
fn all(code: &Code, mnemonic: &str) -> Vec<usize> {
    let all = code.instructions.iter().enumerate();
    all.filter(|(_, instruction)| instruction.mnemonic == mnemonic)
        .map(|(at, _)| at)
        .collect()
}

/// The memory operand of an instruction.
fn memory(instruction: &mut Instruction) -> Option<&mut Memory> {
    instruction.operands.iter_mut().find_map(|operand| match operand {
        Operand::Memory(memory) => Some(memory),
        _ => None,
    })
}

/// Changes the code of rows, and expects that it is refused for the reason that is given.
fn refused(digits: usize, numbers: usize, why: &str, change: impl FnOnce(&mut Code)) {
    let mut code = text(&format!("{digits}x{numbers}"));
    let contract = Contract::new(digits, numbers);
    rows::certify(&code, contract).expect("without a fault it is certified");
    change(&mut code);
    let refusal = rows::certify(&code, contract).expect_err("a planted fault");
    assert!(refusal.contains(why), "refused, but because: {refusal}");
}

#[test]
fn a_wrong_digit_is_refused() {
    for (digits, numbers) in [(8, 1), (20, 2), (48, 1)] {
        // The digit of b beside the one that is wanted.
        refused(digits, numbers, "it is not a b / R mod n", |code| {
            let loads = all(code, "vpbroadcastq");
            let mut from_b = loads
                .into_iter()
                .filter(|&at| memory(&mut code.instructions[at].clone()).is_some_and(|memory| memory.base == 6));
            let last = from_b.next_back().expect("b is multiplied by");
            memory(&mut code.instructions[last]).expect("it loads").displacement -= 8;
        });
        // The vector of n' beside the one that is wanted, or of n.
        refused(digits, numbers, "", |code| {
            let last = *all(code, "vpmadd52huq").last().expect("there are products");
            memory(&mut code.instructions[last])
                .expect("n is in memory")
                .displacement -= 64;
        });
        // A place too far.
        refused(digits, numbers, "", |code| {
            let moves = all(code, "valignq");
            code.instructions[moves[moves.len() / 2]].operands[3] = Operand::Immediate(2);
        });
    }
}

#[test]
fn an_overflow_is_refused() {
    let code = text("20x1");
    let contract = Contract::new(20, 1);
    // Digits of one bit more, and a modulus of one bit more.
    let longer = rows::certify(
        &code,
        Contract {
            digit_bits: 53,
            ..contract
        },
    );
    assert!(longer.is_err());
    let larger = rows::certify(&code, Contract { spare: 3, ..contract });
    assert_eq!(larger, Err("results may exceed 5 n".to_owned()));
    // What exceeds a digit is not taken away in the end.
    refused(20, 1, "of the result is from 0 to 4503599627370", |code| {
        let last = all(code, "vpandq");
        let last = &mut code.instructions[last[last.len() - 3]];
        last.mnemonic = "vmovdqa64".to_owned();
        last.operands.truncate(2);
    });
    // Products are added twice as often as a place has room for.
    refused(48, 1, "may leave 64 bits", |code| {
        let shift = all(code, "vpsrlq")[0];
        let doubled = Instruction {
            mnemonic: "vpaddq".to_owned(),
            operands: vec![Operand::Vector(0, 8), Operand::Vector(0, 8), Operand::Vector(0, 8)],
            under: None,
            target: None,
        };
        // In the place of instructions far behind the first rows.
        for instruction in &mut code.instructions[shift + 400..shift + 412] {
            *instruction = doubled.clone();
        }
    });
}

#[test]
fn a_secret_address_is_refused() {
    // The carries of a result, as a mask over memory.
    refused(8, 1, "a mask over memory that is not a constant", |code| {
        let under = code
            .instructions
            .iter_mut()
            .find(|instruction| instruction.mnemonic == "vpsubq" && instruction.under.is_some());
        under.expect("carries are added").operands[2] = Operand::Memory(Memory {
            base: 9,
            index: None,
            displacement: 64,
            broadcast: false,
        });
    });
    // A digit in a general register, and an index.
    let load = |base: u8| Instruction {
        mnemonic: "mov".to_owned(),
        operands: vec![
            Operand::General(0),
            Operand::Memory(Memory {
                base,
                index: None,
                displacement: 0,
                broadcast: false,
            }),
        ],
        under: None,
        target: None,
    };
    refused(8, 1, "a digit would come into a general register", |code| {
        code.instructions[0] = load(7)
    });
    refused(8, 1, "an index that is no count", |code| {
        let at = all(code, "vpbroadcastq");
        let load = at
            .into_iter()
            .find_map(|at| memory(&mut code.instructions[at].clone()).map(|_| at));
        let load = &mut code.instructions[load.expect("digits are loaded")];
        memory(load).expect("it loads").index = Some((11, 8));
    });
    // Beyond what the caller hands over.
    refused(8, 1, "not within", |code| {
        let store = all(code, "vmovdqu64");
        let store = store.last().expect("the result is stored");
        memory(&mut code.instructions[*store]).expect("it stores").displacement += 64;
    });
}

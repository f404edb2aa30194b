//! From text to instructions.

use std::collections::HashMap;

/// The kernels of a module, by their names.
pub(crate) struct Module {
    pub(crate) limbs: usize,
    pub(crate) kernels: HashMap<String, Program>,
}

/// A kernel.
pub(crate) struct Program {
    /// In order: is it an address, or a number?
    pub(crate) parameters: Vec<bool>,
    pub(crate) code: Vec<Instruction>,
    /// Registers of 32 bits; the last of them have the numbers that the text names, and are not written.
    pub(crate) words: usize,
    pub(crate) constants: Vec<u32>,
    pub(crate) addresses: usize,
    pub(crate) flags: usize,
    /// Bytes that a block shares.
    pub(crate) shared: usize,
    /// Bytes of each thread's own.
    pub(crate) local: usize,
    pub(crate) most_threads: usize,
}

pub(crate) struct Instruction {
    pub(crate) name: String,
    pub(crate) op: Op,
    /// Places of registers, in the order of the text; of an instruction that does without one, whatever.
    pub(crate) at: [usize; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Low,
    High,
}

/// Does an instruction take a carry, and does it leave one?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carry {
    pub(crate) taken: bool,
    pub(crate) left: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Shared,
    /// Of each thread.
    Local,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Multiply(Half),
    MultiplyAdd(Half, Carry),
    Add(Carry),
    Subtract(Carry),
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Funnel,
    /// Any function of three bits, by its table.
    Logic(u8),
    Minimum,
    Divide,
    Move,
    MoveWide,
    /// Where local memory begins.
    LocalStart,
    WideNumber(u64),
    Pack,
    Unpack,
    WideAnd,
    WideOr,
    WideShiftRight,
    /// Of 64 bits, the lower half of a product.
    MultiplyWides,
    /// Of doubles, rounded towards zero.
    Fused,
    AddDoubles,
    SubtractDoubles,
    Narrow,
    MultiplyWide,
    MultiplyAddWide,
    AddWide,
    MultiplyWideLow,
    Parameter(usize),
    Special(Special),
    Load {
        space: Space,
        bytes: usize,
        count: usize,
        offset: usize,
    },
    Store {
        space: Space,
        count: usize,
        offset: usize,
    },
    Compare(Comparison),
    /// To an instruction, where a flag is set, if one is asked.
    Branch {
        to: usize,
        flag: Option<usize>,
    },
    Return,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Block,
    Blocks,
    Thread,
    Threads,
    /// Where the memory of a block begins.
    Own,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    NotLess,
}

/// Reads a module.
pub(crate) fn module(limbs: usize, text: &str) -> Module {
    let mut lines = text.lines();
    for header in [".version 6.0", ".target sm_70", ".address_size 64"] {
        assert_eq!(lines.next(), Some(header));
    }
    let kernels = text
        .split(".visible .entry ")
        .skip(1)
        .map(|kernel| {
            let name = kernel.split('(').next().unwrap();
            (name.to_owned(), program(name, kernel))
        })
        .collect();
    Module { limbs, kernels }
}

/// A register that has a number for its value: past all that are written.
const CONSTANTS_FROM: usize = 1 << 24;

fn program(name: &str, text: &str) -> Program {
    let (head, body) = text.split_once("\n{\n").expect("a kernel has a body");
    let body = body
        .strip_suffix("\n}\n\n")
        .or_else(|| body.split("\n}\n").next())
        .unwrap();
    let prefix = format!("{name}_");
    let mut reader = Reader {
        parameters: Vec::new(),
        labels: HashMap::new(),
        constants: Vec::new(),
    };
    let mut program = Program {
        parameters: Vec::new(),
        code: Vec::new(),
        words: 0,
        constants: Vec::new(),
        addresses: 0,
        flags: 0,
        shared: 0,
        local: 0,
        most_threads: number_in(head.split(".maxntid ").nth(1).expect("a limit of threads")),
    };
    for line in head.lines().filter_map(|line| line.trim().strip_prefix(".param ")) {
        let (kind, parameter) = line.trim_end_matches(',').split_once(' ').unwrap();
        program.parameters.push(match kind {
            ".u64" => true,
            ".u32" => false,
            other => panic!("a parameter of kind {other}"),
        });
        let parameter = parameter.strip_prefix(&prefix).expect("a parameter's name");
        reader.parameters.push(format!("{prefix}{parameter}"));
    }
    // Labels first.
    let mut place = 0;
    for line in body.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            assert!(reader.labels.insert(label, place).is_none(), "{label} twice");
        } else if !line.starts_with('.') {
            place += 1;
        }
    }
    for line in body.lines().map(str::trim) {
        if let Some(kind) = line.strip_prefix(".reg ") {
            let count = number_in(kind.split('<').nth(1).unwrap());
            match kind.split(' ').next() {
                Some(".b32") => program.words = count,
                Some(".b64") => program.addresses = count,
                Some(".pred") => program.flags = count,
                other => panic!("registers of kind {other:?}"),
            }
        } else if let Some(own) = line.strip_prefix(".shared .align 16 .b8 own[") {
            program.shared = number_in(own);
        } else if let Some(wide) = line.strip_prefix(".local .align 16 .b8 wide[") {
            program.local = number_in(wide);
        } else if !line.ends_with(':') {
            let line = line
                .strip_suffix(';')
                .unwrap_or_else(|| panic!("no instruction: {line}"));
            program.code.push(reader.instruction(line));
        }
    }
    let words = program.words;
    for instruction in &mut program.code {
        for at in &mut instruction.at {
            if *at >= CONSTANTS_FROM {
                *at = *at - CONSTANTS_FROM + words;
            }
        }
    }
    program.constants = reader.constants;
    program
}

/// The number that a text begins with.
fn number_in(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

struct Reader<'a> {
    parameters: Vec<String>,
    labels: HashMap<&'a str, usize>,
    constants: Vec<u32>,
}

impl Reader<'_> {
    fn instruction(&mut self, line: &str) -> Instruction {
        let (flag, line) = match line.strip_prefix('@') {
            Some(line) => {
                let (flag, line) = line.split_once(' ').unwrap();
                (Some(number_in(&flag[2..])), line)
            }
            None => (None, line),
        };
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let operands: Vec<&str> = rest
            .split([',', '{', '}'])
            .map(str::trim)
            .filter(|operand| !operand.is_empty())
            .collect();
        if name == "bra" {
            let to = self.labels[operands[0]];
            return self.of(name, Op::Branch { to, flag }, &[]);
        }
        assert_eq!(flag, None, "only branches ask a flag: {line}");
        if name.starts_with("ld.") || name.starts_with("st.") {
            return self.memory(name, &operands);
        }
        if name == "mov.u32" {
            let special = match operands[1] {
                "%ctaid.x" => Special::Block,
                "%nctaid.x" => Special::Blocks,
                "%tid.x" => Special::Thread,
                "%ntid.x" => Special::Threads,
                "own" => Special::Own,
                other => panic!("no special register: {other}"),
            };
            return self.of(name, Op::Special(special), &operands[..1]);
        }
        if name == "mov.b64" {
            let op = match (rest.starts_with('{'), rest.contains('{')) {
                (true, _) => Op::Unpack,
                (false, true) => Op::Pack,
                _ if operands[1].starts_with('%') => Op::MoveWide,
                _ => {
                    let number = operands[1].parse().expect("a number");
                    return self.of(name, Op::WideNumber(number), &operands[..1]);
                }
            };
            return self.of(name, op, &operands);
        }
        if name == "mul.lo.s64" && operands[2].starts_with('%') {
            return self.of(name, Op::MultiplyWides, &operands);
        }
        if name == "mov.u64" {
            assert_eq!(operands[1], "wide");
            return self.of(name, Op::LocalStart, &operands[..1]);
        }
        if name == "lop3.b32" {
            let table = operands[4].strip_prefix("0x").expect("a table");
            let table = u8::from_str_radix(table, 16).unwrap();
            return self.of(name, Op::Logic(table), &operands[..4]);
        }
        let (op, count) = plain(name);
        assert_eq!(operands.len(), count, "{line}");
        self.of(name, op, &operands)
    }

    fn memory(&mut self, name: &str, operands: &[&str]) -> Instruction {
        let is_place = |operand: &&&str| operand.starts_with('[');
        let place = operands
            .iter()
            .find(is_place)
            .unwrap_or_else(|| panic!("{name} of nothing"));
        let place = place.trim_matches(['[', ']']);
        if name.starts_with("ld.param.") {
            let which = self.parameters.iter().position(|parameter| parameter == place);
            let which = which.unwrap_or_else(|| panic!("no parameter {place}"));
            return self.of(name, Op::Parameter(which), &operands[..1]);
        }
        let (base, offset) = place.split_once('+').unwrap_or((place, "0"));
        let offset = offset.parse().unwrap();
        let registers: Vec<&str> = operands.iter().filter(|o| !is_place(o)).copied().collect();
        let parts: Vec<&str> = name.split('.').collect();
        let space = match parts[1] {
            "global" => Space::Global,
            "shared" => Space::Shared,
            "local" => Space::Local,
            other => panic!("no memory: {other}"),
        };
        let (count, bytes) = match parts[2..] {
            ["u32"] => (1, 4),
            ["v4", "u32"] => (4, 4),
            ["u8"] => (1, 1),
            _ => panic!("{name}"),
        };
        assert_eq!(registers.len(), count, "{name}");
        let op = match parts[0] {
            "ld" => Op::Load {
                space,
                bytes,
                count,
                offset,
            },
            _ => Op::Store { space, count, offset },
        };
        let first = self.place(registers[0]);
        if count == 4 {
            // One after the other, as they are made; a quad of others would be refused.
            for (next, register) in registers.iter().enumerate() {
                assert_eq!(self.place(register), first + next, "a quad of {registers:?}");
            }
        }
        self.of(name, op, &[base, registers[0]])
    }

    fn of(&mut self, name: &str, op: Op, operands: &[&str]) -> Instruction {
        let mut at = [0; 4];
        for (at, operand) in at.iter_mut().zip(operands) {
            *at = self.place(operand);
        }
        Instruction {
            name: name.to_owned(),
            op,
            at,
        }
    }

    fn place(&mut self, operand: &str) -> usize {
        match operand.strip_prefix('%') {
            Some(register) => number_in(&register[1..]),
            None => {
                let value = operand.parse().unwrap_or_else(|_| panic!("no operand: {operand}"));
                let known = self.constants.iter().position(|&other| other == value);
                CONSTANTS_FROM
                    + known.unwrap_or_else(|| {
                        self.constants.push(value);
                        self.constants.len() - 1
                    })
            }
        }
    }
}

/// Instructions without anything special, and how many operands they have.
fn plain(name: &str) -> (Op, usize) {
    let carry = |taken, left| Carry { taken, left };
    match name {
        "mul.lo.u32" => (Op::Multiply(Half::Low), 3),
        "mul.hi.u32" => (Op::Multiply(Half::High), 3),
        "mad.lo.u32" => (Op::MultiplyAdd(Half::Low, carry(false, false)), 4),
        "mad.lo.cc.u32" => (Op::MultiplyAdd(Half::Low, carry(false, true)), 4),
        "mad.hi.cc.u32" => (Op::MultiplyAdd(Half::High, carry(false, true)), 4),
        "madc.lo.cc.u32" => (Op::MultiplyAdd(Half::Low, carry(true, true)), 4),
        "madc.hi.cc.u32" => (Op::MultiplyAdd(Half::High, carry(true, true)), 4),
        "madc.hi.u32" => (Op::MultiplyAdd(Half::High, carry(true, false)), 4),
        "add.u32" => (Op::Add(carry(false, false)), 3),
        "add.cc.u32" => (Op::Add(carry(false, true)), 3),
        "addc.cc.u32" => (Op::Add(carry(true, true)), 3),
        "addc.u32" => (Op::Add(carry(true, false)), 3),
        "sub.u32" => (Op::Subtract(carry(false, false)), 3),
        "sub.cc.u32" => (Op::Subtract(carry(false, true)), 3),
        "subc.cc.u32" => (Op::Subtract(carry(true, true)), 3),
        "subc.u32" => (Op::Subtract(carry(true, false)), 3),
        "and.b32" => (Op::And, 3),
        "or.b32" => (Op::Or, 3),
        "xor.b32" => (Op::Xor, 3),
        "shl.b32" => (Op::ShiftLeft, 3),
        "shr.u32" => (Op::ShiftRight, 3),
        "shr.s32" => (Op::ShiftRightSigned, 3),
        "shf.l.wrap.b32" => (Op::Funnel, 4),
        "min.u32" => (Op::Minimum, 3),
        "div.u32" => (Op::Divide, 3),
        "mov.b32" => (Op::Move, 2),
        "and.b64" => (Op::WideAnd, 3),
        "or.b64" => (Op::WideOr, 3),
        "shr.u64" => (Op::WideShiftRight, 3),
        "fma.rz.f64" => (Op::Fused, 4),
        "add.rn.f64" => (Op::AddDoubles, 3),
        "sub.rn.f64" => (Op::SubtractDoubles, 3),
        "cvt.u32.u64" => (Op::Narrow, 2),
        "mul.wide.u32" => (Op::MultiplyWide, 3),
        "mad.wide.u32" => (Op::MultiplyAddWide, 4),
        "add.s64" => (Op::AddWide, 3),
        "mul.lo.s64" => (Op::MultiplyWideLow, 3),
        "setp.eq.u32" => (Op::Compare(Comparison::Equal), 3),
        "setp.ne.u32" => (Op::Compare(Comparison::NotEqual), 3),
        "setp.lt.u32" => (Op::Compare(Comparison::Less), 3),
        "setp.ge.u32" => (Op::Compare(Comparison::NotLess), 3),
        "ret" => (Op::Return, 0),
        other => panic!("the interpreter does not know {other}"),
    }
}

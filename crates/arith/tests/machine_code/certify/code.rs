//! A function's instructions, read from its machine code or from the text that the assembler is given.

use super::super::disassembly::Function;
use super::super::secrets::general;
use super::polynomial::Refusal;
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) base: u8,
    pub(super) index: Option<(u8, i64)>,
    pub(super) displacement: i64,
    /// One word for all lanes.
    pub(super) broadcast: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    General(u8),
    /// A vector register and the lanes of eight bytes that its name says.
    Vector(u8, usize),
    Mask(u8),
    Immediate(i64),
    Memory(Memory),
}

/// An instruction. Its destination is the first operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) mnemonic: String,
    pub(super) operands: Vec<Operand>,
    /// The mask over the destination.
    pub(super) under: Option<u8>,
    /// Of a jump: the number of an instruction.
    pub(super) target: Option<usize>,
}

/// A function's instructions, up to its return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) instructions: Vec<Instruction>,
}

impl Code {
    /// Of the disassembly.
    pub(super) fn of_function(function: &Function) -> Result<Self, Refusal> {
        let places: HashMap<u64, usize> = function.addresses.iter().copied().zip(0..).collect();
        let mut instructions = Vec::new();
        for text in &function.instructions {
            let mut instruction = Instruction::of_disassembly(text, &places)?;
            instruction.normalise();
            let is_last = instruction.mnemonic == "ret";
            instructions.push(instruction);
            if is_last {
                break;
            }
        }
        Ok(Self { instructions })
    }

    /// Takes an instruction out.
    pub(super) fn leave_out(&mut self, at: usize) {
        self.instructions.remove(at);
        let targets = self
            .instructions
            .iter_mut()
            .filter_map(|instruction| instruction.target.as_mut());
        targets.filter(|target| **target > at).for_each(|target| *target -= 1);
    }

    /// `true` if the instructions are the same, but for the order of two operands that does not matter, which an
    /// assembler chooses where that makes an instruction shorter.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_like = |(x, y): (&Instruction, &Instruction)| {
            let mut turned = y.clone();
            if ["vpaddq", "vpandq", "vaddpd", "vmulpd"].contains(&&*y.mnemonic) {
                turned.operands.swap(1, 2);
            }
            x == y || *x == turned
        };
        self.instructions.len() == other.instructions.len()
            && self.instructions.iter().zip(&other.instructions).all(is_like)
    }

    /// Of a text with local labels.
    pub(super) fn of_text(text: &str) -> Result<Self, Refusal> {
        let mut labels: Vec<(&str, usize)> = Vec::new();
        let mut lines = Vec::new();
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('.'))
        {
            match line.strip_suffix(':') {
                Some(label) => labels.push((label, lines.len())),
                None => lines.push(line),
            }
        }
        let place = |at: usize, label: &str| {
            let (name, direction) = label.split_at(label.len() - 1);
            let mut found = labels
                .iter()
                .filter(|(label, _)| *label == name)
                .map(|&(_, place)| place);
            match direction {
                "f" => found.find(|&place| place > at),
                "b" => found.rfind(|&place| place <= at),
                _ => None,
            }
        };
        let mut instructions = Vec::new();
        for (at, line) in lines.into_iter().enumerate() {
            let mut instruction = Instruction::of_text(line, |label| place(at, label))?;
            instruction.normalise();
            instructions.push(instruction);
        }
        Ok(Self { instructions })
    }
}

impl Instruction {
    fn of_disassembly(text: &str, places: &HashMap<u64, usize>) -> Result<Self, Refusal> {
        let unknown = || format!("not understood: {text}");
        let (mnemonic, rest) = text.split_once(' ').unwrap_or((text, ""));
        // What an assembler fills in before a border.
        if text.split(' ').any(|word| word.starts_with("nop")) {
            return Ok(Self::without_operands("nop"));
        }
        let mut instruction = Self::without_operands(mnemonic);
        if mnemonic.starts_with('j') {
            let address = rest.split(' ').next().and_then(|hex| u64::from_str_radix(hex, 16).ok());
            instruction.target = address.and_then(|address| places.get(&address)).copied();
            instruction.target.ok_or_else(unknown)?;
            return Ok(instruction);
        }
        let mut depth = 0;
        let parts = rest.split(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        });
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        for part in parts.into_iter().rev() {
            let (part, decoration) = part.split_once('{').unwrap_or((part, ""));
            let operand = match part.strip_prefix('$') {
                Some(number) => Operand::Immediate(integer(number).ok_or_else(unknown)?),
                None if part.contains('(') => {
                    let (displacement, registers) = part.trim_end_matches(')').split_once('(').expect("it contains it");
                    let mut registers = registers.split(',');
                    let base = registers.next().and_then(general).ok_or_else(unknown)?;
                    let index = registers.next().map(|index| {
                        let times = registers.next().map_or(Some(1), integer);
                        Some((general(index)?, times?))
                    });
                    Operand::Memory(Memory {
                        base,
                        index: index.map(|index| index.ok_or_else(unknown)).transpose()?,
                        displacement: match displacement {
                            "" => 0,
                            number => integer(number).ok_or_else(unknown)?,
                        },
                        broadcast: false,
                    })
                }
                None => register(part.strip_prefix('%').ok_or_else(unknown)?).ok_or_else(unknown)?,
            };
            instruction.push(operand, decoration).ok_or_else(unknown)?;
        }
        Ok(instruction)
    }

    fn of_text(text: &str, place: impl Fn(&str) -> Option<usize>) -> Result<Self, Refusal> {
        let unknown = || format!("not understood: {text}");
        let (mnemonic, rest) = text.split_once(' ').unwrap_or((text, ""));
        let mut instruction = Self::without_operands(mnemonic);
        if mnemonic.starts_with('j') {
            instruction.target = Some(place(rest.trim()).ok_or_else(unknown)?);
            return Ok(instruction);
        }
        for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let part = part.strip_prefix("qword ptr ").unwrap_or(part);
            let (part, decoration) = part.split_once('{').unwrap_or((part, ""));
            let operand = match part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) {
                Some(address) => {
                    let mut words = address.split_whitespace();
                    let base = words
                        .next()
                        .and_then(|base| general(&format!("%{base}")))
                        .ok_or_else(unknown)?;
                    let mut displacement = 0;
                    while let Some(sign) = words.next() {
                        let number = words.next().and_then(integer).ok_or_else(unknown)?;
                        displacement += match sign {
                            "+" => number,
                            "-" => -number,
                            _ => return Err(unknown()),
                        };
                    }
                    Operand::Memory(Memory {
                        base,
                        index: None,
                        displacement,
                        broadcast: false,
                    })
                }
                None => match integer(part) {
                    Some(number) => Operand::Immediate(number),
                    None => register(part).ok_or_else(unknown)?,
                },
            };
            instruction.push(operand, decoration).ok_or_else(unknown)?;
        }
        Ok(instruction)
    }

    fn without_operands(mnemonic: &str) -> Self {
        Self {
            mnemonic: mnemonic.to_owned(),
            operands: Vec::new(),
            under: None,
            target: None,
        }
    }

    /// Adds an operand, with what stands in braces behind it.
    fn push(&mut self, mut operand: Operand, decoration: &str) -> Option<()> {
        match (decoration.strip_suffix('}').unwrap_or(decoration), &mut operand) {
            ("", _) => {}
            ("1to2" | "1to4" | "1to8", Operand::Memory(memory)) => memory.broadcast = true,
            // Destinations that are cleared under a mask occur in no code that is read here.
            (mask, _) => self.under = Some(mask.trim_start_matches('%').strip_prefix('k')?.parse().ok()?),
        }
        self.operands.push(operand);
        Some(())
    }

    /// One name for each instruction, whatever was read.
    fn normalise(&mut self) {
        let mnemonic = match &*self.mnemonic {
            "jz" => "je",
            "jnz" => "jne",
            "movq"
                if self
                    .operands
                    .iter()
                    .any(|operand| matches!(operand, Operand::Immediate(_))) =>
            {
                "mov"
            }
            "decq" => "dec",
            _ => return,
        };
        self.mnemonic = mnemonic.to_owned();
    }
}

fn register(name: &str) -> Option<Operand> {
    if let Some(mask) = name.strip_prefix('k') {
        return mask.parse().ok().map(Operand::Mask);
    }
    for (prefix, lanes) in [("xmm", 2), ("ymm", 4), ("zmm", 8)] {
        if let Some(register) = name.strip_prefix(prefix) {
            return Some(Operand::Vector(register.parse().ok()?, lanes));
        }
    }
    general(&format!("%{name}")).map(Operand::General)
}

fn integer(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text),
    };
    let number = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?.cast_signed(),
        None => text.parse().ok()?,
    };
    Some(sign * number)
}

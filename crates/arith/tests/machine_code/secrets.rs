//! The ways of digits: what general registers, masks, flags and the stack hold of them, on every way through a
//! function; and the instructions whose addresses, branches, masks over memory or times would show it.
//!
//! Vectors and memory hold digits, and whatever is computed of a digit is one. Words that are known not to be are
//! followed: immediates, the arguments, and, by [`Memory`], what is loaded.

use super::disassembly::Function;
use super::instruction::{register_width, stack_offset, width};
use std::collections::BTreeSet;

/// A way of reading a function.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) memory: Memory,
    /// No digit, and nothing made of one, comes into a general register or the flags.
    pub(super) in_vectors_alone: bool,
}

/// Memory that general registers load something else than digits from. What they have put on the stack themselves is
/// followed in any case.
#[derive(Clone, Copy)]
pub(super) enum Memory {
    /// None.
    Digits,
    /// All but what these registers point to from beginning to end, which is pointers and counts.
    Arguments(&'static [&'static str]),
    /// Any, of which whole words are loaded from places that are not counted: the fields of structures, and never an
    /// element of an array. Digits are loaded by vectors, but for those of exponents, which are bytes.
    Fields,
}

/// A place that holds a digit, or something made of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    General(u8),
    Mask(u8),
    Carry,
    Overflow,
    OtherFlags,
    /// Eight bytes above the top of the stack.
    Stack(i64),
}

const FLAGS: [Place; 3] = [Place::Carry, Place::Overflow, Place::OtherFlags];

type Secrets = BTreeSet<Place>;

/// The number of a general register, whatever its width.
pub(super) fn general(name: &str) -> Option<u8> {
    let name = name.strip_prefix('%')?;
    if let Some(number) = name
        .strip_prefix('r')
        .and_then(|rest| rest.strip_suffix(['d', 'w', 'b']).or(Some(rest)))
        && let Ok(number) = number.parse()
    {
        return Some(number);
    }
    let name = name.strip_prefix(['r', 'e']).unwrap_or(name);
    let named = [
        ["ax", "al", "ah"],
        ["cx", "cl", "ch"],
        ["dx", "dl", "dh"],
        ["bx", "bl", "bh"],
        ["sp", "spl", ""],
        ["bp", "bpl", ""],
        ["si", "sil", ""],
        ["di", "dil", ""],
    ];
    named
        .iter()
        .position(|names| names.contains(&name))
        .map(|number| number as u8)
}

fn mask(name: &str) -> Option<u8> {
    name.strip_prefix("%k")?.parse().ok()
}

/// An operand, and the mask over it.
#[derive(Clone, Copy)]
struct Operand<'a> {
    text: &'a str,
    mask: Option<u8>,
}

impl<'a> Operand<'a> {
    fn new(text: &'a str) -> Self {
        let (text, decoration) = text.split_once('{').unwrap_or((text, ""));
        let mask = decoration.split_once('}').and_then(|(name, _)| mask(name));
        Self { text, mask }
    }

    fn is_memory(self) -> bool {
        self.text.contains('(') || self.text.contains(":0x")
    }

    fn is_vector(self) -> bool {
        ["%xmm", "%ymm", "%zmm"]
            .iter()
            .any(|register| self.text.starts_with(register))
    }

    /// Registers that the address is made of.
    fn address(self) -> impl Iterator<Item = &'a str> {
        let inside = self
            .text
            .split_once('(')
            .map_or("", |(_, rest)| rest.trim_end_matches(')'));
        inside.split(',').filter(|part| part.starts_with('%'))
    }
}

struct Instruction<'a> {
    text: &'a str,
    mnemonic: &'a str,
    operands: Vec<Operand<'a>>,
}

impl<'a> Instruction<'a> {
    fn new(text: &'a str) -> Self {
        let mut rest = text;
        while let Some((prefix, after)) = rest.split_once(' ')
            && ["lock", "rep", "repz", "repnz", "data16", "notrack", "bnd", "cs"].contains(&prefix)
        {
            rest = after;
        }
        let (mnemonic, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut depth = 0;
        let parts = operands.split(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        });
        let operands = parts.filter(|part| !part.is_empty()).map(Operand::new).collect();
        Self {
            text,
            mnemonic,
            operands,
        }
    }

    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| {
            let suffix = self.mnemonic.strip_prefix(name);
            suffix.is_some_and(|suffix| ["", "b", "w", "l", "q"].contains(&suffix))
        })
    }

    fn destination(&self) -> Option<Operand<'a>> {
        self.operands.last().copied()
    }

    /// The flags that a condition depends on.
    fn condition(condition: &str) -> &'static [Place] {
        match condition {
            "c" | "nc" | "b" | "nb" | "ae" | "nae" => &[Place::Carry],
            "o" | "no" => &[Place::Overflow],
            "e" | "ne" | "z" | "nz" | "s" | "ns" | "p" | "np" => &[Place::OtherFlags],
            _ => &FLAGS,
        }
    }
}

/// The digits' places, from one instruction to the next.
struct Step<'a> {
    memory: Memory,
    secrets: &'a mut Secrets,
}

impl Step<'_> {
    fn is_any_of(&self, places: &[Place]) -> bool {
        places.iter().any(|place| self.secrets.contains(place))
    }

    fn set(&mut self, place: Place, is_secret: bool) {
        match is_secret {
            true => self.secrets.insert(place),
            false => self.secrets.remove(&place),
        };
    }

    fn set_flags(&mut self, is_secret: bool) {
        FLAGS.into_iter().for_each(|flag| self.set(flag, is_secret));
    }

    fn set_general(&mut self, number: u8, is_secret: bool) {
        self.set(Place::General(number), is_secret);
    }

    fn is_general(&self, number: u8) -> bool {
        self.secrets.contains(&Place::General(number))
    }

    /// Eight bytes each that an instruction touches on the stack.
    fn slots(instruction: &str) -> Option<std::ops::RangeInclusive<i64>> {
        let at = stack_offset(instruction)?;
        Some(at.div_euclid(8)..=(at + width(instruction) - 1).div_euclid(8))
    }

    fn is_secret(&self, instruction: &Instruction<'_>, operand: Operand<'_>) -> bool {
        if operand.is_memory() {
            if let Some(mut slots) = Self::slots(instruction.text) {
                return slots.any(|slot| self.secrets.contains(&Place::Stack(slot)));
            }
            let mut address = operand.address();
            let (base, index) = (address.next().unwrap_or_default(), address.next());
            return base != "%rip"
                && match self.memory {
                    Memory::Digits => true,
                    Memory::Arguments(registers) => index.is_some() || !registers.contains(&base),
                    // Jump tables hold 32 bits; what counts in them is not secret, or it would be an address.
                    Memory::Fields if instruction.mnemonic == "movslq" => false,
                    Memory::Fields => index.is_some() || width(instruction.text) < 4,
                };
        }
        match (general(operand.text), mask(operand.text)) {
            (Some(number), _) => self.is_general(number),
            (_, Some(mask)) => self.secrets.contains(&Place::Mask(mask)),
            _ => operand.is_vector(),
        }
    }

    fn is_any_secret(&self, instruction: &Instruction<'_>) -> bool {
        instruction
            .operands
            .iter()
            .any(|&operand| self.is_secret(instruction, operand))
    }

    fn write(&mut self, instruction: &Instruction<'_>, operand: Operand<'_>, is_secret: bool) {
        if let Some(number) = general(operand.text) {
            // A part of a register leaves the rest; 32 bits clear it.
            let is_part = register_width(&operand.text[1..]) < 4;
            self.set_general(number, is_secret || is_part && self.is_general(number));
        } else if let Some(mask) = mask(operand.text) {
            self.set(Place::Mask(mask), is_secret);
        } else if let (true, Some(slots)) = (operand.is_memory(), Self::slots(instruction.text)) {
            let is_whole = width(instruction.text) >= 8;
            for slot in slots {
                let was = self.secrets.contains(&Place::Stack(slot));
                self.set(Place::Stack(slot), is_secret || was && !is_whole);
            }
        }
    }

    /// The stack's top moves down by so many bytes.
    fn move_stack(&mut self, bytes: i64) {
        let moved = |place: &Place| match *place {
            Place::Stack(slot) => Place::Stack(slot + bytes.div_euclid(8)),
            place => place,
        };
        *self.secrets = self.secrets.iter().map(moved).collect();
    }

    /// The way in which an instruction shows a digit.
    fn shown(&self, instruction: &Instruction<'_>) -> Option<&'static str> {
        let mnemonic = instruction.mnemonic;
        let touches = !mnemonic.starts_with("lea") && !mnemonic.contains("nop");
        for operand in instruction
            .operands
            .iter()
            .filter(|operand| operand.is_memory() && touches)
        {
            for register in operand.address() {
                if general(register).is_some_and(|number| self.is_general(number)) || register.contains("mm") {
                    return Some("an address");
                }
            }
            let mut masks = instruction.operands.iter().filter_map(|operand| operand.mask);
            if masks.any(|mask| self.secrets.contains(&Place::Mask(mask))) || mnemonic.contains("maskmov") {
                return Some("a mask over memory");
            }
        }
        let target = instruction
            .operands
            .first()
            .and_then(|target| target.text.strip_prefix('*'));
        if target.and_then(general).is_some_and(|number| self.is_general(number)) {
            return Some("a jump's target");
        }
        match mnemonic.strip_prefix('j') {
            Some("mp") | None => {}
            Some("rcxz" | "ecxz") if self.is_general(1) => return Some("a branch"),
            Some("rcxz" | "ecxz") => {}
            Some(condition) if self.is_any_of(Instruction::condition(condition)) => return Some("a branch"),
            Some(_) => {}
        }
        let divides = instruction.is(&["div", "idiv"]);
        if divides && (self.is_any_secret(instruction) || self.is_general(0) || self.is_general(2)) {
            return Some("a division's time");
        }
        // Zen 4 takes longer where the count is zero (the crate's notes, "Found by it").
        let shifts = instruction.is(&["shl", "sal", "shr", "sar", "shld", "shrd", "rol", "ror", "rcl", "rcr"]);
        if shifts && instruction.operands[0].text == "%cl" && self.is_general(1) {
            return Some("a shift's time");
        }
        None
    }

    fn take(&mut self, instruction: &Instruction<'_>) {
        let mnemonic = instruction.mnemonic;
        let Some(destination) = instruction.destination() else {
            if ["cqto", "cltd"].contains(&mnemonic) {
                self.set_general(2, self.is_general(0));
            }
            return;
        };
        let [first, ..] = instruction.operands[..] else {
            unreachable!()
        };
        let is_same = instruction.operands.len() > 1 && instruction.operands.iter().all(|o| o.text == first.text);
        let any = self.is_any_secret(instruction);
        let is_mask = |operand: &Operand<'_>| mask(operand.text).is_some();
        if mnemonic.starts_with('j') || mnemonic.starts_with("nop") || instruction.is(&["ret", "ud2"]) {
        } else if mnemonic.starts_with("call") {
            for number in [0, 1, 2, 6, 7, 8, 9, 10, 11] {
                self.set_general(number, false);
            }
            (0..8).for_each(|mask| self.set(Place::Mask(mask), true));
        } else if mnemonic.starts_with('k') && instruction.operands.iter().any(is_mask) {
            match mnemonic.contains("test") {
                true => self.set_flags(any),
                false => {
                    let sources = &instruction.operands[..instruction.operands.len() - 1];
                    let any = sources.iter().any(|&source| self.is_secret(instruction, source));
                    let is_constant = mnemonic.starts_with("kx")
                        && sources[0].text == sources[sources.len() - 1].text
                        && sources.len() > 1;
                    self.write(instruction, destination, any && !is_constant);
                }
            }
        } else if mnemonic.starts_with('v') || instruction.operands.iter().any(|operand| operand.is_vector()) {
            if ["test", "comi"].iter().any(|name| mnemonic.contains(name)) && !is_mask(&destination) {
                self.set_flags(true);
            } else {
                self.write(instruction, destination, true);
            }
        } else if instruction.is(&["push"]) {
            self.move_stack(8);
            self.set(Place::Stack(0), any);
        } else if instruction.is(&["pop"]) {
            let is_secret = self.secrets.contains(&Place::Stack(0));
            self.write(instruction, destination, is_secret);
            self.move_stack(-8);
        } else if destination.text == "%rsp" {
            let hex = first.text.strip_prefix("$0x");
            let bytes = hex
                .and_then(|hex| u64::from_str_radix(hex, 16).ok())
                .map(u64::cast_signed);
            match (mnemonic, bytes) {
                ("sub", Some(bytes)) => self.move_stack(bytes),
                ("add", Some(bytes)) => self.move_stack(-bytes),
                // Where a function makes room on a border, or goes back to where it began.
                _ => self.secrets.retain(|place| !matches!(place, Place::Stack(_))),
            }
        } else if mnemonic.starts_with("lea") {
            let any = first
                .address()
                .filter_map(general)
                .any(|number| self.is_general(number));
            self.write(instruction, destination, any);
        } else if mnemonic.starts_with("mov") {
            self.write(instruction, destination, self.is_secret(instruction, first));
        } else if mnemonic.starts_with("cmov") || mnemonic.starts_with("set") {
            let condition = mnemonic.trim_start_matches("cmov").trim_start_matches("set");
            let flags = self.is_any_of(Instruction::condition(condition));
            self.write(instruction, destination, flags || mnemonic.starts_with('c') && any);
        } else if instruction.is(&["cmp", "test", "bt"]) {
            self.set_flags(any);
        } else if instruction.is(&["inc", "dec"]) {
            [Place::Overflow, Place::OtherFlags]
                .into_iter()
                .for_each(|flag| self.set(flag, any));
        } else if mnemonic.starts_with("not") {
        } else if mnemonic.starts_with("adcx") || mnemonic.starts_with("adox") {
            let flag = if mnemonic.starts_with("adcx") {
                Place::Carry
            } else {
                Place::Overflow
            };
            let any = any || self.secrets.contains(&flag);
            self.write(instruction, destination, any);
            self.set(flag, any);
        } else if instruction.is(&["adc", "sbb"]) {
            let carry = self.secrets.contains(&Place::Carry);
            let any = carry || any && !(is_same && mnemonic.starts_with("sbb"));
            self.write(instruction, destination, any);
            self.set_flags(any);
        } else if mnemonic.starts_with("mulx") {
            let any = self.is_secret(instruction, first) || self.is_general(2);
            instruction.operands[1..]
                .iter()
                .for_each(|&half| self.write(instruction, half, any));
        } else if instruction.operands.len() == 1 && instruction.is(&["mul", "imul", "div", "idiv"]) {
            let any = any || self.is_general(0);
            [0, 2].into_iter().for_each(|number| self.set_general(number, any));
            self.set_flags(any);
        } else if instruction.is(&["xchg"]) {
            instruction
                .operands
                .iter()
                .for_each(|&operand| self.write(instruction, operand, any));
        } else {
            let any = any && !(is_same && instruction.is(&["xor", "sub"]));
            self.write(instruction, destination, any);
            self.set_flags(any);
        }
    }
}

impl Function {
    /// An instruction that shows a digit, and by what, on some way through the function.
    pub(super) fn shows_a_digit(&self, reading: Reading) -> Option<(&str, &'static str)> {
        let Reading {
            memory,
            in_vectors_alone,
        } = reading;
        let instructions: Vec<_> = self.instructions.iter().map(|text| Instruction::new(text)).collect();
        if let Memory::Arguments(registers) = memory {
            let written = instructions
                .iter()
                .filter(|instruction| !instruction.is(&["cmp", "test"]));
            let mut written = written.filter_map(Instruction::destination);
            assert!(
                written.all(|written| !registers.contains(&written.text)),
                "{}",
                self.name
            );
        }
        let mut how = "";
        // Masks may be anything at first.
        let found = self.follow((0..8).map(Place::Mask).collect(), |secrets: &mut Secrets, at| {
            let mut step = Step { memory, secrets };
            if let Some(shown) = step.shown(&instructions[at]) {
                how = shown;
                return true;
            }
            step.take(&instructions[at]);
            let left = |place: &Place| FLAGS.contains(place) || matches!(place, Place::General(_));
            how = "a general register, or the flags";
            in_vectors_alone && step.secrets.iter().any(left)
        });
        found.map(|instruction| (instruction, how))
    }
}

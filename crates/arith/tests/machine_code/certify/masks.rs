//! Mask registers, bit by bit.
//!
//! A bit is the exclusive or of facts about numbers. Of two words that are added, a sum bit and a carry follow where no
//! more than that is needed: one of them is none, or they exclude each other, as w > m and (w = m and anything) do.

use super::algebra::{Number, Value};
use super::code::{Instruction, Operand};
use super::machine::{Cell, Machine, Word};
use super::polynomial::Refusal;
use std::collections::{BTreeSet, HashMap};

/// Facts by their numbers, of which an odd number holds; fact 0 always holds. `None`: the bit may be anything.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Bit(Option<BTreeSet<usize>>);

pub(super) type Bits = Vec<Bit>;

/// Facts about a number, which is compared with 2^bits - 1.
#[derive(Clone, Debug)]
enum Fact {
    Always,
    Above(Value, u32),
    Equal(Value, u32),
    /// A fact, and an odd number of others.
    And(usize, BTreeSet<usize>),
}

impl Bit {
    const ALWAYS: usize = 0;

    pub(super) fn known(is_set: bool) -> Self {
        Self(Some(is_set.then_some(Self::ALWAYS).into_iter().collect()))
    }

    pub(super) fn is_constant(&self) -> bool {
        self.as_constant().is_some()
    }

    pub(super) fn as_constant(&self) -> Option<bool> {
        match self.0.as_ref()? {
            facts if facts.is_empty() => Some(false),
            facts if facts.iter().eq([&Self::ALWAYS]) => Some(true),
            _ => None,
        }
    }
}

/// All masks.
pub(super) struct Masks {
    masks: Vec<Bits>,
    facts: Vec<Fact>,
    /// Carries as numbers, by the facts of their bits.
    carries: HashMap<BTreeSet<usize>, Value>,
}

const BITS: usize = 64;

impl Default for Masks {
    fn default() -> Self {
        Self {
            masks: vec![vec![Bit(None); BITS]; 8],
            facts: vec![Fact::Always],
            carries: HashMap::new(),
        }
    }
}

impl Masks {
    pub(super) fn bits(&self, mask: u8, lanes: usize) -> Bits {
        self.masks[usize::from(mask)][..lanes].to_vec()
    }

    /// Constants stay; anything else may be anything.
    pub(super) fn forget(&mut self) {
        for bit in self.masks.iter_mut().flatten().filter(|bit| !bit.is_constant()) {
            *bit = Bit(None);
        }
    }

    /// `true` if what is known in `other` is known here.
    pub(super) fn know_all_of(&self, other: &[Bits]) -> bool {
        let bits = self.masks.iter().flatten().zip(other.iter().flatten());
        bits.into_iter()
            .all(|(bit, other)| !other.is_constant() || bit == other)
    }

    pub(super) fn all(&self) -> Vec<Bits> {
        self.masks.clone()
    }

    fn new_fact(&mut self, fact: Fact) -> Bit {
        self.facts.push(fact);
        Bit(Some([self.facts.len() - 1].into()))
    }

    /// x > 2^bits - 1.
    pub(super) fn above(&mut self, x: Value, bits: u32) -> Bit {
        match (x.least >> bits, x.most >> bits) {
            (_, 0) => Bit::known(false),
            (1.., _) => Bit::known(true),
            _ => self.new_fact(Fact::Above(x, bits)),
        }
    }

    /// x = 2^bits - 1.
    pub(super) fn equal(&mut self, x: Value, bits: u32) -> Bit {
        let largest = (1 << bits) - 1;
        match x.least <= largest && largest <= x.most {
            true => self.new_fact(Fact::Equal(x, bits)),
            false => Bit::known(false),
        }
    }

    pub(super) fn set(&mut self, mask: u8, bits: impl IntoIterator<Item = Bit>) {
        let zeros = std::iter::repeat(Bit::known(false));
        self.masks[usize::from(mask)] = bits.into_iter().chain(zeros).take(BITS).collect();
    }

    /// `true` if no two facts hold at once, one of each.
    fn exclude(&self, x: &BTreeSet<usize>, y: &BTreeSet<usize>) -> bool {
        x.iter().all(|&x| {
            y.iter().all(|&y| match (&self.facts[x], &self.facts[y]) {
                (Fact::Above(w, bits), Fact::And(equal, _)) => match &self.facts[*equal] {
                    Fact::Equal(v, as_many) => bits == as_many && w.polynomial == v.polynomial,
                    _ => false,
                },
                _ => false,
            })
        })
    }

    /// The sum of two words.
    fn sum(&mut self, x: &[Bit], y: &[Bit]) -> Result<Bits, Refusal> {
        let unknown = "a sum of masks of which nothing is known";
        let mut carry = BTreeSet::new();
        let mut sum = Bits::new();
        for (x, y) in x.iter().zip(y) {
            let (x, y) = (x.0.as_ref().ok_or(unknown)?, y.0.as_ref().ok_or(unknown)?);
            let all = &(x ^ y) ^ &carry;
            sum.push(Bit(Some(all)));
            let either = x | &carry;
            carry = match (either.is_empty(), y.len()) {
                (true, _) => BTreeSet::new(),
                (false, 0) if x.is_empty() || carry.is_empty() || self.exclude(x, &carry) => BTreeSet::new(),
                // Both are set if y is and one of the others.
                (false, 1) if x.is_empty() || carry.is_empty() || self.exclude(x, &carry) => {
                    let fact = *y.first().expect("there is one");
                    self.new_fact(Fact::And(fact, either)).0.expect("a fact")
                }
                _ => return Err("a sum of masks whose carries do not exclude each other".to_owned()),
            };
        }
        Ok(sum)
    }
}

impl Machine {
    pub(super) fn run_masks(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let operands = &instruction.operands;
        if let ("kmovb", [Operand::Mask(to), Operand::General(from)]) = (&*instruction.mnemonic, &operands[..]) {
            let Some(Word::Integer(word)) = self.general[usize::from(*from)] else {
                return Err("a mask of something unknown".to_owned());
            };
            self.masks.set(*to, (0..8).map(|i| Bit::known(word >> i & 1 != 0)));
            return Ok(());
        }
        if let ("kmovq", [Operand::Mask(to), Operand::Memory(from)]) = (&*instruction.mnemonic, &operands[..]) {
            let cells = self.cells(from, 1, 1)?;
            let word = match &cells[..] {
                [Cell::Number(word)] => word.as_constant(),
                _ => None,
            };
            let word = word.ok_or("a mask of which nothing is known")?;
            self.masks.set(*to, (0..BITS).map(|i| Bit::known(word >> i & 1 != 0)));
            return Ok(());
        }
        if let ("kmovq", [Operand::Memory(to), Operand::Mask(from)]) = (&*instruction.mnemonic, &operands[..]) {
            let mut word = 0;
            for (i, bit) in self.masks.bits(*from, BITS).iter().enumerate() {
                let bit = bit.as_constant().ok_or("a mask that is not constant is stored")?;
                word |= i128::from(bit) << i;
            }
            return self.store(to, &[Cell::Number(Number::constant(word))], 1);
        }
        if let ("kshiftrq", [Operand::Mask(to), Operand::Mask(from), Operand::Immediate(by)]) =
            (&*instruction.mnemonic, &operands[..])
        {
            let bits = self.masks.bits(*from, BITS);
            self.masks.set(*to, bits.into_iter().skip(*by as usize));
            return Ok(());
        }
        let [Operand::Mask(to), Operand::Mask(x), Operand::Mask(y)] = operands[..] else {
            return Err("not known".to_owned());
        };
        let (x_bits, y_bits) = (self.masks.bits(x, BITS), self.masks.bits(y, BITS));
        let result = match &*instruction.mnemonic {
            // Twice the same: one place up.
            "kaddq" if x == y => [Bit::known(false)].into_iter().chain(x_bits).take(BITS).collect(),
            "kaddq" => self.masks.sum(&x_bits, &y_bits)?,
            "kxorq" => {
                let bits = x_bits.iter().zip(&y_bits);
                bits.map(|(x, y)| Bit(x.0.as_ref().zip(y.0.as_ref()).map(|(x, y)| x ^ y)))
                    .collect()
            }
            // The second operand is the lower part.
            "kunpckbw" | "kunpckwd" | "kunpckdq" => {
                let half = match &*instruction.mnemonic {
                    "kunpckbw" => 8,
                    "kunpckwd" => 16,
                    _ => 32,
                };
                y_bits[..half].iter().chain(&x_bits[..half]).cloned().collect()
            }
            _ => return Err("not known".to_owned()),
        };
        self.masks.set(to, result);
        Ok(())
    }

    /// A bit of a mask as a number: a constant, or the carry out of a place.
    ///
    /// Where w < 2^(bits + 1) - 1 and t is 0 or 1, floor((w + t) / 2^bits) is 1 if w is above 2^bits - 1, or is equal
    /// and t is 1; else 0.
    pub(super) fn bit_as_number(&mut self, bit: &Bit) -> Result<Value, Refusal> {
        if let Some(constant) = bit.as_constant() {
            return Ok(Number::constant(constant.into()));
        }
        let facts = bit.0.clone().ok_or("a bit of a mask of which nothing is known")?;
        if let Some(known) = self.masks.carries.get(&facts) {
            return Ok(known.clone());
        }
        let of = |fact: &usize| self.masks.facts[*fact].clone();
        let all: Vec<Fact> = facts.iter().map(of).collect();
        let not_a_carry = "a bit of a mask that is not a carry";
        let (word, bits, below) = match &all[..] {
            [Fact::Above(word, bits)] => (word.clone(), *bits, Bit::known(false)),
            // Nothing is above.
            [Fact::And(equal, below)] => match of(equal) {
                Fact::Equal(word, bits) if word.most >> bits == 0 => (word, bits, Bit(Some(below.clone()))),
                _ => return Err(not_a_carry.to_owned()),
            },
            [Fact::Above(word, bits), Fact::And(equal, below)] | [Fact::And(equal, below), Fact::Above(word, bits)] => {
                match of(equal) {
                    Fact::Equal(same, as_many) if same.polynomial == word.polynomial && as_many == *bits => {}
                    _ => return Err(not_a_carry.to_owned()),
                }
                (word.clone(), *bits, Bit(Some(below.clone())))
            }
            _ => return Err(not_a_carry.to_owned()),
        };
        if word.least < 0 || word.most >= (2 << bits) - 1 {
            return Err("a place carries more than one".to_owned());
        }
        let below = self.bit_as_number(&below)?;
        let carry = self.algebra.floor(&Number::sum(word, below)?, bits)?;
        self.masks.carries.insert(facts, carry.clone());
        Ok(carry)
    }
}

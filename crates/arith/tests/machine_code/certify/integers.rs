//! The meaning of instructions on words of 64 bits in vectors.
//!
//! A word's number is what it holds as an integer without a sign or with one, by its bounds. A sum or a product whose
//! bounds leave both is refused, and so is an instruction that takes what may be below zero for an integer without a
//! sign, or the other way round.

use super::algebra::{Number, Value};
use super::code::{Instruction, Operand};
use super::machine::{Cell, LANES, Machine};
use super::masks::{Bit, Bits};
use super::polynomial::Refusal;

const WORD_BITS: u32 = 64;
/// Bits of a digit, in IFMA's instructions.
const DIGIT_BITS: u32 = 52;

/// The number of ones, of a word that is all ones from its lowest bit on, and no longer than a digit may be.
fn ones(word: i128) -> Option<u32> {
    let bits = (word + 1).trailing_zeros();
    (0 < word && word < 1 << 63 && word + 1 == 1 << bits).then_some(bits)
}

/// A result, if a word holds it.
fn in_a_word(value: Value) -> Result<Value, Refusal> {
    let fits_unsigned = value.least >= 0 && value.most < 1 << WORD_BITS;
    match fits_unsigned || has_sign(&value) {
        true => Ok(value),
        false => Err(format!("may leave 64 bits: from {} to {}", value.least, value.most)),
    }
}

/// `true` if a word holds a number as an integer with a sign.
fn has_sign(value: &Number) -> bool {
    value.least >= -1 << (WORD_BITS - 1) && value.most < 1 << (WORD_BITS - 1)
}

/// A word as what is added: all ones are -1.
fn signed(value: &Value) -> Value {
    match value.as_constant() {
        Some(word) if word == (1 << WORD_BITS) - 1 => Number::constant(-1),
        _ => value.clone(),
    }
}

impl Machine {
    pub(super) fn run_integers(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let operands = &instruction.operands;
        match (&*instruction.mnemonic, &operands[..]) {
            ("vzeroupper", []) => {
                // The lower registers keep their lowest quarter. Nothing is read afterwards.
                for register in &mut self.vectors[..16] {
                    register[2..].fill(Cell::Unknown);
                }
                Ok(())
            }
            ("vmovdqa64", [to, from]) if instruction.under.is_none() => self.move_vector([to, from], true),
            ("vmovdqu64", [to, from]) if instruction.under.is_none() => self.move_vector([to, from], false),
            ("vinserti64x4", [to @ Operand::Vector(_, LANES), from, half, Operand::Immediate(1)]) => {
                let (register, lanes) = Self::width(to)?;
                let mut cells = self.lanes(from, lanes)?;
                cells.splice(4.., self.lanes(half, 4)?);
                self.set(register, cells);
                Ok(())
            }
            ("vextracti64x4", [Operand::Memory(to), from, Operand::Immediate(1)]) => {
                let cells = self.lanes(from, LANES)?;
                self.store(to, &cells[4..], 1)
            }
            ("vpbroadcastq", [to, from]) => {
                let (register, lanes) = Self::width(to)?;
                let cell = self.lanes(from, 1)?;
                self.set(register, vec![cell[0].clone(); lanes]);
                Ok(())
            }
            ("valignq", [to, high, low, Operand::Immediate(by)]) => {
                let (register, lanes) = Self::width(to)?;
                let both = [self.lanes(low, lanes)?, self.lanes(high, lanes)?].concat();
                let first = usize::try_from(*by)
                    .ok()
                    .filter(|&by| by < lanes)
                    .ok_or("no such place")?;
                self.set(register, both[first..][..lanes].to_vec());
                Ok(())
            }
            ("vpermi2q", [to, low, high]) => {
                let (register, lanes) = Self::width(to)?;
                let both = [self.lanes(low, lanes)?, self.lanes(high, lanes)?].concat();
                let pick = |cell: &Cell| match cell {
                    Cell::Number(index) => {
                        Some(both[usize::try_from(index.as_constant()?).ok()? % (2 * lanes)].clone())
                    }
                    _ => None,
                };
                let order = self.lanes(to, lanes)?;
                let picked: Option<Vec<Cell>> = order.iter().map(pick).collect();
                self.set(register, picked.ok_or("an order that is not constant")?);
                Ok(())
            }
            ("vpcmpnleuq" | "vpcmpequq", [Operand::Mask(mask), x, y]) if instruction.under.is_none() => {
                let (_, lanes) = Self::width(x)?;
                let cells = self.lanes(x, lanes)?.into_iter().zip(self.lanes(y, lanes)?);
                let is_above = instruction.mnemonic == "vpcmpnleuq";
                let bits: Result<Bits, Refusal> = cells.map(|(x, y)| self.compare(is_above, &x, &y)).collect();
                self.masks.set(*mask, bits?);
                Ok(())
            }
            // Under a mask that is constant, of what is in a register.
            ("vmovdqa64", [to, from @ Operand::Vector(..)]) => {
                let (register, lanes) = Self::width(to)?;
                let mask = self.mask(instruction, lanes)?.ok_or("no mask")?;
                let cells = self.lanes(from, lanes)?;
                for (lane, (bit, cell)) in mask.iter().zip(cells).enumerate() {
                    if bit.as_constant().ok_or("a mask that is not constant over a move")? {
                        self.vectors[register][lane] = cell;
                    }
                }
                Ok(())
            }
            ("vpmovq2m", [Operand::Mask(mask), from]) => {
                let (_, lanes) = Self::width(from)?;
                let signs = self.lanes(from, lanes)?.into_iter().map(|cell| match cell {
                    Cell::Number(word) => Some(Bit::known(word.as_constant()? >> (WORD_BITS - 1) & 1 != 0)),
                    _ => None,
                });
                let signs: Option<Bits> = signs.collect();
                self.masks.set(*mask, signs.ok_or("signs of what is not constant")?);
                Ok(())
            }
            ("vpmovzxbq", [to, Operand::Memory(from)]) => {
                let (register, lanes) = Self::width(to)?;
                let [Cell::Number(word)] = &self.cells(from, 1, 1)?[..] else {
                    return Err("bytes of which nothing is known".to_owned());
                };
                let word = word.as_constant().ok_or("bytes that are not constant")?;
                let byte = |lane| Cell::Number(Number::constant(word >> (8 * lane) & 0xff));
                self.set(register, (0..lanes).map(byte).collect());
                Ok(())
            }
            ("vpxord", [to, x, y]) if x == y => {
                let (register, _) = Self::width(to)?;
                self.set(register, Vec::new());
                Ok(())
            }
            ("vpternlogd", [to, _, _, Operand::Immediate(0xff)]) => {
                let (register, lanes) = Self::width(to)?;
                let ones = Cell::Number(Number::constant((1 << WORD_BITS) - 1));
                self.set(register, vec![ones; lanes]);
                Ok(())
            }
            _ => self.run_in_lanes(instruction),
        }
    }

    fn compare(&mut self, is_above: bool, x: &Cell, y: &Cell) -> Result<Bit, Refusal> {
        let (Cell::Number(x), Cell::Number(y)) = (x, y) else {
            return Ok(Bit::default());
        };
        let bits = y
            .as_constant()
            .and_then(ones)
            .ok_or("compared with something else than ones")?;
        if x.least < 0 {
            return Err("a negative number is compared".to_owned());
        }
        Ok(match is_above {
            true => self.masks.above(x.clone(), bits),
            false => self.masks.equal(x.clone(), bits),
        })
    }

    /// An instruction that does the same in each lane; under a mask, lanes stay as they are.
    fn run_in_lanes(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let [to, x, rest @ ..] = &instruction.operands[..] else {
            return Err("not known".to_owned());
        };
        let (register, lanes) = Self::width(to)?;
        let mask = self.mask(instruction, lanes)?;
        let xs = self.lanes(x, lanes)?;
        let (ys, immediate) = match rest {
            [Operand::Immediate(number)] => (None, Some(*number)),
            [y] => (Some(self.lanes(y, lanes)?), None),
            [y, Operand::Immediate(number)] => (Some(self.lanes(y, lanes)?), Some(*number)),
            _ => return Err("not known".to_owned()),
        };
        // Taken out, so that sums grow where they are.
        let old = std::mem::take(&mut self.vectors[register]);
        let mut results = Vec::new();
        for (lane, (x, old)) in xs.into_iter().zip(old).enumerate() {
            let bit = mask.as_ref().map(|bits| &bits[lane]);
            if bit.and_then(Bit::as_constant) == Some(false) {
                results.push(old);
                continue;
            }
            let y = ys.as_ref().map(|ys| ys[lane].clone());
            let result = match (x, &y) {
                (Cell::Unknown, _) | (_, Some(Cell::Unknown)) => Cell::Unknown,
                (Cell::Number(x), None) => self.lane(instruction, old, x, None, immediate, bit)?,
                (Cell::Number(x), Some(Cell::Number(y))) => {
                    self.lane(instruction, old, x, Some(y.clone()), immediate, bit)?
                }
                _ => return Err("a pointer in a vector".to_owned()),
            };
            results.push(result);
        }
        self.set(register, results);
        Ok(())
    }

    fn lane(
        &mut self,
        instruction: &Instruction,
        old: Cell,
        x: Value,
        y: Option<Value>,
        immediate: Option<i64>,
        bit: Option<&Bit>,
    ) -> Result<Cell, Refusal> {
        let bit = bit.filter(|bit| !bit.is_constant());
        let result = match (&*instruction.mnemonic, y, immediate) {
            ("vpsubq", Some(y), None) if bit.is_some() => {
                // What is there already, or one more: w - (-1) under a bit.
                let is_same = Cell::Number(x.clone()).is(&old);
                let (Some(bit), Some(-1), true) = (bit, signed(&y).as_constant(), is_same) else {
                    return Err("a mask over something else than the addition of 1".to_owned());
                };
                drop(old);
                let carry = self.bit_as_number(bit)?;
                in_a_word(Number::sum(x, carry)?)?
            }
            _ if bit.is_some() => return Err("a mask that is not constant over this instruction".to_owned()),
            ("vpaddq", Some(y), None) => {
                drop(old);
                in_a_word(Number::sum(signed(&x), signed(&y))?)?
            }
            ("vpsubq", Some(y), None) => in_a_word(Number::difference(signed(&x), &signed(&y))?)?,
            ("vpsraq", None, Some(by)) => match has_sign(&x) {
                true => self.algebra.signed_floor(&x, shift(by.into())?)?,
                false => return Err("its highest bit may be another than its sign".to_owned()),
            },
            ("vpsllq", None, Some(by)) if x.as_constant().is_some() => {
                let word = x.as_constant().unwrap_or_default() as u64;
                Number::constant((word << shift(by.into())?).into())
            }
            ("vpsllq", None, Some(by)) => in_a_word(Number::times(&x, 1 << shift(by.into())?)?)?,
            ("vpsrlq", None, Some(by)) => self.algebra.floor(&x, shift(by.into())?)?,
            ("vpsrlvq", Some(y), None) => {
                let by = y.as_constant().ok_or("a shift that is not constant")?;
                match by {
                    64.. => Number::constant(0),
                    _ => self.algebra.floor(&x, shift(by)?)?,
                }
            }
            ("vpandq", Some(y), None) => self.and(&x, &y)?,
            // (old and y) or x, of which the sum is the same where no bit is in both.
            ("vpternlogq", Some(y), Some(0xec)) => {
                let Cell::Number(old) = old else {
                    return Ok(Cell::Unknown);
                };
                let both = self.and(&old, &y)?;
                let bits = both.polynomial.twos().min(63);
                if both.least < 0 || x.least < 0 || x.most >> bits != 0 {
                    return Err("an or of words that may have bits in common".to_owned());
                }
                in_a_word(Number::sum(both, x)?)?
            }
            ("vpmadd52luq" | "vpmadd52huq", Some(y), None) => {
                let Cell::Number(old) = old else {
                    return Ok(Cell::Unknown);
                };
                let (x, y) = (self.algebra.low(&x, DIGIT_BITS)?, self.algebra.low(&y, DIGIT_BITS)?);
                let product = self.algebra.product(&x, &y)?;
                let half = match &*instruction.mnemonic {
                    "vpmadd52luq" => self.algebra.low(&product, DIGIT_BITS)?,
                    _ => self.algebra.floor(&product, DIGIT_BITS)?,
                };
                in_a_word(Number::sum(old, half)?)?
            }
            _ => return Err("not known".to_owned()),
        };
        Ok(Cell::Number(result))
    }

    /// x and y: of a word and ones from the lowest bit on; of the negative of a bit, which is all ones or none, and a
    /// word.
    fn and(&mut self, x: &Value, y: &Value) -> Result<Value, Refusal> {
        for (x, y) in [(x, y), (y, x)] {
            if let Some(bits) = y.as_constant().and_then(ones) {
                return self.algebra.low(x, bits);
            }
            if x.least >= -1 && x.most <= 0 {
                return in_a_word(self.algebra.product(&Number::times(x, -1)?, y)?);
            }
        }
        Err("an and of words of which nothing is known".to_owned())
    }
}

fn shift(by: i128) -> Result<u32, Refusal> {
    u32::try_from(by)
        .ok()
        .filter(|&by| by < WORD_BITS)
        .ok_or_else(|| "no such shift".to_owned())
}

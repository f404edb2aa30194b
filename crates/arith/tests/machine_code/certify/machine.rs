//! The machine: registers, memory and flags; moves, jumps and pointers. What instructions do to numbers is in
//! `integers.rs`, `masks.rs` and `doubles.rs`.
//!
//! General registers and the flags hold public words only: pointers, counts, immediates. An instruction that would put
//! anything else there is refused, and so is a load or a store under a mask that is not a constant. So no address, no
//! branch and no access depends on a number. Where a function may have limbs there (`limbs.rs`), addresses and branches
//! are of public words nevertheless. An access must lie within what a pointer points to.

use super::algebra::{Algebra, Number, Value};
use super::code::{Code, Instruction, Memory, Operand};
use super::limbs::Limbs;
use super::masks::{Bits, Masks};
use super::polynomial::Refusal;

/// Bytes of a lane, and of everything in memory.
pub(super) const WORD: usize = 8;
pub(super) const LANES: usize = 8;

/// A public word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Integer(i64),
    /// So many bytes from the start of a region.
    Pointer {
        region: usize,
        at: i64,
    },
}

/// The content of eight bytes.
#[derive(Clone, Debug, Default)]
pub(super) enum Cell {
    /// Anything.
    #[default]
    Unknown,
    Number(Value),
    Public(Word),
}

impl Cell {
    /// Equal for certain.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(x), Self::Number(y)) => x.scale == y.scale && x.polynomial == y.polynomial,
            (Self::Public(x), Self::Public(y)) => x == y,
            _ => false,
        }
    }
}

/// Memory that one pointer reaches.
pub(super) struct Region {
    pub(super) name: &'static str,
    pub(super) cells: Vec<Cell>,
    pub(super) is_written: bool,
    /// Of its start, in bytes.
    pub(super) alignment: usize,
}

/// The way on after an instruction.
pub(super) enum Next {
    At(usize),
    Returned,
}

pub(super) struct Machine {
    pub(super) algebra: Algebra,
    pub(super) vectors: Vec<[Cell; LANES]>,
    pub(super) masks: Masks,
    pub(super) general: [Option<Word>; 16],
    pub(super) is_zero: Option<bool>,
    /// Where limbs may be in general registers.
    pub(super) limbs: Option<Limbs>,
    pub(super) regions: Vec<Region>,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self {
            algebra: Algebra::new(),
            vectors: vec![Default::default(); 32],
            masks: Masks::default(),
            general: [None; 16],
            is_zero: None,
            limbs: None,
            regions: Vec::new(),
        }
    }

    /// A caller may leave anything in registers.
    pub(super) fn forget_registers(&mut self) {
        self.vectors = vec![Default::default(); 32];
        self.general = [None; 16];
        self.is_zero = None;
        self.masks = Masks::default();
    }

    /// Memory that is as aligned as vectors are, and a pointer to it.
    pub(super) fn region(&mut self, name: &'static str, cells: Vec<Cell>, is_written: bool) -> Word {
        self.regions.push(Region {
            name,
            cells,
            is_written,
            alignment: 64,
        });
        Word::Pointer {
            region: self.regions.len() - 1,
            at: 0,
        }
    }

    pub(super) fn step(&mut self, code: &Code, at: usize) -> Result<Next, Refusal> {
        let instruction = code.instructions.get(at).ok_or("the code ends without a return")?;
        let refused = |refusal| {
            format!(
                "instruction {at}, {} {:?}: {refusal}",
                instruction.mnemonic, instruction.operands
            )
        };
        let next = match &*instruction.mnemonic {
            "ret" => return Ok(Next::Returned),
            "je" | "jne" => {
                let is_zero = self
                    .is_zero
                    .ok_or_else(|| refused("a branch by something unknown".to_owned()))?;
                match is_zero == (instruction.mnemonic == "je") {
                    true => instruction.target.ok_or("a jump to nowhere")?,
                    false => at + 1,
                }
            }
            _ => {
                self.run(instruction).map_err(refused)?;
                at + 1
            }
        };
        Ok(Next::At(next))
    }

    fn run(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        if self.limbs.is_some() {
            return self.run_limbs(instruction);
        }
        match &*instruction.mnemonic {
            "mov" | "add" | "sub" | "test" => self.run_general(instruction),
            mnemonic if mnemonic.starts_with('k') => self.run_masks(instruction),
            mnemonic if mnemonic.ends_with("pd") || mnemonic == "vmovddup" || mnemonic.ends_with("128") => {
                self.run_doubles(instruction)
            }
            _ => self.run_integers(instruction),
        }
    }

    /// The value of a general operand.
    fn word(&self, operand: &Operand) -> Result<Word, Refusal> {
        match operand {
            Operand::Immediate(number) => Ok(Word::Integer(*number)),
            &Operand::General(register) => {
                let word = self.general[usize::from(register)];
                word.ok_or_else(|| "a general register that holds nothing known".to_owned())
            }
            Operand::Memory(memory) => match &self.cells(memory, 1, 1)?[0] {
                Cell::Public(word) => Ok(*word),
                Cell::Number(_) => Err("a digit would come into a general register".to_owned()),
                Cell::Unknown => Err("unknown memory would come into a general register".to_owned()),
            },
            _ => Err("a vector would come into a general register".to_owned()),
        }
    }

    fn run_general(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let [to, from] = &instruction.operands[..] else {
            return Err("two operands".to_owned());
        };
        if let (Operand::Memory(memory), "mov", Operand::Immediate(number)) = (to, &*instruction.mnemonic, from) {
            let number = Cell::Number(Number::constant((*number).into()));
            return self.store(memory, &[number], 1);
        }
        let y = self.word(from)?;
        let result = match &*instruction.mnemonic {
            "mov" => y,
            mnemonic => {
                let x = self.word(to)?;
                let result = match (mnemonic, x, y) {
                    ("add", Word::Pointer { region, at }, Word::Integer(by))
                    | ("add", Word::Integer(by), Word::Pointer { region, at }) => Word::Pointer { region, at: at + by },
                    ("sub", Word::Pointer { region, at }, Word::Integer(by)) => Word::Pointer { region, at: at - by },
                    ("add", Word::Integer(x), Word::Integer(y)) => Word::Integer(x.wrapping_add(y)),
                    ("sub", Word::Integer(x), Word::Integer(y)) => Word::Integer(x.wrapping_sub(y)),
                    ("test", x, y) if x == y => x,
                    _ => return Err("pointers are only moved".to_owned()),
                };
                // No region is at zero.
                self.is_zero = Some(result == Word::Integer(0));
                result
            }
        };
        match (to, &*instruction.mnemonic) {
            (_, "test") => {}
            (&Operand::General(register), _) => self.general[usize::from(register)] = Some(result),
            _ => return Err("a pointer or a count is stored".to_owned()),
        }
        Ok(())
    }

    /// The region and the number of the first cell of an access to `lanes` cells.
    fn place(&self, memory: &Memory, lanes: usize, alignment: usize) -> Result<(usize, usize), Refusal> {
        let base = self.general[usize::from(memory.base)];
        let Some(Word::Pointer { region, at }) = base else {
            return Err("an address that is no pointer".to_owned());
        };
        let index = match memory.index {
            None => 0,
            Some((register, times)) => match self.general[usize::from(register)] {
                Some(Word::Integer(index)) => index * times,
                _ => return Err("an index that is no count".to_owned()),
            },
        };
        let at = at + index + memory.displacement;
        let Region {
            name,
            cells,
            alignment: start,
            ..
        } = &self.regions[region];
        let first = usize::try_from(at)
            .ok()
            .filter(|at| at.is_multiple_of(WORD))
            .map(|at| at / WORD);
        let first = first.filter(|first| first + lanes <= cells.len());
        let first = first.ok_or_else(|| format!("{lanes} words at {at} are not within {name}, of {}", cells.len()))?;
        if !start.is_multiple_of(alignment) || !(first * WORD).is_multiple_of(alignment) {
            return Err(format!("{name} + {at} is not aligned"));
        }
        Ok((region, first))
    }

    /// So many cells of memory; a broadcast has one in all places.
    pub(super) fn cells(&self, memory: &Memory, lanes: usize, alignment: usize) -> Result<Vec<Cell>, Refusal> {
        if memory.broadcast {
            let (region, first) = self.place(memory, 1, 1)?;
            return Ok(vec![self.regions[region].cells[first].clone(); lanes]);
        }
        let (region, first) = self.place(memory, lanes, alignment)?;
        Ok(self.regions[region].cells[first..][..lanes].to_vec())
    }

    pub(super) fn store(&mut self, memory: &Memory, cells: &[Cell], alignment: usize) -> Result<(), Refusal> {
        let (region, first) = self.place(memory, cells.len(), alignment)?;
        let region = &mut self.regions[region];
        if !region.is_written {
            return Err(format!("{} is not to be written", region.name));
        }
        region.cells[first..][..cells.len()].clone_from_slice(cells);
        Ok(())
    }

    /// So many lanes of a vector operand.
    pub(super) fn lanes(&self, operand: &Operand, lanes: usize) -> Result<Vec<Cell>, Refusal> {
        self.aligned_lanes(operand, lanes, 1)
    }

    pub(super) fn aligned_lanes(
        &self,
        operand: &Operand,
        lanes: usize,
        alignment: usize,
    ) -> Result<Vec<Cell>, Refusal> {
        match operand {
            &Operand::Vector(register, _) => Ok(self.vectors[usize::from(register)][..lanes].to_vec()),
            Operand::Memory(memory) => self.cells(memory, lanes, alignment),
            _ => Err("no vector".to_owned()),
        }
    }

    /// A vector operand's lanes, as its name says.
    pub(super) fn width(operand: &Operand) -> Result<(usize, usize), Refusal> {
        match operand {
            &Operand::Vector(register, lanes) => Ok((usize::from(register), lanes)),
            _ => Err("no vector register".to_owned()),
        }
    }

    /// Writes a vector register, of which the lanes above are cleared.
    pub(super) fn set(&mut self, register: usize, cells: Vec<Cell>) {
        let mut cells = cells.into_iter();
        let zero = || Cell::Number(Number::constant(0));
        self.vectors[register] = std::array::from_fn(|_| cells.next().unwrap_or_else(zero));
    }

    /// Moves between registers and memory, with the memory's alignment if that is asked for.
    pub(super) fn move_vector(&mut self, [to, from]: [&Operand; 2], is_aligned: bool) -> Result<(), Refusal> {
        let of = |operand: &Operand| match operand {
            Operand::Vector(_, lanes) => Some(*lanes),
            _ => None,
        };
        let lanes = of(to).or(of(from)).ok_or("no vector register")?;
        let alignment = if is_aligned { lanes * WORD } else { 1 };
        let cells = self.aligned_lanes(from, lanes, alignment)?;
        match to {
            &Operand::Vector(register, _) => self.set(register.into(), cells),
            Operand::Memory(memory) => self.store(memory, &cells, alignment)?,
            _ => return Err("no vector".to_owned()),
        }
        Ok(())
    }

    /// The mask over an instruction, a known bit or a number for each lane. One that is not constant must not be over
    /// memory.
    pub(super) fn mask(&mut self, instruction: &Instruction, lanes: usize) -> Result<Option<Bits>, Refusal> {
        let Some(mask) = instruction.under else {
            return Ok(None);
        };
        let bits = self.masks.bits(mask, lanes);
        let touches_memory = instruction
            .operands
            .iter()
            .any(|operand| matches!(operand, Operand::Memory(_)));
        if touches_memory && bits.iter().any(|bit| !bit.is_constant()) {
            return Err("a mask over memory that is not a constant".to_owned());
        }
        Ok(Some(bits))
    }
}

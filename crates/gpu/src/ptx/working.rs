//! The number that a kernel works on: in registers, or in the thread's memory where it is too long for them.

use super::{
    emitter::{Address, Word},
    frame::Frame,
    long::{self, Long},
    montgomery,
    numbers::{Array, Modulus},
};

/// The most limbs of a number in registers.
pub(super) const MOST_IN_REGISTERS: usize = 64;

pub(super) enum Number {
    Registers(Vec<Word>),
    Memory(Long),
}

/// Another number, to multiply by.
#[derive(Clone, Copy)]
pub(super) enum Factor {
    /// In an array, read when it is multiplied by.
    Array(Array),
    /// In the thread's memory.
    Memory,
    /// R² mod n of a record, which brings into Montgomery form.
    SquareOfR(Address),
}

impl Number {
    /// The place for a number of the kernel's length.
    pub(super) fn new(frame: &mut Frame) -> Self {
        match frame.limbs > MOST_IN_REGISTERS {
            true => Number::Memory(frame.long()),
            false => Number::Registers(Vec::new()),
        }
    }

    pub(super) fn load(&mut self, frame: &mut Frame, from: Array) {
        match self {
            Number::Registers(x) => *x = frame.load(from),
            Number::Memory(x) => frame.load_long(x, from),
        }
    }

    /// A number in an array as a factor of this one, until there is another.
    pub(super) fn factor(&self, frame: &mut Frame, from: Array) -> Factor {
        match self {
            Number::Registers(_) => Factor::Array(from),
            Number::Memory(x) => {
                frame.load_long_factor(x, from);
                Factor::Memory
            }
        }
    }

    pub(super) fn square(&self, frame: &mut Frame, n: &Modulus) {
        match self {
            Number::Registers(x) => montgomery::square(&mut frame.e, x, x, n),
            Number::Memory(x) => x.multiply(&mut frame.e, long::Factor::X, n),
        }
    }

    pub(super) fn multiply(&self, frame: &mut Frame, by: Factor, n: &Modulus) {
        match (self, by) {
            (Number::Registers(x), Factor::Array(array)) => {
                let y = &mut frame.digits(array);
                montgomery::multiply(&mut frame.e, x, x, y, n);
            }
            (Number::Registers(x), Factor::SquareOfR(record)) => {
                let y = &mut frame.power_of_r(record, 2);
                montgomery::multiply(&mut frame.e, x, x, y, n);
            }
            (Number::Memory(x), Factor::Memory) => x.multiply(&mut frame.e, long::Factor::Y, n),
            (Number::Memory(x), Factor::SquareOfR(record)) => {
                x.multiply(&mut frame.e, long::Factor::Record(record, 2 * frame.limbs), n);
            }
            _ => unreachable!("a factor is made for its number"),
        }
    }

    /// Out of Montgomery form.
    pub(super) fn leave(&self, frame: &mut Frame, n: &Modulus) {
        match self {
            Number::Registers(x) => montgomery::leave(&mut frame.e, x, x, n),
            Number::Memory(x) => x.leave(&mut frame.e, n),
        }
    }

    pub(super) fn store(&self, frame: &mut Frame, to: Array) {
        match self {
            Number::Registers(x) => frame.store(to, x),
            Number::Memory(x) => frame.store_long(to, x),
        }
    }

    /// All ones if it is the number in an array.
    pub(super) fn mask_if_same(&self, frame: &mut Frame, other: Array) -> Word {
        match self {
            Number::Registers(x) => {
                let y = frame.load(other);
                frame.mask_if_same(x, &y)
            }
            Number::Memory(x) => frame.mask_if_long_same(x, other),
        }
    }
}

//! Kernels that do nothing but one kind of instruction, for measuring how many a device does in a second.
//!
//! Each thread has a few independent chains, so that an instruction need not wait for the one before. A turn of the
//! loop has [`OF_A_TURN`] instructions of the kind, and two for the loop.

use super::emitter::{Emitter, HEADER, ZERO, emit};

/// A kind of instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A product of 32 by 32 bits added to 64 bits.
    Wide,
    /// The multiply-add with a carry in and out, eight in a chain.
    WideCarry,
    /// An addition of 32 bits with a carry in and out, all of a turn in a chain.
    AddCarry,
    /// A function of three words, bit by bit.
    Logic,
    /// A fused multiply-add of doubles.
    Double,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Wide, Kind::WideCarry, Kind::AddCarry, Kind::Logic, Kind::Double];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Wide => "wide_multiply_add",
            Kind::WideCarry => "wide_multiply_add_carry",
            Kind::AddCarry => "add_32_carry",
            Kind::Logic => "logic_32",
            Kind::Double => "fma_64",
        }
    }
}

/// Instructions of the kind in a turn.
pub const OF_A_TURN: usize = 64;

/// The name of each kernel.
pub const NAME: &str = "rate";

/// Chains that do not wait for each other.
const CHAINS: usize = 8;

/// A module with a kernel that takes memory for a word of each thread, and the number of turns.
pub fn module(kind: Kind) -> String {
    let mut e = Emitter::new(NAME, &["out"], &["turns"]);
    let (place, _) = e.place();
    let turns = e.parameter("turns");
    let factor = e.of2("or.b32", place, 0x5a5a_5a5bu32);
    let columns = e.number(2 * CHAINS);
    for (number, &column) in columns.iter().enumerate() {
        emit!(e, "add.u32", column, factor, number as u32);
    }
    let doubles: Vec<_> = (0..CHAINS).map(|_| e.address()).collect();
    if kind == Kind::Double {
        for (&double, &column) in doubles.iter().zip(&columns) {
            // Whatever number that is, it is one.
            emit!(e, "mul.wide.u32", double, column, column);
        }
    }
    let turn = e.set(0);
    e.while_below(turn, turns, 1, |e| {
        for round in 0..OF_A_TURN / CHAINS {
            for chain in 0..CHAINS {
                let (low, high) = (columns[2 * chain], columns[2 * chain + 1]);
                match kind {
                    Kind::Wide => {
                        emit!(e, "mad.lo.cc.u32", low, factor, turn, low);
                        emit!(e, "madc.hi.u32", high, factor, turn, high);
                    }
                    Kind::WideCarry => {
                        let first = ["madc.lo.cc.u32", "mad.lo.cc.u32"][usize::from(chain == 0)];
                        emit!(e, first, low, factor, turn, low);
                        emit!(e, "madc.hi.cc.u32", high, factor, turn, high);
                    }
                    Kind::AddCarry => {
                        let is_first = chain == 0 && round == 0;
                        let name = ["addc.cc.u32", "add.cc.u32"][usize::from(is_first)];
                        emit!(e, name, low, low, high);
                    }
                    Kind::Logic => e.choose(low, high, factor, low),
                    Kind::Double => {
                        let next = doubles[(chain + 1 + round % 2) % CHAINS];
                        let double = doubles[chain];
                        emit!(e, "fma.rn.f64", double, double, next, double);
                    }
                }
            }
        }
    });
    let mut sum = e.set(ZERO);
    for &column in &columns {
        sum = e.of2("xor.b32", sum, column);
    }
    if kind == Kind::Double {
        for &double in &doubles {
            let low = e.word();
            emit!(e, "cvt.u32.u64", low, double);
            sum = e.of2("xor.b32", sum, low);
        }
    }
    let out = e.buffer("out");
    let to = e.at(out, place, 4);
    e.store_word(to, 0, sum);
    HEADER.to_owned() + &e.finish(64)
}

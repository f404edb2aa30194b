//! Instructions on 32 threads' registers at once, in loops that a compiler turns into vectors.

use std::array;

use super::parse::{Carry, Half};

pub(crate) const LANES: usize = 32;

/// A register of 32 bits of each thread.
pub(crate) type Words = [u32; LANES];

/// A register of 64 bits of each thread.
pub(crate) type Wides = [u64; LANES];

/// `half of a b`, plus c and a carry; and the carry that comes of it.
pub(crate) fn multiply_add(half: Half, a: &Words, b: &Words, c: &Words, carry: &Words) -> (Words, Words) {
    let mut result = [0; LANES];
    let mut out = [0; LANES];
    for lane in 0..LANES {
        let product = u64::from(a[lane]) * u64::from(b[lane]);
        let part = match half {
            Half::Low => product as u32,
            Half::High => (product >> 32) as u32,
        };
        let sum = u64::from(part) + u64::from(c[lane]) + u64::from(carry[lane]);
        result[lane] = sum as u32;
        out[lane] = (sum >> 32) as u32;
    }
    (result, out)
}

pub(crate) fn add(a: &Words, b: &Words, carry: &Words) -> (Words, Words) {
    let sum = |lane: usize| u64::from(a[lane]) + u64::from(b[lane]) + u64::from(carry[lane]);
    (
        array::from_fn(|lane| sum(lane) as u32),
        array::from_fn(|lane| (sum(lane) >> 32) as u32),
    )
}

pub(crate) fn subtract(a: &Words, b: &Words, borrow: &Words) -> (Words, Words) {
    let difference = |lane: usize| {
        u64::from(a[lane])
            .wrapping_sub(u64::from(b[lane]))
            .wrapping_sub(u64::from(borrow[lane]))
    };
    (
        array::from_fn(|lane| difference(lane) as u32),
        array::from_fn(|lane| (difference(lane) >> 32) as u32 & 1),
    )
}

/// For each bit, the bit of the table at the place that a, b and c write.
pub(crate) fn logic(table: u8, a: &Words, b: &Words, c: &Words) -> Words {
    array::from_fn(|lane| {
        (0..8)
            .filter(|place| table >> place & 1 == 1)
            .fold(0, |any, place: u32| {
                let pick = |value: u32, bit: u32| if place >> bit & 1 == 1 { value } else { !value };
                any | pick(a[lane], 2) & pick(b[lane], 1) & pick(c[lane], 0)
            })
    })
}

/// Each thread's carry flag, and what it says: whether a sum or a difference has left it.
#[derive(Clone, Copy)]
pub(crate) struct Flag {
    pub(crate) bits: Words,
    is_borrow: Option<bool>,
}

impl Flag {
    pub(crate) const UNSET: Flag = Flag {
        bits: [0; LANES],
        is_borrow: None,
    };

    /// The carry as an instruction takes it.
    pub(crate) fn taken(&self, carry: Carry, is_borrow: bool) -> Words {
        if !carry.taken {
            return [0; LANES];
        }
        assert_eq!(self.is_borrow, Some(is_borrow), "a chain goes on that nobody has begun");
        self.bits
    }

    pub(crate) fn leave(&mut self, carry: Carry, is_borrow: bool, bits: Words) {
        if carry.left {
            *self = Flag {
                bits,
                is_borrow: Some(is_borrow),
            };
        }
    }
}

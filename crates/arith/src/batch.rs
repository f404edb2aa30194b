//! The layout of a batch: contiguous items of one stride.

use crate::declassify::declassify;
use crate::limbs::{Modulus, words};
use crate::{Error, Status};

/// Refuses buffers whose lengths disagree.
pub(crate) fn check_layout(len: usize, inputs: &[u8], outputs: &[u8], status: &[Status]) -> Result<(), Error> {
    let expected = status.len() * len;
    for (what, got) in [("inputs", inputs.len()), ("outputs", outputs.len())] {
        if got != expected {
            return Err(Error::Length { what, expected, got });
        }
    }
    Ok(())
}

/// Reads a step's inputs. One that is not below the modulus is marked and replaced by zero.
pub(crate) fn read(modulus: &Modulus, inputs: &[u8], values: &mut [u64], status: &mut [Status]) {
    let len = modulus.bits().div_ceil(8);
    let items = inputs
        .chunks_exact(len)
        .zip(values.chunks_exact_mut(modulus.limbs()))
        .zip(status);
    for ((input, value), status) in items {
        words::read_be(value, input);
        *status = Status::Done;
        if !declassify(words::is_less(value, modulus.n())) {
            *status = Status::OutOfRange;
            value.fill(0);
        }
    }
}

/// Withholds results that are not below the modulus: congruent to the right ones, and so past a check that computes
/// modulo n, but not what was asked for. A fault in the copy of n that they were reduced by makes them.
pub(crate) fn withhold_unreduced(modulus: &Modulus, values: &mut [u64], status: &mut [Status]) {
    for (value, status) in values.chunks_exact_mut(modulus.limbs()).zip(status) {
        if *status == Status::Done && !declassify(words::is_less(value, modulus.n())) {
            value.fill(0);
            *status = Status::Fault;
        }
    }
}

/// Writes a step's outputs: zero for an item that is not done.
pub(crate) fn write(modulus: &Modulus, values: &[u64], outputs: &mut [u8], status: &[Status]) {
    let len = modulus.bits().div_ceil(8);
    let items = outputs
        .chunks_exact_mut(len)
        .zip(values.chunks_exact(modulus.limbs()))
        .zip(status);
    for ((output, value), status) in items {
        match status {
            Status::Done => words::write_be(value, output),
            Status::OutOfRange | Status::Fault => output.fill(0),
        }
    }
}

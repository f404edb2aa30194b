//! The layout of a batch: contiguous items of one stride.

use crate::limbs::{Modulus, words};
use crate::{Error, Status};

/// Refuses buffers whose lengths disagree.
pub(crate) fn check_layout(
    len: usize,
    inputs: &[u8],
    outputs: &[u8],
    status: &[Status],
) -> Result<(), Error> {
    let expected = status.len() * len;
    for (what, got) in [("inputs", inputs.len()), ("outputs", outputs.len())] {
        if got != expected {
            return Err(Error::Length {
                what,
                expected,
                got,
            });
        }
    }
    Ok(())
}

/// Powers of up to [`items`](Self::items) numbers at once: what a prepared key does, whatever its kernel.
pub(crate) trait Raise: Send + Sync {
    /// Name of the kernel that does it.
    fn kernel(&self) -> &'static str;
    /// Numbers that one call takes.
    fn items(&self) -> usize;
    /// Words of working memory.
    fn working_words(&self) -> usize;
    /// Raises each number of `limbs` limbs in `values`, in place; at most [`items`](Self::items) of them, each below the
    /// modulus before and after.
    fn raise(&self, values: &mut [u64], working: &mut [u64]);
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
        if !bool::from(words::is_less(value, modulus.n())) {
            *status = Status::OutOfRange;
            value.fill(0);
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

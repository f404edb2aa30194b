//! One message at a time, by the crate `sha2`: with the CPU's own instructions for it, where there are such.

use sha2::block_api::compress256;

use crate::block::{self, BLOCK};

/// Blocks that are written before they are compressed.
const TOGETHER: usize = 8;

/// Compresses the blocks of a padded message of `len` bytes from block `from` on.
pub(crate) fn compress(state: &mut [u32; 8], parts: &[&[u8]], len: usize, from: usize) {
    let mut room = [[0; BLOCK]; TOGETHER];
    let (mut number, end) = (from, block::blocks(len));
    while number < end {
        let together = TOGETHER.min(end - number);
        for (block, number) in room[..together].iter_mut().zip(number..) {
            block::write(parts, len, number, block);
        }
        compress256(state, &room[..together]);
        number += together;
    }
}

/// The bytes of a digest whose function may leave some out at its end.
pub(crate) fn bytes(state: &[u32; 8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    bytes
}

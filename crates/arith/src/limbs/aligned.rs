//! Words in memory that start on a cache line.

use std::ops::{Deref, DerefMut};
use zeroize::Zeroizing;

/// Words in a cache line.
const LINE_WORDS: usize = 8;

/// Words that start on a border of 64 bytes, so that no 512-bit access crosses one. Wiped on drop.
pub(crate) struct Aligned {
    /// The words with room to move them to the border.
    memory: Zeroizing<Vec<u64>>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// `len` words, all zero.
    pub(crate) fn zero(len: usize) -> Self {
        let memory = Zeroizing::new(vec![0; len + LINE_WORDS - 1]);
        // A vector's memory stays where it is as long as it does not grow, and this one never does.
        let start = memory.as_ptr().align_offset(8 * LINE_WORDS);
        Self { memory, start, len }
    }
}

impl Clone for Aligned {
    fn clone(&self) -> Self {
        let mut copy = Self::zero(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Aligned {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

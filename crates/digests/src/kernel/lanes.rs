//! The operations of a form of lanes.

use crate::block::{Block, MAX_LANES};

/// Compression functions that are computed at once. A value is the proof that this CPU has the instructions.
pub(crate) trait Lanes: Copy {
    /// How many.
    const LANES: usize;
    /// The eight words of each lane.
    type State;

    /// Messages from which on it is faster to fill some lanes than to take one message after the other.
    fn least(self) -> usize;
    /// A state in every lane.
    fn begin(self, initial: &[u32; 8]) -> Self::State;
    /// Compresses a block in each lane: of the first [`LANES`](Self::LANES).
    fn compress(self, state: &mut Self::State, blocks: &[&Block; MAX_LANES]);
    /// Digests of 32 bytes of each lane followed by a counter of four, passed on one counter after the other, from 0
    /// on. In every lane, and so that counters share what they have in common: false, and nothing is done, if that is
    /// no gain.
    fn counted(
        self,
        _initial: &[u32; 8],
        _bytes: &[&[u8; 32]; MAX_LANES],
        _counters: usize,
        _each: impl FnMut(usize, &[[u8; 32]; MAX_LANES]),
    ) -> bool {
        false
    }
    /// The digest of eight zero bytes, 32 of `first` and 32 of `second` of each lane. In every lane: false, and nothing
    /// is done, if that is no gain.
    fn salted(
        self,
        _initial: &[u32; 8],
        _first: &[&[u8; 32]; MAX_LANES],
        _second: &[&[u8; 32]; MAX_LANES],
        _digests: &mut [[u8; 32]; MAX_LANES],
    ) -> bool {
        false
    }
    /// The words of one lane.
    fn words(state: &Self::State, lane: usize) -> [u32; 8];
    /// The words of all lanes, big-endian.
    fn digests(self, state: &Self::State, digests: &mut [[u8; 32]; MAX_LANES]);
}

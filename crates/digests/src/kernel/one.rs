//! One message at a time, on every machine.

use sha2::block_api::compress256;

use super::Lanes;
use crate::{
    alone,
    block::{Block, MAX_LANES},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct One;

impl Lanes for One {
    const LANES: usize = 1;
    type State = [u32; 8];

    /// Never: alone, several blocks of a message are compressed in one call.
    fn least(self) -> usize {
        2
    }

    fn begin(self, initial: &[u32; 8]) -> [u32; 8] {
        *initial
    }

    fn compress(self, state: &mut [u32; 8], blocks: &[&Block; MAX_LANES]) {
        compress256(state, std::slice::from_ref(blocks[0]));
    }

    fn words(state: &[u32; 8], _lane: usize) -> [u32; 8] {
        *state
    }

    fn digests(self, state: &[u32; 8], digests: &mut [[u8; 32]; MAX_LANES]) {
        digests[0] = alone::bytes(state);
    }
}

//! MGF1 (RFC 8017, appendix B.2.1) of many seeds.

use std::ops::Range;

use crate::{
    Function, alone,
    block::{self, BLOCK, MAX_LANES, PADDING},
    kernel::Lanes,
};

/// Bytes of a counter.
const COUNTER: usize = 4;

/// Adds to bytes `target` of each item, without carries, the mask of its bytes `seed`.
pub(crate) fn mask<L: Lanes>(
    lanes: L,
    function: Function,
    items: &mut [u8],
    stride: usize,
    seed: Range<usize>,
    target: Range<usize>,
) {
    let (len, digest_len) = (seed.len() + COUNTER, function.digest_len());
    let counters = target.len().div_ceil(digest_len);
    if len + PADDING > BLOCK {
        return mask_by_long_seeds(function, items, stride, seed, target);
    }
    // Where there is an item for every lane, they share what is the same for all counters.
    let (mut done, mut seeds) = (0, [[0; 32]; MAX_LANES]);
    while seed.len() == 32 && items.len() - done >= L::LANES * stride {
        let group = &mut items[done..][..L::LANES * stride];
        for (item, bytes) in group.chunks_exact(stride).zip(&mut seeds) {
            block::copy(&item[seed.clone()], bytes);
        }
        let is_done = lanes.counted(&function.initial(), &seeds.each_ref(), counters, |counter, digests| {
            let from = target.start + counter * digest_len;
            let kept = kept(digest_len.min(target.end - from));
            for (item, digest) in group.chunks_exact_mut(stride).zip(digests) {
                xor(&mut item[from..], digest, kept);
            }
        });
        if !is_done {
            break;
        }
        done += L::LANES * stride;
    }
    let items = &mut items[done..];
    if items.is_empty() {
        return;
    }
    // Of the others each pair of an item and a counter is a lane: of one item alone, too, there are several.
    let parts: [&[u8]; 1] = [&[0; BLOCK][..len]];
    let mut padded = [0; BLOCK];
    block::write(&parts, len, 0, &mut padded);
    let mut blocks = [padded; MAX_LANES];
    let mut digests = [[0; 32]; MAX_LANES];
    let jobs = items.len() / stride * counters;
    let (mut first, mut counter) = (0, 0);
    for start in (0..jobs).step_by(L::LANES) {
        let count = L::LANES.min(jobs - start);
        let mut at = [(0, 0); MAX_LANES];
        for (at, block) in at[..count].iter_mut().zip(&mut blocks) {
            *at = (first, counter);
            block::copy(&items[first..][seed.clone()], &mut block[..seed.len()]);
            block[seed.len()..len].copy_from_slice(&(counter as u32).to_be_bytes());
            counter += 1;
            if counter == counters {
                (first, counter) = (first + stride, 0);
            }
        }
        if count >= lanes.least() {
            let mut state = lanes.begin(&function.initial());
            lanes.compress(&mut state, &blocks.each_ref());
            lanes.digests(&state, &mut digests);
        } else {
            for (digest, block) in digests[..count].iter_mut().zip(&blocks) {
                let mut state = function.initial();
                sha2::block_api::compress256(&mut state, std::slice::from_ref(block));
                *digest = alone::bytes(&state);
            }
        }
        for (&(first, counter), digest) in at[..count].iter().zip(&digests) {
            let from = target.start + counter * digest_len;
            let item = &mut items[first..][..stride];
            xor(&mut item[from..], digest, kept(digest_len.min(target.end - from)));
        }
    }
}

/// Masks of seeds that take more than a block, one after the other.
fn mask_by_long_seeds(function: Function, items: &mut [u8], stride: usize, seed: Range<usize>, target: Range<usize>) {
    let digest_len = function.digest_len();
    for item in items.chunks_exact_mut(stride) {
        for counter in 0..target.len().div_ceil(digest_len) {
            let mut state = function.initial();
            let counted = (counter as u32).to_be_bytes();
            let parts: [&[u8]; 2] = [&item[seed.clone()], &counted];
            alone::compress(&mut state, &parts, seed.len() + COUNTER, 0);
            let from = target.start + counter * digest_len;
            let kept = kept(digest_len.min(target.end - from));
            xor(&mut item[from..], &alone::bytes(&state), kept);
        }
    }
}

/// All bits of the first `len` bytes, of 32 at most.
#[inline(always)]
fn kept(len: usize) -> &'static [u8; 32] {
    static ONES_AND_ZEROS: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut place = 0;
        while place < 32 {
            bytes[place] = 0xff;
            place += 1;
        }
        bytes
    };
    ONES_AND_ZEROS[32 - len..].first_chunk().expect("32 of 64 bytes follow")
}

/// Adds those bytes of a mask that are kept; whatever follows them stays as it is.
#[inline(always)]
fn xor(bytes: &mut [u8], mask: &[u8; 32], kept: &[u8; 32]) {
    /// As above without a bound, so that it is done in registers where there are as many bytes.
    #[inline(always)]
    fn each<'b>(bytes: impl Iterator<Item = &'b mut u8>, mask: &[u8; 32], kept: &[u8; 32]) {
        for (byte, (mask, kept)) in bytes.zip(mask.iter().zip(kept)) {
            *byte ^= mask & kept;
        }
    }
    match bytes.first_chunk_mut::<32>() {
        Some(bytes) => each(bytes.iter_mut(), mask, kept),
        None => each(bytes.iter_mut(), mask, kept),
    }
}

//! Mask generation functions, as they are used: to mask bytes in place.
//!
//! A hash function of fixed length is used through MGF1 (RFC 8017, appendix B.2.1). SHAKE128 and SHAKE256 give an
//! output of any length and are the mask generation function themselves (RFC 8702, section 3.2.1: "natively").

use std::ops::Range;

use crate::hash::{Hash, MAX_LEN};

/// Masks `target` with the mask of `seed`, or takes the mask off again. Time depends on lengths alone.
pub(super) fn mask(hash: Hash, seed: &[u8], target: &mut [u8]) {
    #[cfg(feature = "sha3")]
    if hash.xor_output(seed, target) {
        return;
    }
    mgf1(hash, seed, target);
}

fn mgf1(hash: Hash, seed: &[u8], target: &mut [u8]) {
    for (counter, chunk) in (0_u32..).zip(target.chunks_mut(hash.digest_len())) {
        let mask = hash.digest_parts(&[seed, &counter.to_be_bytes()]);
        chunk.iter_mut().zip(mask.iter()).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// Masks bytes `target` of each item with the mask of its bytes `seed`, at most a digest; items have `stride` bytes
/// each.
pub(super) fn mask_each(hash: Hash, items: &mut [u8], stride: usize, seed: Range<usize>, target: Range<usize>) {
    if let Some((kernel, function)) = hash.in_lanes() {
        return kernel.mask(function, items, stride, seed, target);
    }
    for item in items.chunks_exact_mut(stride) {
        let mut bytes = [0; MAX_LEN];
        let bytes = &mut bytes[..seed.len()];
        bytes.copy_from_slice(&item[seed.clone()]);
        mask(hash, bytes, &mut item[target.clone()]);
    }
}

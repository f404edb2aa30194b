//! EME-OAEP (RFC 8017, section 7.1).

use std::ops::Range;

use rand_core::TryCryptoRng;
use rsalab_arith::declassify::{declassify, declassify_usize};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::{
    mask::mask,
    parameters::{Oaep, fill},
};
use crate::Result;

/// Encodes a message that is not too long into the bytes of the modulus.
pub(super) fn encode<R: TryCryptoRng + ?Sized>(
    oaep: &Oaep,
    message: &[u8],
    rng: &mut R,
    encoding: &mut [u8],
) -> Result<()> {
    let h = oaep.hash.digest_len();
    encoding.fill(0);
    let (seed, block) = encoding[1..].split_at_mut(h);
    let start = block.len() - message.len();
    block[..h].copy_from_slice(&oaep.hash.digest(&oaep.label));
    block[start - 1] = 1;
    block[start..].copy_from_slice(message);
    fill(rng, seed)?;
    mask(oaep.mgf_hash, seed, block);
    mask(oaep.mgf_hash, block, seed);
    Ok(())
}

/// Takes the mask off in place, and returns the place of the message in the bytes of the modulus, if they are an
/// encoding. Failures cannot be told apart: what is wrong shows neither in the answer nor in the time (Manger's attack
/// needs no more).
pub(crate) fn decode(oaep: &Oaep, encoding: &mut [u8]) -> Option<Range<usize>> {
    let h = oaep.hash.digest_len();
    let end = encoding.len();
    let (first, rest) = encoding.split_at_mut(1);
    let (seed, block) = rest.split_at_mut(h);
    mask(oaep.mgf_hash, block, seed);
    mask(oaep.mgf_hash, seed, block);
    let (label, padded) = block.split_at(h);
    let mut is_good = first.ct_eq(&[0]) & label.ct_eq(&*oaep.hash.digest(&oaep.label));
    let mut is_found = Choice::from(0);
    let mut start = 0_u32;
    for (place, byte) in (1 + 2 * h as u32..).zip(padded) {
        let is_one = byte.ct_eq(&1);
        let is_zero = byte.ct_eq(&0);
        start = u32::conditional_select(&start, &(place + 1), !is_found & is_one);
        is_good &= is_found | is_one | is_zero;
        is_found |= is_one;
    }
    is_good &= is_found;
    // Whether the ciphertext was right is public from here on, and with it, if so, how long its message is.
    declassify(is_good).then(|| declassify_usize(start as usize)..end)
}

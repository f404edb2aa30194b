//! EMSA-PSS (RFC 8017, section 9.1).

use rand_core::TryCryptoRng;

use super::{Pss, SaltLen, fill, mgf1};
use crate::{Error, hash::Hash};

const TRAILER: u8 = 0xbc;

/// How the bytes of an encoding are shared out for a modulus of `bits` bits: it has one bit less.
struct Layout {
    /// Zero bytes in front: one if the encoding is a byte shorter than the modulus.
    ahead: usize,
    /// Bytes of the masked block.
    block: usize,
    /// Bits of the block's first byte that must be zero.
    zero_bits: u32,
}

impl Layout {
    /// None if the key is too short for the hash alone.
    fn of(hash: Hash, bits: usize) -> Option<Layout> {
        let len = (bits - 1).div_ceil(8);
        Some(Layout {
            ahead: bits.div_ceil(8) - len,
            block: len
                .checked_sub(hash.digest_len() + 1)
                .filter(|block| *block > 0)?,
            zero_bits: (8 * len - (bits - 1)) as u32,
        })
    }

    /// The bits of the block's first byte that may be set.
    fn first_mask(&self) -> u8 {
        0xff >> self.zero_bits
    }
}

/// Encodes a digest into the bytes of the modulus.
pub(super) fn encode<R: TryCryptoRng + ?Sized>(
    pss: &Pss,
    digest: &[u8],
    bits: usize,
    rng: &mut R,
    encoding: &mut [u8],
) -> Result<(), Error> {
    let layout = Layout::of(pss.hash, bits).expect("it was checked when the key was prepared");
    let salt_len = match pss.salt_len {
        SaltLen::Digest | SaltLen::Any => pss.hash.digest_len(),
        SaltLen::Max => layout.block - 1,
        SaltLen::Bytes(bytes) => bytes,
    };
    encoding.fill(0);
    let (block, rest) = encoding[layout.ahead..].split_at_mut(layout.block);
    let (hashed, trailer) = rest.split_at_mut(pss.hash.digest_len());
    let (before, salt) = block.split_at_mut(layout.block - salt_len);
    before[before.len() - 1] = 1;
    fill(rng, salt)?;
    hashed.copy_from_slice(&pss.hash.digest_parts(&[&[0; 8], digest, salt]));
    mgf1::mask(pss.mgf_hash, hashed, block);
    block[0] &= layout.first_mask();
    trailer.copy_from_slice(&[TRAILER]);
    Ok(())
}

/// Whether the bytes of the modulus are an encoding of the digest.
pub(super) fn is_encoding_of(pss: &Pss, digest: &[u8], bits: usize, encoding: &[u8]) -> bool {
    let Some(layout) = Layout::of(pss.hash, bits) else {
        return false;
    };
    let (ahead, encoded) = encoding.split_at(layout.ahead);
    let (block, rest) = encoded.split_at(layout.block);
    let (hashed, trailer) = rest.split_at(pss.hash.digest_len());
    let fits = ahead.iter().all(|&byte| byte == 0)
        && trailer == [TRAILER]
        && block[0] & !layout.first_mask() == 0;
    if !fits {
        return false;
    }
    let mut block = block.to_vec();
    mgf1::mask(pss.mgf_hash, hashed, &mut block);
    block[0] &= layout.first_mask();
    let Some(one) = block.iter().position(|&byte| byte != 0) else {
        return false;
    };
    let salt = &block[one + 1..];
    let expected = match pss.salt_len {
        SaltLen::Digest => pss.hash.digest_len(),
        SaltLen::Max => layout.block - 1,
        SaltLen::Bytes(bytes) => bytes,
        SaltLen::Any => salt.len(),
    };
    block[one] == 1
        && salt.len() == expected
        && *pss.hash.digest_parts(&[&[0; 8], digest, salt]) == *hashed
}

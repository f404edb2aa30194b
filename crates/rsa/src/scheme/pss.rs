//! EMSA-PSS (RFC 8017, section 9.1).

use rand_core::TryCryptoRng;

use super::{
    failure::VerificationFailure,
    mask::{mask, mask_each},
    parameters::{Pss, SaltLen, fill},
};
use crate::Result;

const TRAILER: u8 = 0xbc;

/// The scheme, and how the bytes of an encoding are shared out for a modulus of `bits` bits: it has one bit less.
pub(crate) struct Encoder {
    pss: Pss,
    /// Zero bytes in front: one if the encoding is a byte shorter than the modulus.
    ahead: usize,
    /// Bytes of the masked block.
    block: usize,
    /// Bits of the block's first byte that may be set.
    first_mask: u8,
}

impl Encoder {
    /// For a modulus that has room for the hash.
    pub(super) fn new(pss: Pss, bits: usize) -> Encoder {
        let len = (bits - 1).div_ceil(8);
        Encoder {
            pss,
            ahead: bits.div_ceil(8) - len,
            block: len - pss.hash.digest_len() - 1,
            first_mask: 0xff >> (8 * len - (bits - 1)),
        }
    }

    /// Encodes a digest into the bytes of the modulus.
    pub(super) fn encode<R: TryCryptoRng + ?Sized>(
        &self,
        digest: &[u8],
        rng: &mut R,
        encoding: &mut [u8],
    ) -> Result<()> {
        let hash = self.pss.hash;
        let salt_len = match self.pss.salt_len {
            SaltLen::Digest | SaltLen::Any | SaltLen::AtLeast(_) => hash.digest_len(),
            SaltLen::Max => self.block - 1,
            SaltLen::Bytes(bytes) => bytes,
        };
        encoding.fill(0);
        let (block, rest) = encoding[self.ahead..].split_at_mut(self.block);
        let (hashed, trailer) = rest.split_at_mut(hash.digest_len());
        let (before, salt) = block.split_at_mut(self.block - salt_len);
        before[before.len() - 1] = 1;
        fill(rng, salt)?;
        hashed.copy_from_slice(&hash.digest_parts(&[&[0; 8], digest, salt]));
        mask(self.pss.mgf_hash, hashed, block);
        block[0] &= self.first_mask;
        trailer.copy_from_slice(&[TRAILER]);
        Ok(())
    }

    /// Leaves true of `is_valid` what is true and whose bytes of the modulus are an encoding of the digest. Masks and
    /// hashes of all are computed together; the masks are taken off in place.
    pub(super) fn are_encodings_of(&self, digests: &[u8], encodings: &mut [u8], is_valid: &mut [bool]) {
        let (hash, h) = (self.pss.hash, self.pss.hash.digest_len());
        let block = self.ahead..self.ahead + self.block;
        let hashed = block.end..block.end + h;
        let k = hashed.end + 1;
        for (encoding, is_valid) in encodings.chunks_exact(k).zip(&mut *is_valid) {
            let has_zeros = encoding[..self.ahead].iter().all(|&byte| byte == 0);
            *is_valid &= has_zeros && encoding[k - 1] == TRAILER && encoding[self.ahead] & !self.first_mask == 0;
        }
        mask_each(self.pss.mgf_hash, encodings, k, hashed.clone(), block.clone());
        // Of what is no encoding as many bytes as of the others: messages of one length are the fastest.
        let usual = self.block.saturating_sub(h);
        let is_usual = self.pss.salt_len == SaltLen::Digest;
        for (encoding, is_valid) in encodings.chunks_exact_mut(k).zip(&mut *is_valid) {
            encoding[self.ahead] &= self.first_mask;
            let block = &encoding[block.clone()];
            *is_valid &= match is_usual {
                true => usual > 0 && block[usual - 1] == 1 && is_zero(&block[..usual - 1]),
                false => self.salt_start(block).is_some(),
            };
        }
        let encoding = |place: usize| &encodings[place * k..][..k];
        let digest = |place: usize| &digests[place * h..][..h];
        let is_hash = |place: usize, digest: &[u8]| is_same(digest, &encoding(place)[hashed.clone()]);
        let salt = |place: usize| {
            let block = &encoding(place)[block.clone()];
            &block[match is_usual {
                true => usual,
                false => self.salt_start(block).unwrap_or(usual),
            }..]
        };
        match is_usual && self.block >= h {
            true => hash.digest_each_salted(
                is_valid.len(),
                |place| [digest(place), salt(place)],
                |place, digest| is_valid[place] &= is_hash(place, digest),
            ),
            false => hash.digest_each(
                is_valid.len(),
                |place| [&[0; 8], digest(place), salt(place)],
                |place, digest| is_valid[place] &= is_hash(place, digest),
            ),
        }
    }

    /// Where the salt begins in a block without its mask, if it may be as long as it is then.
    fn salt_start(&self, block: &[u8]) -> Option<usize> {
        let start = first_that_is_set(block)? + 1;
        (block[start - 1] == 1 && self.takes_salt(block.len() - start)).then_some(start)
    }

    /// The first step that an encoding fails, in the order of section 9.1.2; none if it is the digest's. The mask is
    /// taken off in place.
    pub(super) fn failure(&self, digest: &[u8], encoding: &mut [u8]) -> Option<VerificationFailure> {
        use VerificationFailure as F;
        let hash = self.pss.hash;
        let (ahead, encoded) = encoding.split_at_mut(self.ahead);
        let (block, rest) = encoded.split_at_mut(self.block);
        let (hashed, trailer) = rest.split_at(hash.digest_len());
        if trailer != [TRAILER] {
            let found = trailer[0];
            return Some(F::Trailer { found });
        }
        if ahead.iter().any(|&byte| byte != 0) || block[0] & !self.first_mask != 0 {
            return Some(F::LeadingBits);
        }
        mask(self.pss.mgf_hash, hashed, block);
        block[0] &= self.first_mask;
        let one = block.iter().position(|&byte| byte != 0).filter(|&one| block[one] == 1);
        let Some(salt) = one.map(|one| &block[one + 1..]) else {
            return Some(F::DataBlock);
        };
        let got = salt.len();
        if !self.takes_salt(got) {
            let expected = self.pss.salt_len;
            return Some(F::SaltLength { expected, got });
        }
        (*hash.digest_parts(&[&[0; 8], digest, salt]) != *hashed).then_some(F::Hash)
    }

    /// Returns whether a salt may have so many bytes.
    fn takes_salt(&self, len: usize) -> bool {
        match self.pss.salt_len {
            SaltLen::Digest => len == self.pss.hash.digest_len(),
            SaltLen::Max => len == self.block - 1,
            SaltLen::Bytes(bytes) => len == bytes,
            SaltLen::Any => true,
            SaltLen::AtLeast(bytes) => len >= bytes,
        }
    }
}

/// Returns whether all bytes are zero: without a branch for each.
fn is_zero(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<16>();
    let of_words = words.iter().fold(0, |any, word| any | u128::from_ne_bytes(*word));
    // The last sixteen bytes once more, if there are so many.
    let of_rest = match bytes.last_chunk::<16>() {
        Some(last) => u128::from_ne_bytes(*last),
        None => rest.iter().fold(0, |any, &byte| any | u128::from(byte)),
    };
    of_words | of_rest == 0
}

/// The place of the first byte that is not zero.
fn first_that_is_set(bytes: &[u8]) -> Option<usize> {
    const TOGETHER: usize = 32;
    let (chunks, _) = bytes.as_chunks::<TOGETHER>();
    let zeros = TOGETHER * chunks.iter().take_while(|chunk| **chunk == [0; TOGETHER]).count();
    let (words, last) = bytes[zeros..].as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let leading = u64::from_be_bytes(*word).leading_zeros();
        if leading < u64::BITS {
            return Some(zeros + 8 * place + leading as usize / 8);
        }
    }
    let place = last.iter().position(|&byte| byte != 0)?;
    Some(bytes.len() - last.len() + place)
}

/// Returns whether both are the same digest: without a call where they have the usual length.
#[inline(always)]
fn is_same(digest: &[u8], other: &[u8]) -> bool {
    match (<&[u8; 32]>::try_from(digest), <&[u8; 32]>::try_from(other)) {
        (Ok(digest), Ok(other)) => digest == other,
        _ => digest == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_zero_if_all_are() {
        for len in 0..70 {
            assert!(is_zero(&vec![0; len]));
            for place in 0..len {
                let mut bytes = vec![0; len];
                bytes[place] = 1 << (place % 8);
                assert!(!is_zero(&bytes), "{place} of {len}");
            }
        }
    }

    #[test]
    fn the_first_byte_that_is_set_is_found_wherever_it_is() {
        for len in 0..100 {
            assert_eq!(first_that_is_set(&vec![0; len]), None);
            for place in 0..len {
                let mut bytes = vec![0xff; len];
                bytes[..place].fill(0);
                assert_eq!(first_that_is_set(&bytes), Some(place), "{len}");
                bytes[place..].fill(0);
                bytes[place] = 1;
                assert_eq!(first_that_is_set(&bytes), Some(place), "{len}");
            }
        }
    }
}

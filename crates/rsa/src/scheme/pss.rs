//! EMSA-PSS (RFC 8017, section 9.1).

use rand_core::TryCryptoRng;

use super::{
    failure::VerificationFailure,
    mask::mask,
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

    /// Returns whether the bytes of the modulus are an encoding of the digest. The mask is taken off in place.
    pub(super) fn is_encoding_of(&self, digest: &[u8], encoding: &mut [u8]) -> bool {
        let hash = self.pss.hash;
        let (ahead, encoded) = encoding.split_at_mut(self.ahead);
        let (block, rest) = encoded.split_at_mut(self.block);
        let (hashed, trailer) = rest.split_at(hash.digest_len());
        let fits = ahead.iter().all(|&byte| byte == 0) && trailer == [TRAILER] && block[0] & !self.first_mask == 0;
        if !fits {
            return false;
        }
        mask(self.pss.mgf_hash, hashed, block);
        block[0] &= self.first_mask;
        let Some(one) = block.iter().position(|&byte| byte != 0) else {
            return false;
        };
        let salt = &block[one + 1..];
        block[one] == 1 && self.takes_salt(salt.len()) && *hash.digest_parts(&[&[0; 8], digest, salt]) == *hashed
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

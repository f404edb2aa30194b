//! EMSA-PKCS1-v1_5 (RFC 8017, section 9.2) and EME-PKCS1-v1_5 (section 7.2).
//!
//! A signature is verified as the standard says, by comparing encodings: nothing of it is parsed, so that there is
//! nothing to be lenient about.

use rand_core::TryCryptoRng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater};

use super::{failure::VerificationFailure, parameters::fill};
use crate::{
    Result,
    draw::{self, MAX_DRAWS},
    hash::Hash,
};

/// The least number of bytes between the marks of either encoding.
const LEAST_PADDING: usize = 8;

/// Bytes that encryption takes: `00 02`, the padding, `00`.
pub(super) const ENCRYPTION_OVERHEAD: usize = 3 + LEAST_PADDING;

/// Bytes that a signature takes: `00 01`, the padding, `00`, and the DigestInfo with its digest.
pub(super) fn signature_overhead(hash: Hash) -> usize {
    3 + LEAST_PADDING + digest_info(hash).len() + hash.digest_len()
}

/// The DER of a DigestInfo up to the digest (section 9.2, note 1).
fn digest_info(hash: Hash) -> Vec<u8> {
    let oid = hash.oid_bytes();
    let (oid_len, digest_len) = (oid.len() as u8, hash.digest_len() as u8);
    let sequences = [0x30, 8 + oid_len + digest_len, 0x30, 4 + oid_len];
    // Parameters NULL, and the header of the digest.
    let rest = [0x05, 0x00, 0x04, digest_len];
    [&sequences[..], &[0x06, oid_len], oid, &rest].concat()
}

/// The start of every encoding under one hash function and one key: all but the digest.
pub(crate) struct Template(Vec<u8>);

impl Template {
    /// For a modulus of `modulus_len` bytes, which has room for it.
    pub(super) fn new(hash: Hash, modulus_len: usize) -> Template {
        let info = digest_info(hash);
        let mut bytes = vec![0xff; modulus_len - hash.digest_len()];
        let end = bytes.len();
        bytes[..2].copy_from_slice(&[0, 1]);
        bytes[end - info.len()..].copy_from_slice(&info);
        bytes[end - info.len() - 1] = 0;
        Template(bytes)
    }

    /// The beginning of every encoding.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.0
    }

    /// Encodes a digest into the bytes of the modulus.
    pub(super) fn encode(&self, digest: &[u8], encoding: &mut [u8]) {
        let (head, tail) = encoding.split_at_mut(self.0.len());
        head.copy_from_slice(&self.0);
        tail.copy_from_slice(digest);
    }

    /// Returns whether the bytes of the modulus are the encoding of the digest.
    pub(super) fn is_encoding_of(&self, digest: &[u8], encoding: &[u8]) -> bool {
        let (head, tail) = encoding.split_at(self.0.len());
        head == self.0 && tail == digest
    }
}

/// The first step that an encoding fails, from its first byte to its last; none if it is the digest's.
pub(super) fn failure(hash: Hash, digest: &[u8], encoding: &[u8]) -> Option<VerificationFailure> {
    use VerificationFailure as F;
    let (&[first, second], rest) = encoding.split_first_chunk()?;
    if [first, second] != [0, 1] {
        let found = [first, second];
        return Some(F::BlockType { found });
    }
    let padding = rest.iter().position(|&byte| byte != 0xff).unwrap_or(rest.len() - 1);
    if rest[padding] != 0 || padding < LEAST_PADDING {
        let (place, found) = (2 + padding, rest[padding]);
        return Some(F::Padding { place, found });
    }
    let info = &rest[padding + 1..];
    let is_of = |hash: Hash| {
        let head = digest_info(hash);
        info.len() == head.len() + hash.digest_len() && info.starts_with(&head)
    };
    if !is_of(hash) {
        let found = Hash::ALL.iter().copied().find(|&other| is_of(other));
        return Some(F::DigestInfo { found });
    }
    (!info.ends_with(digest)).then_some(F::Digest)
}

/// Encodes a message that is not too long into the bytes of the modulus.
pub(super) fn encode_message<R: TryCryptoRng + ?Sized>(message: &[u8], rng: &mut R, encoding: &mut [u8]) -> Result<()> {
    let (padding, tail) = encoding.split_at_mut(encoding.len() - message.len());
    let (marks, rest) = padding.split_at_mut(2);
    let (random, last) = rest.split_at_mut(rest.len() - 1);
    marks.copy_from_slice(&[0, 2]);
    last.copy_from_slice(&[0]);
    tail.copy_from_slice(message);
    fill(rng, random)?;
    // A zero would end the padding: each is drawn again.
    for byte in random.iter_mut() {
        let mut draws = 0;
        while *byte == 0 {
            if draws == MAX_DRAWS {
                return Err(draw::stuck());
            }
            draws += 1;
            fill(rng, std::slice::from_mut(byte))?;
        }
    }
    Ok(())
}

/// Puts the message of an encoding at the end of `synthetic`, or leaves there what was prepared for an encoding that is
/// wrong, and gives the place where it begins: which of them it was shows neither in the answer nor in the time.
/// `synthetic` is as long as the modulus, and its own message begins at `synthetic_start`.
pub(crate) fn decode(encoding: &[u8], synthetic: &mut [u8], synthetic_start: u32) -> usize {
    let mut is_good = encoding[0].ct_eq(&0) & encoding[1].ct_eq(&2);
    let mut is_found = Choice::from(0);
    let mut end_of_padding = 0_u32;
    for (place, byte) in (2_u32..).zip(&encoding[2..]) {
        let is_zero = byte.ct_eq(&0);
        end_of_padding = u32::conditional_select(&end_of_padding, &place, !is_found & is_zero);
        is_found |= is_zero;
    }
    is_good &= is_found & end_of_padding.ct_gt(&(2 + LEAST_PADDING as u32 - 1));
    for (ours, theirs) in synthetic.iter_mut().zip(encoding) {
        ours.conditional_assign(theirs, is_good);
    }
    u32::conditional_select(&synthetic_start, &(end_of_padding + 1), is_good) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::convert::Infallible;

    /// Gives zeros for ever.
    struct Zeros;

    impl rand_core::TryRng for Zeros {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(0)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(0)
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            bytes.fill(0);
            Ok(())
        }
    }

    impl TryCryptoRng for Zeros {}

    #[test]
    fn padding_of_zeros_alone_comes_to_an_end() {
        let refused = encode_message(b"a message", &mut Zeros, &mut [0; 64]);
        assert!(matches!(refused, Err(Error::Randomness { .. })), "{refused:?}");
    }
}

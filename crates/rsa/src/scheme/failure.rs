//! The step at which a signature fails to verify, for whoever looks for a mistake. Signatures and digests are public,
//! so that time may depend on them. Verification itself does not come here: it compares encodings.

use super::parameters::SaltLen;
use crate::hash::Hash;

/// The first step of verification that a signature does not pass (RFC 8017, sections 8.1.2, 8.2.2, 9.1.2 and 9.2).
///
/// A signature of another key, or of another scheme, fails at the first step that looks at its encoding: chance lets
/// one in 256 pass a step that looks at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerificationFailure {
    /// Length of the signature (sections 8.1.2 and 8.2.2, step 1).
    #[error("length: the signature has {got} bytes, and the modulus {expected}")]
    Length {
        /// Bytes of the modulus.
        expected: usize,
        /// Bytes of the signature.
        got: usize,
    },
    /// Length of the digest, which is none of the scheme's hash function.
    #[error("digest length: the digest has {got} bytes, and one of the hash function {expected}")]
    DigestLength {
        /// Bytes of a digest.
        expected: usize,
        /// Bytes of this one.
        got: usize,
    },
    /// Range of the signature (RSAVP1, section 5.2.2, step 1).
    #[error("range: the signature is a number that is not below the modulus")]
    Range,
    /// Head of PKCS#1 v1.5: the first two bytes of the encoding.
    #[error("block type: the encoding begins with {:02x} {:02x}, not with 00 01", .found[0], .found[1])]
    BlockType {
        /// The two bytes.
        found: [u8; 2],
    },
    /// Padding of PKCS#1 v1.5: bytes ff, eight at least, up to a byte 00.
    #[error(
        "padding: byte {place} of the encoding, counted from 0, is {found:02x}; bytes ff are due, eight at least, and 00 after them"
    )]
    Padding {
        /// The place in the encoding, from 0.
        place: usize,
        /// The byte there.
        found: u8,
    },
    /// DigestInfo of PKCS#1 v1.5: the hash function, and the length of the digest.
    #[error("digest info: the encoding names {}", named(*.found))]
    DigestInfo {
        /// The hash function that it is of, if it is of one.
        found: Option<Hash>,
    },
    /// Digest of PKCS#1 v1.5: everything before it passed.
    #[error("digest: the encoding holds that of another message")]
    Digest,
    /// Trailer of PSS (section 9.1.2, step 4).
    #[error("trailer: the encoding ends with {found:02x}, not with bc")]
    Trailer {
        /// The last byte.
        found: u8,
    },
    /// Leftmost bits of PSS (step 6).
    #[error("leading bits: the encoding is longer than one bit less than the modulus")]
    LeadingBits,
    /// Padding of the data block of PSS (step 10): zeros up to a byte 01.
    #[error("data block: zeros and a byte 01 are due before the salt")]
    DataBlock,
    /// Length of the salt of PSS (step 10).
    #[error("salt length: the salt has {got} bytes, and {} due", due(*.expected))]
    SaltLength {
        /// The length that was asked for.
        expected: SaltLen,
        /// Bytes of the salt.
        got: usize,
    },
    /// Hash of PSS (step 14): everything before it passed.
    #[error("hash: the encoding is that of another message")]
    Hash,
}

fn named(found: Option<Hash>) -> String {
    found.map_or_else(|| "no hash function that is known".to_owned(), |hash| hash.to_string())
}

fn due(expected: SaltLen) -> String {
    match expected {
        SaltLen::Digest => "as many as the digest has are".to_owned(),
        SaltLen::Max => "as many as the key has room for are".to_owned(),
        SaltLen::Bytes(bytes) => format!("{bytes} are"),
        SaltLen::AtLeast(bytes) => format!("{bytes} or more are"),
        SaltLen::Any => "any number is".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use VerificationFailure as F;

    use super::*;
    use crate::{
        Backend, CpuBackend, PrivateKey, Status,
        random::SystemRng,
        scheme::{Pss, SignatureScheme},
        signing::VerifyingKey,
    };

    /// Encodings fill the first byte of the one, and two bits of the other's.
    fn keys() -> [PrivateKey; 2] {
        [1024, 1026].map(|bits| PrivateKey::generate(bits).expect("a key"))
    }

    /// A signature whose encoding is the block.
    fn signed(key: &PrivateKey, block: &[u8]) -> Vec<u8> {
        let prepared = CpuBackend::auto().prepare_private(key).expect("it is prepared");
        let (mut signature, mut status) = (vec![0; block.len()], [Status::Fault]);
        let mut runner = prepared.runner().expect("there is randomness");
        runner.run(block, &mut signature, &mut status).expect("the lengths fit");
        assert_eq!(status, [Status::Done]);
        signature
    }

    /// The step that a block fails, having made sure that verification fails, too, or passes.
    fn step(key: &PrivateKey, scheme: SignatureScheme, digest: &[u8], block: &[u8]) -> Option<F> {
        let verifying = VerifyingKey::new(key.public(), scheme).expect("the key is long enough");
        let signature = signed(key, block);
        let failure = verifying
            .failure_of_digest(digest, &signature)
            .expect("no backend fails");
        assert_eq!(
            verifying.verify_digests(&[(digest, &signature)]),
            [failure.is_none()],
            "{failure:?}"
        );
        failure
    }

    #[test]
    fn lengths_and_range_come_first() {
        let [key, _] = keys();
        for scheme in [
            SignatureScheme::Pkcs1v15(Hash::Sha256),
            SignatureScheme::Pss(Pss::new(Hash::Sha256)),
        ] {
            let verifying = VerifyingKey::new(key.public(), scheme).expect("it is long enough");
            let step = |digest: usize, signature: &[u8]| {
                let failure = verifying.failure_of_digest(&vec![7; digest], signature);
                failure.expect("no backend fails").expect("it is no signature")
            };
            assert_eq!(
                step(32, &[0; 127]),
                F::Length {
                    expected: 128,
                    got: 127
                }
            );
            assert_eq!(step(31, &[0; 128]), F::DigestLength { expected: 32, got: 31 });
            assert_eq!(step(32, key.public().n()), F::Range);
        }
    }

    #[test]
    fn each_step_of_pkcs1v15_is_named() {
        let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
        let digest = Hash::Sha256.digest(b"message");
        for key in keys() {
            let whole = scheme.encode(key.bits(), &digest, &mut SystemRng).expect("it fits");
            let end = whole.len() - 52;
            assert_eq!(whole[end], 0, "the end of the padding");
            let with = |place: usize, byte: u8| {
                let mut block = whole.clone();
                block[place] = byte;
                step(&key, scheme, &digest, &block)
            };
            assert_eq!(step(&key, scheme, &digest, &whole), None);
            assert_eq!(with(1, 2), Some(F::BlockType { found: [0, 2] }));
            assert_eq!(with(2, 0), Some(F::Padding { place: 2, found: 0 }));
            assert_eq!(with(9, 0), Some(F::Padding { place: 9, found: 0 }));
            assert_eq!(
                with(end, 0xfe),
                Some(F::Padding {
                    place: end,
                    found: 0xfe
                })
            );
            assert_eq!(with(end - 1, 0), Some(F::DigestInfo { found: None }));
            assert_eq!(with(end + 1, 0x31), Some(F::DigestInfo { found: None }));
            assert_eq!(with(whole.len() - 1, !whole[whole.len() - 1]), Some(F::Digest));
            let other = SignatureScheme::Pkcs1v15(Hash::Sha512);
            let digest_of_other = Hash::Sha512.digest(b"message");
            let block = other
                .encode(key.bits(), &digest_of_other, &mut SystemRng)
                .expect("it fits");
            let found = Some(Hash::Sha512);
            assert_eq!(step(&key, scheme, &digest, &block), Some(F::DigestInfo { found }));
            let mut padded = vec![0xff; whole.len()];
            padded[..2].copy_from_slice(&[0, 1]);
            let place = whole.len() - 1;
            assert_eq!(
                step(&key, scheme, &digest, &padded),
                Some(F::Padding { place, found: 0xff })
            );
        }
    }

    #[test]
    fn each_step_of_pss_is_named() {
        let salted = |salt_len| {
            SignatureScheme::Pss(Pss {
                salt_len,
                ..Pss::new(Hash::Sha256)
            })
        };
        let digest = Hash::Sha256.digest(b"message");
        for key in keys() {
            let bits = key.bits();
            let of = |salt| {
                salted(SaltLen::Bytes(salt))
                    .encode(bits, &digest, &mut SystemRng)
                    .expect("it fits")
            };
            let whole = of(20);
            let asked = |salt_len, block: &[u8]| step(&key, salted(salt_len), &digest, block);
            for fits in [SaltLen::Bytes(20), SaltLen::Any, SaltLen::AtLeast(20)] {
                assert_eq!(asked(fits, &whole), None);
            }
            for expected in [SaltLen::Bytes(21), SaltLen::Digest, SaltLen::Max, SaltLen::AtLeast(21)] {
                assert_eq!(asked(expected, &whole), Some(F::SaltLength { expected, got: 20 }));
            }
            let longest = (bits - 1).div_ceil(8) - 34;
            assert_eq!(asked(SaltLen::Max, &of(longest)), None);
            let with = |place: usize, byte: u8| {
                let mut block = whole.clone();
                block[place] = byte;
                asked(SaltLen::Bytes(20), &block)
            };
            let last = whole.len() - 1;
            assert_eq!(with(last, 0xcc), Some(F::Trailer { found: 0xcc }));
            // The hash is the seed of the mask: what is under it becomes random, and hardly ever begins as it should.
            let failure = with(last - 1, !whole[last - 1]);
            assert!(
                matches!(failure, Some(F::DataBlock | F::SaltLength { .. })),
                "{failure:?}"
            );
            // The last byte of the salt.
            assert_eq!(with(last - 33, !whole[last - 33]), Some(F::Hash));
            assert_eq!(
                step(&key, salted(SaltLen::Bytes(20)), &Hash::Sha256.digest(b"other"), &whole),
                Some(F::Hash)
            );
        }
        // One bit more than there may be, in a number that is still below the modulus.
        let [key, _] = keys();
        let scheme = salted(SaltLen::Any);
        let mut block = scheme_block(&key, &digest);
        block[0] |= 0x80;
        assert_eq!(step(&key, scheme, &digest, &block), Some(F::LeadingBits));
    }

    /// An encoding that stays below the modulus with its first bit set.
    fn scheme_block(key: &PrivateKey, digest: &[u8]) -> Vec<u8> {
        let scheme = SignatureScheme::Pss(Pss::new(Hash::Sha256));
        let mut drawn = std::iter::repeat_with(|| scheme.encode(key.bits(), digest, &mut SystemRng).expect("it fits"));
        let fits = |block: &Vec<u8>| block[0] | 0x80 < key.public().n()[0];
        drawn.find(fits).expect("many do")
    }

    /// Whatever byte is changed, a step is named.
    #[test]
    fn no_change_goes_without_a_step() {
        let [key, _] = keys();
        let digest = Hash::Sha256.digest(b"message");
        for scheme in [
            SignatureScheme::Pkcs1v15(Hash::Sha256),
            SignatureScheme::Pss(Pss::new(Hash::Sha256)),
        ] {
            let whole = scheme.encode(key.bits(), &digest, &mut SystemRng).expect("it fits");
            for place in 0..whole.len() {
                for change in [1, 0x40] {
                    let mut block = whole.clone();
                    block[place] ^= change;
                    assert!(scheme.failure(key.bits(), &digest, &mut block).is_some(), "{place}");
                }
            }
        }
    }

    #[test]
    fn sentences_name_the_step_first() {
        let sentence = |failure: F| failure.to_string();
        let expected = SaltLen::Digest;
        assert_eq!(
            sentence(F::SaltLength { expected, got: 20 }),
            "salt length: the salt has 20 bytes, and as many as the digest has are due"
        );
        assert_eq!(
            sentence(F::BlockType { found: [0x3f, 0x0a] }),
            "block type: the encoding begins with 3f 0a, not with 00 01"
        );
        let found = Some(Hash::Sha512);
        assert_eq!(
            sentence(F::DigestInfo { found }),
            "digest info: the encoding names sha512"
        );
    }
}

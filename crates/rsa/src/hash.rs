//! The hash functions that schemes are made of, chosen at run time.

mod many;
#[cfg(feature = "sha3")]
mod xof;

use std::{fmt, io::Read, str::FromStr};

use der::asn1::ObjectIdentifier;
use digest::Digest as _;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
#[cfg(feature = "sha3")]
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use zeroize::Zeroizing;

use crate::{Error, Result};
#[cfg(feature = "sha3")]
use xof::{Shake128, Shake256};

/// A hash function of FIPS 180-4, or, with the feature `sha3`, of FIPS 202.
///
/// SHAKE128 and SHAKE256 are extendable-output functions. As a hash they give 32 and 64 bytes, the lengths of RFC 8702,
/// section 2. They serve RSASSA-PSS alone, for message and mask together (RFC 8702, section 3.2.1); no other scheme has
/// an algorithm for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-1, whose collisions are found in practice: to verify what is old, and inside OAEP, where collisions do no
    /// harm.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-512/224.
    Sha512_224,
    /// SHA-512/256.
    Sha512_256,
    /// SHA3-224.
    #[cfg(feature = "sha3")]
    Sha3_224,
    /// SHA3-256.
    #[cfg(feature = "sha3")]
    Sha3_256,
    /// SHA3-384.
    #[cfg(feature = "sha3")]
    Sha3_384,
    /// SHA3-512.
    #[cfg(feature = "sha3")]
    Sha3_512,
    /// SHAKE128 with a digest of 32 bytes.
    #[cfg(feature = "sha3")]
    Shake128,
    /// SHAKE256 with a digest of 64 bytes.
    #[cfg(feature = "sha3")]
    Shake256,
}

/// Runs a body with the type of a hash function.
macro_rules! with_type {
    ($hash:expr, $Type:ident => $body:expr) => {
        with_type!(@ $hash, $Type, $body,
            [Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256],
            [Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256])
    };
    (@ $hash:expr, $Type:ident, $body:expr, [$($name:ident),*], [$($of_sha3:ident),*]) => {
        match $hash {
            $(Hash::$name => {
                type $Type = $name;
                $body
            })*
            $(#[cfg(feature = "sha3")]
            Hash::$of_sha3 => {
                type $Type = $of_sha3;
                $body
            })*
        }
    };
}

/// Bytes of the longest digest.
pub const MAX_LEN: usize = 64;

impl Hash {
    /// Every hash function that this build has.
    pub const ALL: &'static [Hash] = &[
        Hash::Sha1,
        Hash::Sha224,
        Hash::Sha256,
        Hash::Sha384,
        Hash::Sha512,
        Hash::Sha512_224,
        Hash::Sha512_256,
        #[cfg(feature = "sha3")]
        Hash::Sha3_224,
        #[cfg(feature = "sha3")]
        Hash::Sha3_256,
        #[cfg(feature = "sha3")]
        Hash::Sha3_384,
        #[cfg(feature = "sha3")]
        Hash::Sha3_512,
        #[cfg(feature = "sha3")]
        Hash::Shake128,
        #[cfg(feature = "sha3")]
        Hash::Shake256,
    ];

    /// The names of all of them, in their order.
    pub fn names() -> Vec<&'static str> {
        Hash::ALL.iter().map(|hash| hash.name()).collect()
    }

    /// The name on the command line and in files, such as `sha512-256`.
    pub fn name(self) -> &'static str {
        self.name_and_oid().0
    }

    /// Bytes of a digest.
    pub fn digest_len(self) -> usize {
        with_type!(self, H => <H as digest::Digest>::output_size())
    }

    /// Returns whether signatures must not be made with it any more.
    pub fn is_broken(self) -> bool {
        self == Hash::Sha1
    }

    /// Returns whether it is an extendable-output function, which serves RSASSA-PSS alone.
    pub fn is_xof(self) -> bool {
        #[cfg(feature = "sha3")]
        let is_xof = matches!(self, Hash::Shake128 | Hash::Shake256);
        #[cfg(not(feature = "sha3"))]
        let is_xof = false;
        is_xof
    }

    /// The digest of a message.
    pub fn digest(self, message: &[u8]) -> Digest {
        self.digest_parts(&[message])
    }

    /// The digest of parts of a message, one after another.
    pub fn digest_parts(self, parts: &[&[u8]]) -> Digest {
        with_type!(self, H => {
            let mut hasher = H::new();
            for part in parts {
                hasher.update(part);
            }
            Digest::new(&hasher.finalize())
        })
    }

    /// The digest of all that a reader brings, of any length.
    ///
    /// # Errors
    ///
    /// Errors of the reader.
    pub fn digest_reader(self, mut reader: impl Read) -> std::io::Result<Digest> {
        const CHUNK: usize = 1 << 16;
        with_type!(self, H => {
            let mut hasher = H::new();
            // A message may be as secret as a key.
            let mut chunk = Zeroizing::new(vec![0; CHUNK]);
            loop {
                match reader.read(&mut chunk) {
                    Ok(0) => return Ok(Digest::new(&hasher.finalize())),
                    Ok(len) => hasher.update(&chunk[..len]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        })
    }

    /// Adds, without carries, as many bytes of the function's output for `seed` to `target` as it has. Time depends on
    /// lengths alone.
    ///
    /// Nothing is changed, and the answer is false, for a function that is no extendable-output function.
    #[cfg(feature = "sha3")]
    pub(crate) fn xor_output(self, seed: &[u8], target: &mut [u8]) -> bool {
        match self {
            Hash::Shake128 => xof::xor_output::<Shake128>(seed, target),
            Hash::Shake256 => xof::xor_output::<Shake256>(seed, target),
            _ => return false,
        }
        true
    }

    /// The object identifier of the function.
    pub fn oid(self) -> ObjectIdentifier {
        ObjectIdentifier::from_bytes(self.oid_bytes()).expect("it is one")
    }

    /// The function of that object identifier.
    pub fn of_oid(oid: ObjectIdentifier) -> Option<Hash> {
        let mut all = Hash::ALL.iter().copied();
        all.find(|hash| hash.oid_bytes() == oid.as_bytes())
    }

    /// The contents of the object identifier in DER.
    pub(crate) fn oid_bytes(self) -> &'static [u8] {
        self.name_and_oid().1
    }

    /// The name, and the contents of the object identifier in DER (RFC 8017, appendix B.1; NIST's register for SHA-3
    /// and SHAKE, the latter also in RFC 8702, section 2).
    fn name_and_oid(self) -> (&'static str, &'static [u8]) {
        /// 2.16.840.1.101.3.4.2, and the function's number.
        macro_rules! nist {
            ($number:literal) => {
                &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, $number]
            };
        }
        match self {
            Hash::Sha1 => ("sha1", &[0x2b, 0x0e, 0x03, 0x02, 0x1a]),
            Hash::Sha224 => ("sha224", nist!(4)),
            Hash::Sha256 => ("sha256", nist!(1)),
            Hash::Sha384 => ("sha384", nist!(2)),
            Hash::Sha512 => ("sha512", nist!(3)),
            Hash::Sha512_224 => ("sha512-224", nist!(5)),
            Hash::Sha512_256 => ("sha512-256", nist!(6)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_224 => ("sha3-224", nist!(7)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_256 => ("sha3-256", nist!(8)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_384 => ("sha3-384", nist!(9)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_512 => ("sha3-512", nist!(10)),
            #[cfg(feature = "sha3")]
            Hash::Shake128 => ("shake128", nist!(11)),
            #[cfg(feature = "sha3")]
            Hash::Shake256 => ("shake256", nist!(12)),
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Hash {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let mut all = Hash::ALL.iter().copied();
        all.find(|hash| hash.name() == name).ok_or_else(|| Error::Scheme {
            reason: format!(
                "there is no hash function '{name}'; there are {}",
                Hash::names().join(", ")
            ),
        })
    }
}

/// A digest, in as many bytes as its function gives.
#[derive(Clone, Copy)]
pub struct Digest {
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl Digest {
    fn new(digest: &[u8]) -> Self {
        let mut bytes = [0; MAX_LEN];
        bytes[..digest.len()].copy_from_slice(digest);
        Digest {
            bytes,
            len: digest.len(),
        }
    }
}

impl std::ops::Deref for Digest {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lengths_and_identifiers_are_each_their_own() {
        for &hash in Hash::ALL {
            assert_eq!(hash.name().parse::<Hash>().expect("its name"), hash);
            assert_eq!(Hash::of_oid(hash.oid()), Some(hash));
            assert_eq!(hash.digest(b"abc").len(), hash.digest_len());
            assert!(hash.digest_len() <= MAX_LEN);
        }
        assert!("md5".parse::<Hash>().is_err());
    }

    #[test]
    fn digests_of_abc_are_those_of_the_standards() {
        // FIPS 180-4 and FIPS 202, examples: the first four bytes distinguish functions of one length.
        let beginnings = [
            "a9993e36", "23097d22", "ba7816bf", "cb00753f", "ddaf35a1", "4634270f", "53048e26", "e642824c", "3a985da7",
            "ec014982", "b751850b", "5881092d", "48336660",
        ];
        for (hash, beginning) in Hash::ALL.iter().zip(beginnings) {
            assert_eq!(hex::encode(&hash.digest(b"abc")[..4]), beginning, "{hash}");
            assert_eq!(*hash.digest_parts(&[b"a", b"", b"bc"]), *hash.digest(b"abc"));
        }
    }

    /// FIPS 202, section 6.2; the outputs for the empty message and for 200 bytes of a3 are those of NIST's examples
    /// with intermediate values (SHAKE128 and SHAKE256, "Msg0" and "Msg1600").
    #[test]
    fn shake_gives_the_outputs_of_the_standard() {
        let of_1600_bits = [0xa3; 200];
        for (hash, message, output) in [
            (
                #[cfg(feature = "sha3")]
                Hash::Shake128,
                &[][..],
                "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26",
            ),
            (
                #[cfg(feature = "sha3")]
                Hash::Shake128,
                &of_1600_bits,
                "131ab8d2b594946b9c81333f9bb6e0ce75c3b93104fa3469d3917457385da037",
            ),
            (
                #[cfg(feature = "sha3")]
                Hash::Shake256,
                &[],
                "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762fd75dc4ddd8c0f200cb05019d67b592f6fc821c49479ab48640292eacb3b7c4be",
            ),
            (
                #[cfg(feature = "sha3")]
                Hash::Shake256,
                &of_1600_bits,
                "cd8a920ed141aa0407a22d59288652e9d9f1a7ee0c1e7c1ca699424da84a904d2d700caae7396ece96604440577da4f3aa22aeb8857f961c4cd8e06f0ae6610b",
            ),
        ] {
            assert_eq!(hex::encode(&*hash.digest(message)), output, "{hash}");
            assert_eq!(
                hex::encode(&*hash.digest_reader(message).expect("it is memory")),
                output
            );
            let mut masked = vec![0xff; hash.digest_len()];
            assert!(hash.xor_output(message, &mut masked));
            masked.iter_mut().for_each(|byte| *byte ^= 0xff);
            assert_eq!(hex::encode(masked), output, "the mask of {hash}");
        }
    }

    /// The mask is one output of any length, and no chain of digests: bytes beyond the first block of the sponge too.
    #[test]
    fn masks_of_every_length_are_prefixes_of_one_output() {
        for hash in [Hash::Shake128, Hash::Shake256] {
            let mut longest = vec![0; 1024];
            assert!(hash.xor_output(b"seed", &mut longest));
            assert_eq!(longest[..hash.digest_len()], *hash.digest(b"seed"));
            for len in [0, 1, 63, 64, 65, 135, 136, 137, 168, 169, 1023] {
                let mut mask = vec![0; len];
                assert!(hash.xor_output(b"seed", &mut mask));
                assert_eq!(mask, longest[..len], "{hash} {len}");
            }
        }
        let mut untouched = [7; 3];
        assert!(!Hash::Sha256.xor_output(b"seed", &mut untouched));
        assert_eq!(untouched, [7; 3]);
    }

    #[test]
    fn identifiers_are_the_registered_ones() {
        assert_eq!(Hash::Sha1.oid().to_string(), "1.3.14.3.2.26");
        assert_eq!(Hash::Sha256.oid().to_string(), "2.16.840.1.101.3.4.2.1");
        assert_eq!(Hash::Sha3_512.oid().to_string(), "2.16.840.1.101.3.4.2.10");
        assert_eq!(Hash::Shake128.oid().to_string(), "2.16.840.1.101.3.4.2.11");
        assert_eq!(Hash::Shake256.oid().to_string(), "2.16.840.1.101.3.4.2.12");
    }
}

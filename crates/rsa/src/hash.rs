//! The hash functions that schemes are made of, chosen at run time.

use std::{fmt, io::Read, str::FromStr};

use der::asn1::ObjectIdentifier;
use digest::Digest;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

use crate::Error;

/// A hash function of FIPS 180-4 or FIPS 202.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hash {
    /// SHA-1, whose collisions are found in practice: to verify what is old, and inside OAEP, where collisions do no harm.
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
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
}

/// Runs a body with the type of a hash function.
macro_rules! with_type {
    ($hash:expr, $Type:ident => $body:expr) => {
        with_type!(@ $hash, $Type, $body,
            Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256, Sha3_224, Sha3_256, Sha3_384, Sha3_512)
    };
    (@ $hash:expr, $Type:ident, $body:expr, $($name:ident),*) => {
        match $hash {
            $(Hash::$name => {
                type $Type = $name;
                $body
            })*
        }
    };
}

/// Bytes of the longest digest.
pub const MAX_LEN: usize = 64;

impl Hash {
    /// Every hash function.
    pub const ALL: [Hash; 11] = [
        Hash::Sha1,
        Hash::Sha224,
        Hash::Sha256,
        Hash::Sha384,
        Hash::Sha512,
        Hash::Sha512_224,
        Hash::Sha512_256,
        Hash::Sha3_224,
        Hash::Sha3_256,
        Hash::Sha3_384,
        Hash::Sha3_512,
    ];

    /// The name on the command line and in files, such as `sha512-256`.
    pub fn name(self) -> &'static str {
        match self {
            Hash::Sha1 => "sha1",
            Hash::Sha224 => "sha224",
            Hash::Sha256 => "sha256",
            Hash::Sha384 => "sha384",
            Hash::Sha512 => "sha512",
            Hash::Sha512_224 => "sha512-224",
            Hash::Sha512_256 => "sha512-256",
            Hash::Sha3_224 => "sha3-224",
            Hash::Sha3_256 => "sha3-256",
            Hash::Sha3_384 => "sha3-384",
            Hash::Sha3_512 => "sha3-512",
        }
    }

    /// Bytes of a digest.
    pub fn digest_len(self) -> usize {
        with_type!(self, H => <H as Digest>::output_size())
    }

    /// Whether signatures must not be made with it any more.
    pub fn is_broken(self) -> bool {
        self == Hash::Sha1
    }

    /// The digest of a message.
    pub fn digest(self, message: &[u8]) -> Digested {
        self.digest_parts(&[message])
    }

    /// The digest of parts of a message, one after another.
    pub fn digest_parts(self, parts: &[&[u8]]) -> Digested {
        with_type!(self, H => {
            let mut hasher = H::new();
            for part in parts {
                hasher.update(part);
            }
            Digested::new(&hasher.finalize())
        })
    }

    /// The digest of all that a reader brings, of any length.
    ///
    /// # Errors
    ///
    /// What the reader says.
    pub fn digest_reader(self, mut reader: impl Read) -> std::io::Result<Digested> {
        const CHUNK: usize = 1 << 16;
        with_type!(self, H => {
            let mut hasher = H::new();
            let mut chunk = vec![0; CHUNK];
            loop {
                match reader.read(&mut chunk) {
                    Ok(0) => return Ok(Digested::new(&hasher.finalize())),
                    Ok(len) => hasher.update(&chunk[..len]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        })
    }

    /// The object identifier of the function.
    pub fn oid(self) -> ObjectIdentifier {
        ObjectIdentifier::from_bytes(self.oid_bytes()).expect("it is one")
    }

    /// The function of that object identifier.
    pub fn of_oid(oid: ObjectIdentifier) -> Option<Hash> {
        Hash::ALL
            .into_iter()
            .find(|hash| hash.oid_bytes() == oid.as_bytes())
    }

    /// The contents of the object identifier in DER (RFC 8017, appendix B.1; NIST's register for SHA-3).
    pub(crate) fn oid_bytes(self) -> &'static [u8] {
        /// 2.16.840.1.101.3.4.2, and the function's number.
        macro_rules! nist {
            ($number:literal) => {
                &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, $number]
            };
        }
        match self {
            Hash::Sha1 => &[0x2b, 0x0e, 0x03, 0x02, 0x1a],
            Hash::Sha256 => nist!(1),
            Hash::Sha384 => nist!(2),
            Hash::Sha512 => nist!(3),
            Hash::Sha224 => nist!(4),
            Hash::Sha512_224 => nist!(5),
            Hash::Sha512_256 => nist!(6),
            Hash::Sha3_224 => nist!(7),
            Hash::Sha3_256 => nist!(8),
            Hash::Sha3_384 => nist!(9),
            Hash::Sha3_512 => nist!(10),
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

    fn from_str(name: &str) -> Result<Self, Error> {
        Hash::ALL
            .into_iter()
            .find(|hash| hash.name() == name)
            .ok_or_else(|| Error::Scheme {
                reason: format!(
                    "there is no hash function '{name}'; there are {}",
                    Hash::ALL.map(Hash::name).join(", ")
                ),
            })
    }
}

/// A digest, in as many bytes as its function gives.
#[derive(Clone, Copy)]
pub struct Digested {
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl Digested {
    fn new(digest: &[u8]) -> Self {
        let mut bytes = [0; MAX_LEN];
        bytes[..digest.len()].copy_from_slice(digest);
        Digested {
            bytes,
            len: digest.len(),
        }
    }
}

impl std::ops::Deref for Digested {
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
        for hash in Hash::ALL {
            assert_eq!(hash.name().parse::<Hash>().expect("its name"), hash);
            assert_eq!(Hash::of_oid(hash.oid()), Some(hash));
            assert_eq!(hash.digest(b"abc").len(), hash.digest_len());
            assert!(hash.digest_len() <= MAX_LEN);
        }
        assert!("md5".parse::<Hash>().is_err());
    }

    #[test]
    fn digests_of_abc_are_those_of_the_standards() {
        // FIPS 180-4 and FIPS 202, examples: the first four bytes tell functions of one length apart.
        let beginnings = [
            "a9993e36", "23097d22", "ba7816bf", "cb00753f", "ddaf35a1", "4634270f", "53048e26",
            "e642824c", "3a985da7", "ec014982", "b751850b",
        ];
        for (hash, beginning) in Hash::ALL.into_iter().zip(beginnings) {
            assert_eq!(hex::encode(&hash.digest(b"abc")[..4]), beginning, "{hash}");
            assert_eq!(
                *hash.digest_parts(&[b"a", b"", b"bc"]),
                *hash.digest(b"abc")
            );
        }
    }

    #[test]
    fn identifiers_are_the_registered_ones() {
        assert_eq!(Hash::Sha1.oid().to_string(), "1.3.14.3.2.26");
        assert_eq!(Hash::Sha256.oid().to_string(), "2.16.840.1.101.3.4.2.1");
        assert_eq!(Hash::Sha3_512.oid().to_string(), "2.16.840.1.101.3.4.2.10");
    }
}

//! Digests by OpenSSL's names, and messages hashed piece by piece.

use rsalab_rsa::hash::Hash;

/// Names that OpenSSL 3 knows the functions by; the first one is reported.
const NAMES: [(Hash, &[&str]); 11] = [
    (Hash::Sha1, &["SHA1", "SHA-1", "SSL3-SHA1", "1.3.14.3.2.26"]),
    (
        Hash::Sha224,
        &["SHA2-224", "SHA224", "SHA-224", "2.16.840.1.101.3.4.2.4"],
    ),
    (
        Hash::Sha256,
        &["SHA2-256", "SHA256", "SHA-256", "2.16.840.1.101.3.4.2.1"],
    ),
    (
        Hash::Sha384,
        &["SHA2-384", "SHA384", "SHA-384", "2.16.840.1.101.3.4.2.2"],
    ),
    (
        Hash::Sha512,
        &["SHA2-512", "SHA512", "SHA-512", "2.16.840.1.101.3.4.2.3"],
    ),
    (
        Hash::Sha512_224,
        &[
            "SHA2-512/224",
            "SHA512-224",
            "SHA-512/224",
            "2.16.840.1.101.3.4.2.5",
        ],
    ),
    (
        Hash::Sha512_256,
        &[
            "SHA2-512/256",
            "SHA512-256",
            "SHA-512/256",
            "2.16.840.1.101.3.4.2.6",
        ],
    ),
    (Hash::Sha3_224, &["SHA3-224", "2.16.840.1.101.3.4.2.7"]),
    (Hash::Sha3_256, &["SHA3-256", "2.16.840.1.101.3.4.2.8"]),
    (Hash::Sha3_384, &["SHA3-384", "2.16.840.1.101.3.4.2.9"]),
    (Hash::Sha3_512, &["SHA3-512", "2.16.840.1.101.3.4.2.10"]),
];

/// What a signature context has as its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digest {
    /// A hash function of the library.
    Hash(Hash),
    /// 36 bytes of MD5 and SHA-1, computed elsewhere and signed without a DigestInfo: TLS before 1.2.
    Md5Sha1,
}

impl Digest {
    pub(crate) fn named(name: &str) -> Option<Digest> {
        if name.eq_ignore_ascii_case("MD5-SHA1") {
            return Some(Digest::Md5Sha1);
        }
        hash_named(name).map(Digest::Hash)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Digest::Hash(hash) => name_of(hash),
            Digest::Md5Sha1 => "MD5-SHA1",
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Digest::Hash(hash) => hash.digest_len(),
            Digest::Md5Sha1 => 36,
        }
    }
}

/// The function of one of OpenSSL's names, in any case.
pub(crate) fn hash_named(name: &str) -> Option<Hash> {
    NAMES
        .iter()
        .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
        .map(|(hash, _)| *hash)
}

/// OpenSSL's first name of a function.
pub(crate) fn name_of(hash: Hash) -> &'static str {
    NAMES
        .iter()
        .find(|(known, _)| *known == hash)
        .map_or("UNDEF", |(_, names)| names[0])
}

/// A message being hashed, which can be copied in the middle.
pub(crate) trait Hasher: Send {
    fn update(&mut self, part: &[u8]);
    fn finish(self: Box<Self>) -> Vec<u8>;
    fn copy(&self) -> Box<dyn Hasher>;
}

impl<D: digest::Digest + Clone + Send + 'static> Hasher for D {
    fn update(&mut self, part: &[u8]) {
        digest::Digest::update(self, part);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        (*self).finalize().to_vec()
    }

    fn copy(&self) -> Box<dyn Hasher> {
        Box::new(self.clone())
    }
}

/// A new message. SHAKE is none of the functions that [`hash_named`] gives.
pub(crate) fn hasher(hash: Hash) -> Option<Box<dyn Hasher>> {
    Some(match hash {
        Hash::Sha1 => Box::new(sha1::Sha1::default()),
        Hash::Sha224 => Box::new(sha2::Sha224::default()),
        Hash::Sha256 => Box::new(sha2::Sha256::default()),
        Hash::Sha384 => Box::new(sha2::Sha384::default()),
        Hash::Sha512 => Box::new(sha2::Sha512::default()),
        Hash::Sha512_224 => Box::new(sha2::Sha512_224::default()),
        Hash::Sha512_256 => Box::new(sha2::Sha512_256::default()),
        Hash::Sha3_224 => Box::new(sha3::Sha3_224::default()),
        Hash::Sha3_256 => Box::new(sha3::Sha3_256::default()),
        Hash::Sha3_384 => Box::new(sha3::Sha3_384::default()),
        Hash::Sha3_512 => Box::new(sha3::Sha3_512::default()),
        Hash::Shake128 | Hash::Shake256 => return None,
    })
}

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
        &["SHA2-512/224", "SHA512-224", "SHA-512/224", "2.16.840.1.101.3.4.2.5"],
    ),
    (
        Hash::Sha512_256,
        &["SHA2-512/256", "SHA512-256", "SHA-512/256", "2.16.840.1.101.3.4.2.6"],
    ),
    (Hash::Sha3_224, &["SHA3-224", "2.16.840.1.101.3.4.2.7"]),
    (Hash::Sha3_256, &["SHA3-256", "2.16.840.1.101.3.4.2.8"]),
    (Hash::Sha3_384, &["SHA3-384", "2.16.840.1.101.3.4.2.9"]),
    (Hash::Sha3_512, &["SHA3-512", "2.16.840.1.101.3.4.2.10"]),
];

/// Broken or old functions that the library does not have. Programs still ask for them, with PKCS#1 v1.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Legacy {
    Md5,
    Ripemd160,
}

const LEGACY_NAMES: [(Legacy, &[&str]); 2] = [
    (Legacy::Md5, &["MD5", "SSL3-MD5", "1.2.840.113549.2.5"]),
    (
        Legacy::Ripemd160,
        &["RIPEMD-160", "RIPEMD160", "RIPEMD", "RMD160", "1.3.36.3.2.1"],
    ),
];

impl Legacy {
    fn names(self) -> &'static [&'static str] {
        let mut known = LEGACY_NAMES.iter();
        known
            .find(|(legacy, _)| *legacy == self)
            .map_or(&["UNDEF"], |(_, names)| names)
    }

    /// The DigestInfo of RFC 8017, section 9.2, up to the digest.
    pub(crate) fn digest_info(self) -> &'static [u8] {
        match self {
            Legacy::Md5 => &[
                0x30, 0x20, 0x30, 0x0c, 0x06, 0x08, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x05, 0x05, 0x00, 0x04,
                0x10,
            ],
            Legacy::Ripemd160 => &[
                0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x24, 0x03, 0x02, 0x01, 0x05, 0x00, 0x04, 0x14,
            ],
        }
    }
}

/// The digest of a signature context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digest {
    /// A hash function of the library.
    Hash(Hash),
    Legacy(Legacy),
    /// 36 bytes of MD5 and SHA-1, signed without a DigestInfo: TLS before 1.2.
    Md5Sha1,
}

impl Digest {
    pub(crate) fn named(name: &str) -> Option<Digest> {
        if name.eq_ignore_ascii_case("MD5-SHA1") {
            return Some(Digest::Md5Sha1);
        }
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        let legacy = LEGACY_NAMES.iter().find(|(_, names)| names.iter().any(is));
        match legacy {
            Some((legacy, _)) => Some(Digest::Legacy(*legacy)),
            None => hash_named(name).map(Digest::Hash),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Digest::Hash(hash) => name_of(hash),
            Digest::Legacy(legacy) => legacy.names()[0],
            Digest::Md5Sha1 => "MD5-SHA1",
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Digest::Hash(hash) => hash.digest_len(),
            Digest::Legacy(Legacy::Md5) => 16,
            Digest::Legacy(Legacy::Ripemd160) => 20,
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

/// MD5 and SHA-1, one after the other.
#[derive(Clone, Default)]
struct Both(md5::Md5, sha1::Sha1);

impl Hasher for Both {
    fn update(&mut self, part: &[u8]) {
        digest::Digest::update(&mut self.0, part);
        digest::Digest::update(&mut self.1, part);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        let md5 = digest::Digest::finalize(self.0);
        let sha1 = digest::Digest::finalize(self.1);
        [&md5[..], &sha1[..]].concat()
    }

    fn copy(&self) -> Box<dyn Hasher> {
        Box::new(self.clone())
    }
}

/// A new message. SHAKE is none of the functions that [`hash_named`] gives.
pub(crate) fn hasher(digest: Digest) -> Option<Box<dyn Hasher>> {
    let hash = match digest {
        Digest::Hash(hash) => hash,
        Digest::Legacy(Legacy::Md5) => return Some(Box::new(md5::Md5::default())),
        Digest::Legacy(Legacy::Ripemd160) => return Some(Box::new(ripemd::Ripemd160::default())),
        Digest::Md5Sha1 => return Some(Box::new(Both::default())),
    };
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
        _ => return None,
    })
}

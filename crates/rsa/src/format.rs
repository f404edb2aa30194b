//! Keys as files.
//!
//! | form | of | file |
//! |---|---|---|
//! | PKCS#1, PKCS#8 and SubjectPublicKeyInfo, in PEM (RFC 7468) and DER | RFC 8017, 5958, 5280 | `pkcs` |
//! | the same under a password (PBES2) | RFC 8018 | `encrypted` |
//! | keys for RSASSA-PSS alone, with their parameters | RFC 4055, 8702 | `pss` |
//! | the public key of a certificate | RFC 5280 | `certificate` |
//! | JSON Web Keys | RFC 7517, RFC 7518 | [`jwk`] |
//! | OpenSSH's own | its PROTOCOL.key | [`openssh`] |
//! | what a key is for, as its file says | RFC 7517, RFC 5280 | `restrictions` |
//!
//! Reading finds out by itself which of them it is given, and says in a sentence what else it was given; it takes DER to the
//! letter, at most [`MAX_FILE_LEN`] bytes, and no key whose numbers contradict each other. Writing is byte for byte what
//! OpenSSL writes.

mod certificate;
mod content;
mod encrypted;
pub mod jwk;
pub mod openssh;
mod pkcs;
mod pss;
mod restrictions;

use std::io::Read;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{Error, PrivateKey, PublicKey, keys::MAX_BITS, scheme::Pss};
use content::refused;

pub use content::Content;
pub use encrypted::encode as encode_encrypted;
pub use pkcs::{encode_private, encode_private_for, encode_public, encode_public_for};
pub use restrictions::{Purpose, Restrictions};

/// The most bytes that are taken for a key. The longest RSA key takes about 18 KB.
pub const MAX_FILE_LEN: usize = 1 << 20;

/// A key with what its file says of it.
#[derive(Clone, Debug)]
pub struct Loaded<K> {
    /// The key.
    pub key: K,
    /// What its algorithm allows.
    pub usage: Usage,
    /// What its file says that it is for.
    pub restrictions: Restrictions,
    /// What it was read from.
    pub content: Content,
}

/// What a key may be used for, as its algorithm says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Any scheme.
    Any,
    /// RSASSA-PSS only: with these parameters, where the salt may be longer, or with any.
    Pss(Option<Pss>),
}

/// The structure a private key is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrivateFormat {
    /// `RSAPrivateKey`; PEM label `RSA PRIVATE KEY`.
    Pkcs1,
    /// `PrivateKeyInfo`; PEM label `PRIVATE KEY`.
    Pkcs8,
}

/// The structure a public key is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublicFormat {
    /// `RSAPublicKey`; PEM label `RSA PUBLIC KEY`.
    Pkcs1,
    /// `SubjectPublicKeyInfo`; PEM label `PUBLIC KEY`.
    Spki,
}

/// How the structure becomes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Text between `BEGIN` and `END` lines.
    Pem,
    /// Binary.
    Der,
}

/// Reads what may be a key from a file or a pipe, and no more of it than tells that it is too large to be one.
pub fn read(source: impl Read) -> std::io::Result<Zeroizing<Vec<u8>>> {
    // The capacity is taken at once: growing would leave copies of the key behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE_LEN + 1));
    source
        .take(MAX_FILE_LEN as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What is read of what somebody else may have supplied.
///
/// Work grows with the cube of a key's length. Up to [`Limits::QUICK`] every step that reads a key or uses it once takes less
/// than a second of one CPU; a key of [`MAX_BITS`] takes half a minute to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest modulus, in bits; at most [`MAX_BITS`] matter.
    pub most_bits: usize,
}

impl Limits {
    /// At most 8192 bits.
    pub const QUICK: Limits = Limits { most_bits: 8192 };
    /// Every key that this crate works with.
    pub const NONE: Limits = Limits {
        most_bits: MAX_BITS,
    };

    /// Refuses a modulus that is too long, before anything is computed with it.
    fn check(self, modulus: &[u8]) -> Result<(), Error> {
        let bits = rsalab_arith::integer::bits_vartime(modulus);
        match bits > self.most_bits {
            // What is longer than any key is refused by the constructors, which name the longest.
            true if bits <= MAX_BITS => Err(Error::KeySize {
                bits,
                reason: format!("at most {} are taken here", self.most_bits),
            }),
            _ => Ok(()),
        }
    }
}

/// Reads a private key in any of the forms.
///
/// A key that names neither its primes nor its CRT parameters gets them computed from its exponents, once.
///
/// # Errors
///
/// [`Error::Format`] says what the bytes are instead, or where they are damaged; [`Error::Unsupported`] what key, or what
/// encryption of one, they hold; [`Error::PasswordMissing`] and [`Error::PasswordWrong`] that a password is needed, or another
/// one; [`Error::InvalidKey`] and [`Error::KeySize`] what is wrong with the key in them.
pub fn load_private(bytes: &[u8], password: Option<&[u8]>) -> Result<Loaded<PrivateKey>, Error> {
    load_private_within(bytes, password, Limits::NONE)
}

/// As [`load_private`], for what somebody else may have supplied: a modulus above the limit is [`Error::KeySize`], and nothing
/// is computed with it.
///
/// # Errors
///
/// As for [`load_private`].
pub fn load_private_within(
    bytes: &[u8],
    password: Option<&[u8]>,
    limits: Limits,
) -> Result<Loaded<PrivateKey>, Error> {
    let loaded = load(bytes, password, limits)?;
    match (loaded.key, loaded.content) {
        (Key::Private(key), _) => Ok(Loaded {
            key,
            usage: loaded.usage,
            restrictions: loaded.restrictions,
            content: loaded.content,
        }),
        (Key::Public(_), Content::Certificate) => Err(refused(
            "this is a certificate, which holds a public key, but a private key is needed",
        )),
        (Key::Public(_), _) => Err(refused("this is a public key, but a private key is needed")),
    }
}

/// Reads a public key in any of the forms. Of a private key, and of a certificate, the public key is taken; that a certificate
/// is anybody's word, and still valid, is not looked at.
///
/// # Errors
///
/// As for [`load_private`].
pub fn load_public(bytes: &[u8], password: Option<&[u8]>) -> Result<Loaded<PublicKey>, Error> {
    load_public_within(bytes, password, Limits::NONE)
}

/// As [`load_public`], for what somebody else may have supplied.
///
/// # Errors
///
/// As for [`load_private_within`].
pub fn load_public_within(
    bytes: &[u8],
    password: Option<&[u8]>,
    limits: Limits,
) -> Result<Loaded<PublicKey>, Error> {
    let loaded = load(bytes, password, limits)?;
    Ok(Loaded {
        key: match loaded.key {
            Key::Private(key) => key.public().clone(),
            Key::Public(key) => key,
        },
        usage: loaded.usage,
        restrictions: loaded.restrictions,
        content: loaded.content,
    })
}

/// Reads a private key of any use, without a password.
///
/// # Errors
///
/// As for [`load_private`], and [`Error::Restricted`] if the key is for RSASSA-PSS alone, or its file says what it is for.
pub fn decode_private(bytes: &[u8]) -> Result<PrivateKey, Error> {
    for_any_use(load_private(bytes, None)?)
}

/// Reads a public key of any use.
///
/// # Errors
///
/// As for [`decode_private`].
pub fn decode_public(bytes: &[u8]) -> Result<PublicKey, Error> {
    for_any_use(load_public(bytes, None)?)
}

fn for_any_use<K>(loaded: Loaded<K>) -> Result<K, Error> {
    let restricted = |reason| Err(Error::Restricted { reason });
    match loaded.usage {
        Usage::Any if loaded.restrictions.is_none() => Ok(loaded.key),
        Usage::Any => restricted(format!(
            "this RSA key is not for any use: its file says {}",
            loaded.restrictions
        )),
        Usage::Pss(_) => {
            restricted("this RSA key may be used for RSASSA-PSS only, and not for this".to_owned())
        }
    }
}

enum Key {
    Private(PrivateKey),
    Public(PublicKey),
}

fn load(bytes: &[u8], password: Option<&[u8]>, limits: Limits) -> Result<Loaded<Key>, Error> {
    let (content, body) = content::open(bytes)?;
    let any = |key| (key, Usage::Any);
    let mut restrictions = Restrictions::default();
    let (key, usage) = match content {
        Content::Pkcs1Private => any(Key::Private(pkcs::pkcs1_private(&body, limits)?)),
        Content::Pkcs1Public => any(Key::Public(pkcs::pkcs1_public(&body, limits)?)),
        Content::Pkcs8 => private(pkcs::pkcs8(&body, limits)?),
        Content::EncryptedPkcs8 => private(encrypted::decode(&body, password, limits)?),
        Content::Spki => public(pkcs::spki(&body, limits)?),
        Content::Certificate => {
            let (key, usage, key_usage) = certificate::decode(&body, limits)?;
            restrictions.certificate = key_usage;
            public((key, usage))
        }
        Content::Jwk => {
            let (key, said) = jwk::decode(&body, limits)?;
            restrictions = said;
            any(key)
        }
        Content::OpensshPrivate => any(Key::Private(openssh::decode_private(&body, limits)?)),
        Content::OpensshPublic => any(Key::Public(openssh::decode_public(&body, limits)?)),
    };
    Ok(Loaded {
        key,
        usage,
        restrictions,
        content,
    })
}

fn private((key, usage): (PrivateKey, Usage)) -> (Key, Usage) {
    (Key::Private(key), usage)
}

fn public((key, usage): (PublicKey, Usage)) -> (Key, Usage) {
    (Key::Public(key), usage)
}

/// The name of a key: SHA-256 of its SubjectPublicKeyInfo in DER, as `openssl pkey -pubin -outform der | sha256sum`.
pub fn fingerprint(key: &PublicKey) -> [u8; 32] {
    Sha256::digest(encode_public(key, PublicFormat::Spki, Encoding::Der)).into()
}

fn damaged(what: &str, error: der::Error) -> Error {
    refused(format!("this {what} is damaged: {error}"))
}

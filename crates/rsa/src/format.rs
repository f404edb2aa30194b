//! Keys as files.
//!
//! | form | of | file |
//! |---|---|---|
//! | PKCS#1, PKCS#8 and SubjectPublicKeyInfo, in PEM (RFC 7468) and DER | RFC 8017, 5958, 5280 | `pkcs` |
//! | the same under a password (PBES2) | RFC 8018 | `encrypted` |
//! | keys for RSASSA-PSS alone, with their parameters | RFC 4055 | `pss` |
//! | the public key of a certificate | RFC 5280 | `certificate` |
//! | JSON Web Keys | RFC 7517, RFC 7518 | [`jwk`] |
//! | OpenSSH's own | its PROTOCOL.key | [`openssh`] |
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

use std::io::Read;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{Error, PrivateKey, PublicKey, scheme::Pss};
use content::refused;

pub use content::Content;
pub use encrypted::encode as encode_encrypted;
pub use pkcs::{encode_private, encode_private_for, encode_public, encode_public_for};

/// The most bytes that are taken for a key. The longest RSA key takes about 18 KB.
pub const MAX_FILE_LEN: usize = 1 << 20;

/// A key with what its file says of it.
#[derive(Clone, Debug)]
pub struct Loaded<K> {
    /// The key.
    pub key: K,
    /// What it may be used for.
    pub usage: Usage,
    /// What it was read from.
    pub content: Content,
}

/// What a key may be used for, as its file says.
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

/// Reads a private key in any of the forms.
///
/// A key that names neither its primes nor its CRT parameters gets them computed from its exponents, once.
///
/// # Errors
///
/// [`Error::Format`] says what the bytes are instead, or where they are damaged; [`Error::Password`] that a password is needed,
/// or another one; [`Error::InvalidKey`] and [`Error::KeySize`] what is wrong with the key in them.
pub fn load_private(bytes: &[u8], password: Option<&[u8]>) -> Result<Loaded<PrivateKey>, Error> {
    match load(bytes, password)? {
        (Key::Private(key), usage, content) => Ok(Loaded {
            key,
            usage,
            content,
        }),
        (Key::Public(_), _, Content::Certificate) => Err(refused(
            "this is a certificate, which holds a public key, but a private key is needed",
        )),
        (Key::Public(_), ..) => Err(refused("this is a public key, but a private key is needed")),
    }
}

/// Reads a public key in any of the forms. Of a private key, and of a certificate, the public key is taken; that a certificate
/// is anybody's word, and still valid, is not looked at.
///
/// # Errors
///
/// As for [`load_private`].
pub fn load_public(bytes: &[u8], password: Option<&[u8]>) -> Result<Loaded<PublicKey>, Error> {
    let (key, usage, content) = load(bytes, password)?;
    Ok(Loaded {
        key: match key {
            Key::Private(key) => key.public().clone(),
            Key::Public(key) => key,
        },
        usage,
        content,
    })
}

/// Reads a private key of any use, without a password.
///
/// # Errors
///
/// As for [`load_private`]; also if the key is for RSASSA-PSS alone.
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
    match loaded.usage {
        Usage::Any => Ok(loaded.key),
        Usage::Pss(_) => Err(refused(
            "this RSA key may be used for RSASSA-PSS only, and not for this",
        )),
    }
}

enum Key {
    Private(PrivateKey),
    Public(PublicKey),
}

fn load(bytes: &[u8], password: Option<&[u8]>) -> Result<(Key, Usage, Content), Error> {
    let (content, body) = content::open(bytes)?;
    let (key, usage) = match content {
        Content::Pkcs1Private => (Key::Private(pkcs::pkcs1_private(&body)?), Usage::Any),
        Content::Pkcs1Public => (Key::Public(pkcs::pkcs1_public(&body)?), Usage::Any),
        Content::Pkcs8 => private(pkcs::pkcs8(&body)?),
        Content::EncryptedPkcs8 => private(encrypted::decode(&body, password)?),
        Content::Spki => public(pkcs::spki(&body)?),
        Content::Certificate => public(certificate::decode(&body)?),
        Content::Jwk => (jwk::decode(&body)?, Usage::Any),
        Content::OpensshPrivate => (Key::Private(openssh::decode_private(&body)?), Usage::Any),
        Content::OpensshPublic => (Key::Public(openssh::decode_public(&body)?), Usage::Any),
    };
    Ok((key, usage, content))
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

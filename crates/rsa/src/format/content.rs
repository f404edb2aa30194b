//! What a file that was given as a key really holds.

use der::{Decode, asn1::AnyRef};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

pub(super) use super::refusal::{damaged, refused, unsupported};
use super::{
    armour::{self, find},
    authorized_keys,
    input::{MAX_FILE_LEN, MAX_SET_LEN, is_json, may_be_several},
    refusal::other_algorithm,
    structure::{SEQUENCE, structure},
    texts,
};
use crate::Result;

/// The structures that can hold an RSA key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// `RSAPrivateKey`.
    Pkcs1Private,
    /// `RSAPublicKey`.
    Pkcs1Public,
    /// `RSAPrivateKey` under a password, as OpenSSL wrote it before PKCS#8.
    EncryptedPkcs1,
    /// `PrivateKeyInfo`.
    Pkcs8,
    /// `EncryptedPrivateKeyInfo`.
    EncryptedPkcs8,
    /// `SubjectPublicKeyInfo`.
    Spki,
    /// `Certificate`.
    Certificate,
    /// A JSON Web Key, or a set, a list or a stream of them.
    Jwk,
    /// `openssh-key-v1`.
    OpensshPrivate,
    /// A line of `authorized_keys`, or several.
    OpensshPublic,
}

/// Finds the structure and its bytes: DER, out of PEM or base64 if need be; of JSON and OpenSSH's forms the text.
pub(super) fn open(bytes: &[u8]) -> Result<(Content, Zeroizing<Vec<u8>>)> {
    let most = match may_be_several(bytes) {
        true => MAX_SET_LEN,
        false => MAX_FILE_LEN,
    };
    if bytes.len() > most {
        return Err(refused(format!(
            "this file is larger than {} MiB; no RSA key is, and no set of them that is read",
            most >> 20
        )));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(refused("this file is empty"));
    }
    if is_der(bytes) {
        return Ok((structure(bytes)?, Zeroizing::new(bytes.to_vec())));
    }
    match texts::in_utf8(bytes) {
        Some(text) => open_text(&text),
        None => open_text(bytes),
    }
}

/// Whether bytes are DER and no text that begins with the digit 0.
fn is_der(bytes: &[u8]) -> bool {
    let is_text = || {
        bytes
            .iter()
            .all(|byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~'))
    };
    bytes.first() == Some(&SEQUENCE) && (AnyRef::from_der(bytes).is_ok() || !is_text())
}

fn open_text(text: &[u8]) -> Result<(Content, Zeroizing<Vec<u8>>)> {
    if is_json(text) {
        return match texts::in_account(text) {
            Some(pem) => armour::open(&pem),
            None => Ok((Content::Jwk, Zeroizing::new(text.to_vec()))),
        };
    }
    if authorized_keys::is(text) {
        return Ok((Content::OpensshPublic, Zeroizing::new(text.to_vec())));
    }
    match find(text, armour::BEGIN) {
        Some(_) => armour::open(text),
        None => texts::open(text),
    }
}

/// Passes `rsaEncryption` and names anything else.
pub(super) fn check_algorithm(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<()> {
    if algorithm.oid == pkcs1::ALGORITHM_OID {
        // RFC 8017 appendix A.1 wants NULL; some writers leave it out.
        return match algorithm.parameters {
            None => Ok(()),
            Some(parameters) if parameters.is_null() => Ok(()),
            Some(_) => Err(refused(
                "this RSA key has parameters that its algorithm does not take",
            )),
        };
    }
    Err(other_algorithm(algorithm.oid))
}

impl Content {
    /// In words, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Content::Pkcs1Private => "a PKCS#1 private key",
            Content::EncryptedPkcs1 => "an encrypted PKCS#1 private key",
            Content::Pkcs1Public => "a PKCS#1 public key",
            Content::Pkcs8 => "a PKCS#8 private key",
            Content::EncryptedPkcs8 => "an encrypted PKCS#8 private key",
            Content::Spki => "a SubjectPublicKeyInfo",
            Content::Certificate => "a certificate",
            Content::Jwk => "a JSON Web Key",
            Content::OpensshPrivate => "a private key in OpenSSH's form",
            Content::OpensshPublic => "a public key in OpenSSH's form",
        }
    }
}

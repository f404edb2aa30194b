//! What a file that was given as a key really holds.

use der::{Decode, ErrorKind, Reader, SliceReader, Tag, Tagged, asn1::AnyRef, pem};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

pub(super) use super::refusal::{damaged, refused, unsupported};
use super::{
    input::MAX_FILE_LEN,
    refusal::{not_rsa, other_algorithm},
};
use crate::{Error, Result};

/// The structures that can hold an RSA key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// `RSAPrivateKey`.
    Pkcs1Private,
    /// `RSAPublicKey`.
    Pkcs1Public,
    /// `PrivateKeyInfo`.
    Pkcs8,
    /// `EncryptedPrivateKeyInfo`.
    EncryptedPkcs8,
    /// `SubjectPublicKeyInfo`.
    Spki,
    /// `Certificate`.
    Certificate,
    /// A JSON Web Key, or a set of one.
    Jwk,
    /// `openssh-key-v1`.
    OpensshPrivate,
    /// A line of `authorized_keys`.
    OpensshPublic,
}

/// Finds the structure and its bytes: DER, out of PEM if need be; of JSON and OpenSSH's forms the text.
pub(super) fn open(bytes: &[u8]) -> Result<(Content, Zeroizing<Vec<u8>>)> {
    if bytes.len() > MAX_FILE_LEN {
        return Err(refused("this file is larger than 1 MiB; no RSA key is"));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(refused("this file is empty"));
    }
    if bytes.trim_ascii_start().first() == Some(&b'{') {
        return Ok((Content::Jwk, Zeroizing::new(bytes.trim_ascii().to_vec())));
    }
    match openssh_line(bytes) {
        Some("an RSA") => {
            let line = Zeroizing::new(bytes.trim_ascii().to_vec());
            return Ok((Content::OpensshPublic, line));
        }
        Some(kind) => {
            return Err(unsupported(format!(
                "this is {kind} public key in OpenSSH's form; rsalab works with RSA keys only"
            )));
        }
        None => {}
    }
    match find(bytes, BEGIN) {
        Some(start) => open_pem(&bytes[start..]),
        None => Ok((structure(bytes)?, Zeroizing::new(bytes.to_vec()))),
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

const BEGIN: &[u8] = b"-----BEGIN ";

fn open_pem(text: &[u8]) -> Result<(Content, Zeroizing<Vec<u8>>)> {
    let label = text[BEGIN.len()..]
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .next()
        .and_then(|line| line.strip_suffix(b"-----"))
        .and_then(|label| std::str::from_utf8(label).ok())
        .ok_or_else(|| refused("this PEM file is damaged: its BEGIN line is cut or garbled"))?;
    let expected = labelled(label)?;

    let end_line = format!("-----END {label}-----");
    let end = find(text, end_line.as_bytes()).ok_or_else(|| {
        refused(format!(
            "this PEM file is cut: the line {end_line} is missing"
        ))
    })? + end_line.len();
    let (block, rest) = text.split_at(end);
    if find(rest, BEGIN).is_some() {
        return Err(refused(
            "this file holds more than one PEM block; give it one key alone",
        ));
    }
    if !rest.trim_ascii().is_empty() {
        return Err(refused(
            "this file goes on after the end of its key; remove what follows the END line",
        ));
    }
    if find(block, b"Proc-Type: 4,ENCRYPTED").is_some() {
        return Err(unsupported(
            "this private key is encrypted as OpenSSL did it before PKCS#8, with one round of MD5; encrypt it anew with `openssl pkcs8 -topk8 -in FILE`",
        ));
    }
    if expected == Content::OpensshPrivate {
        return Ok((expected, Zeroizing::new(block.to_vec())));
    }

    let der = decode_base64(block)
        .map_err(|error| refused(format!("this PEM file is damaged: {error}")))?;
    let found = structure(&der)?;
    if found != expected {
        return Err(refused(format!(
            "this file is labelled {label}, but holds {}",
            found.name()
        )));
    }
    Ok((found, der))
}

fn decode_base64(block: &[u8]) -> Result<Zeroizing<Vec<u8>>, pem::Error> {
    let mut decoder = pem::Decoder::new_detect_wrap(block)?;
    let mut der = Zeroizing::new(vec![0; decoder.remaining_len()]);
    decoder.decode(&mut der)?;
    Ok(der)
}

/// What a PEM label promises.
fn labelled(label: &str) -> Result<Content> {
    Err(match label {
        "RSA PRIVATE KEY" => return Ok(Content::Pkcs1Private),
        "RSA PUBLIC KEY" => return Ok(Content::Pkcs1Public),
        "PRIVATE KEY" => return Ok(Content::Pkcs8),
        "PUBLIC KEY" => return Ok(Content::Spki),
        "ENCRYPTED PRIVATE KEY" => return Ok(Content::EncryptedPkcs8),
        "OPENSSH PRIVATE KEY" => return Ok(Content::OpensshPrivate),
        "CERTIFICATE" | "X509 CERTIFICATE" => return Ok(Content::Certificate),
        "EC PRIVATE KEY" | "EC PARAMETERS" => not_rsa("EC"),
        "DSA PRIVATE KEY" | "DSA PARAMETERS" => not_rsa("DSA"),
        "TRUSTED CERTIFICATE" => refused(
            "this is a certificate with OpenSSL's own remarks; leave them out with `openssl x509 -in FILE`",
        ),
        "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => refused(
            "this is a certificate request; take the public key out of it with `openssl req -in FILE -pubkey -noout`",
        ),
        _ => refused(
            "this PEM file holds something that is not a key, or not one that rsalab reads: it knows no such label as that of its BEGIN line",
        ),
    })
}

/// What a DER structure must be by its outermost elements.
fn structure(der: &[u8]) -> Result<Content> {
    if der.first() != Some(&SEQUENCE) {
        return Err(noise());
    }
    let outer = AnyRef::from_der(der).map_err(|error| match error.kind() {
        ErrorKind::Incomplete { expected_len, actual_len } => refused(format!(
            "this key is cut: {actual_len} bytes of at least {expected_len} are there"
        )),
        ErrorKind::TrailingData { decoded, remaining } => refused(format!(
            "this file goes on after the end of its key: {remaining} bytes follow the first {decoded}"
        )),
        ErrorKind::Overflow | ErrorKind::Overlength => {
            refused("this file names a length that no key has")
        }
        ErrorKind::IndefiniteLength | ErrorKind::Noncanonical { .. } | ErrorKind::Length { .. } => {
            refused("this file is not DER: it writes a length in a way that only BER allows")
        }
        _ => noise(),
    })?;
    match tags(outer.value()).ok_or_else(noise)?.as_slice() {
        [Tag::Integer, Tag::Integer] => Ok(Content::Pkcs1Public),
        [Tag::Integer, Tag::Sequence, Tag::OctetString, ..] => Ok(Content::Pkcs8),
        [Tag::Sequence, Tag::BitString] => Ok(Content::Spki),
        // Six integers are the old form of a DSA key.
        [
            Tag::Integer,
            Tag::Integer,
            Tag::Integer,
            Tag::Integer,
            Tag::Integer,
            Tag::Integer,
        ] => Err(not_rsa("DSA")),
        [Tag::Integer, Tag::Integer, Tag::Integer, ..] => Ok(Content::Pkcs1Private),
        [Tag::Integer, Tag::OctetString, ..] => Err(not_rsa("EC")),
        [Tag::Sequence, Tag::OctetString] => Ok(Content::EncryptedPkcs8),
        [Tag::Sequence, Tag::Sequence, Tag::BitString] => Ok(Content::Certificate),
        [Tag::Integer, Tag::Sequence, Tag::Sequence] => Err(refused(
            "this is a PKCS#12 file; take the key out of it with `openssl pkcs12 -in FILE -nocerts -nodes`",
        )),
        _ => Err(noise()),
    }
}

/// The first byte of a DER sequence.
const SEQUENCE: u8 = 0x30;

fn tags(contents: &[u8]) -> Option<Vec<Tag>> {
    let mut reader = SliceReader::new(contents).ok()?;
    let mut tags = Vec::new();
    while !reader.is_finished() {
        tags.push(reader.decode::<AnyRef<'_>>().ok()?.tag());
    }
    Some(tags)
}

impl Content {
    /// In words, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Content::Pkcs1Private => "a PKCS#1 private key",
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

fn noise() -> Error {
    refused(
        "this is not a key: it is neither PEM nor a DER structure that holds a key, no JSON Web Key and no line of OpenSSH's",
    )
}

/// What a line of OpenSSH's `.pub` files holds.
fn openssh_line(bytes: &[u8]) -> Option<&'static str> {
    const PREFIXES: [(&[u8], &str); 4] = [
        (b"ssh-rsa ", "an RSA"),
        (b"ssh-ed25519 ", "an Ed25519"),
        (b"ssh-dss ", "a DSA"),
        (b"ecdsa-sha2-", "an EC"),
    ];
    let line = bytes.trim_ascii_start();
    PREFIXES
        .iter()
        .find(|(prefix, _)| line.starts_with(prefix))
        .map(|&(_, kind)| kind)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

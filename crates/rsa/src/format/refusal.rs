//! Errors of reading, and what they say of a file: names from fixed lists, places and lengths. The file may hold a
//! secret, so nothing else of it is repeated.

use der::{ErrorKind, asn1::ObjectIdentifier};
#[cfg(feature = "jwk")]
use serde_json::error::Category;

use super::content::Content;
use crate::Error;

/// The sentence on anything else.
pub(super) const NOT_A_KEY: &str = "this is not a key: it is neither PEM nor a DER structure that holds a key, no JSON Web Key and no line of OpenSSH's";

/// The beginnings of sentences on files without a key: no words of a file stand in them.
pub(super) const EMPTY: &str = "this file is empty";
pub(super) const TOO_LARGE: &str = "this file is larger than";
pub(super) const HEXADECIMAL: &str = "this file is text in hexadecimal";
pub(super) const NO_LABEL: &str = "this PEM file holds something that is not a key, or not one that rsalab reads: it knows no such label as that of its BEGIN line";
pub(super) const OPENPGP_TEXT: &str = "this is a message or a signature of OpenPGP, which holds no key";
pub(super) const NO_JWK: &str = "this is no JSON Web Key: it has no member \"kty\", \"n\" or \"keys\"";
pub(super) const PKCS7: &str = "this is a PKCS#7 file, which holds certificates and no key";
pub(super) const REVOKED: &str = "this is a list of revoked certificates (CRL), which holds no key";
pub(super) const NO_JWKS: &str = "this set of JSON Web Keys is empty";

/// Returns whether an error of reading says that there is no key, rather than one that cannot be read: among other
/// files, such a one is nothing to be told.
pub fn holds_no_key(error: &Error) -> bool {
    const STARTS: [&str; 10] = [
        NOT_A_KEY,
        EMPTY,
        TOO_LARGE,
        HEXADECIMAL,
        NO_LABEL,
        OPENPGP_TEXT,
        NO_JWK,
        NO_JWKS,
        REVOKED,
        PKCS7,
    ];
    let has_none = |reason: &str| STARTS.iter().any(|start| reason.starts_with(start));
    matches!(error, Error::Format { reason } if has_none(reason))
}

/// For what is no key, or a damaged one.
pub(super) fn refused(reason: impl Into<String>) -> Error {
    Error::Format { reason: reason.into() }
}

/// For what may be a good key, and is not for this crate.
pub(super) fn unsupported(reason: impl Into<String>) -> Error {
    Error::Unsupported { reason: reason.into() }
}

/// For a key in a format that this build does not read.
pub(super) fn left_out(content: Content) -> Error {
    unsupported(format!(
        "this is {}, which this program was built not to read",
        content.name()
    ))
}

/// For bytes that are not the DER that they begin as.
pub(super) fn damaged(what: &str, error: der::Error) -> Error {
    match error.kind() {
        ErrorKind::OidUnknown { oid } => unsupported(format!(
            "this {what} names an algorithm that rsalab does not know{}",
            in_brackets(oid)
        )),
        // Everything else is kinds of elements, places and lengths.
        _ => refused(format!("this {what} is damaged: {error}")),
    }
}

#[cfg(feature = "jwk")]
/// The error of a number that is no base64url.
pub(super) const NOT_BASE64URL: &str = "a number is not base64url without padding";

#[cfg(feature = "jwk")]
/// The error of an object with more members than any key has.
pub(super) const TOO_MANY_MEMBERS: &str = "has more than 1000 members, which no key has";

#[cfg(feature = "jwk")]
/// For text that is not the JSON it should be. The messages of the parser repeat values; what is taken from them are
/// the names of members that we look for.
pub(super) fn not_json(what: &str, error: &serde_json::Error) -> Error {
    let place = format!("line {}, column {}", error.line(), error.column());
    let fault = match error.classify() {
        Category::Eof => format!("its JSON ends too early, at {place}"),
        Category::Data => {
            let text = error.to_string();
            let member = |before| text.strip_prefix(before)?.split('`').next();
            if text.starts_with(TOO_MANY_MEMBERS) {
                return refused(format!("this {what} {TOO_MANY_MEMBERS}"));
            }
            if let Some(name) = member("duplicate field `") {
                format!("its member \"{name}\" is there twice, again at {place}")
            } else if let Some(name) = member("missing field `") {
                format!("the member \"{name}\" is missing before {place}")
            } else if text.starts_with(NOT_BASE64URL) {
                format!("{NOT_BASE64URL}, before {place}")
            } else {
                format!("the value before {place} has another type than its member takes")
            }
        }
        Category::Syntax | Category::Io => format!("it is not JSON at {place}"),
    };
    refused(format!("this {what} is damaged: {fault}"))
}

/// The end of what is said of keys of other algorithms.
const RSA_ONLY: &str = "rsalab works with RSA keys only";

/// Returns whether an error of reading is about a key of another algorithm than RSA, which may be a good one.
pub fn is_foreign(error: &Error) -> bool {
    matches!(error, Error::Unsupported { reason } if reason.ends_with(RSA_ONLY))
}

/// For a key of another algorithm than RSA.
pub(super) fn not_rsa(algorithm: &str) -> Error {
    let article = if algorithm.starts_with(['E', 'X', 'R', 'M']) {
        "an"
    } else {
        "a"
    };
    unsupported(format!("this is {article} {algorithm} key; {RSA_ONLY}"))
}

/// For a key of an algorithm that its identifier names.
pub(super) fn other_algorithm(oid: ObjectIdentifier) -> Error {
    match algorithm_name(oid) {
        Some(name) => not_rsa(name),
        None => unsupported(format!(
            "this is a key of another algorithm{}; {RSA_ONLY}",
            in_brackets(oid)
        )),
    }
}

/// An identifier with a blank and brackets, or nothing if it may be something else that was taken for one.
pub(super) fn in_brackets(oid: ObjectIdentifier) -> String {
    match is_registered(oid) {
        true => format!(" ({oid})"),
        false => String::new(),
    }
}

/// Returns whether an identifier lies where algorithms are registered, and is as short as theirs, so that it is no part
/// of a key that a damaged file has in its place.
fn is_registered(oid: ObjectIdentifier) -> bool {
    const MOST_BYTES: usize = 11;
    // ISO's members, NIST, ISO's identified organisations, the ITU's, and ISO's standards.
    const ARCS: &str = "\
        1.2.840. 2.16.840. 1.3.6.1. 1.3.14. 1.3.36. 1.3.101. 1.3.132. 1.2.156. 1.2.392. 1.2.398. 1.2.410. 1.2.643. \
        1.2.804. 2.5.";
    let number = oid.to_string();
    oid.as_bytes().len() <= MOST_BYTES && ARCS.split(' ').any(|arc| number.starts_with(arc))
}

/// The algorithms whose keys people have in such files.
fn algorithm_name(oid: ObjectIdentifier) -> Option<&'static str> {
    const NAMES: [(&str, &str); 12] = [
        ("1.2.840.10045.2.1", "EC"),
        ("1.2.840.113549.1.1.10", "RSASSA-PSS"),
        ("1.2.840.113549.1.1.7", "RSAES-OAEP"),
        ("1.2.840.10040.4.1", "DSA"),
        ("1.2.840.10046.2.1", "DH"),
        ("1.2.840.113549.1.3.1", "DH"),
        ("1.3.101.110", "X25519"),
        ("1.3.101.111", "X448"),
        ("1.3.101.112", "Ed25519"),
        ("1.3.101.113", "Ed448"),
        ("2.16.840.1.101.3.4.3.18", "ML-DSA-65"),
        ("2.16.840.1.101.3.4.4.2", "ML-KEM-768"),
    ];
    let oid = oid.to_string();
    NAMES.iter().find(|(number, _)| *number == oid).map(|&(_, name)| name)
}

/// A word of a JSON Web Key's `kty`, `use`, `key_ops` or `alg`, if it is one that is registered for them (IANA, JSON
/// Object Signing and Encryption).
pub(super) fn registered_word(word: &str) -> Option<&'static str> {
    const WORDS: &str = "\
        EC RSA oct OKP AKP sig enc sign verify encrypt decrypt wrapKey unwrapKey deriveKey deriveBits HS256 HS384 \
        HS512 RS1 RS256 RS384 RS512 ES256 ES384 ES512 ES256K PS256 PS384 PS512 none EdDSA Ed25519 Ed448 ML-DSA-44 \
        ML-DSA-65 ML-DSA-87 RSA1_5 RSA-OAEP RSA-OAEP-256 RSA-OAEP-384 RSA-OAEP-512 A128KW A192KW A256KW dir ECDH-ES \
        ECDH-ES+A128KW ECDH-ES+A192KW ECDH-ES+A256KW A128GCMKW A192GCMKW A256GCMKW PBES2-HS256+A128KW \
        PBES2-HS384+A192KW PBES2-HS512+A256KW A128CBC-HS256 A256CBC-HS512 A128GCM A192GCM A256GCM";
    WORDS.split(' ').find(|known| *known == word)
}

/// Such a word in quotation marks, or what stands for another one.
pub(super) fn quoted(word: &str) -> String {
    registered_word(word).map_or_else(
        || "a word that is not registered".to_owned(),
        |known| format!("\"{known}\""),
    )
}

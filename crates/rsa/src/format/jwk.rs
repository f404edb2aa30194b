//! JSON Web Keys (RFC 7517, RFC 7518 section 6.3), each on one line, named by its `kid` or its thumbprint
//! (RFC 7638).

mod object;
mod read;

use std::collections::BTreeSet;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{
    annotations::{Annotations, INSECURE},
    restrictions::Restrictions,
};
use crate::{PrivateKey, PublicKey};

pub(super) use read::{Jwk, keys};

/// Writes a private key, with what it is for, and with its `kid` and all members that this crate does not know, if it
/// was read from a JSON Web Key. The mark [`INSECURE`] is in the member `comment`, which readers pass over (RFC 7517,
/// section 4).
pub fn private(key: &PrivateKey, restrictions: &Restrictions, annotations: &Annotations) -> Zeroizing<String> {
    let parts = key.parts();
    let members = [
        ("d", parts.d),
        ("p", parts.p),
        ("q", parts.q),
        ("dp", parts.dp),
        ("dq", parts.dq),
        ("qi", parts.qinv),
    ];
    // The room is taken at once: growing would leave copies of the key behind.
    let kept = annotations.members.iter();
    let kept_len: usize = kept.map(|(name, value)| 6 * name.len() + value.len() + 6).sum();
    let open = open(key.public(), restrictions, annotations, str::to_owned);
    let len = open.len() + 12 * key.modulus_len() + 1000 + kept_len;
    let mut json = Zeroizing::new(String::with_capacity(len));
    json.push_str(&open);
    // Not by `format!`, whose text grows.
    for (name, number) in members {
        json.push_str(",\"");
        json.push_str(name);
        push_uint(&mut json, number);
    }
    for (i, other) in parts.others.iter().enumerate() {
        json.push_str(match i {
            0 => ",\"oth\":[",
            _ => ",",
        });
        for (before, number) in [("{\"r", &other.r), (",\"d", &other.d), (",\"t", &other.t)] {
            json.push_str(before);
            push_uint(&mut json, number);
        }
        json.push('}');
    }
    if !parts.others.is_empty() {
        json.push(']');
    }
    push_others(&mut json, annotations, |_, _| true);
    json.push('}');
    json
}

/// The end of a member's name and its value, a number.
fn push_uint(json: &mut String, number: &[u8]) {
    json.push_str("\":\"");
    json.push_str(&Zeroizing::new(uint(number)));
    json.push('"');
}

/// The members of a key that are public (RFC 7517, section 4; IANA's registry of JSON Web Key parameters) and are kept
/// where its public half is written, with how their values begin. What is not among them, or begins otherwise, may be
/// secret.
const PUBLIC: [(&str, &str); 7] = [
    ("x5u", "\"https:"),
    ("x5c", "["),
    ("x5t", "\""),
    ("x5t#S256", "\""),
    ("iat", ""),
    ("nbf", ""),
    ("exp", ""),
];

/// Returns whether a member, with its value in JSON, is one that is known to be public. Thumbprints are short, and
/// times are numbers.
fn is_public(name: &str, value: &str) -> bool {
    const MOST_CHARS: usize = 64;
    PUBLIC.iter().any(|&(known, start)| {
        known == name
            && match start {
                "" => value.parse::<f64>().is_ok(),
                "\"" => value.len() <= MOST_CHARS && value.starts_with(start),
                start => value.starts_with(start),
            }
    })
}

/// Adds the mark of a key of a seed, and the members that were read beside the key and are to be kept.
fn push_others(json: &mut String, annotations: &Annotations, is_kept: impl Fn(&str, &str) -> bool) {
    if annotations.is_insecure {
        json.push_str(&format!(",\"comment\":{}", text(INSECURE)));
    }
    for (name, value) in &annotations.members {
        let is_second = annotations.is_insecure && name == "comment";
        if is_kept(name, value) && !is_second {
            json.push(',');
            json.push_str(&text(name));
            json.push(':');
            json.push_str(value);
        }
    }
}

fn text(word: &str) -> String {
    serde_json::to_string(word).expect("text is JSON")
}

/// Writes a public key, with what it is for: where that is said of a private one, its counterpart. Of a JSON Web Key
/// its `kid` and the members that are known to be public are kept.
pub fn public(key: &PublicKey, restrictions: &Restrictions, annotations: &Annotations) -> String {
    let counterpart = |operation: &str| {
        match operation {
            "sign" => "verify",
            "decrypt" => "encrypt",
            "unwrapKey" => "wrapKey",
            other => other,
        }
        .to_owned()
    };
    let mut json = open(key, restrictions, annotations, counterpart);
    push_others(&mut json, annotations, is_public);
    json + "}"
}

/// The name of a key by RFC 7638: SHA-256 of its members `e`, `kty` and `n`, in base64url.
pub fn thumbprint(key: &PublicKey) -> String {
    let (n, e) = (uint(key.n()), uint(key.e()));
    let digest = Sha256::digest(format!("{{\"e\":\"{e}\",\"kty\":\"RSA\",\"n\":\"{n}\"}}"));
    Base64UrlUnpadded::encode_string(&digest)
}

/// The members that every key has, without the closing brace.
fn open(
    key: &PublicKey,
    restrictions: &Restrictions,
    annotations: &Annotations,
    operation: impl Fn(&str) -> String,
) -> String {
    let (n, e) = (uint(key.n()), uint(key.e()));
    let kid = match &annotations.kid {
        Some(kid) => text(kid),
        None => text(&thumbprint(key)),
    };
    let mut json = format!("{{\"kty\":\"RSA\",\"kid\":{kid}");
    if let Some(word) = &restrictions.jwk_use {
        json += &format!(",\"use\":{}", text(word));
    }
    if let Some(operations) = &restrictions.jwk_operations {
        // A private key for both halves of an operation has a public one for one of them. None may be there twice (RFC
        // 7517, section 4.3).
        let mut seen = BTreeSet::new();
        let mut written: Vec<String> = operations.iter().map(|word| text(&operation(word))).collect();
        written.retain(|word| seen.insert(word.clone()));
        json += &format!(",\"key_ops\":[{}]", written.join(","));
    }
    if let Some(word) = &restrictions.jwk_algorithm {
        json += &format!(",\"alg\":{}", text(word));
    }
    json + &format!(",\"n\":\"{n}\",\"e\":\"{e}\"")
}

/// Base64urlUInt: without leading zero octets.
fn uint(number: &[u8]) -> String {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    Base64UrlUnpadded::encode_string(&number[zeros..])
}

//! JSON Web Keys (RFC 7517, RFC 7518 section 6.3), each on one line, named by its thumbprint (RFC 7638).

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{
    content::{refused, unsupported},
    input::{Key, Limits},
    refusal::{NOT_BASE64URL, not_json, quoted},
    restrictions::Restrictions,
};
use crate::{Error, OtherPrime, PrivateKey, PrivateParts, PublicKey, Result};

/// Writes a private key, with what it is for, and with a remark, if there is one, in the member `comment`, which readers pass
/// over (RFC 7517, section 4).
pub fn private(
    key: &PrivateKey,
    restrictions: &Restrictions,
    remark: Option<&str>,
) -> Zeroizing<String> {
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
    let mut json = Zeroizing::new(String::with_capacity(12 * key.modulus_len() + 1000));
    json.push_str(&open(key.public(), restrictions, str::to_owned));
    for (name, number) in members {
        json.push_str(&Zeroizing::new(format!(
            ",\"{name}\":\"{}\"",
            *Zeroizing::new(uint(number))
        )));
    }
    for (i, other) in parts.others.iter().enumerate() {
        json.push_str(match i {
            0 => ",\"oth\":[",
            _ => ",",
        });
        for (before, number) in [("{\"r", &other.r), (",\"d", &other.d), (",\"t", &other.t)] {
            json.push_str(&Zeroizing::new(format!(
                "{before}\":\"{}\"",
                *Zeroizing::new(uint(number))
            )));
        }
        json.push('}');
    }
    if !parts.others.is_empty() {
        json.push(']');
    }
    if let Some(remark) = remark {
        json.push_str(&format!(",\"comment\":{}", text(remark)));
    }
    json.push('}');
    json
}

fn text(word: &str) -> String {
    serde_json::to_string(word).expect("text is JSON")
}

/// Writes a public key, with what it is for: where that is said of a private one, its counterpart.
pub fn public(key: &PublicKey, restrictions: &Restrictions) -> String {
    let counterpart = |operation: &str| {
        match operation {
            "sign" => "verify",
            "decrypt" => "encrypt",
            "unwrapKey" => "wrapKey",
            other => other,
        }
        .to_owned()
    };
    open(key, restrictions, counterpart) + "}"
}

/// The members that every key has, without the closing brace.
fn open(
    key: &PublicKey,
    restrictions: &Restrictions,
    operation: impl Fn(&str) -> String,
) -> String {
    let (n, e) = (uint(key.n()), uint(key.e()));
    let thumbprint = Sha256::digest(format!("{{\"e\":\"{e}\",\"kty\":\"RSA\",\"n\":\"{n}\"}}"));
    let kid = Base64UrlUnpadded::encode_string(&thumbprint);
    let mut json = format!("{{\"kty\":\"RSA\",\"kid\":\"{kid}\"");
    if let Some(word) = &restrictions.jwk_use {
        json += &format!(",\"use\":{}", text(word));
    }
    if let Some(operations) = &restrictions.jwk_operations {
        let mut written: Vec<String> = operations
            .iter()
            .map(|word| text(&operation(word)))
            .collect();
        // A private key for both halves of an operation has a public one for one of them.
        written.dedup();
        json += &format!(",\"key_ops\":[{}]", written.join(","));
    }
    if let Some(word) = &restrictions.jwk_algorithm {
        json += &format!(",\"alg\":{}", text(word));
    }
    json + &format!(",\"n\":\"{n}\",\"e\":\"{e}\"")
}

/// The members that matter here; others are allowed (RFC 7517, section 4), the same one twice is not.
#[derive(Deserialize)]
struct Members {
    kty: Option<String>,
    n: Option<Uint>,
    e: Option<Uint>,
    d: Option<Uint>,
    p: Option<Uint>,
    q: Option<Uint>,
    dp: Option<Uint>,
    dq: Option<Uint>,
    qi: Option<Uint>,
    oth: Option<Vec<Other>>,
    #[serde(rename = "use")]
    jwk_use: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    /// Of a set.
    keys: Option<Vec<Members>>,
}

/// A prime after the first two (RFC 7518, section 6.3.2.7).
#[derive(Deserialize)]
struct Other {
    r: Uint,
    d: Uint,
    t: Uint,
}

/// A member that is a number, wiped when it is dropped.
struct Uint(Zeroizing<Vec<u8>>);

impl<'de> Deserialize<'de> for Uint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Zeroizing::new(String::deserialize(deserializer)?);
        let bytes = Base64UrlUnpadded::decode_vec(&text)
            .map_err(|_| serde::de::Error::custom(NOT_BASE64URL))?;
        Ok(Uint(Zeroizing::new(bytes)))
    }
}

/// Reads a key, or a set of one key, with what it is for.
pub(super) fn decode(json: &[u8], limits: Limits) -> Result<(Key, Restrictions)> {
    let mut members: Members =
        serde_json::from_slice(json).map_err(|error| not_json("JSON Web Key", &error))?;
    if let Some(mut keys) = members.keys.take() {
        members = match (keys.pop(), keys.is_empty()) {
            (Some(only), true) => only,
            (None, _) => return Err(refused("this set of JSON Web Keys is empty")),
            (Some(_), false) => {
                return Err(refused(format!(
                    "this set holds {} JSON Web Keys; give one of them alone",
                    keys.len() + 1
                )));
            }
        };
    }
    let restrictions = Restrictions {
        jwk_use: members.jwk_use.take(),
        jwk_operations: members.key_ops.take(),
        jwk_algorithm: members.alg.take(),
        certificate: None,
    };
    restrictions.check_words()?;
    Ok((members.key(limits)?, restrictions))
}

impl Members {
    fn key(self, limits: Limits) -> Result<Key> {
        match self.kty.as_deref() {
            Some("RSA") => {}
            Some(other) => {
                return Err(unsupported(format!(
                    "this is a JSON Web Key of the type {}; rsalab works with RSA keys only",
                    quoted(other)
                )));
            }
            None => return Err(missing("kty")),
        }
        if self.oth.as_ref().is_some_and(Vec::is_empty) {
            return Err(refused(
                "the member \"oth\" of this JSON Web Key is empty; a key of two primes has none",
            ));
        }
        let (n, e) = (needed("n", &self.n)?, needed("e", &self.e)?);
        limits.check(n)?;
        let crt = [&self.p, &self.q, &self.dp, &self.dq, &self.qi];
        let is_without_crt = crt.into_iter().all(Option::is_none) && self.oth.is_none();
        let others = self.oth.unwrap_or_default().into_iter();
        let others = others.map(|Other { r, d, t }| OtherPrime {
            r: r.0,
            d: d.0,
            t: t.0,
        });
        let others: Vec<OtherPrime> = others.collect();
        let Some(Uint(d)) = &self.d else {
            return match is_without_crt {
                true => PublicKey::new(n, e).map(Key::Public),
                false => Err(missing("d")),
            };
        };
        if is_without_crt {
            return PrivateKey::from_exponents(n, e, d).map(|key| Key::Private(Box::new(key)));
        }
        PrivateKey::from_parts(&PrivateParts {
            n,
            e,
            d,
            p: needed("p", &self.p)?,
            q: needed("q", &self.q)?,
            dp: needed("dp", &self.dp)?,
            dq: needed("dq", &self.dq)?,
            qinv: needed("qi", &self.qi)?,
            others: &others,
        })
        .map(|key| Key::Private(Box::new(key)))
    }
}

fn needed<'a>(name: &str, member: &'a Option<Uint>) -> Result<&'a [u8]> {
    let number = member.as_ref().map(|number| &number.0[..]);
    number.ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Error {
    refused(format!("this JSON Web Key has no member \"{name}\""))
}

/// Base64urlUInt: without leading zero octets.
fn uint(number: &[u8]) -> String {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    Base64UrlUnpadded::encode_string(&number[zeros..])
}

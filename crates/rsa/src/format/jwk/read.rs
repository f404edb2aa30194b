//! Reading JSON Web Keys: one, a set, a list, or a stream of them.

use serde_json::{Deserializer, value::RawValue};
use zeroize::Zeroizing;

use super::object::{KNOWN, List, MOST_KEYS, Number, Object, missing, too_many_keys};
use crate::{
    Error, OtherPrime, PrivateKey, PrivateParts, PublicKey, Result,
    format::{
        Annotations, Key, Limits, Place, Restrictions,
        refusal::{NO_JWK, NO_JWKS, not_json, quoted, refused, unsupported},
    },
};

/// The most characters of a `kid`.
const MOST_CHARS: usize = 128;

/// A key of a document, which may be of another kind than RSA.
pub(in crate::format) struct Jwk<'a> {
    members: Object<'a>,
}

/// The keys of a document, each with its place.
///
/// A document is a key; a set (RFC 7517, section 5); a list of keys; or keys one after another, as
/// `keygen --format jwk --out -` writes them. One that cannot be read does not stand in the way of the others.
pub(in crate::format) fn keys(json: &[u8]) -> Result<Vec<(Place, Result<Jwk<'_>>)>> {
    let text = std::str::from_utf8(json).map_err(|_| refused("this JSON Web Key is damaged: it is not UTF-8"))?;
    if text.trim_start().starts_with('[') {
        let keys: List<'_> = serde_json::from_str(text).map_err(|error| broken(&error))?;
        let keys = keys.values()?;
        return match keys.is_empty() {
            true => Err(empty()),
            false => Ok(numbered(keys)),
        };
    }
    let error = match serde_json::from_str::<&RawValue>(text) {
        Ok(value) => {
            let only = Jwk::of(value)?;
            // A set may have members of its own, and only a key has a type.
            return match only.members.get("kty").is_none() && only.members.get("keys").is_some() {
                false => Ok(vec![(Place::Whole, Ok(only))]),
                true => match only.members.list("keys")?.unwrap_or_default() {
                    keys if keys.is_empty() => Err(empty()),
                    keys => Ok(numbered(keys)),
                },
            };
        }
        Err(error) => error,
    };
    // What begins with a whole value is a stream: a key a line, or each as long as it is.
    let first = text.trim_start().lines().next().unwrap_or_default();
    if serde_json::from_str::<&RawValue>(first).is_ok() {
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let lines = lines.take(MOST_KEYS + 1).map(|(line, number)| {
            let value = serde_json::from_str(line).map_err(|_| refused("this line is not a JSON Web Key"));
            (Place::Line(number), value.and_then(Jwk::of))
        });
        return bounded(lines.collect());
    }
    let values = Deserializer::from_str(text).into_iter().take(MOST_KEYS + 1);
    let values: Result<Vec<&RawValue>, _> = values.collect();
    bounded(values.map(numbered).map_err(|_| broken(&error))?)
}

/// Refuses more keys than a set has.
fn bounded<T>(keys: Vec<T>) -> Result<Vec<T>> {
    match keys.len() > MOST_KEYS {
        true => Err(too_many_keys()),
        false => Ok(keys),
    }
}

fn numbered(values: Vec<&RawValue>) -> Vec<(Place, Result<Jwk<'_>>)> {
    let values = values.into_iter().zip(1..);
    values
        .map(|(value, number)| (Place::Key(number), Jwk::of(value)))
        .collect()
}

/// Refuses words that are too long for names: public keys and messages get what is written there, and it may be a
/// part of the private key.
fn check_words(restrictions: &Restrictions) -> Result<()> {
    const MOST_CHARS: usize = 64;
    let operations = restrictions.jwk_operations.iter().flatten();
    let members = [("use", &restrictions.jwk_use), ("alg", &restrictions.jwk_algorithm)];
    let named = members
        .into_iter()
        .filter_map(|(name, word)| Some((name, word.as_ref()?)));
    let mut words = named.chain(operations.map(|word| ("key_ops", word)));
    match words.find(|(_, word)| word.chars().count() > MOST_CHARS) {
        None => Ok(()),
        Some((name, _)) => Err(refused(format!(
            "the member \"{name}\" of this JSON Web Key holds a word of more than {MOST_CHARS} characters, which is none that says what a key is for"
        ))),
    }
}

fn empty() -> Error {
    refused(NO_JWKS)
}

fn broken(error: &serde_json::Error) -> Error {
    not_json("JSON Web Key", error)
}

impl<'a> Jwk<'a> {
    fn of(json: &'a RawValue) -> Result<Self> {
        let members = Object::of(json)?;
        Ok(Jwk { members })
    }

    /// The key's type is another than RSA.
    pub(in crate::format) fn is_foreign(&self) -> bool {
        matches!(self.members.text("kty"), Ok(Some(kind)) if kind != "RSA")
    }

    pub(in crate::format) fn has_kid(&self, kid: &str) -> bool {
        matches!(self.members.text("kid"), Ok(Some(own)) if own == kid)
    }

    /// The public half, of which nothing but the size is looked at.
    pub(in crate::format) fn public(&self) -> Option<PublicKey> {
        let [n, e] = ["n", "e"].map(|name| self.members.number(name).ok().flatten());
        PublicKey::new(&n?, &e?).ok()
    }

    pub(in crate::format) fn restrictions(&self) -> Result<Restrictions> {
        let restrictions = Restrictions {
            jwk_use: self.members.text("use")?,
            jwk_operations: self.members.texts("key_ops")?,
            jwk_algorithm: self.members.text("alg")?,
            ..Restrictions::default()
        };
        check_words(&restrictions)?;
        Ok(restrictions)
    }

    /// Annotations that are kept beside the key.
    pub(in crate::format) fn annotations(&self) -> Result<Annotations> {
        let kid = self.members.text("kid")?;
        // It is written into public keys, and may be a part of the private one that stands in the wrong place.
        if kid.as_ref().is_some_and(|kid| kid.chars().count() > MOST_CHARS) {
            return Err(refused(format!(
                "the member \"kid\" of this JSON Web Key has more than {MOST_CHARS} characters, which is no name of a key"
            )));
        }
        let mut annotations = Annotations {
            kid,
            ..Annotations::default()
        };
        for (name, value) in self.members.others(&KNOWN) {
            let is_mark =
                name == "comment" && serde_json::from_str::<&str>(value.get()).is_ok_and(Annotations::is_mark);
            match is_mark {
                true => annotations.is_insecure = true,
                false => annotations
                    .members
                    .push((name.to_owned(), Zeroizing::new(value.get().to_owned()))),
            }
        }
        Ok(annotations)
    }

    /// The key. One that names its exponents alone gets its primes computed.
    pub(in crate::format) fn key(&self, limits: Limits) -> Result<Key> {
        let members = &self.members;
        match members.text("kty")?.as_deref() {
            Some("RSA") => {}
            Some(other) => {
                return Err(unsupported(format!(
                    "this is a JSON Web Key of the type {}; rsalab works with RSA keys only",
                    quoted(other)
                )));
            }
            None if ["n", "keys"].iter().all(|name| members.get(name).is_none()) => return Err(refused(NO_JWK)),
            None => return Err(missing("kty")),
        }
        let others = members.list("oth")?;
        if others.as_ref().is_some_and(Vec::is_empty) {
            return Err(refused(
                "the member \"oth\" of this JSON Web Key is empty; a key of two primes has none",
            ));
        }
        let (n, e) = (members.needed("n")?, members.needed("e")?);
        limits.check(&n)?;
        let [p, q, dp, dq, qinv] = ["p", "q", "dp", "dq", "qi"];
        let crt = [p, q, dp, dq, qinv].map(|name| members.get(name));
        let is_without_crt = crt.iter().all(Option::is_none) && others.is_none();
        let others = others.unwrap_or_default().into_iter();
        let others: Vec<OtherPrime> = others
            .map(|prime| {
                let prime = Object::of(prime)?;
                let number = |name| prime.needed(name).map(Number::into);
                Ok(OtherPrime {
                    r: number("r")?,
                    d: number("d")?,
                    t: number("t")?,
                })
            })
            .collect::<Result<_>>()?;
        let Some(d) = members.number("d")? else {
            return match is_without_crt {
                true => PublicKey::new(&n, &e).map(Key::Public),
                false => Err(missing("d")),
            };
        };
        let key = match is_without_crt {
            true => PrivateKey::from_exponents(&n, &e, &d),
            false => PrivateKey::from_parts(&PrivateParts {
                n: &n,
                e: &e,
                d: &d,
                p: &members.needed(p)?,
                q: &members.needed(q)?,
                dp: &members.needed(dp)?,
                dq: &members.needed(dq)?,
                qinv: &members.needed(qinv)?,
                others: &others,
            }),
        };
        key.map(|key| Key::Private(Box::new(key)))
    }
}

//! JSON objects as they are read: members in the file's own text, so that no value is copied that nobody asks for.

use std::{fmt, ops::Deref};

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::{
    Error, Result,
    format::refusal::{not_json, refused},
};

/// The members that are read and written as a key and its use. All others are kept as they are.
pub(super) const KNOWN: [&str; 14] = [
    "kty", "kid", "use", "key_ops", "alg", "n", "e", "d", "p", "q", "dp", "dq", "qi", "oth",
];

/// An object, whose members all have different names.
pub(super) struct Object<'a>(Vec<(String, &'a RawValue)>);

/// A number of a key, big-endian, wiped when it is dropped.
pub(super) struct Number(Zeroizing<Vec<u8>>);

impl Deref for Number {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Number> for Zeroizing<Vec<u8>> {
    fn from(number: Number) -> Self {
        number.0
    }
}

impl<'a> Object<'a> {
    /// Reads one object.
    pub(super) fn of(json: &'a RawValue) -> Result<Self> {
        let members: Members<'a> =
            serde_json::from_str(json.get()).map_err(|error| not_json("JSON Web Key", &error))?;
        Ok(Object(members.0))
    }

    /// A member's value; none if it is missing or null.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let member = self.0.iter().find(|(member, _)| member == name);
        member.map(|&(_, value)| value).filter(|value| value.get() != "null")
    }

    /// The members that are not among `known`.
    pub(super) fn others(&self, known: &[&str]) -> impl Iterator<Item = (&str, &'a RawValue)> {
        let members = self.0.iter();
        members
            .filter(|(name, _)| !known.contains(&name.as_str()))
            .map(|(name, value)| (name.as_str(), *value))
    }

    /// A member that is text.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<String>> {
        self.read(name, "is not text")
    }

    /// A member that is a list of texts.
    pub(super) fn texts(&self, name: &'static str) -> Result<Option<Vec<String>>> {
        self.read(name, "is not a list of texts")
    }

    /// A member that is a list.
    pub(super) fn list(&self, name: &'static str) -> Result<Option<Vec<&'a RawValue>>> {
        self.read(name, "is not a list")
    }

    fn read<T: Deserialize<'a>>(&self, name: &str, fault: &str) -> Result<Option<T>> {
        let value = self.get(name);
        let read = value.map(|value| serde_json::from_str(value.get()));
        read.transpose()
            .map_err(|_| refused(format!("the member \"{name}\" of this JSON Web Key {fault}")))
    }

    /// A member that is a number (RFC 7518, section 2: Base64urlUInt).
    pub(super) fn number(&self, name: &'static str) -> Result<Option<Number>> {
        let decoded = self.get(name).map(|value| {
            // Without an escape the text is read where it stands. Asked of the text itself: an error would repeat it.
            let quoted = value.get().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            match quoted.filter(|text| !text.contains('\\')) {
                Some(text) => from_base64url(text),
                None => {
                    let text: Zeroizing<String> = Zeroizing::new(serde_json::from_str(value.get()).ok()?);
                    from_base64url(&text)
                }
            }
        });
        match decoded {
            None => Ok(None),
            Some(Some(bytes)) => Ok(Some(Number(bytes))),
            Some(None) => Err(refused(format!(
                "the member \"{name}\" of this JSON Web Key is not base64url without padding"
            ))),
        }
    }

    /// A number that must be there.
    pub(super) fn needed(&self, name: &'static str) -> Result<Number> {
        self.number(name)?.ok_or_else(|| missing(name))
    }
}

/// Decodes base64url without padding, into room that is wiped whatever comes of it.
fn from_base64url(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; text.len()]);
    let len = Base64UrlUnpadded::decode(text, &mut bytes).ok()?.len();
    bytes.truncate(len);
    Some(bytes)
}

pub(super) fn missing(name: &str) -> Error {
    refused(format!("this JSON Web Key has no member \"{name}\""))
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(String, &RawValue)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if members.iter().any(|(before, _)| *before == name) {
                        // Names that are not ours may be a part of the key.
                        let known = KNOWN.into_iter().find(|known| *known == name);
                        let name = known.unwrap_or("(of another name)");
                        return Err(A::Error::duplicate_field(name));
                    }
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

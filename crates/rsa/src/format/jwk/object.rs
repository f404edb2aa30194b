//! JSON objects as they are read: members in the file's own text, so that no value is copied that nobody asks for.

use std::{collections::BTreeSet, fmt, ops::Deref};

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::{
    Error, Result,
    format::refusal::{NO_JWK, TOO_MANY_MEMBERS, not_json, refused},
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
        if !json.get().starts_with('{') {
            return Err(refused(NO_JWK));
        }
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
        let list: Option<List<'a>> = self.read(name, "is not a list")?;
        list.map(List::values).transpose()
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

/// The most members of an object: a key has fourteen, and a few of other programs.
const MOST_MEMBERS: usize = 1000;

/// The most keys of a set, a list or a stream: more than its longest text has of 1024 bits.
pub(super) const MOST_KEYS: usize = 500_000;

/// For more keys than that.
pub(super) fn too_many_keys() -> Error {
    refused(format!(
        "this set of JSON Web Keys has more than {MOST_KEYS} keys; give it in parts"
    ))
}

/// A list, of which no more values are kept than a set has.
pub(super) struct List<'a> {
    values: Vec<&'a RawValue>,
    has_more: bool,
}

impl<'a> List<'a> {
    /// All of its values.
    pub(super) fn values(self) -> Result<Vec<&'a RawValue>> {
        match self.has_more {
            true => Err(too_many_keys()),
            false => Ok(self.values),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for List<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = List<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while values.len() < MOST_KEYS {
                    match list.next_element()? {
                        Some(value) => values.push(value),
                        None => {
                            return Ok(List {
                                values,
                                has_more: false,
                            });
                        }
                    }
                }
                let mut has_more = false;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    has_more = true;
                }
                Ok(List { values, has_more })
            }
        }
        deserializer.deserialize_seq(Each)
    }
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
                // Not by hashes: a set of those asks the system for randomness, and panics where there is none.
                let mut names = BTreeSet::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if members.len() == MOST_MEMBERS {
                        return Err(A::Error::custom(TOO_MANY_MEMBERS));
                    }
                    if !names.insert(name.clone()) {
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

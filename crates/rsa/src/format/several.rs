//! Files that may hold several keys, and which of them is meant.

#[cfg(feature = "jwk")]
use super::jwk::{self, Jwk};
#[cfg(feature = "openssh")]
use super::openssh;
use super::{
    authorized_keys::{self, Line},
    content::{Content, Opened},
    fingerprint,
    input::{Key, Place, Reading},
    loaded::{Loaded, load_single},
    refusal::{refused, unsupported},
    usage::Usage,
};
use crate::{Error, PublicKey, Result};

/// A key of a file.
#[derive(Debug)]
pub struct Found {
    /// Where it stands.
    pub place: Place,
    /// It is a key of another algorithm than RSA, among keys that may be RSA's.
    pub is_foreign: bool,
    /// The key, or why it could not be read.
    pub key: Result<Loaded<Key>>,
    /// The public half of a key that was refused, where it can be read for itself: nothing but its size was checked.
    /// [`load_all`](super::load_all) looks for it in every format, others in JSON Web Keys.
    pub public: Option<PublicKey>,
}

/// A key that is there, and is not read yet.
enum Item<'a> {
    #[cfg(feature = "jwk")]
    Jwk(Jwk<'a>),
    Line(Line<'a>),
}

impl Item<'_> {
    fn is_foreign(&self) -> bool {
        match self {
            #[cfg(feature = "jwk")]
            Item::Jwk(key) => key.is_foreign(),
            Item::Line(line) => line.is_foreign(),
        }
    }

    fn has_name(&self, name: &str) -> bool {
        let (is_kid, public) = match self {
            #[cfg(feature = "jwk")]
            Item::Jwk(key) => (key.has_kid(name), key.public()),
            Item::Line(line) => (false, line.key(super::Limits::NONE).ok()),
        };
        is_kid || public.is_some_and(|key| is_name_of(name, &key))
    }

    /// The public half of a key that is refused.
    fn public_half(&self, reading: &Reading<'_>) -> Option<PublicKey> {
        match self {
            #[cfg(feature = "jwk")]
            Item::Jwk(key) => {
                let is_taken = |half: &PublicKey| !key.is_foreign() && half.bits() <= reading.limits.most_bits;
                key.public().filter(is_taken)
            }
            Item::Line(line) => line.key(reading.limits).ok(),
        }
    }

    fn load(&self, reading: &Reading<'_>) -> Result<Loaded<Key>> {
        Ok(match self {
            #[cfg(feature = "jwk")]
            Item::Jwk(key) => Loaded {
                key: key.key(reading.limits)?,
                usage: Usage::Any,
                restrictions: key.restrictions()?,
                annotations: key.annotations()?,
                content: Content::Jwk,
                encryption: None,
            },
            Item::Line(line) => Loaded {
                key: Key::Public(line.key(reading.limits)?),
                usage: Usage::Any,
                restrictions: line.restrictions(),
                annotations: line.annotations(),
                content: Content::OpensshPublic,
                encryption: None,
            },
        })
    }
}

/// Returns whether it is one of the names that a public key has of itself.
fn is_name_of(name: &str, key: &PublicKey) -> bool {
    let digest = fingerprint(key);
    let hexadecimal = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let is_digest = name.len() == 2 * digest.len()
        && name
            .chars()
            .zip(hexadecimal)
            .all(|(digit, value)| digit.to_digit(16) == Some(value.into()));
    #[cfg(feature = "jwk")]
    let is_digest = is_digest || name == jwk::thumbprint(key);
    #[cfg(feature = "openssh")]
    let is_digest = is_digest || name == openssh::fingerprint(key);
    is_digest
}

/// Keys, each with its place.
type Items<'a> = Vec<(Place, Result<Item<'a>>)>;

/// The keys that a file holds; none for what holds one alone.
fn items(content: Content, body: &[u8]) -> Result<Option<Items<'_>>> {
    Ok(match content {
        #[cfg(feature = "jwk")]
        Content::Jwk => {
            let keys = jwk::keys(body)?.into_iter();
            Some(keys.map(|(place, key)| (place, key.map(Item::Jwk))).collect())
        }
        Content::OpensshPublic => {
            let lines = authorized_keys::lines(body);
            let items = lines.map(|(place, line)| (place, Ok(Item::Line(line))));
            let mut items: Vec<_> = items.collect();
            if let [(place, _)] = &mut items[..] {
                *place = Place::Whole;
            }
            Some(items)
        }
        _ => None,
    })
}

/// The key that is meant: the only one of RSA, or that of the name.
pub(super) fn load_one(opened: &Opened, reading: &Reading<'_>) -> Result<Loaded<Key>> {
    let Some(items) = items(opened.content, &opened.body)? else {
        let loaded = load_single(opened, reading)?;
        return match reading.name {
            Some(name) if !is_name_of(name, loaded.key.public()) => Err(unknown_name()),
            _ => Ok(loaded),
        };
    };
    let all = items.len();
    let mut candidates: Vec<Result<Item<'_>>> = items
        .into_iter()
        .map(|(_, item)| item)
        .filter(|item| match (item, reading.name) {
            (Ok(item), Some(name)) => !item.is_foreign() && item.has_name(name),
            // What cannot be read may be the key that is meant.
            (Err(_), Some(_)) => false,
            (Ok(item), None) => all == 1 || !item.is_foreign(),
            (Err(_), None) => true,
        })
        .collect();
    match (candidates.pop(), candidates.len()) {
        (Some(only), 0) => only?.load(reading),
        (None, _) if reading.name.is_some() => Err(unknown_name()),
        (None, _) => Err(unsupported(format!(
            "none of the {all} keys of this file is an RSA key; rsalab works with RSA keys only"
        ))),
        (Some(_), others) => Err(Error::Several { keys: others + 1 }),
    }
}

fn unknown_name() -> Error {
    refused("no RSA key of this file has the name that was given")
}

/// All keys, or those of the name.
pub(super) fn load_each(opened: &Opened, reading: &Reading<'_>) -> Result<Vec<Found>> {
    let Some(items) = items(opened.content, &opened.body)? else {
        let key = load_one(opened, reading)?;
        return Ok(vec![Found {
            place: Place::Whole,
            is_foreign: false,
            key: Ok(key),
            public: None,
        }]);
    };
    let is_meant = |item: &Result<Item<'_>>| match (reading.name, item) {
        (None, _) => true,
        (Some(name), Ok(item)) => item.has_name(name),
        (Some(_), Err(_)) => false,
    };
    let has_several = items.len() > 1;
    let found: Vec<Found> = items
        .into_iter()
        .filter(|(_, item)| is_meant(item))
        .map(|(place, item)| {
            let is_foreign = has_several && item.as_ref().is_ok_and(Item::is_foreign);
            let (key, public) = match item {
                Ok(item) => {
                    let key = item.load(reading);
                    let public = key.is_err().then(|| item.public_half(reading)).flatten();
                    (key, public)
                }
                Err(error) => (Err(error), None),
            };
            Found {
                place,
                is_foreign,
                key,
                public,
            }
        })
        .collect();
    match found.is_empty() {
        true => Err(unknown_name()),
        false => Ok(found),
    }
}

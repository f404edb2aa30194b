//! A key with its places, as it is saved for later audits and for other parts of one.

use std::sync::Arc;

use rsalab_rsa::format::Place;

/// The version of the format of stores.
pub(crate) const STORE_VERSION: u64 = 1;

/// A public key, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The modulus, big-endian.
    pub(crate) n: Vec<u8>,
    /// The public exponent.
    pub(crate) e: Vec<u8>,
    pub(crate) uses: Vec<Used>,
}

/// A place where a key was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// The number of the file in its audit; 0 in stores.
    pub(crate) document: u32,
    /// The file, by its name then.
    pub(crate) file: Arc<str>,
    /// The kind of its holder, in words.
    pub(crate) form: Arc<str>,
    pub(crate) place: Where,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Where {
    Whole,
    Key(u64),
    Line(u64),
    Block(u64),
    Row(u64),
}

impl From<Place> for Where {
    fn from(place: Place) -> Self {
        match place {
            Place::Key(number) => Where::Key(number as u64),
            Place::Line(number) => Where::Line(number as u64),
            Place::Block(number) => Where::Block(number as u64),
            Place::Row(number) => Where::Row(number as u64),
            _ => Where::Whole,
        }
    }
}

impl From<Where> for Place {
    fn from(place: Where) -> Self {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        match place {
            Where::Whole => Place::Whole,
            Where::Key(at) => Place::Key(number(at)),
            Where::Line(at) => Place::Line(number(at)),
            Where::Block(at) => Place::Block(number(at)),
            Where::Row(at) => Place::Row(number(at)),
        }
    }
}

/// The keys of a modulus, with its SHA-256, and whether the modulus is in the store already.
pub(crate) type Saved = ([u8; 32], Vec<Record>, bool);

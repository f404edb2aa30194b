//! Plans as TOML: read with errors that name file, line and key.

use std::{fmt, fs::File, io::Read, path::Path};

use rsalab_rsa::format::is_key_text;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor, value::SeqAccessDeserializer},
};
use toml::de::DeTable;

use super::{Engines, Host, MAX_FILE_BYTES, Message, Plan, PlanError, Threads, check::Refusal};
use crate::error::Error;

impl Plan {
    /// Reads and checks a plan file of at most [`MAX_FILE_BYTES`], or a pipe.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, [`Error::Plan`] for everything that is wrong in it.
    pub fn read(path: &Path, host: &Host) -> Result<Plan, Error> {
        let bytes = read_bytes(path).map_err(Error::io(path))?;
        let in_file = |error| PlanError {
            file: Some(path.to_owned()),
            ..error
        };
        let plan = text_of(bytes).and_then(|text| Plan::parse(&text, host));
        Ok(plan.map_err(in_file)?)
    }

    /// Parses and checks a plan; errors name the line and the key.
    pub fn parse(text: &str, host: &Host) -> Result<Plan, PlanError> {
        let plan: Plan = toml::from_str(text).map_err(|error| from_toml(text, &error))?;
        let checked = plan.check_each(host);
        checked.map_err(|refusal| located(text, refusal))?;
        Ok(plan)
    }
}

/// One byte more than allowed is enough to know: a file of any size, or a device, is never read whole.
fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn text_of(bytes: Vec<u8>) -> Result<String, PlanError> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(PlanError::new(
            "the file is longer than 1 MiB, so it is not a plan: name a TOML file with a [[grid]]",
        ));
    }
    // Messages of the parser repeat names and values.
    if is_key_text(&bytes) {
        return Err(PlanError::new(
            "the file holds a key, so it is not a plan: name a TOML file with a [[grid]]",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        PlanError {
            line: Some(line_after(before)),
            ..PlanError::new("the file is not text in UTF-8, so it is not a plan: save it as UTF-8, or name another")
        }
    })
}

fn from_toml(text: &str, error: &toml::de::Error) -> PlanError {
    let offset = error.span().map(|span| span.start);
    PlanError {
        line: offset.map(|offset| line_at(text, offset)),
        key: offset.and_then(|offset| key_before(text, offset)),
        ..PlanError::new(error.message().trim().replace('\n', "; "))
    }
}

/// The refusal with the line of its key.
fn located(text: &str, refusal: Refusal) -> PlanError {
    let key = refusal.error.key.as_deref().unwrap_or_default();
    let offset = DeTable::parse(text)
        .ok()
        .and_then(|root| offset_of_key(root.get_ref(), refusal.grid, key));
    PlanError {
        line: offset.map(|offset| line_at(text, offset)),
        ..refusal.error
    }
}

/// Where a key is set: in the grid of that index or its `measure`, else in the plan or its `[measure]`.
///
/// A grid that leaves the key to its default is itself the place.
fn offset_of_key(root: &DeTable<'_>, grid: Option<usize>, key: &str) -> Option<usize> {
    let in_table = |table: &DeTable<'_>| {
        let own = table.get_key_value(key);
        let measure = table.get("measure").and_then(|value| value.get_ref().as_table());
        own.or_else(|| measure?.get_key_value(key))
            .map(|(key, _)| key.span().start)
    };
    let grid = grid.and_then(|index| root.get("grid")?.get_ref().as_array()?.get(index));
    let in_grid = grid.and_then(|grid| in_table(grid.get_ref().as_table()?));
    in_grid
        .or_else(|| in_table(root))
        .or_else(|| grid.map(|grid| grid.span().start))
}

fn line_at(text: &str, offset: usize) -> usize {
    line_after(&text.as_bytes()[..offset.min(text.len())])
}

fn line_after(before: &[u8]) -> usize {
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// The key at `offset`, or the one that the value there belongs to: the last one set before it.
fn key_before(text: &str, offset: usize) -> Option<String> {
    let (before, from) = text.split_at_checked(offset)?;
    if let Some((key, _)) = from.split_once('=')
        && is_plain_key(key.trim())
    {
        return Some(key.trim().to_owned());
    }
    let mut lines = before.split('\n').rev();
    let own = lines.next()?;
    if own.trim_start().starts_with('[') {
        return None;
    }
    let key = [own].into_iter().chain(lines).find_map(last_key_of_line);
    key.map(str::to_owned)
}

/// The last key that is set in a line, of which an inline table has several.
fn last_key_of_line(line: &str) -> Option<&str> {
    if line.trim_start().starts_with('#') {
        return None;
    }
    line.rmatch_indices('=').find_map(|(end, _)| {
        let before = &line[..end];
        let start = before.rfind(['{', ',']).map_or(0, |comma| comma + 1);
        let key = before[start..].trim().trim_matches('"');
        is_plain_key(key).then_some(key)
    })
}

fn is_plain_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

impl Serialize for Engines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Engines::Present => serializer.serialize_str("present"),
            Engines::Named(selectors) => selectors.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Engines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = &[("present", Engines::Present)];
        deserializer.deserialize_any(WordOrList {
            what: "a list of engine names",
            words,
            list: Engines::Named,
        })
    }
}

/// The word for messages one byte shorter than the modulus.
const BYTE_SHORTER: &str = "byte-shorter";

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Message::Bits(bits) => bits.serialize(serializer),
            Message::ByteShorter => serializer.serialize_str(BYTE_SHORTER),
        }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BitsOrWord)
    }
}

struct BitsOrWord;

impl Visitor<'_> for BitsOrWord {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number of bits or \"{BYTE_SHORTER}\"")
    }

    fn visit_i64<E: de::Error>(self, bits: i64) -> Result<Message, E> {
        let bits = usize::try_from(bits);
        bits.map(Message::Bits)
            .map_err(|_| E::custom("a message cannot have less than 0 bits"))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Message, E> {
        match word {
            BYTE_SHORTER => Ok(Message::ByteShorter),
            _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
        }
    }
}

impl Serialize for Threads {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Threads::Each => serializer.serialize_str("each"),
            Threads::Doubling => serializer.serialize_str("doubling"),
            Threads::These(counts) => counts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Threads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = &[("each", Threads::Each), ("doubling", Threads::Doubling)];
        deserializer.deserialize_any(WordOrList {
            what: "a list of thread counts",
            words,
            list: Threads::These,
        })
    }
}

/// Reads either one of a few words or a list, and says so when it gets something else.
struct WordOrList<'a, T, E> {
    what: &'a str,
    words: &'a [(&'static str, T)],
    list: fn(Vec<E>) -> T,
}

impl<'de, T: Clone, E: Deserialize<'de>> Visitor<'de> for WordOrList<'_, T, E> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        self.words.iter().try_for_each(|(word, _)| write!(f, " or \"{word}\""))
    }

    fn visit_str<X: de::Error>(self, text: &str) -> Result<T, X> {
        let known = self
            .words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| value.clone());
        known.ok_or_else(|| X::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(self.list)
    }
}

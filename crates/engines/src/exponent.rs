//! The public exponent of a job: a number, or one drawn with the key.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The public exponent that a job's keys have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Exponent {
    /// This one: odd, at least 3.
    Fixed(u64),
    /// One drawn with each key: uniform between 1 and φ(n) and prime to it, so nearly as long as the modulus.
    Random,
}

/// The word for a random exponent in plans, files and on the wire.
const RANDOM: &str = "random";

impl Exponent {
    /// The exponent of nearly every key in use (2^16 + 1).
    pub const F4: Exponent = Exponent::Fixed(65_537);

    /// The number, where it is fixed.
    pub fn fixed(self) -> Option<u64> {
        match self {
            Exponent::Fixed(exponent) => Some(exponent),
            Exponent::Random => None,
        }
    }

    /// Returns whether a key can have it.
    pub fn is_possible(self) -> bool {
        match self {
            Exponent::Fixed(exponent) => exponent >= 3 && !exponent.is_multiple_of(2),
            Exponent::Random => true,
        }
    }
}

impl fmt::Display for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exponent::Fixed(exponent) => exponent.fmt(f),
            Exponent::Random => f.write_str(RANDOM),
        }
    }
}

impl Serialize for Exponent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Exponent::Fixed(exponent) => serializer.serialize_u64(*exponent),
            Exponent::Random => serializer.serialize_str(RANDOM),
        }
    }
}

impl<'de> Deserialize<'de> for Exponent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrWord)
    }
}

struct NumberOrWord;

impl de::Visitor<'_> for NumberOrWord {
    type Value = Exponent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a public exponent such as 65537, or \"{RANDOM}\"")
    }

    fn visit_u64<E: de::Error>(self, exponent: u64) -> Result<Exponent, E> {
        Ok(Exponent::Fixed(exponent))
    }

    /// TOML has signed integers only.
    fn visit_i64<E: de::Error>(self, exponent: i64) -> Result<Exponent, E> {
        let unsigned = u64::try_from(exponent);
        unsigned
            .map(Exponent::Fixed)
            .map_err(|_| E::invalid_value(de::Unexpected::Signed(exponent), &self))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Exponent, E> {
        match word {
            RANDOM => Ok(Exponent::Random),
            _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_survive_the_pipe() {
        for (exponent, written) in [(Exponent::F4, "65537"), (Exponent::Random, "\"random\"")] {
            let sent = serde_json::to_string(&exponent).unwrap();
            assert_eq!(sent, written);
            assert_eq!(serde_json::from_str::<Exponent>(&sent).unwrap(), exponent);
        }
        for wrong in ["-3", "\"any\"", "1.5", "null"] {
            assert!(serde_json::from_str::<Exponent>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn even_ones_and_small_ones_are_impossible() {
        for exponent in [0, 1, 2, 65_536, u64::MAX - 1] {
            assert!(!Exponent::Fixed(exponent).is_possible(), "{exponent}");
        }
        for exponent in [Exponent::Fixed(3), Exponent::Fixed(u64::MAX), Exponent::Random] {
            assert!(exponent.is_possible(), "{exponent}");
        }
    }
}

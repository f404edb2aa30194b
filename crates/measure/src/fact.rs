//! Something about the machine that is known, or is not for a reason.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value, or why it is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// This is so.
    Known(T),
    /// It could not be found out; the reason is a sentence without a full stop.
    Unknown(String),
}

impl<T> Fact<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::Unknown(_) => None,
        }
    }

    /// The value in words, or why there is none.
    pub fn describe(&self, words: impl FnOnce(&T) -> String) -> String {
        match self {
            Fact::Known(value) => words(value),
            Fact::Unknown(reason) => format!("not known: {reason}"),
        }
    }
}

impl<T, E: fmt::Display> From<Result<T, E>> for Fact<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Fact::Known(value),
            Err(reason) => Fact::Unknown(reason.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_survive_json_with_their_reasons() {
        let known: Fact<u32> = Ok::<_, String>(7).into();
        let unknown: Fact<u32> = Err("there is no such file").into();
        assert_eq!(serde_json::to_string(&known).unwrap(), r#"{"known":7}"#);
        for fact in [&known, &unknown] {
            let json = serde_json::to_string(fact).unwrap();
            assert_eq!(serde_json::from_str::<Fact<u32>>(&json).unwrap(), *fact);
        }
        assert_eq!((known.known(), unknown.known()), (Some(&7), None));
        assert_eq!(known.describe(u32::to_string), "7");
        assert_eq!(unknown.describe(u32::to_string), "not known: there is no such file");
    }
}

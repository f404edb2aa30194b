//! An engine as a user names it, and the answer to a name that none has.

use std::fmt;

use super::table::{Entry, engines};

/// An engine, and one of its variants if one was asked for: `gmp:powm_sec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The engine.
    pub engine: Entry,
    /// The variant, as [`Job::variant`](crate::Job::variant) takes it.
    pub variant: Option<String>,
}

impl Selector {
    /// Reads `NAME` or `NAME:VARIANT` of an engine of this version.
    /// [`Registry::select`](crate::Registry::select) knows the user's own too.
    ///
    /// # Errors
    /// A name that none of them has.
    pub fn parse(text: &str) -> Result<Self, UnknownEngine> {
        Selector::among(engines(), text)
    }

    pub(super) fn among(engines: &[Entry], text: &str) -> Result<Self, UnknownEngine> {
        let (name, variant) = match text.split_once(':') {
            Some((name, variant)) => (name, Some(variant.to_owned())),
            None => (text, None),
        };
        if variant.as_deref() == Some("") {
            return Err(UnknownEngine::new(engines, text));
        }
        match engines.iter().find(|entry| entry.name == name) {
            Some(engine) => Ok(Selector {
                engine: engine.clone(),
                variant,
            }),
            None => Err(UnknownEngine::new(engines, name)),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => f.pad(&format!("{}:{variant}", self.engine.name)),
            None => f.pad(&self.engine.name),
        }
    }
}

/// A name that no engine has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine '{name}'; {advice}")]
pub struct UnknownEngine {
    /// The name given.
    pub name: String,
    /// An engine of nearly that name.
    pub closest: Option<String>,
    /// That name, or all of them.
    advice: String,
}

impl UnknownEngine {
    fn new(engines: &[Entry], name: &str) -> Self {
        let names: Vec<&str> = engines.iter().map(|entry| entry.name.as_str()).collect();
        let closest = closest(name, names.iter().copied()).map(str::to_owned);
        UnknownEngine {
            name: name.to_owned(),
            advice: match &closest {
                Some(name) => format!("did you mean '{name}'?"),
                None => format!("there are {}", names.join(", ")),
            },
            closest,
        }
    }
}

/// The name most like a mistyped one, if any is like it at all.
pub fn closest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LEAST_LIKENESS: f64 = 0.7;
    let typed = typed.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&typed, name), name))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| name)
}

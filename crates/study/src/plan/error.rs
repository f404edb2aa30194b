//! Why a plan is refused.

use std::{borrow::Cow, fmt, path::PathBuf};

/// Why a plan was refused: what, where, and what to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct PlanError {
    /// The file, where the plan came from one.
    pub file: Option<PathBuf>,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// The key that is wrong.
    pub key: Option<String>,
    /// A plain sentence.
    pub message: String,
}

impl PlanError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        PlanError {
            message: message.into(),
            ..PlanError::default()
        }
    }

    pub(crate) fn at(key: impl Into<String>, message: impl Into<String>) -> Self {
        PlanError {
            key: Some(key.into()),
            ..PlanError::new(message)
        }
    }

    /// An error about a key, unless something holds.
    pub(crate) fn unless(holds: bool, key: &str, message: impl Into<String>) -> Result<(), PlanError> {
        match holds {
            true => Ok(()),
            false => Err(PlanError::at(key, message)),
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = [
            self.file.as_ref().map(|file| file.display().to_string()),
            self.line.map(|line| format!("line {line}")),
            self.key.as_ref().map(|key| format!("key '{}'", shortened(key, 80))),
        ];
        let place: Vec<String> = place.into_iter().flatten().collect();
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        f.write_str(&shortened(&self.message, 600))
    }
}

/// A file that is no plan can have a key or a value of a megabyte.
fn shortened(text: &str, most_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most_chars) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

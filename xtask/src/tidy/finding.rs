//! A finding of a rule.

use std::{fmt, path::PathBuf};

/// One breach of a rule, with the place to mend.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: PathBuf,
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(path: impl Into<PathBuf>, line: impl Into<Option<usize>>, message: impl Into<String>) -> Self {
        Finding {
            path: path.into(),
            line: line.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

//! Lists of known keys, as a user names them.

use std::path::PathBuf;

use rsalab_audit::known::{ListError, Lists};

use crate::exit::{Class, Failure, Result};

/// The lists that are installed, and those named.
pub(crate) fn open(named: &[PathBuf]) -> Result<Lists> {
    Lists::open(named).map_err(|error| match error {
        ListError::Io { path, source } => Failure::io(format!("cannot read {}", path.display()), source),
        error @ ListError::Empty { .. } => {
            Failure::new(Class::Input, error.to_string()).advice("their names begin with 'blacklist.'")
        }
        error @ ListError::Line { .. } => Failure::new(Class::Input, error.to_string())
            .advice("each line has 20 hexadecimal digits (Debian's lists) or 64 (SHA-256), or begins with '#'"),
        error => Failure::new(Class::Input, error.to_string()).advice("name a list of known keys"),
    })
}

//! Why a table in Parquet is not read.

use std::io;

use super::values::Damaged;
use crate::{issue::Issue, source::piece::Body};

/// Why a table, or a part of it, is not read.
#[derive(Debug)]
pub(super) enum Fault {
    /// The system says so.
    Io(io::Error),
    Damaged,
    /// It is, or has, something that is not read here: the predicate of a sentence about the table.
    NotRead(String),
    /// It has no column of moduli, as most tables: the predicate of a sentence about the table.
    NoColumn(String),
}

impl From<Damaged> for Fault {
    fn from(_: Damaged) -> Self {
        Fault::Damaged
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

impl Fault {
    /// As the body of a piece, with the part of the table where it is.
    pub(super) fn body(self, part: &str) -> Body {
        let not_examined = |what: String| Issue::new("not-examined", format!("this table {what}"));
        Body::Issue(match self {
            Fault::Io(error) => Issue::new("not-read", error.to_string()),
            Fault::Damaged => Issue::new("unreadable", format!("this table is cut or damaged in {part}")),
            Fault::NotRead(what) => not_examined(what),
            Fault::NoColumn(what) => return Body::Unread(not_examined(what)),
        })
    }
}

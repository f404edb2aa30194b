//! Files, and what is in them.
//!
//! | question | file |
//! |---|---|
//! | which files are there | `inventory` |
//! | what kind of file is it, and in which pieces is it read | `reader` |
//! | which keys are in a piece | `content` |
//! | what is on a line | `line` |
//! | how do DNS records hold keys | `dns` |
//! | what does the manifest of a folder say | `manifest` |

mod content;
mod dns;
mod inventory;
mod line;
mod manifest;
mod reader;

pub(crate) use content::{Item, content};
pub use inventory::Inventory;
pub(crate) use inventory::{Entry, looks_like_key};
pub(crate) use manifest::Promise;
pub(crate) use reader::{Body, Document, Piece, Reader, Sink};

//! Files, and what is in them.
//!
//! | question | file |
//! |---|---|
//! | which files are there | `inventory` |
//! | what kind of file is it, and in which pieces is it read | `reader` |
//! | what is a piece | `piece` |
//! | how are lines and cells kept | `texts` |
//! | which lines are one | `lines` |
//! | how is a table with delimiters read | `csv` |
//! | how is a table in Parquet read | `parquet` |
//! | which keys are in a piece | `content` |
//! | what is on a line | `line` |
//! | what number do digits name | `digits` |
//! | how do DNS records hold keys | `dns` |
//! | what does the manifest of a folder say | `manifest` |

mod content;
mod csv;
mod digits;
mod dns;
mod inventory;
mod line;
mod lines;
mod manifest;
mod parquet;
mod piece;
mod reader;
mod texts;

pub(crate) use content::{Item, content};
pub use inventory::Inventory;
pub(crate) use inventory::{Entry, looks_like_key};
pub(crate) use manifest::Promise;
pub(crate) use piece::{Body, Document, Piece, Sink};
pub(crate) use reader::Reader;

//! The barometer: measurements of many machines, each an entry that whoever measured it sends, and that is verified
//! before it is listed.
//!
//! | question | file |
//! |---|---|
//! | what an entry holds, and how it is written and read | `entry` |
//! | what is checked of one, in which order | `verify` |
//! | the names and sentences of refusals | `refusal` |
//! | does a CPU's name belong to its numbers | `cpus` |
//! | what no CPU can do | `peak` |
//! | what is known of engines relative to each other, and is it so | `known`, `ratios` |
//! | the page that lists entries | `page` |
//!
//! An entry holds every sample that its figures are made of, so that the figures are computed again, and not believed.
//! The book's page on the barometer says what verification cannot prove.

mod cpus;
mod entry;
mod known;
mod page;
mod peak;
mod ratios;
mod refusal;
#[cfg(test)]
mod tests;
mod verify;

pub use entry::{Cell, Entry, EntryError, FORMAT, Group, MAX_BYTES, Program, Session, Stated};
pub use page::markdown;
pub use refusal::{Check, Refusal};
pub use verify::{KnownProgram, known_programs, verify};

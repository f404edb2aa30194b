//! Finds, among many RSA keys, those that are weak, broken or damaged, and those that share a prime.
//!
//! | question | file |
//! |---|---|
//! | what can be found, how bad is it, what is to be done, who found it first | [`rule`] |
//! | what is wrong with one key | [`key`], [`Issue`] |
//! | which keys are known | [`known`] |
//! | what do keys show together | [`sharing`] |
//! | which moduli share a factor, in parts, in little memory, after a kill | `search`, `scratch` |
//! | which share one with keys that were audited before | [`Store`] |
//! | which files are there, and what is in them | `source` |
//! | how is all of it done, on threads | [`Audit`], [`Options`], `registry` |
//! | what becomes of it: a report, keys to be saved | [`Examined`] |
//! | how do parts become a whole | [`Part`] |
//! | what was found | [`Finding`], [`Report`] |
//! | how is it written for other programs | [`report`] |
//!
//! Nothing secret is in a finding, and nothing of what a file holds but names and numbers that are public.
#![forbid(unsafe_code)]

mod audit;
mod error;
mod estimate;
mod examined;
mod finding;
mod issue;
pub mod key;
pub mod known;
mod options;
mod part;
mod record;
mod registry;
pub mod report;
pub mod rule;
mod scratch;
mod search;
pub mod sharing;
mod source;
mod store;
mod threads;

pub use audit::Audit;
pub use error::AuditError;
pub use estimate::Estimate;
pub use examined::Examined;
pub use finding::{Finding, KeyName, Location, Report, SharedSecret, Summary};
pub use issue::Issue;
pub use options::{Options, Progress};
pub use part::{Part, PartError};
pub use rule::{RULES, Rule, Severity};
pub use search::Share;
pub use source::Inventory;
pub use store::Store;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

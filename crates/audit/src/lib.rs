//! Finds, among many RSA keys, those that are weak, broken or damaged, and those that share a prime.
//!
//! | question | file |
//! |---|---|
//! | what can be found, how bad is it, what is to be done, who found it first | [`rule`] |
//! | what is wrong with one key | [`key`], [`Issue`] |
//! | which keys are known | [`known`] |
//! | what do keys show together | [`sharing`] |
//! | which files are there, and what is in them | `source` |
//! | how is all of it done, on threads | [`Audit`], `registry` |
//! | what was found | [`Finding`], [`Report`] |
//! | how is it written for other programs | [`report`] |
//!
//! Nothing secret is in a finding, and nothing of what a file holds but names and numbers that are public.
#![forbid(unsafe_code)]

mod audit;
mod estimate;
mod finding;
mod issue;
pub mod key;
pub mod known;
mod registry;
pub mod report;
pub mod rule;
pub mod sharing;
mod source;

pub use audit::{Audit, Options, Progress};
pub use estimate::Estimate;
pub use finding::{Finding, KeyName, Location, Report, SharedSecret, Summary};
pub use issue::Issue;
pub use rule::{RULES, Rule, Severity};
pub use source::Inventory;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

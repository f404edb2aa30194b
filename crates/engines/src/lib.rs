//! Engines: everything that can be asked to do RSA and be timed at it.
//!
//! | question | file |
//! |---|---|
//! | what can be asked of an engine | [`op`], [`job`] |
//! | what an engine must offer | [`engine`] |
//! | under which conditions a figure was obtained | [`ledger`] |
//! | what coordinator and worker say to each other | [`protocol`] |
//! | how the coordinator talks to a worker | [`client`] |
//! | how a worker answers, and what runs and times its threads | [`worker`], `harness` |
//! | what is an engine given to do, and was it right | [`inputs`](inputs()), [`verify`](verify()) |
//! | which engines there are and where | [`registry`] |
//! | what an engine is built from | [`kit`] |
//! | what is given to a search for primes, so that chance has no part | [`candidates`] |
//! | what is signed | [`padding`] |
//! | does an engine do what it says | [`conformance`] |
//! | our own engines | [`own`], [`textbook`], [`gpu`]; what stands on a backend: `backed` |
#![forbid(unsafe_code)]

mod backed;
pub mod candidates;
pub mod client;
pub mod conformance;
pub mod engine;
mod exponent;
pub mod gpu;
mod harness;
mod inputs;
pub mod job;
pub mod kit;
pub mod ledger;
pub mod loading;
mod number;
pub mod op;
pub mod own;
pub mod padding;
pub mod protocol;
pub mod registry;
mod study_keys;
pub mod textbook;
mod verify;
pub mod worker;

pub use client::{Limits, Session, SessionError, Worker};
pub use engine::{Engine, EngineError, EngineInfo, Prepared, RunStats, Runner, check_blocks, check_items};
pub use exponent::Exponent;
pub use gpu::OnDevice;
pub use inputs::{inputs, inputs_under, of_text};
pub use job::{Job, Mode, StudyKey, StudyPrime};
pub use ledger::{Ledger, Reason};
pub use op::{Layout, Op};
pub use own::Own;
pub use protocol::{BlockReport, Fault, FaultKind, PartTrace, Readiness};
pub use registry::{Absent, Location, Registry, Selector, UnknownEngine};
pub use textbook::Textbook;
pub use verify::{WrongAnswer, verify, verify_no_prime_twice, verify_under};

/// `true` if this program was built to be measured.
pub const OPTIMISED: bool = rsalab_measure::machine::Build::THIS_IS_OPTIMISED;

//! One suite that every engine passes: the same inputs, the same edges, the same refusals.
//!
//! It talks to a [`Session`](crate::client::Session), so that it is the worker that is tried, with its protocol and its
//! threads, and not only the arithmetic behind it. Outputs are verified without any engine
//! ([`verify`](crate::verify())). An operation that the engine does not offer is skipped, with the reason it gives.
//!
//! | question | file |
//! |---|---|
//! | how much is run | `scope` |
//! | how much of it the environment asks for | `length` |
//! | what was tried, and how it went | `case` |
//! | what is tried, in order | `run` |
//! | what is tried of raw blocks, signatures, keys and primes | `blocks`, `signatures`, `keys` |
//! | what all of them need: a job, its outputs, a verdict | `suite` |
//! | the tests of a peer, as a macro | `peer`, [`conformance_tests!`](crate::conformance_tests) |

mod blocks;
mod case;
mod keys;
mod length;
mod peer;
mod run;
mod scope;
mod signatures;
mod suite;

pub use case::{Case, ConformanceError, Outcome};
pub use peer::{Peer, assert_worker_conforms, check_lengths, test_seed};
pub use run::run;
pub use scope::Scope;

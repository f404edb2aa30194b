//! One question of the suite and its answer.

use serde::{Deserialize, Serialize};

use crate::{client::SessionError, op::Op};

/// One question of the suite and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The operation.
    pub op: Op,
    /// Bits of the modulus.
    pub bits: usize,
    /// The test that was tried.
    pub name: String,
    /// How it went.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Case {
    /// Returns whether it tries something special, rather than random inputs or whatever keys come out.
    pub fn is_edge(&self) -> bool {
        self.name != RANDOM_INPUTS && self.name != VALIDITY
    }
}

pub(super) const RANDOM_INPUTS: &str = "random inputs";
pub(super) const VALIDITY: &str = "validity";

/// How a case went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// As it should.
    Passed {
        /// Answers that were looked at.
        answers: usize,
    },
    /// Not tried: the engine does not offer it.
    Skipped {
        /// The engine's words.
        reason: String,
    },
    /// Otherwise.
    Failed {
        /// The mistake.
        what: String,
    },
}

/// Why a suite was broken off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConformanceError {
    /// The worker is gone.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// There is no key to try.
    #[error(transparent)]
    Key(#[from] rsalab_rsa::Error),
}

//! Answers, and what ends the work on a request early.

use rsalab_rsa::Error;
use serde::Serialize;
use serde_json::error::Category;

use crate::{exit::Failure, output};

pub(super) struct Answer {
    /// As JSON, letter by letter as it came; none is null.
    pub(super) id: Option<String>,
    pub(super) outcome: Outcome,
}

impl Answer {
    /// The answer as JSON, on one line.
    pub(super) fn line(&self) -> String {
        let id = self.id.as_deref().unwrap_or("null");
        let outcome = output::line(&self.outcome);
        format!("{{\"id\":{id},{}", outcome.trim_start_matches('{'))
    }
}

#[derive(Clone, Serialize)]
pub(super) struct Outcome {
    result: Verdict,
    /// In hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Accept,
    Reject,
    Unsupported,
}

impl Outcome {
    fn new(result: Verdict, out: Option<String>, reason: Option<String>) -> Outcome {
        Outcome { result, out, reason }
    }

    pub(super) fn accept(out: Option<&[u8]>) -> Outcome {
        Outcome::new(Verdict::Accept, out.map(hex::encode), None)
    }

    pub(super) fn reject(reason: impl Into<String>) -> Outcome {
        Outcome::new(Verdict::Reject, None, Some(reason.into()))
    }

    pub(super) fn unsupported(reason: impl Into<String>) -> Outcome {
        Outcome::new(Verdict::Unsupported, None, Some(reason.into()))
    }

    pub(super) fn of(is_accepted: bool, reason: &str) -> Outcome {
        match is_accepted {
            true => Outcome::accept(None),
            false => Outcome::reject(reason),
        }
    }
}

/// Ends of the work on a request before it is a job.
pub(super) enum Early {
    /// The line is no request.
    Malformed(String),
    /// The answer is known.
    Answered(Outcome),
    /// Nothing can go on.
    Failed(Failure),
}

impl From<Outcome> for Early {
    fn from(outcome: Outcome) -> Self {
        Early::Answered(outcome)
    }
}

/// The library failed at a request that was well formed.
pub(super) fn failed(error: Error) -> Failure {
    Failure::step("the requests could not be answered", error)
}

/// The fault of a line, without anything of it.
pub(super) fn fault(error: &serde_json::Error) -> String {
    let column = error.column();
    match error.classify() {
        Category::Eof => format!("it ends too early, at column {column}"),
        Category::Data => {
            format!("a member before column {column} has another type than it takes, is there twice, or is missing")
        }
        Category::Syntax | Category::Io => format!("it is not JSON at column {column}"),
    }
}

/// A size that is not supported is an answer; anything else is a failure.
pub(super) fn refused_or_failed(error: Error) -> Early {
    match error {
        Error::KeySize { .. } => Outcome::unsupported(error.to_string()).into(),
        error => Early::Failed(failed(error)),
    }
}

//! Why a conversation with a worker failed.

use std::time::Duration;

use crate::protocol::Fault;

/// Why a conversation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The worker refused or failed this request, and is ready for the next.
    #[error(transparent)]
    Fault(Fault),
    /// The program could not be started.
    #[error("the worker {program} could not be started: {reason}")]
    Start {
        /// The program.
        program: String,
        /// The reason, as the system gave it.
        reason: String,
    },
    /// No answer within the time limit; the worker has been killed.
    #[error("the worker '{engine}' did not answer '{request}' within {after:?} and was stopped")]
    Hung {
        /// The engine.
        engine: String,
        /// The request that was not answered.
        request: &'static str,
        /// The time limit.
        after: Duration,
    },
    /// The worker ended in the middle of a conversation.
    #[error("the worker '{engine}' died while it worked on '{request}' ({status}){}", said(.stderr))]
    Died {
        /// The engine.
        engine: String,
        /// The request that was not answered.
        request: &'static str,
        /// Its exit status or signal.
        status: String,
        /// The end of what it said on standard error.
        stderr: String,
    },
    /// The coordinator was asked to stop while it waited; the worker has been killed.
    #[error("the worker '{engine}' was stopped while it worked on '{request}'")]
    Stopped {
        /// The engine.
        engine: String,
        /// The request that was not answered.
        request: &'static str,
    },
    /// The worker said something that the protocol does not allow; it has been killed.
    #[error("the worker '{engine}' broke the protocol at '{request}': {what}")]
    Protocol {
        /// The engine.
        engine: String,
        /// The request.
        request: &'static str,
        /// The mistake.
        what: String,
    },
}

impl SessionError {
    /// Returns whether the worker is gone, so that a new one must be started.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, SessionError::Fault(_))
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("; it said: {stderr}")
    }
}

/// The beginning of a line, fit for a message.
pub(super) fn excerpt(line: &[u8]) -> String {
    const LENGTH: usize = 120;
    let text = String::from_utf8_lossy(&line[..line.len().min(LENGTH)]);
    let mut text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() > LENGTH {
        text.push('…');
    }
    text
}

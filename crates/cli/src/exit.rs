//! How the program ends: the classes of failure, their exit codes, and how a failure is told.

use std::{error::Error, fmt, io};

use rsalab_study::ErrorClass;

/// What kind of failure ended the program; each has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A defect of the program.
    Internal,
    /// The command line, or a plan, asks for something that does not exist or makes no sense.
    Usage,
    /// A key or an input is not what it should be.
    Input,
    /// An answer was wrong, or a text could not be decrypted.
    Verification,
    /// Reading or writing failed.
    Io,
    /// An engine, a device or a feature of the CPU is not there.
    Unavailable,
    /// The database of a study is damaged, foreign, newer, or in use.
    Database,
    /// A signal, after everything had been saved.
    Signal(i32),
    /// Whoever read standard output has had enough: no failure, and nothing to say.
    ReaderGone,
}

impl Class {
    /// The exit code, as `rsalab --help` lists it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Class::ReaderGone => 0,
            Class::Internal => 1,
            Class::Usage => 2,
            Class::Input => 3,
            Class::Verification => 4,
            Class::Io => 5,
            Class::Unavailable => 6,
            Class::Database => 7,
            Class::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
    }
}

/// Why a command did not do what it was asked: what, where, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    class: Class,
    what: String,
    cause: Option<Box<dyn Error>>,
    advice: Option<String>,
}

impl Failure {
    /// A failure told in one sentence that says what and where.
    pub(crate) fn new(class: Class, what: impl Into<String>) -> Self {
        Failure {
            class,
            what: what.into(),
            cause: None,
            advice: None,
        }
    }

    /// Adds the error of the floor below, whose own causes are told too.
    pub(crate) fn because(self, cause: impl Into<Box<dyn Error>>) -> Self {
        Failure {
            cause: Some(cause.into()),
            ..self
        }
    }

    /// Adds what to do about it.
    pub(crate) fn advice(self, advice: impl Into<String>) -> Self {
        Failure {
            advice: Some(advice.into()),
            ..self
        }
    }

    /// What kind of failure it is.
    pub(crate) fn class(&self) -> Class {
        self.class
    }

    /// Reading or writing something failed. A closed pipe is no failure.
    pub(crate) fn io(what: impl Into<String>, error: io::Error) -> Self {
        let class = match error.kind() {
            io::ErrorKind::BrokenPipe => Class::ReaderGone,
            _ => Class::Io,
        };
        Failure::new(class, what).because(error)
    }
}

impl From<rsalab_study::Error> for Failure {
    fn from(error: rsalab_study::Error) -> Self {
        let class = match error.class() {
            ErrorClass::Usage => Class::Usage,
            ErrorClass::InputOutput => Class::Io,
            ErrorClass::Database => Class::Database,
        };
        Failure::new(class, error.to_string())
    }
}

/// One line for what and why, one for the advice.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let mut told = self.what.clone();
        let mut next: Option<&dyn Error> = self.cause.as_deref();
        while let Some(cause) = next {
            let sentence = cause.to_string();
            // Some errors repeat their cause in their own sentence.
            if !told.contains(&sentence) {
                write!(f, ": {sentence}")?;
                told.push_str(&sentence);
            }
            next = cause.source();
        }
        match &self.advice {
            Some(advice) => write!(f, "\n{advice}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_documented_ones() {
        let codes = [
            Class::Internal,
            Class::Usage,
            Class::Input,
            Class::Verification,
            Class::Io,
            Class::Unavailable,
            Class::Database,
            Class::Signal(2),
            Class::Signal(15),
        ]
        .map(Class::code);
        assert_eq!(codes, [1, 2, 3, 4, 5, 6, 7, 130, 143]);
    }

    #[test]
    fn a_failure_tells_what_why_and_what_to_do() {
        let cause = io::Error::new(io::ErrorKind::NotFound, "no such file");
        let failure = Failure::io("cannot read key.pem", cause).advice("name the file of a key");
        assert_eq!(failure.class(), Class::Io);
        assert_eq!(
            failure.to_string(),
            "cannot read key.pem: no such file\nname the file of a key"
        );
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let failure = Failure::io("cannot write", io::ErrorKind::BrokenPipe.into());
        assert_eq!(failure.class().code(), 0);
    }
}

//! How the program ends: the classes of failure, their exit codes, and how a failure is told.

use std::{borrow::Cow, error::Error, fmt, io};

use rsalab_study::{ErrorClass, store::StoreError};

use crate::output::printable;

/// What kind of failure ended the program; each has its exit code. Of several in one command the last in this order decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// The command line, or a plan, asks for something that does not exist or makes no sense.
    Usage,
    /// The database of a study is damaged, foreign, newer, or in use.
    Database,
    /// An engine, a device, a feature of the CPU, a thread or randomness is not there.
    Unavailable,
    /// Reading or writing failed.
    Io,
    /// A key or an input is not what it should be.
    Input,
    /// An answer was wrong, or a text could not be decrypted.
    Verification,
    /// A defect of the program.
    Internal,
    /// A signal, after everything had been saved.
    Signal(i32),
}

impl Class {
    /// The exit code, as `rsalab --help` lists it.
    pub(crate) fn code(self) -> u8 {
        match self {
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
    cause: Option<Box<dyn Error + Send + Sync>>,
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
    pub(crate) fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
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

    /// The same failure, as the first of several.
    pub(crate) fn among(self, several: &str) -> Self {
        Failure {
            what: format!("{several}: {}", self.what),
            ..self
        }
    }

    /// The error of the layer below, where it is one of these.
    pub(crate) fn cause_as<E: Error + 'static>(&self) -> Option<&E> {
        self.cause.as_deref()?.downcast_ref()
    }

    /// What kind of failure it is.
    pub(crate) fn class(&self) -> Class {
        self.class
    }

    /// What happened, and why, on one line.
    pub(crate) fn sentence(&self) -> String {
        let mut sentence = self.what.clone();
        let mut next = self.cause.as_deref().map(|cause| cause as &dyn Error);
        while let Some(cause) = next {
            let why = cause.to_string();
            // Some errors repeat their cause in their own sentence.
            if !sentence.contains(&why) {
                sentence += ": ";
                sentence += &why;
            }
            next = cause.source();
        }
        printable(&shortened(&sentence))
    }

    /// Adds what to do about it, unless that is known already.
    pub(crate) fn or_advice(self, advice: impl Into<String>) -> Self {
        match self.advice {
            Some(_) => self,
            None => self.advice(advice),
        }
    }

    /// Reading or writing something failed, with what helps against it.
    pub(crate) fn io(what: impl Into<String>, error: io::Error) -> Self {
        let failure = Failure {
            advice: remedy(error.kind()).map(str::to_owned),
            ..Failure::new(Class::Io, what)
        };
        // An error from tempfile names the draft, which is a name that nobody knows.
        match error.get_ref() {
            Some(_) if error.kind() != io::ErrorKind::Other => {
                failure.because(error.kind().to_string())
            }
            _ => failure.because(error),
        }
    }
}

/// What helps when the system refuses to read or write; none where nothing can be said in general.
fn remedy(kind: io::ErrorKind) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    Some(match kind {
        Kind::NotFound => "check the name, and that the directory it is in is there",
        Kind::PermissionDenied => "name another place, or have its permissions changed",
        Kind::ReadOnlyFilesystem => "name a place that can be written to",
        Kind::StorageFull | Kind::QuotaExceeded => "make room, or name a place on another disk",
        Kind::IsADirectory => "name a file: this is a directory",
        Kind::NotADirectory | Kind::AlreadyExists => {
            "name a directory: this, or what it should lie in, is something else"
        }
        Kind::InvalidFilename => "choose a shorter name",
        Kind::FileTooLarge => {
            "raise the limit on the size of files ('ulimit -f'), or name a place on another disk"
        }
        Kind::BrokenPipe => "have all of it read, or name a file with --out",
        _ => return None,
    })
}

/// An operation with a key that had been validated.
impl From<rsalab_rsa::Error> for Failure {
    fn from(error: rsalab_rsa::Error) -> Self {
        let class = match error {
            rsalab_rsa::Error::Scheme { .. } => Class::Usage,
            rsalab_rsa::Error::Randomness { .. } => Class::Unavailable,
            _ => Class::Internal,
        };
        Failure::new(class, error.to_string())
    }
}

/// Blocks raised over threads.
impl From<rsalab_text::Error> for Failure {
    fn from(error: rsalab_text::Error) -> Self {
        match error {
            rsalab_text::Error::Rsa(error) => error.into(),
            rsalab_text::Error::Threads { .. } => {
                Failure::new(Class::Unavailable, error.to_string())
            }
            _ => Failure::new(Class::Internal, error.to_string()),
        }
    }
}

impl From<rsalab_study::Error> for Failure {
    fn from(error: rsalab_study::Error) -> Self {
        let class = match error.class() {
            ErrorClass::Usage => Class::Usage,
            ErrorClass::InputOutput => Class::Io,
            ErrorClass::Database => Class::Database,
        };
        match error {
            rsalab_study::Error::Io { path, source }
            | rsalab_study::Error::Store(StoreError::Io { path, source }) => {
                Failure::io(format!("cannot use {}", path.display()), source)
            }
            rsalab_study::Error::Store(StoreError::Full(path)) => Failure::io(
                format!("cannot write {}", path.display()),
                io::ErrorKind::StorageFull.into(),
            ),
            error => Failure::new(class, error.to_string()),
        }
    }
}

/// One line for what and why, one for the advice.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        match &self.advice {
            Some(advice) => write!(f, "\n{}", printable(&shortened(advice))),
            None => Ok(()),
        }
    }
}

/// A sentence that a terminal shows whole: the names in it are a user's, and may have any length.
fn shortened(sentence: &str) -> Cow<'_, str> {
    const MOST_CHARS: usize = 1500;
    match sentence.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &sentence[..end])),
        None => Cow::Borrowed(sentence),
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
        let cause = io::Error::from_raw_os_error(2);
        let failure = Failure::io("cannot read key.pem", cause).advice("name the file of a key");
        assert_eq!(failure.class(), Class::Io);
        assert_eq!(
            failure.to_string(),
            "cannot read key.pem: No such file or directory (os error 2)\nname the file of a key"
        );
    }

    #[test]
    fn what_the_system_refuses_comes_with_a_remedy_and_without_names_of_drafts() {
        let draft = tempfile::Builder::new().tempfile_in("/no/such/directory");
        let failure = Failure::io("cannot make key.pem", draft.expect_err("it is not there"));
        let told = failure.to_string();
        assert!(
            told.starts_with("cannot make key.pem: entity not found\n"),
            "{told}"
        );
        assert!(
            told.ends_with("\ncheck the name, and that the directory it is in is there"),
            "{told}"
        );
    }

    #[test]
    fn names_cannot_break_a_line_or_go_on_for_ever() {
        let failure =
            Failure::new(Class::Io, "cannot read a\nb\u{1b}[31m").advice("x".repeat(9999));
        let told = failure.to_string();
        assert!(
            told.starts_with("cannot read a\\nb\\u{1b}[31m\nxx"),
            "{told}"
        );
        assert_eq!(told.lines().count(), 2);
        assert!(told.chars().count() < 2000);
    }
}

//! How the program ends: the classes of failure, their exit codes, and the message that a failure prints.

use std::{error::Error, fmt, io};

use rsalab_study::{ErrorClass, number, part::ManifestError, store::StoreError};

use crate::printable::printable;

/// Kinds of failure that end the program; each has its exit code. Of several in one command the last in this order
/// decides.
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
    /// The class of an error of the library. The one place that maps these to exit codes; where a step knows better (a
    /// size that was typed, not read from a key), it says so itself.
    pub(crate) fn of(error: &rsalab_rsa::Error) -> Class {
        use rsalab_rsa::Error as E;
        match error {
            E::Scheme { .. } => Class::Usage,
            E::Randomness { .. } => Class::Unavailable,
            E::InvalidKey { .. }
            | E::KeySize { .. }
            | E::Format { .. }
            | E::Unsupported { .. }
            | E::Several { .. }
            | E::PasswordMissing
            | E::PasswordWrong
            | E::Restricted { .. } => Class::Input,
            _ => Class::Internal,
        }
    }

    /// The class of an error of blind signatures.
    pub(crate) fn of_blind(error: &rsalab_rsa::blind::BlindError) -> Class {
        use rsalab_rsa::blind::BlindError as E;
        match error {
            E::Rsa(error) => Class::of(error),
            E::InvalidSignature => Class::Verification,
            E::InvalidInput | E::Blinding | E::UnexpectedInputSize { .. } | E::OutOfRange | E::State { .. } => {
                Class::Input
            }
            _ => Class::Internal,
        }
    }

    /// The class of an error of texts in raw blocks.
    pub(crate) fn of_text(error: &rsalab_text::Error) -> Class {
        use rsalab_text::{Error as E, Failure, Reason};
        let is_unavailable = |failure: &Failure<E>| matches!(&failure.reason, Reason::Failed(error) if Class::of_text(error) == Class::Unavailable);
        match error {
            E::Rsa(error) => Class::of(error),
            E::Blocks { .. } | E::Layout { .. } => Class::Usage,
            E::Container { .. } => Class::Input,
            E::Block { .. } => Class::Verification,
            E::Threads { .. } => Class::Unavailable,
            E::Workers(failures) if failures.iter().any(is_unavailable) => Class::Unavailable,
            _ => Class::Internal,
        }
    }

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

/// The result of a step of the program.
pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// Why a command did not do what it was asked: what, where, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    class: Class,
    what: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
    advice: Option<String>,
    is_about_existing: bool,
}

impl Failure {
    /// A failure with one sentence that says what happened and where.
    pub(crate) fn new(class: Class, what: impl Into<String>) -> Self {
        Failure {
            class,
            what: what.into(),
            cause: None,
            advice: None,
            is_about_existing: false,
        }
    }

    /// A failure because of what exists already where something would be made, and stays.
    pub(crate) fn about_existing(what: impl Into<String>) -> Self {
        let mut failure = Failure::new(Class::Io, what);
        failure.is_about_existing = true;
        failure
    }

    /// Adds the error of the layer below, whose own causes are printed too.
    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds what to do about it.
    pub(crate) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// A step failed because of an error of the library, which decides the class.
    pub(crate) fn step(what: impl Into<String>, error: rsalab_rsa::Error) -> Self {
        Failure::new(Class::of(&error), what).because(error)
    }

    /// This failure, as the first of several.
    pub(crate) fn among(mut self, several: &str) -> Self {
        self.what = format!("{several}: {}", self.what);
        self
    }

    /// The error of the layer below, where it is one of these.
    pub(crate) fn cause_as<E: Error + 'static>(&self) -> Option<&E> {
        self.cause.as_deref()?.downcast_ref()
    }

    /// The kind of failure.
    pub(crate) fn class(&self) -> Class {
        self.class
    }

    /// Returns whether what exists already is in the way.
    pub(crate) fn is_about_existing(&self) -> bool {
        self.is_about_existing
    }

    /// The event and its causes, on one line.
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
    pub(crate) fn or_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice.get_or_insert_with(|| advice.into());
        self
    }

    /// Reading or writing something failed, with what helps against it.
    pub(crate) fn io(what: impl Into<String>, error: io::Error) -> Self {
        let class = match error.kind() {
            io::ErrorKind::OutOfMemory => Class::Unavailable,
            _ => Class::Io,
        };
        let mut failure = Failure::new(class, what);
        failure.advice = remedy(error.kind()).map(str::to_owned);
        // An error from tempfile names the draft, which is a name that nobody knows.
        match error.get_ref() {
            Some(_) if error.kind() != io::ErrorKind::Other => failure.because(error.kind().to_string()),
            _ => failure.because(error),
        }
    }
}

/// A part is not taken because of its manifest.
pub(crate) fn of_manifest(what: &str, error: ManifestError) -> Failure {
    match error {
        ManifestError::Io { path, source } => Failure::io(format!("{what}: {}", path.display()), source),
        error => Failure::new(Class::Input, what).because(error),
    }
}

/// The result of several items: the gravest failure, the first of its class, with how many there are.
pub(crate) fn of_several(
    outcomes: impl ExactSizeIterator<Item = Option<Failure>>,
    what: &str,
    noun: &str,
) -> Result<()> {
    let all = outcomes.len();
    let failures: Vec<Failure> = outcomes.flatten().collect();
    let count = failures.len();
    let gravest = failures.iter().map(Failure::class).max();
    match failures.into_iter().find(|failure| Some(failure.class) == gravest) {
        None => Ok(()),
        Some(failure) if all == 1 => Err(failure),
        Some(failure) => {
            let all = number::counted(all, noun);
            Err(failure.among(&format!("{count} of {all} {what}, the first")))
        }
    }
}

/// Help for what the system refuses to read or write; none where nothing can be said in general.
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
        Kind::FileTooLarge => "raise the limit on the size of files ('ulimit -f'), or name a place on another disk",
        Kind::OutOfMemory => "give it less at once, or have the limit on memory raised ('ulimit -v')",
        Kind::BrokenPipe => "have all of it read, or name a file with --out",
        _ => return None,
    })
}

impl From<rsalab_rsa::Error> for Failure {
    fn from(error: rsalab_rsa::Error) -> Self {
        Failure::new(Class::of(&error), error.to_string())
    }
}

impl From<rsalab_rsa::blind::BlindError> for Failure {
    fn from(error: rsalab_rsa::blind::BlindError) -> Self {
        Failure::new(Class::of_blind(&error), error.to_string())
    }
}

impl From<rsalab_text::Error> for Failure {
    fn from(error: rsalab_text::Error) -> Self {
        Failure::new(Class::of_text(&error), error.to_string())
    }
}

impl From<rsalab_study::Error> for Failure {
    fn from(error: rsalab_study::Error) -> Self {
        let class = match error.class() {
            _ if matches!(error, rsalab_study::Error::Random(_)) => Class::Unavailable,
            ErrorClass::Usage => Class::Usage,
            ErrorClass::InputOutput => Class::Io,
            ErrorClass::Database => Class::Database,
            ErrorClass::Input => Class::Input,
        };
        match error {
            rsalab_study::Error::Io { path, source } | rsalab_study::Error::Store(StoreError::Io { path, source }) => {
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

/// A sentence that a terminal shows whole, and without what is no name in it: the words are a user's, and may have any
/// length.
pub(crate) fn shortened(sentence: &str) -> String {
    const MOST_CHARS: usize = 1500;
    let words = sentence.split_inclusive(char::is_whitespace);
    let mut short: String = words.map(short_word).collect();
    if let Some((end, _)) = short.char_indices().nth(MOST_CHARS) {
        short.truncate(end);
        short.push('…');
    }
    short
}

/// A word, in which no name is longer than that of a file: what is longer may be a key that somebody gave in its place.
fn short_word(word: &str) -> String {
    /// The longest name of a file on Linux.
    const MOST_BYTES: usize = 255;
    let short_name = |name: &str| {
        // What ends a name in a sentence is not of it.
        let bare = name.trim_end_matches(|end: char| "/:,;".contains(end) || end.is_whitespace());
        match bare.len() {
            len if len > MOST_BYTES => format!("({len} bytes){}", &name[len..]),
            _ => name.to_owned(),
        }
    };
    word.split_inclusive('/').map(short_name).collect()
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
    fn a_failure_prints_what_why_and_what_to_do() {
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
        let message = failure.to_string();
        assert!(
            message.starts_with("cannot make key.pem: entity not found\n"),
            "{message}"
        );
        assert!(
            message.ends_with("\ncheck the name, and that the directory it is in is there"),
            "{message}"
        );
    }

    #[test]
    fn names_cannot_break_a_line_or_go_on_for_ever() {
        let failure = Failure::new(Class::Io, "cannot read a\nb\u{1b}[31m").advice("xx/".repeat(3333));
        let message = failure.to_string();
        assert!(message.starts_with("cannot read a\\nb\\u{1b}[31m\nxx"), "{message}");
        assert_eq!(message.lines().count(), 2);
        assert!(message.chars().count() < 2000);
    }

    #[test]
    fn what_is_too_long_for_a_name_is_not_repeated() {
        let failure = Failure::new(Class::Io, format!("cannot read a/{}/b: why", "x".repeat(255)));
        assert!(failure.to_string().contains(&"x".repeat(255)));
        let failure = Failure::new(Class::Io, format!("cannot read a/{}: why", "x".repeat(256)));
        assert_eq!(failure.to_string(), "cannot read a/(256 bytes): why");
    }
}

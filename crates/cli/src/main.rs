//! The program `rsalab`: reads the command line, injects our own backend, and calls the layers below.
//!
//! | question | file |
//! |---|---|
//! | what can be typed | `arguments` |
//! | what a command does | `commands`, one file each |
//! | how the program ends, and with which exit code | `exit`, `signals` |
//! | how a user's keys and passwords come in | `keys`, `passwords` |
//! | what of a command line is not repeated | `key_text` |
//! | which lists of known keys are searched | `lists` |
//! | how is memory of keys kept from disks | `memory` |
//! | how long it is waited | `patience` |
//! | which settings a machine's profile has | `profiles` |
//! | how a run is followed | `progress` |
//! | what -v prints | `steps` |
//! | what is written where | `output`, `printable`, `table`, `files`; for a terminal, `terminal` |
#![forbid(unsafe_code)]

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    panic::{self, PanicHookInfo},
    process::ExitCode,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use clap::error::ErrorKind;

use crate::{
    arguments::Arguments,
    exit::{Class, Failure, shortened},
    output::Log,
    printable::printable,
    terminal::error_line,
};

mod arguments;
mod commands;
mod exit;
mod files;
mod kernels;
mod key_text;
mod keys;
mod lists;
mod memory;
mod output;
mod passwords;
mod patience;
mod printable;
mod profiles;
mod progress;
mod signals;
mod steps;
mod table;
mod terminal;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    if let Err(failure) = key_text::refuse(&words) {
        return end(&failure);
    }
    let (name, arguments) = match Arguments::read() {
        Ok(read) => read,
        Err(error) => return usage(&error, &words),
    };
    steps::show(arguments.log.verbose);
    steps::ended(|| format!("rsalab {}: {name}", env!("CARGO_PKG_VERSION")));
    panic::set_hook(Box::new(|defect| {
        PANICKED.store(true, Ordering::SeqCst);
        if is_lack_of_randomness(defect) {
            LACKS_RANDOMNESS.store(true, Ordering::SeqCst);
            return;
        }
        error_line(format_args!(
            "rsalab: a defect of rsalab: {defect}\nplease report it with the command that was typed"
        ));
    }));
    memory::protect(&arguments.command);
    signals::outlive_file_limit();
    signals::end_without_memory(&PANICKED);
    let log = Log::new(arguments.log.quiet);
    let result = panic::catch_unwind(|| {
        kernels::disable()?;
        commands::run(arguments.command, log)
    });
    match result {
        Ok(Ok(code)) => {
            steps::all_ended(|| format!("{name}: ended"));
            code
        }
        Ok(Err(failure)) => {
            let code = failure.class().code();
            steps::all_ended(|| format!("{name}: failed, exit code {code}"));
            end(&failure)
        }
        Err(_) if LACKS_RANDOMNESS.load(Ordering::SeqCst) => end(&Failure::new(
            Class::Unavailable,
            "the operating system's random generator failed",
        )),
        Err(_) => ExitCode::from(Class::Internal.code()),
    }
}

/// `true` if something panicked, which may end in an abort.
static PANICKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// `true` if the standard library found no randomness for the keys of its hash tables, which it can only panic about.
/// This program's own tables need none; those of other crates do.
static LACKS_RANDOMNESS: AtomicBool = AtomicBool::new(false);

fn is_lack_of_randomness(defect: &PanicHookInfo<'_>) -> bool {
    defect
        .location()
        .is_some_and(|location| location.file().contains("std/src/sys/random"))
}

fn end(failure: &Failure) -> ExitCode {
    error_line(format_args!("rsalab: {failure}"));
    ExitCode::from(failure.class().code())
}

/// Help and version go to standard output and are a success; mistakes go to standard error, without empty lines.
fn usage(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        let rendered = error.render();
        // Colours are for terminals.
        let text = match io::stdout().is_terminal() {
            true => rendered.ansi().to_string(),
            false => rendered.to_string(),
        };
        return match output::report(&text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => end(&failure),
        };
    }
    if let Some(failure) = key_text::unreadable(words) {
        return end(&failure);
    }
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error_line(error.render().to_string().trim_end());
        }
        ErrorKind::InvalidUtf8 => return end(&not_text()),
        _ => {
            let rendered = error.render().to_string();
            let sentences = rendered.strip_prefix("error: ").unwrap_or(&rendered);
            // What was typed may have lines of its own.
            let lines: Vec<String> = sentences
                .lines()
                .filter(|line| !line.is_empty())
                .take(MOST_LINES)
                .map(|line| printable(&shortened(line)))
                .collect();
            error_line(format_args!("rsalab: {}", lines.join("\n")));
        }
    }
    ExitCode::from(Class::Usage.code())
}

/// The most lines that a failure takes.
const MOST_LINES: usize = 6;

/// Somewhere in the command line, where a name of this program's is expected, there is no text.
fn not_text() -> Failure {
    let words = env::args_os().skip(1);
    let bad: Vec<String> = words
        .filter(|word| word.to_str().is_none())
        .map(|word| format!("'{}'", word.to_string_lossy()))
        .collect();
    let what = format!("{} is not text in UTF-8", bad.join(", "));
    Failure::new(Class::Usage, what)
        .advice("only names of files and directories may be anything else; '--help' lists the options")
}

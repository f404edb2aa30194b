//! One file for each command, and what several of them share.
//!
//! | question | file |
//! |---|---|
//! | which engines are meant, and are they installed | `selection` |
//! | what does every measurement need | `environment` |
//! | what is read, and where does the result go | `inputs` |
//! | how are many files worked on | `per_file` |
//! | which scheme is meant | `schemes` |
//! | how are files of any length encrypted | `sealing` |
//! | how are signatures and ciphertexts written | `encoding` |
//! | how is a key written | `key_writer` |
//! | what says that a part of a larger work is complete | `parts` |

use std::process::ExitCode;

use crate::{arguments::Command, exit::Result, output::Log, patience::check_randomness};

mod audit;
mod barometer;
mod bench;
mod blind;
mod calibrate;
mod compare;
mod completions;
mod encoding;
mod encryption;
mod engines;
mod environment;
mod export;
mod inputs;
mod key;
mod key_writer;
mod keygen;
mod machine;
mod merge;
mod parts;
mod per_file;
mod profile;
mod raw;
mod schemes;
mod sealing;
mod selection;
mod sign;
mod slurm;
mod study;
mod text;
mod vectors;
mod verify;
mod worker;

/// Does what was typed.
pub(crate) fn run(command: Command, log: Log) -> Result<ExitCode> {
    if draws_random_numbers(&command) {
        check_randomness()?;
    }
    match command {
        Command::Study(arguments) => study::study(&arguments, log),
        Command::Resume(arguments) => study::resume(&arguments, log),
        Command::Report(arguments) => study::report(&arguments, log),
        Command::Merge(arguments) => merge::run(&arguments, log),
        Command::Slurm(arguments) => slurm::run(&arguments, log),
        Command::Compare(arguments) => compare::run(&arguments, log),
        Command::Export(arguments) => export::run(&arguments, log),
        Command::Profile(arguments) => profile::run(&arguments, log),
        Command::Barometer(arguments) => barometer::run(&arguments, log),
        Command::Bench(arguments) => bench::run(&arguments, log),
        Command::Engines(arguments) => engines::run(&arguments),
        Command::Vectors(arguments) => vectors::run(&arguments, log),
        Command::Machine(arguments) => machine::run(&arguments, log),
        Command::Keygen(arguments) => keygen::run(&arguments, log),
        Command::Key(arguments) => key::run(&arguments, log),
        Command::Audit(arguments) => audit::run(&arguments, log),
        Command::Sign(arguments) => sign::run(&arguments, log),
        Command::Verify(arguments) => verify::run(&arguments, log),
        Command::Blind(arguments) => blind::run(&arguments, log),
        Command::RawPrivate(arguments) => raw::private(&arguments, log),
        Command::RawPublic(arguments) => raw::public(&arguments, log),
        Command::Encrypt(arguments) => encryption::encrypt(&arguments, log),
        Command::Decrypt(arguments) => encryption::decrypt(&arguments, log),
        Command::TextEncrypt(arguments) => text::encrypt(&arguments, log),
        Command::TextDecrypt(arguments) => text::decrypt(&arguments, log),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Worker(arguments) => return worker::run(&arguments),
    }
    .map(|()| ExitCode::SUCCESS)
}

/// Returns whether a command draws random numbers, or keeps tables of other crates, whose keys are random. A worker is
/// watched by who started it.
fn draws_random_numbers(command: &Command) -> bool {
    !matches!(
        command,
        Command::Verify(_) | Command::Engines(_) | Command::Completions(_) | Command::Worker(_)
    )
}

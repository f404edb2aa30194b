//! One file for each command, and what several of them share.
//!
//! | question | file |
//! |---|---|
//! | which engines are meant, and are they there | `selection` |
//! | what does every measurement need | `surroundings` |
//! | what is read, and where does the result go | `inputs` |
//! | how is a key written | `form` |
//! | how far is work on many blocks | `counted` |

use std::process::ExitCode;

use crate::{arguments::Command, exit::Failure, output::Talk};

mod bench;
mod calibrate;
mod cipher;
mod completions;
mod counted;
mod engines;
mod form;
mod inputs;
mod key;
mod keygen;
mod machine;
mod raw;
mod selection;
mod signature;
mod study;
mod surroundings;
mod text;
mod vectors;
mod worker;

/// Does what was typed.
pub(crate) fn run(command: Command, talk: Talk) -> Result<ExitCode, Failure> {
    match command {
        Command::Study(arguments) => study::study(&arguments, talk),
        Command::Resume(arguments) => study::resume(&arguments, talk),
        Command::Report(arguments) => study::report(&arguments),
        Command::Bench(arguments) => bench::run(&arguments, talk),
        Command::Engines(arguments) => engines::run(&arguments),
        Command::Vectors(arguments) => vectors::run(&arguments, talk),
        Command::Machine(arguments) => machine::run(&arguments, talk),
        Command::Keygen(arguments) => keygen::run(&arguments, talk),
        Command::Key(arguments) => key::run(&arguments, talk),
        Command::Sign(arguments) => signature::sign(&arguments, talk),
        Command::Verify(arguments) => signature::verify(&arguments, talk),
        Command::RawPrivate(arguments) => raw::private(&arguments, talk),
        Command::RawPublic(arguments) => raw::public(&arguments, talk),
        Command::Encrypt(arguments) => cipher::encrypt(&arguments, talk),
        Command::Decrypt(arguments) => cipher::decrypt(&arguments, talk),
        Command::TextEncrypt(arguments) => text::encrypt(&arguments, talk),
        Command::TextDecrypt(arguments) => text::decrypt(&arguments, talk),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Worker(arguments) => return worker::run(&arguments),
    }
    .map(|()| ExitCode::SUCCESS)
}

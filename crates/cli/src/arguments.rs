//! The command line: each option is defined once, and help and completions are made from the definitions.
//!
//! | question | file |
//! |---|---|
//! | which commands there are | here |
//! | options that several commands have | `shared` |
//! | studies and their reports | `studies` |
//! | measurements, engines, conformance | `measurements` |
//! | making, checking and rewriting keys | `keys` |
//! | auditing many keys | `audit` |
//! | encrypting, signing, and their opposites | `messages` |
//! | blind signatures | `blind` |
//! | works that are spread over machines | `cluster` |
//! | which values can be typed | `values` |

mod audit;
mod barometer;
mod blind;
mod cluster;
mod keys;
mod measurements;
mod messages;
mod shared;
mod studies;
mod values;

use std::env;

use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use audit::{Audit, AuditCommand, AuditMerge, AuditPlan, FoundOptions, ReadOptions};
pub(crate) use barometer::{Barometer, BarometerPack, BarometerPage, BarometerVerify};
pub(crate) use blind::{Blind, BlindFinalize, BlindKey, BlindRequest, BlindSign, BlindVerify};
pub(crate) use cluster::{JobOptions, Slurm, SlurmAudit, SlurmKeygen, SlurmStudy};
pub(crate) use keys::{Key, KeyCheck, KeyConvert, KeyFormat, KeyPublic, Keygen};
pub(crate) use measurements::{Bench, Calibration, Completions, Engines, Machine, Vectors, Worker};
pub(crate) use messages::{
    CipherOptions, CipherScheme, Decrypt, Encrypt, InputOptions, KeyOptions, OneFileOptions, Raw, Sign,
    SignatureOptions, SignatureSchemeName, TextDecrypt, TextEncrypt, TraceOptions, Verify,
};
pub(crate) use shared::{Encoding, JsonOption, KeyFileOptions, MeasureOptions, ProfileOption, ThreadsOption};
pub(crate) use studies::{Compare, Export, FailIf, Merge, Profile, Report, Resume, Study, TableFormat};

/// Measures RSA on this machine: engine against engine, blocks interleaved, every answer checked.
#[derive(Parser)]
#[command(
    name = "rsalab",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "'rsalab COMMAND --help' explains a command and shows examples.",
    after_long_help = AFTER_LONG_HELP,
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) log: LogOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Reads the command line, and gives the name of the command, such as `key check`. A number that begins with a
    /// minus is a value to be refused, not an unknown option.
    pub(crate) fn read() -> Result<(String, Self), clap::Error> {
        let with_minus = |argument: Arg| {
            let is_option = argument.get_action().takes_values() && !argument.is_positional();
            match is_option {
                true => argument.allow_negative_numbers(true),
                false => argument,
            }
        };
        let mut command = Arguments::command().mut_subcommands(|command| command.mut_args(with_minus));
        let matches = command.try_get_matches_from_mut(env::args_os())?;
        let (mut names, mut matched) = (Vec::new(), matches.subcommand());
        while let Some((name, below)) = matched {
            names.push(name);
            matched = below.subcommand();
        }
        let arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok((names.join(" "), arguments))
    }
}

const AFTER_LONG_HELP: &str = "\
Examples:
  rsalab study                        a study of three minutes, and a report
  rsalab resume results/quick-…       continue a study that was stopped or killed
  rsalab bench --op private --bits 2048 --engines own,openssl
  rsalab engines                      what can be measured here, and how to get the rest

Data goes to standard output, messages to standard error. Exit codes:
  0  done                             5  input or output failed
  1  a defect of rsalab               6  engine, device or CPU feature not available
  2  wrong usage                      7  database of a study
  3  bad key or input                 130, 143  stopped by SIGINT, SIGTERM, all saved
  4  verification or decryption failed";

/// How much is printed on standard error.
#[derive(Args)]
pub(crate) struct LogOptions {
    /// Print errors only.
    #[arg(long, short, global = true, conflicts_with = "verbose", display_order = 900)]
    pub(crate) quiet: bool,
    /// Print each step as it ends; twice (-vv), with the time that it took.
    ///
    /// On standard error: which file was read as what, which kernel runs and why, what was checked, and at which step a
    /// signature fails. Nothing of a key, a password or a message is printed, nor why a ciphertext cannot be decrypted.
    #[arg(long, short, global = true, action = ArgAction::Count, display_order = 901)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Study(Study),
    Resume(Resume),
    Report(Report),
    Merge(Merge),
    #[command(subcommand)]
    Slurm(Slurm),
    Compare(Compare),
    Export(Export),
    Profile(Profile),
    #[command(subcommand)]
    Barometer(Barometer),
    Bench(Bench),
    Engines(Engines),
    Vectors(Vectors),
    Machine(Machine),
    Keygen(Keygen),
    #[command(subcommand)]
    Key(Key),
    Audit(Box<Audit>),
    Sign(Sign),
    Verify(Verify),
    #[command(subcommand)]
    Blind(Blind),
    Encrypt(Encrypt),
    Decrypt(Decrypt),
    TextEncrypt(TextEncrypt),
    TextDecrypt(TextDecrypt),
    /// Raise blocks to the private exponent, without any padding
    ///
    /// Blocks are as long as the modulus, big-endian, one after another; so are the results. The operation is blinded,
    /// and its results are checked before they are written. For protocols with a padding of their own: RSA without
    /// padding protects nothing.
    #[command(after_long_help = "\
Example:
  rsalab raw-private --key key.pem --in blocks --out results")]
    RawPrivate(Raw),
    /// Raise blocks to the public exponent, without any padding
    ///
    /// Blocks are as long as the modulus, big-endian, one after another; so are the results.
    #[command(after_long_help = "\
Example:
  rsalab raw-public --key public.pem --in results --out blocks")]
    RawPublic(Raw),
    Completions(Completions),
    Worker(Worker),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn short_help_fits_a_screen() {
        for command in Arguments::command().get_subcommands_mut() {
            let help = command.clone().term_width(100).render_help().to_string();
            assert!(help.lines().count() <= 40, "{help}");
        }
        let help = Arguments::command().render_help().to_string();
        assert!(help.lines().count() <= 40, "{help}");
    }

    #[test]
    fn every_command_has_a_summary_of_one_line() {
        for command in Arguments::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string);
            assert!(about.is_some_and(|about| about.len() < 80), "{}", command.get_name());
        }
    }

    /// A row for each command, and for each of a command's own.
    fn add_rows(commands: &mut clap::Command, table: &mut String) {
        for command in commands.get_subcommands_mut().filter(|it| it.get_name() != "help") {
            if command.has_subcommands() {
                add_rows(command, table);
                if command.is_subcommand_required_set() {
                    continue;
                }
            }
            let usage = command.render_usage().to_string();
            let usage = usage.lines().next().unwrap_or_default();
            let usage = usage.trim_start_matches("Usage: rsalab ").replace(" [OPTIONS]", "");
            let about = command.get_about().expect("each has one");
            *table += &format!("| `{}` | {about} |\n", usage.replace('|', "\\|"));
        }
    }

    /// The table of commands in the book is what the definitions say: `UPDATE_DOCUMENTS=1` writes it anew.
    #[test]
    fn the_page_of_commands_has_each_command() {
        const BEGIN: &str = "<!-- commands: begin. From the program's definitions: UPDATE_DOCUMENTS=1 cargo test -p \
                             rsalab --bin rsalab commands -->\n";
        const END: &str = "<!-- commands: end -->";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/commands.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        let mut table = "| command | what it does |\n|---|---|\n".to_owned();
        let mut program = Arguments::command();
        program.build();
        add_rows(&mut program, &mut table);

        let (before, rest) = page.split_once(BEGIN).expect("the page has the table");
        let (_, after) = rest.split_once(END).expect("the table ends");
        let expected = format!("{before}{BEGIN}{table}{END}{after}");
        if env::var_os("UPDATE_DOCUMENTS").is_some() {
            std::fs::write(path, &expected).expect("the page can be written");
        }
        assert_eq!(page, expected, "UPDATE_DOCUMENTS=1 writes it anew");
    }
}

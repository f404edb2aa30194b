//! The command line: one definition for each option, from which the help and the completions are made.
//!
//! | question | file |
//! |---|---|
//! | studies, measurements, keys in bulk | here |
//! | looking at keys and rewriting them | `key` |
//! | encrypting, signing, and their opposites | `message` |

mod key;
mod message;

use std::{env, ffi::OsString, fmt::Display, ops::RangeInclusive, path::PathBuf, str::FromStr};

use clap::{
    Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
pub(crate) use key::{Key, KeyCheck, KeyConvert, KeyPublic};
pub(crate) use message::{
    CipherOptions, CipherScheme, Decrypt, Encrypt, InputOptions, KeyOptions, RawOptions,
    RawPrivate, RawPublic, Sign, SignatureOptions, SignatureSchemeName, SizeOption, TextDecrypt,
    TextEncrypt, TextOptions, UseOption, Verify,
};
use rsalab_engines::{Exponent, Op};
use rsalab_rsa::keys::{MAX_BITS, MIN_BITS};
use rsalab_study::plan::{BATCH, BITS, REPEATS, SYMBOLS, Seed, THREADS};

/// Measures RSA on this machine: engines side by side, in turn, every answer checked.
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
    pub(crate) talk: TalkOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Reads the command line. A number that begins with a minus is a value to be refused, not an option that nobody knows.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let with_minus = |argument: Arg| {
            let is_option = argument.get_action().takes_values() && !argument.is_positional();
            match is_option {
                true => argument.allow_negative_numbers(true),
                false => argument,
            }
        };
        let mut command =
            Arguments::command().mut_subcommands(|command| command.mut_args(with_minus));
        let matches = command.try_get_matches_from_mut(env::args_os())?;
        Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

const AFTER_LONG_HELP: &str = "\
Examples:
  rsalab study                        a study of three minutes, and a report
  rsalab resume results/quick-…       go on with a study that was stopped or killed
  rsalab bench --op private --bits 2048 --engines own,openssl
  rsalab engines                      what can be measured here, and how to get the rest

Standard output carries data, standard error the talk. Exit codes:
  0  done                             5  input or output failed
  1  a defect of rsalab               6  engine, device or CPU feature not available
  2  wrong usage                      7  database of a study
  3  bad key or input                 130, 143  stopped by SIGINT, SIGTERM, all saved
  4  verification or decryption failed";

/// How much is said on standard error.
#[derive(Args)]
pub(crate) struct TalkOptions {
    /// Say nothing but errors.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say what is being done; twice, in detail.
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Data for programs in place of tables for people.
#[derive(Args)]
pub(crate) struct JsonOption {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The kernel of our own engine.
#[derive(Args)]
pub(crate) struct KernelOption {
    /// Use this kernel of our own engine, not the best one for this CPU ('rsalab engines' lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
}

/// What every measurement can be told.
#[derive(Args)]
pub(crate) struct MeasureOptions {
    /// Measure though this build is not optimised; the figures say so.
    #[arg(long)]
    pub(crate) allow_unoptimised: bool,
    /// Take an engine that has not answered for so many seconds for hung, and end its worker.
    #[arg(long, value_name = "S", default_value_t = 300.0, value_parser = seconds)]
    pub(crate) give_up_after: f64,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Study(Study),
    Resume(Resume),
    Report(Report),
    Bench(Bench),
    Engines(Engines),
    Vectors(Vectors),
    Machine(Machine),
    Keygen(Keygen),
    #[command(subcommand)]
    Key(Key),
    Sign(Sign),
    Verify(Verify),
    Encrypt(Encrypt),
    Decrypt(Decrypt),
    TextEncrypt(TextEncrypt),
    TextDecrypt(TextDecrypt),
    RawPrivate(RawPrivate),
    RawPublic(RawPublic),
    Completions(Completions),
    Worker(Worker),
}

/// Plan a study, run it, and leave a report
///
/// A study is a preset or a TOML file. Every block of measurement is stored as soon as its answers have been checked, so
/// that a study can be stopped, or killed, at any time; 'rsalab resume' goes on from there. The report is printed as the
/// path of its page.
#[derive(Args)]
#[command(after_long_help = STUDY_EXAMPLES)]
pub(crate) struct Study {
    /// A preset, or a file with a plan.
    #[arg(value_name = "PRESET|FILE.toml", default_value = "quick")]
    pub(crate) plan: OsString,
    /// The directory of the study, new or empty; results/NAME-TIME if not given.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// In place of the plan's engines.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) engines: Option<Vec<String>>,
    /// Of the plan's sizes of the modulus, these; or these in place of the plan's.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', value_parser = bits)]
    pub(crate) bits: Option<Vec<usize>>,
    /// In place of the plan's thread counts.
    #[arg(long, value_name = "T[,T]", value_delimiter = ',', value_parser = within(THREADS))]
    pub(crate) threads: Option<Vec<usize>>,
    /// In place of the plan's thread counts: N, N-1, down to 1.
    #[arg(long, value_name = "N", conflicts_with = "threads", value_parser = within(THREADS))]
    pub(crate) max_threads: Option<usize>,
    /// In place of the plan's sizes of texts, in symbols of one byte.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', value_parser = within(SYMBOLS))]
    pub(crate) symbols: Option<Vec<usize>>,
    /// Seconds of measurement for each cell, in place of the plan's.
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: Option<f64>,
    /// Calls after which a cell ends, in place of the plan's; of texts, whole texts.
    #[arg(long, value_name = "N", value_parser = within(REPEATS))]
    pub(crate) repeats: Option<u64>,
    /// The seed of the study's keys and texts, 64 hexadecimal digits; a new one if not given.
    #[arg(long, value_name = "HEX")]
    pub(crate) seed: Option<Seed>,
    /// Give way to other processes as 'nice -n N' does, 0 to 19, in place of the plan's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=19))]
    pub(crate) nice: Option<u8>,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

const STUDY_EXAMPLES: &str = "\
Examples:
  rsalab study                              the preset 'quick': at most three minutes
  rsalab study quick --engines own,gmp --bits 1024,2048
  rsalab study text-threads                 article (a): texts of seven sizes over 8 to 1 threads
  rsalab study papers                       the articles in short form, one report
  rsalab study prime-cycles                 article (b): pairs of primes in ticks, for hours; stop and resume it
  rsalab study keygen-libraries             article (c): keys of 256 to 4096 bits, the median of ten means
  rsalab study text-threads --max-threads 4 --repeats 20 --symbols 1000,100000
  rsalab study cpu-gpu                      article (d): Crypto++ and Montgomery, one message or 600, and a GPU's place
  rsalab study plan.toml --out results/mine";

/// Go on with a study that was stopped or killed
#[derive(Args)]
pub(crate) struct Resume {
    /// The directory of the study.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Write the report of a study again, from its database alone
#[derive(Args)]
pub(crate) struct Report {
    /// The directory of the study.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Where the report goes; beside the database if not given.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write results/result_BITS_run_COUNT.txt, one file for each batch of primes, as the program of article (b) does.
    #[arg(long)]
    pub(crate) batch_files: bool,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Measure a few cells side by side, now
///
/// Every engine answers the same questions with the same key; their blocks of measurement are taken in turn, so that the
/// ratios hold even on a machine that drifts. Nothing is stored.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab bench --op private --bits 2048 --engines own,openssl,gmp
  rsalab bench --op private --bits 1024 --engines own,gmp --bare
  rsalab bench --op text_encrypt --bits 1024 --engines own --threads 4 --json")]
pub(crate) struct Bench {
    /// The operation.
    #[arg(long, value_name = "OP", value_parser = op())]
    pub(crate) op: Op,
    /// Bits of the modulus; several are separated by commas.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', default_value = "2048", value_parser = bits)]
    pub(crate) bits: Vec<usize>,
    /// Engines, the one that the others are compared with first; one named twice is measured beside itself.
    #[arg(long, value_name = "A,B", value_delimiter = ',', required = true)]
    pub(crate) engines: Vec<String>,
    /// Threads that run at once.
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = within(THREADS))]
    pub(crate) threads: usize,
    /// Items handed to an engine in one call.
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = within(BATCH))]
    pub(crate) batch: usize,
    /// Bytes of the text, for the operations that take one.
    #[arg(long, value_name = "N", value_parser = within(SYMBOLS))]
    pub(crate) symbols: Option<usize>,
    /// The seed of the keys and inputs, 64 hexadecimal digits; a new one if not given.
    #[arg(long, value_name = "HEX")]
    pub(crate) seed: Option<Seed>,
    /// Our own engine without blinding and without the check of the result, as bare peers work.
    #[arg(long)]
    pub(crate) bare: bool,
    /// Seconds of measurement for each engine at each size.
    #[arg(long, value_name = "S", default_value_t = 3.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Start the workers anew this many times, since an engine can be lucky with its place in memory.
    #[arg(long, value_name = "L", default_value_t = 1, value_parser = within(LAUNCHES))]
    pub(crate) launches: usize,
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// List the engines, and how to get the ones that are absent
#[derive(Args)]
pub(crate) struct Engines {
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Compare the answers of engines, or answer requests of others: conformance
///
/// Each engine does the operations on the same inputs through its worker, as in a study; every answer is compared with a
/// plain model. Nothing is timed.
///
/// With '-' this program answers requests from standard input, a JSON object a line, with a line each: verify, sign,
/// decrypt, raw_priv, raw_pub, primality, keygen_kat, keycheck and loadkey. docs/src/reference/conformance.md has the fields.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab vectors
  rsalab vectors --engines own,gmp:powm_sec --bits 2048 --count 100 --json
  rsalab vectors - --kernel mont64x1_portable --batch 33 < requests.jsonl > answers.jsonl")]
pub(crate) struct Vectors {
    /// '-': answer the requests on standard input.
    #[arg(value_name = "-", value_parser = PossibleValuesParser::new(["-"]), conflicts_with_all = ["engines", "bits", "count", "seed", "json"])]
    pub(crate) stream: Option<String>,
    /// Take so many requests at once, and do those of one key and scheme side by side.
    #[arg(long, value_name = "N", requires = "stream", value_parser = within(BATCH))]
    pub(crate) batch: Option<usize>,
    /// The engines; every one that is installed if not given.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) engines: Option<Vec<String>>,
    /// Bits of the modulus.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', default_values_t = [768, 1024, 2048, 3072, 4096, 6144], value_parser = own_bits)]
    pub(crate) bits: Vec<usize>,
    /// Random inputs of each operation at each size.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = within(CASES))]
    pub(crate) count: usize,
    /// The seed of the keys and the inputs, 64 hexadecimal digits; a new one if not given.
    #[arg(long, value_name = "HEX")]
    pub(crate) seed: Option<Seed>,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Describe this machine, and say whether it is too busy to be measured
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab machine
  rsalab machine --calibrate
  rsalab machine --calibrate --op keygen --engine openssl --seconds 60")]
pub(crate) struct Machine {
    /// Find out what a measurement can tell apart here: an engine is measured beside itself, and beside itself with a
    /// known delay, again and again.
    #[arg(long)]
    pub(crate) calibrate: bool,
    #[command(flatten)]
    pub(crate) calibration: Calibration,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// What a calibration measures.
#[derive(Args)]
pub(crate) struct Calibration {
    /// The engine.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "own",
        requires = "calibrate"
    )]
    pub(crate) engine: String,
    /// The operation.
    #[arg(long, value_name = "OP", default_value = "private", value_parser = op(), requires = "calibrate")]
    pub(crate) op: Op,
    /// Bits of the modulus.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = own_bits, requires = "calibrate")]
    pub(crate) bits: usize,
    /// How often, each time with new workers.
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = within(RUNS), requires = "calibrate")]
    pub(crate) runs: usize,
    /// Seconds of measurement for each contestant in each run.
    #[arg(long, value_name = "S", default_value_t = 4.0, value_parser = seconds, requires = "calibrate")]
    pub(crate) seconds: f64,
    /// The delay, as a share of the time of a call; 0 for none. 0.02, and none for operations whose time is luck.
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "calibrate")]
    pub(crate) plant: Option<f64>,
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
}

/// Make private keys
///
/// By FIPS 186-5, appendix A.1.3, from the system's random generator. Files are readable by their owner only, and
/// nothing that exists is overwritten.
///
/// With --count all threads make keys: into a folder with a manifest, an archive (a name that ends in .tar), one set of
/// JSON Web Keys, or a stream. Stopped or killed at any moment, the same command goes on until there are exactly as many.
/// Candidates then follow random starts; --strict draws each anew, as the standard has it, several times more slowly.
///
/// With --engine another engine makes the key, in its own way and from its own randomness, as it does when it is measured;
/// the key is verified, completed and written here. It passes through a pipe, and the memory of the engine is not wiped.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab keygen --out key.pem --public-out public.pem
  rsalab keygen --count 100000 --out keys
  rsalab keygen --count 1000 --format openssh --public --out host-keys.tar
  rsalab keygen --count 50 --format jwk --out - | gzip > keys.jsonl.gz
  rsalab keygen --format pkcs8-encrypted --password-file secret.txt --out key.pem
  rsalab keygen --engine ippcp --out key.pem
  rsalab keygen --bits 4096 --format pkcs1-der --out key.der")]
pub(crate) struct Keygen {
    /// Bits of the modulus.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = own_bits)]
    pub(crate) bits: usize,
    /// The public exponent: odd, from 3; or 'random', one as long as the modulus for each key.
    #[arg(long, short, value_name = "E", default_value = "65537", value_parser = any_exponent)]
    pub(crate) e: Exponent,
    /// How many keys; without it, one, in a file of its own.
    #[arg(long, value_name = "N", value_parser = key_count)]
    pub(crate) count: Option<u64>,
    /// Threads that make keys; all CPUs if not given.
    #[arg(long, value_name = "N", value_parser = within(THREADS))]
    pub(crate) threads: Option<usize>,
    /// Where the private key goes: a file, or '-' for standard output; of many keys, a folder, a .tar, or '-'.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Of many keys, write the public halves too, beside the private ones.
    #[arg(long)]
    pub(crate) public: bool,
    /// Where the public key goes, if it is wanted in a file of its own.
    #[arg(long, value_name = "FILE")]
    pub(crate) public_out: Option<PathBuf>,
    /// How the keys are written; the public key is SPKI beside PKCS#8.
    #[arg(long, value_enum, default_value_t = KeyFormat::Pkcs8Pem)]
    pub(crate) format: KeyFormat,
    /// The file whose first line is the password of encrypted keys; without it, it is asked for.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Draw every candidate for a prime anew, to the letter of the standard.
    #[arg(long, conflicts_with_all = ["engine", "insecure_seed"])]
    pub(crate) strict: bool,
    /// Make the keys of this seed, the same ones each time, for tests: they protect nothing, and are marked so.
    #[arg(long, value_name = "HEX", conflicts_with = "engine")]
    pub(crate) insecure_seed: Option<Seed>,
    /// Allow fewer than 2048 bits, which protect nothing today.
    #[arg(long)]
    pub(crate) insecure_size: bool,
    /// Have this engine make the key ('rsalab engines' lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// The formats of key files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormat {
    /// PKCS#8, in text.
    Pkcs8Pem,
    /// PKCS#8, in binary.
    Pkcs8Der,
    /// PKCS#1, in text.
    Pkcs1Pem,
    /// PKCS#1, in binary.
    Pkcs1Der,
    /// PKCS#8 in text that takes a password to read (PBES2: scrypt, AES-256).
    Pkcs8Encrypted,
    /// A JSON Web Key, a key a line in a stream.
    Jwk,
    /// Of many keys, one JSON Web Key Set.
    JwkSet,
    /// OpenSSH's own form.
    Openssh,
}

impl KeyFormat {
    /// As it is typed.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value().expect("no format is hidden");
        value.get_name().to_owned()
    }
}

/// Print the completions of a shell
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab completions bash > ~/.local/share/bash-completion/completions/rsalab")]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Serve an engine over standard input and output; started by the other commands
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct Worker {
    /// The engine.
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: String,
    /// Make every call longer by this share of its time.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) plant: Option<f64>,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
}

/// Random inputs of one operation.
const CASES: RangeInclusive<usize> = 1..=1_000_000;
/// Runs of a calibration.
const RUNS: RangeInclusive<usize> = 1..=10_000;
/// Launches of one comparison.
const LAUNCHES: RangeInclusive<usize> = 1..=1000;

fn within<N>(
    range: RangeInclusive<N>,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static
where
    N: FromStr + Display + PartialOrd + Clone + Send + Sync + 'static,
{
    move |typed| match typed.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!(
            "whole numbers from {} to {} are possible",
            range.start(),
            range.end()
        )),
    }
}

/// Sizes of keys that some engine makes.
fn bits(typed: &str) -> Result<usize, String> {
    even(within(BITS)(typed)?)
}

/// Sizes of keys that this program makes.
fn own_bits(typed: &str) -> Result<usize, String> {
    even(within(MIN_BITS..=MAX_BITS)(typed)?)
}

fn even(bits: usize) -> Result<usize, String> {
    match bits {
        odd if !odd.is_multiple_of(2) => Err(format!(
            "keys have an even number of bits, such as {}",
            odd + 1
        )),
        bits => Ok(bits),
    }
}

fn op() -> impl TypedValueParser<Value = Op> {
    PossibleValuesParser::new(Op::ALL.map(Op::name)).try_map(|name| name.parse::<Op>())
}

fn seconds(typed: &str) -> Result<f64, String> {
    match typed.parse::<f64>() {
        Ok(seconds) if (0.1..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("from 0.1 to 86400 seconds are possible".to_owned()),
    }
}

fn share(typed: &str) -> Result<f64, String> {
    match typed.parse::<f64>() {
        Ok(share) if (0.0..=100.0).contains(&share) => Ok(share),
        _ => Err("from 0 to 100 are possible: 0.02 is two per cent".to_owned()),
    }
}

fn key_count(typed: &str) -> Result<u64, String> {
    const MOST: u64 = 100_000_000;
    match typed.parse::<u64>() {
        Ok(count) if (1..=MOST).contains(&count) => Ok(count),
        _ => Err(format!("1 to {MOST} keys can be made")),
    }
}

fn any_exponent(typed: &str) -> Result<Exponent, String> {
    match typed {
        "random" => Ok(Exponent::Random),
        number => exponent(number).map(Exponent::Fixed),
    }
}

fn exponent(typed: &str) -> Result<u64, String> {
    match typed.parse::<u64>() {
        Ok(e) if e >= 3 && !e.is_multiple_of(2) => Ok(e),
        _ => Err("odd numbers from 3 to below 2^64 are possible, such as 65537".to_owned()),
    }
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
        let help = Arguments::command().render_help().to_string();
        assert!(help.lines().count() <= 40, "{help}");
    }

    #[test]
    fn every_command_has_a_summary_of_one_line() {
        for command in Arguments::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string);
            assert!(
                about.is_some_and(|about| about.len() < 80),
                "{}",
                command.get_name()
            );
        }
    }
}

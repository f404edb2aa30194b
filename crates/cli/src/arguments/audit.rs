//! The audit of many keys.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rsalab_audit::{Severity, rule};
use rsalab_study::part::{MOST_PARTS, Part};

use super::{
    shared::{JsonOption, ThreadsOption},
    values::within,
};

/// Find keys that are weak, broken or damaged, or share a prime, among many
///
/// Reads private and public keys in every format that 'rsalab key' reads, certificates, chains and requests, sets of
/// JSON Web Keys, authorized_keys and known_hosts, DKIM and DNSKEY records, moduli in hexadecimal or decimal digits, a
/// line each, tables with a column of moduli, TAR archives, and folders with all of these. The manifest of a folder of
/// 'rsalab keygen' is compared with its keys.
///
/// Each finding says what and where it is, how bad, what to do, and who found it first; 'rsalab audit --rules' lists
/// all there are. Nothing secret is printed: of a prime that keys share, the files are named.
///
/// Of more keys than the memory holds, --memory and --scratch; new keys against those of an earlier audit, --save and
/// --against; on several machines, --shard, 'rsalab audit plan' and 'rsalab audit merge'.
///
/// Exit code 0: nothing of the severity of --fail-on or worse was found. Exit code 3: something was. Exit code 5: a
/// PATH is not there, or a report cannot be written. Exit code 6: the system gives no random numbers.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = "\
Examples:
  rsalab audit keys/
  rsalab audit issued/ --sarif audit.sarif --junit audit.xml --fail-on high
  rsalab audit moduli.csv --column n --json
  rsalab audit all-keys/ --save audited           then, of new keys:
  rsalab audit new-keys/ --against audited --add
  rsalab audit moduli.txt --memory 2G --scratch /var/tmp
  rsalab audit moduli.txt --shard 3/8 --out part-3.audit
  ssh-keyscan -t rsa -f hosts | rsalab audit -
  gunzip -c keys.tar.gz | rsalab audit -"
)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
    /// Files, folders, or '-' for standard input; a file named plan or merge as ./plan.
    #[arg(value_name = "PATH", required_unless_present = "rules")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadOptions,
    #[command(flatten)]
    pub(crate) found: FoundOptions,
    /// Save the keys in a new folder, for later audits of other keys.
    #[arg(long, value_name = "STORE", conflicts_with_all = ["against", "shard"])]
    pub(crate) save: Option<PathBuf>,
    /// Compare the keys with saved ones, without comparing these again.
    ///
    /// They were saved by --save, or added by --add.
    #[arg(long, value_name = "STORE", conflicts_with = "shard")]
    pub(crate) against: Option<PathBuf>,
    /// Add the keys to those that they are compared with.
    #[arg(long, requires = "against")]
    pub(crate) add: bool,
    /// Examine a part of the keys, as 3/8, and compare it with all.
    ///
    /// 'rsalab audit merge' makes one report of all parts. The same command goes on with a part that was killed.
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with_all = ["ignore", "sarif", "junit", "secret_primes"])]
    pub(crate) shard: Option<Part>,
    /// Where the part goes.
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) out: Option<PathBuf>,
    /// Say what it will take, and end.
    #[arg(long)]
    pub(crate) estimate: bool,
    /// List the rules: what is looked for, and what to do.
    #[arg(long)]
    pub(crate) rules: bool,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Commands of audits in parts.
#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    Plan(AuditPlan),
    Merge(AuditMerge),
}

/// Say what the parts of an audit are, what each takes, and how they become one report
///
/// Each part is a command of its own, on any machine that sees the files under their names, in any order, at any time,
/// and again if it was killed. A part examines its share of the keys, and compares it with all: it reads all files.
/// Parts with one folder for --scratch use the products that the others have computed; without one, each computes all.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab audit plan --parts 8 moduli.txt --scratch /shared/scratch")]
pub(crate) struct AuditPlan {
    /// Files and folders.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Into how many parts the work is cut.
    #[arg(long, value_name = "N", value_parser = within(1..=MOST_PARTS))]
    pub(crate) parts: u64,
    #[command(flatten)]
    pub(crate) read: ReadOptions,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Make one report of all parts of an audit
///
/// It is the report of one audit. The parts come from 'rsalab audit --shard'. All must be there, each once, complete,
/// of the same keys and options, and of one version of rsalab. Checksums are compared first: nothing is written if
/// anything does not fit, and the parts are left as they are.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab audit merge parts/*.audit --json --out findings.jsonl")]
pub(crate) struct AuditMerge {
    /// The files of all parts.
    #[arg(value_name = "PART", required = true)]
    pub(crate) parts: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) found: FoundOptions,
    /// Write what would be printed to a new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: ThreadsOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// How keys are read, examined and compared.
#[derive(Args)]
pub(crate) struct ReadOptions {
    /// The name of the column of moduli in tables (CSV, Apache Parquet).
    ///
    /// Without it: modulus, n, rsa_modulus, public_modulus or rsa_n.
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// A list of known keys, or a folder of lists.
    ///
    /// Debian's, or SHA-256 of SubjectPublicKeyInfo in hexadecimal, a line each.
    #[arg(long, value_name = "PATH")]
    pub(crate) blocklist: Vec<PathBuf>,
    /// Bytes of memory that it may take, such as 500M or 4G.
    ///
    /// With less than all keys need together it takes longer.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) memory: Option<u64>,
    /// A folder on a disk for what does not fit the memory.
    ///
    /// It is emptied in the end. The same command goes on there with a search for shared primes that was killed.
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Rounds of the Miller–Rabin test for each private prime.
    #[arg(long, value_name = "N", default_value_t = rsalab_rsa::primality::ROUNDS_BEFORE_USE, value_parser = within(1..=1000_usize))]
    pub(crate) rounds: usize,
    /// The file whose first line is the password of encrypted keys.
    ///
    /// Without it they are not examined.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Examine keys of more than 8192 bits, up to 16384.
    ///
    /// That takes seconds each.
    #[arg(long)]
    pub(crate) large_keys: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadsOption,
}

/// Options for findings: where they go, and which decide the exit code.
#[derive(Args)]
pub(crate) struct FoundOptions {
    /// The least severity that fails the audit.
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Medium)]
    pub(crate) fail_on: FailOn,
    /// Pass over findings of a rule, such as duplicate-key.
    ///
    /// It may be given several times.
    #[arg(long, value_name = "RULE", value_parser = id)]
    pub(crate) ignore: Vec<String>,
    /// Also write the findings as SARIF 2.1.0, for code scanning.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Also write them as JUnit XML, a test case for each file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Also write the primes that keys share, which are secrets.
    ///
    /// The file is readable by its owner only.
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_primes: Option<PathBuf>,
}

/// The least severity that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Low,
    Medium,
    High,
    Critical,
    /// None does.
    Never,
}

impl FailOn {
    /// The severity; none if none fails.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Low => Some(Severity::Low),
            FailOn::Medium => Some(Severity::Medium),
            FailOn::High => Some(Severity::High),
            FailOn::Critical => Some(Severity::Critical),
            FailOn::Never => None,
        }
    }
}

/// A number of bytes, with a letter for thousands, millions or thousands of millions.
fn bytes(typed: &str) -> Result<u64, String> {
    let split = typed
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(typed.len());
    let (number, unit) = typed.split_at(split);
    let unit: u64 = match unit {
        "" => 1,
        "K" | "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        _ => 0,
    };
    let number: Option<u64> = number.parse().ok();
    match number.and_then(|number| number.checked_mul(unit)) {
        Some(bytes) if bytes >= 1_000_000 => Ok(bytes),
        _ => Err("1M at the least is possible, as a number with K, M, G or T".to_owned()),
    }
}

fn id(typed: &str) -> Result<String, String> {
    match rule::find(typed) {
        Some(rule) => Ok(rule.id.to_owned()),
        None => Err("there is no such rule; 'rsalab audit --rules' lists them".to_owned()),
    }
}

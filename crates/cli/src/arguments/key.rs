//! Looking at keys and rewriting them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{JsonOption, KeyFormat, SizeOption, within};

/// Check a key, take its public half, or write it in another format
#[derive(Subcommand)]
pub(crate) enum Key {
    Check(KeyCheck),
    Public(KeyPublic),
    Convert(KeyConvert),
}

/// Say what a key is, and what is wrong or weak about it
///
/// Every relation between the numbers of a private key is checked, and its primes are tested; of a public key the modulus
/// is looked at. Each file gets a verdict: good, weak, wrong, unsupported (a key that rsalab does not work with) or unreadable.
/// Exit code 3 says that one of them is wrong, unsupported or no key at all, or, with --strict, weak; 5 that a file could not be
/// read.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab key check key.pem
  rsalab key check *.pem --strict --json")]
pub(crate) struct KeyCheck {
    /// Keys, private or public, or certificates.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The file whose first line is the password of encrypted keys; without it, it is asked for.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Refuse keys that are weak: too short, of an exponent that is too small, or easy to factor.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Rounds of the Miller–Rabin test for each prime, of which a composite passes one in four at most; if not given, 64 up to keys
    /// of 4096 bits, 32 up to 6144, and 8 above.
    #[arg(long, value_name = "N", value_parser = within(1..=1000_usize))]
    pub(crate) rounds: Option<usize>,
    /// A list of keys that are known to be weak, or a folder of them, in the form of Debian's packages openssl-blacklist and
    /// openssh-blacklist; their own places are looked in too.
    #[arg(long, value_name = "PATH")]
    pub(crate) blocklist: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) size: SizeOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Write the public half of a key
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab key public key.pem
  rsalab key public certificate.pem --format openssh --out key.pub")]
pub(crate) struct KeyPublic {
    /// A private key, a public key or a certificate.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The file to make, which must not exist; standard output if there is none, or '-'.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How it is written: SPKI where the format is one of PKCS#8.
    #[arg(long, value_enum, default_value_t = KeyFormat::Pkcs8Pem)]
    pub(crate) format: KeyFormat,
    /// The file whose first line is the password of the key; without it, it is asked for.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) size: SizeOption,
}

/// Write a private key in another format
///
/// The new file is readable by its owner only, and nothing that exists is overwritten. A key that may be used for RSASSA-PSS
/// only stays one, and is refused where the format cannot say so.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab key convert key.pem --format openssh --out id_rsa
  rsalab key convert id_rsa --format pkcs8-encrypted --new-password-file secret --out key.pem")]
pub(crate) struct KeyConvert {
    /// A private key.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The file to make, which must not exist; '-' for standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = KeyFormat::Pkcs8Pem)]
    pub(crate) format: KeyFormat,
    /// The file whose first line is the password of the key as it is; without it, it is asked for.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// The file whose first line is the password of the key as it is to be; without it, it is asked for.
    #[arg(long, value_name = "FILE")]
    pub(crate) new_password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) size: SizeOption,
}

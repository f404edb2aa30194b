//! Making, checking and rewriting keys.

use std::{ops::RangeInclusive, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use rsalab_engines::Exponent;
use rsalab_study::{part::Part, plan::Seed};

use crate::exit::{Class, Failure, Result};

use super::{
    shared::{JsonOption, KernelOption, KeyFileOptions, OutOption, ThreadsOption},
    values::{bits, exponent, within},
};

/// Keys that one command makes.
const KEYS: RangeInclusive<u64> = 1..=100_000_000;

/// Make private keys
///
/// By FIPS 186-5, appendix A.1.3, from the system's random generator. Files of private keys are readable by their owner
/// only, and nothing that exists is overwritten.
///
/// One key goes to a file; several go to a folder with a manifest, to an archive (a name that ends in .tar), to one set
/// of JSON Web Keys, or to standard output. A folder or archive that was left incomplete, by a stop or a kill, is
/// completed by the same command.
///
/// The candidates for a prime follow a random start. --strict draws each candidate anew, as the standard says, which
/// takes several times as long.
///
/// With --engine another engine makes the keys, by its own method and from its own random numbers, as when it is
/// measured; rsalab verifies, completes and writes them. Keys pass through a pipe, and the engine's memory is not
/// wiped.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab keygen --out key.pem --public-out public.pem
  rsalab keygen --count 100000 --out keys
  rsalab keygen --count 1000 --format openssh --public --out host-keys.tar
  rsalab keygen --names hosts.txt --format openssh --public --out host-keys/
  rsalab keygen --count 50 --format jwk --out - | gzip > keys.jsonl.gz
  rsalab keygen --format pkcs8-encrypted --password-file secret.txt --out key.pem
  rsalab keygen --engine ippcp --count 100 --out keys
  rsalab keygen --bits 4096 --format pkcs1-der --out key.der")]
pub(crate) struct Keygen {
    /// Bits of the modulus.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = bits)]
    pub(crate) bits: usize,
    /// Primes of each key: 3 from 1024 bits on, 4 from 4096, 5 from 8192 make private operations faster (RFC 8017).
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = within(2..=5_usize), conflicts_with_all = ["engine", "strict"])]
    pub(crate) primes: usize,
    /// The public exponent: odd, from 3; or 'random', one as long as the modulus for each key.
    #[arg(long, short, value_name = "E", default_value = "65537", value_parser = exponent)]
    pub(crate) e: Exponent,
    /// How many keys; 1 if not given, or as many as --names lists.
    #[arg(long, value_name = "N", value_parser = within(KEYS))]
    pub(crate) count: Option<u64>,
    /// A file of names, one a line, for the files of the keys; OpenSSH's keys have them as a comment, JSON Web Keys as
    /// their kid.
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
    /// Make a part of the keys, as 3/8, in an archive: those of its numbers, of the --count of all. The same command
    /// goes on with a part, and 'rsalab merge' puts all together.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Part>,
    #[command(flatten)]
    pub(crate) threads: ThreadsOption,
    /// Where private keys go: a file for one, a folder for several (or 'DIR/'), FILE.tar, or '-' for standard output.
    #[arg(long, short, value_name = "FILE|DIR")]
    pub(crate) out: PathBuf,
    /// Also write the public key next to each private key; next to a set of private keys, a set of the public ones
    /// (keys.pub.json for keys.json).
    #[arg(long)]
    pub(crate) public: bool,
    /// Also write the public key of one key to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "public")]
    pub(crate) public_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    /// The file whose first line is the password of encrypted keys; without it, rsalab asks for one.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Draw every candidate for a prime anew, to the letter of the standard.
    #[arg(long, conflicts_with_all = ["engine", "insecure_seed"])]
    pub(crate) strict: bool,
    /// For tests: make the keys of this seed, the same each time. They protect nothing, and are marked so.
    #[arg(long, value_name = "HEX", conflicts_with = "engine")]
    pub(crate) insecure_seed: Option<Seed>,
    /// Allow fewer than 2048 bits, which protect nothing today.
    #[arg(long)]
    pub(crate) insecure_size: bool,
    /// The engine that makes the keys, in place of rsalab itself ('rsalab engines' lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// The format of key files.
#[derive(Clone, Copy, Args)]
pub(crate) struct FormatOption {
    /// How keys are written; with the pkcs8 formats a public key is SPKI.
    #[arg(long, value_enum, default_value_t = KeyFormat::Pkcs8Pem)]
    pub(crate) format: KeyFormat,
}

/// The formats of key files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormat {
    /// PKCS#8, text.
    Pkcs8Pem,
    /// PKCS#8, binary.
    Pkcs8Der,
    /// PKCS#1, text.
    Pkcs1Pem,
    /// PKCS#1, binary.
    Pkcs1Der,
    /// PKCS#8, text, encrypted with a password (PBES2: scrypt, AES-256).
    Pkcs8Encrypted,
    /// A JSON Web Key; several in a stream are a key a line.
    Jwk,
    /// One JSON Web Key Set of all keys.
    JwkSet,
    /// OpenSSH's own format.
    Openssh,
    /// A public key's DNS record for DKIM, as a zone file has it; of 'key public' alone.
    Dkim,
}

impl KeyFormat {
    /// Refuses a format that has no private keys.
    pub(crate) fn check_private(self) -> Result<()> {
        match self {
            KeyFormat::Dkim => Err(Failure::new(
                Class::Usage,
                "--format dkim is of public keys, and this command writes private ones",
            )
            .advice("write the record with 'rsalab key public --format dkim'")),
            _ => Ok(()),
        }
    }

    /// As it is typed.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value().expect("no format is hidden");
        value.get_name().to_owned()
    }
}

/// Check a key, extract its public half, or write it in another format
#[derive(Subcommand)]
pub(crate) enum Key {
    Check(KeyCheck),
    Public(KeyPublic),
    Convert(KeyConvert),
}

/// Check keys: what they are, and what is invalid or weak about them
///
/// Of a private key every relation between its numbers is checked and its primes are tested; of a public key the
/// modulus is examined; of all keys together, whether two share a prime. Each key of each file gets a verdict: good,
/// weak, wrong, unsupported (a key that rsalab does not work with) or unreadable.
///
/// Exit code 3: one of them is wrong, unsupported (where its file has no RSA key) or no key at all, or, with --strict,
/// weak. Exit code 5: a file could not be read.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab key check key.pem
  rsalab key check *.pem --strict --json")]
pub(crate) struct KeyCheck {
    /// Keys, private or public, certificates, sets of JSON Web Keys, or lines of authorized_keys.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Refuse weak keys: too short, of too small an exponent, or easy to factor.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Rounds of the Miller–Rabin test for each prime; one round passes a composite with a chance of at most 1 in 4. If
    /// not given, 64 up to keys of 4096 bits, 32 up to 6144, and 8 above.
    #[arg(long, value_name = "N", value_parser = within(1..=1000_usize))]
    pub(crate) rounds: Option<usize>,
    /// A list of known keys, or a folder of lists: in the format of Debian's packages openssl-blacklist and
    /// openssh-blacklist, whose places are always searched, or SHA-256 of SubjectPublicKeyInfo in hexadecimal.
    #[arg(long, value_name = "PATH")]
    pub(crate) blocklist: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: KeyFileOptions,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Write the public half of a key
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab key public key.pem
  rsalab key public certificate.pem --format openssh --out key.pub
  rsalab key public key.pem --format dkim")]
pub(crate) struct KeyPublic {
    /// A private key, a public key or a certificate.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) out: OutOption,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) reading: KeyFileOptions,
}

/// Write a private key in another format
///
/// The new file is readable by its owner only, and nothing that exists is overwritten. A key for RSASSA-PSS only
/// remains one, and is refused where the format cannot express that.
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
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) reading: KeyFileOptions,
    /// The file whose first line is the password of the new file; without it, rsalab asks for one.
    #[arg(long, value_name = "FILE")]
    pub(crate) new_password_file: Option<PathBuf>,
}

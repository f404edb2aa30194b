//! Encrypting, signing, and their opposites.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum, builder::PossibleValuesParser, builder::TypedValueParser};
use rsalab_rsa::{hash::Hash, scheme::SaltLen};
use rsalab_study::plan::THREADS;

use super::{JsonOption, KernelOption, within};

/// The key of an operation.
#[derive(Args)]
pub(crate) struct KeyOptions {
    /// The key. Where a public one is needed, a private key or a certificate does too.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// The file whose first line is the password of the key, if it is encrypted; without it, it is asked for.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) size: SizeOption,
}

/// How long a key may be.
#[derive(Clone, Copy, Args)]
pub(crate) struct SizeOption {
    /// Take keys of more than 8192 bits, up to 16384, which cost seconds to read and to use.
    #[arg(long)]
    pub(crate) large_keys: bool,
}

/// Whether what a key's file says of its use is binding.
#[derive(Clone, Copy, Args)]
pub(crate) struct UseOption {
    /// Use the key although its file says that it is for something else (JWK's use, key_ops and alg; a certificate's key usage).
    #[arg(long)]
    pub(crate) any_use: bool,
}

/// What is read.
#[derive(Args)]
pub(crate) struct InputOptions {
    /// The file to read; standard input if there is none, or '-'. Of several, each gets a result beside it.
    #[arg(value_name = "FILE", conflicts_with_all = ["input", "files_from"])]
    pub(crate) files: Vec<PathBuf>,
    /// The file to read, as an option.
    #[arg(long = "in", value_name = "FILE", conflicts_with = "files_from")]
    pub(crate) input: Option<PathBuf>,
    /// A file with the names of the files to read, one a line; each gets a result beside it.
    #[arg(long, value_name = "LIST")]
    pub(crate) files_from: Option<PathBuf>,
}

/// How messages are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CipherScheme {
    /// RSAES-OAEP.
    Oaep,
    /// RSAES-PKCS1-v1_5; decryption rejects implicitly.
    Pkcs1v15,
}

/// The parameters of encryption.
#[derive(Args)]
pub(crate) struct CipherSchemeOptions {
    /// The scheme.
    #[arg(long, value_enum, default_value_t = CipherScheme::Oaep)]
    pub(crate) scheme: CipherScheme,
    /// The hash of OAEP; sha256 if not given.
    #[arg(long, value_name = "HASH", value_parser = hash())]
    pub(crate) hash: Option<Hash>,
    /// The hash of OAEP's mask; that of --hash if not given.
    #[arg(long, value_name = "HASH", value_parser = hash())]
    pub(crate) mgf_hash: Option<Hash>,
    /// The label of OAEP, which decryption must know; empty if not given.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) label: Option<OsString>,
}

/// Encrypt messages
///
/// A message that is short enough for the key is encrypted, as others decrypt it. Each of several files gets FILE.enc beside it; one
/// that cannot be encrypted does not stop the others, and the same command goes on.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab encrypt --key public.pem --text 'attack at dawn' --out message.enc
  rsalab encrypt --hash sha512 --label orders --key public.pem message.txt --out message.enc
  rsalab encrypt --scheme pkcs1v15 --key certificate.pem *.key")]
pub(crate) struct Encrypt {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    /// The message itself, in place of a file.
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with_all = ["files", "input", "files_from"],
        allow_hyphen_values = true
    )]
    pub(crate) text: Option<OsString>,
    #[command(flatten)]
    pub(crate) any_use: UseOption,
    #[command(flatten)]
    pub(crate) cipher: CipherOptions,
}

/// Decrypt messages that 'encrypt', or another program, made
///
/// With --scheme pkcs1v15 a ciphertext whose padding is wrong gives a message all the same, one that means nothing and is
/// always the same for it: whoever sends ciphertexts to be decrypted learns nothing from what happens. Each of several files gets
/// FILE.dec beside it; one that is wrong does not stop the others, and ends the command with exit code 4.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab decrypt --key key.pem message.enc
  rsalab decrypt --hash sha512 --label orders --key key.pem message.enc --out message.txt")]
pub(crate) struct Decrypt {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) any_use: UseOption,
    #[command(flatten)]
    pub(crate) cipher: CipherOptions,
}

/// What encryption and decryption share.
#[derive(Args)]
pub(crate) struct CipherOptions {
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// The file to make, which must not exist; standard output if there is none, or '-'.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scheme: CipherSchemeOptions,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
}

/// Encrypt a text of any length as raw blocks, for study only
///
/// As the studies that rsalab repeats did it, text is cut into blocks, and each block is raised to the public exponent, with no
/// padding. Equal blocks give equal ciphertext, and short ones can be guessed: do not protect anything with it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab text-encrypt --key public.pem message.txt --out message.rsa
  cat message.txt | rsalab text-encrypt --key public.pem --threads 4 --trace > message.rsa")]
pub(crate) struct TextEncrypt {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    /// The text itself, in place of a file.
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with_all = ["files", "input", "files_from"],
        allow_hyphen_values = true
    )]
    pub(crate) text: Option<OsString>,
    /// Bytes of text in one block; one fewer than the modulus has if not given. Decryption reads it from the file.
    #[arg(long, value_name = "N")]
    pub(crate) block_symbols: Option<usize>,
    #[command(flatten)]
    pub(crate) any_use: UseOption,
    #[command(flatten)]
    pub(crate) texts: TextOptions,
}

/// Decrypt a text that 'text-encrypt' made
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab text-decrypt --key key.pem message.rsa
  rsalab text-decrypt --key key.pem --threads 4 --trace --json message.rsa --out message.txt")]
pub(crate) struct TextDecrypt {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) any_use: UseOption,
    #[command(flatten)]
    pub(crate) texts: TextOptions,
}

/// What texts in raw blocks share.
#[derive(Args)]
pub(crate) struct TextOptions {
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// The file to make, which must not exist; standard output if there is none, or '-'.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Threads that the blocks are split over; all CPUs if not given.
    #[arg(long, value_name = "N", value_parser = within(THREADS))]
    pub(crate) threads: Option<usize>,
    /// Tell on standard error what each thread did, and when.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Tell it in JSON.
    #[arg(long, requires = "trace")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
}

/// How messages are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignatureSchemeName {
    /// RSASSA-PSS.
    Pss,
    /// RSASSA-PKCS1-v1_5.
    Pkcs1v15,
}

/// The parameters of signatures. A key that names its own needs none.
#[derive(Args)]
pub(crate) struct SignatureOptions {
    /// The scheme; pss if not given.
    #[arg(long, value_enum)]
    pub(crate) scheme: Option<SignatureSchemeName>,
    /// The hash of the message; sha256 if not given. sha1 is verified, and signs nothing.
    #[arg(long, value_name = "HASH", value_parser = hash())]
    pub(crate) hash: Option<Hash>,
    /// The hash of PSS's mask; that of --hash if not given.
    #[arg(long, value_name = "HASH", value_parser = hash())]
    pub(crate) mgf_hash: Option<Hash>,
    /// Bytes of PSS's salt: a number, 'digest' for as many as the digest has, 'max', or, to verify, 'any'; digest if not given.
    #[arg(long, value_name = "N", value_parser = salt)]
    pub(crate) salt_len: Option<Salt>,
}

/// A length of salt that was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Salt(pub(crate) SaltLen);

/// Sign messages
///
/// The signature, as long as the modulus, goes to FILE.sig beside the file, or to --sig. Those of several files are made side by
/// side, several times as fast. A file that cannot be signed does not stop the others, and the same command goes on: a
/// FILE.sig that is a signature of FILE stays as it is.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab sign --key key.pem message.txt --sig message.sig
  rsalab sign --scheme pkcs1v15 --hash sha512 --key key.pem *.tar
  find . -name '*.tar' | rsalab sign --key key.pem --files-from -")]
pub(crate) struct Sign {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) any_use: UseOption,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// Where the signature goes, a file that must not exist, or '-' for standard output; FILE.sig if not given, and standard output
    /// for what comes from standard input.
    #[arg(long, visible_alias = "out", value_name = "FILE")]
    pub(crate) sig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scheme: SignatureOptions,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
}

/// Verify signatures
///
/// To the letter of RFC 8017: the exact length, below the modulus, and nothing of the encoding is forgiven. Of several files
/// each has its signature beside it, FILE.sig, and each gets a verdict. Exit code 4 says that a signature is wrong, whatever
/// became of the other files; 5 that a file or a signature could not be read.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab verify --key public.pem --sig message.sig message.txt
  rsalab verify --scheme pkcs1v15 --hash sha512 --key certificate.pem *.tar --json")]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) any_use: UseOption,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// The signature of the one file that is read; FILE.sig if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) sig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scheme: SignatureOptions,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Raise blocks to the private exponent, without any padding
///
/// Blocks are as long as the modulus, big-endian, and lie one after another; so do the results. It is blinded, and checked
/// before it is given out. For protocols that do their own padding: without one RSA protects nothing.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab raw-private --key key.pem --in blocks --out results")]
pub(crate) struct RawPrivate {
    #[command(flatten)]
    pub(crate) raw: RawOptions,
}

/// Raise blocks to the public exponent, without any padding
///
/// Blocks are as long as the modulus, big-endian, and lie one after another; so do the results.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab raw-public --key public.pem --in results --out blocks")]
pub(crate) struct RawPublic {
    #[command(flatten)]
    pub(crate) raw: RawOptions,
}

/// What raw operations share.
#[derive(Args)]
pub(crate) struct RawOptions {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) any_use: UseOption,
    /// The file to read; standard input if there is none, or '-'.
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// The file to make, which must not exist; standard output if there is none, or '-'.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Threads that the blocks are split over; all CPUs if not given.
    #[arg(long, value_name = "N", value_parser = within(THREADS))]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
}

fn hash() -> impl TypedValueParser<Value = Hash> {
    PossibleValuesParser::new(Hash::ALL.map(Hash::name))
        .try_map(|name| name.parse::<Hash>().map_err(|error| error.to_string()))
}

fn salt(typed: &str) -> Result<Salt, String> {
    Ok(Salt(match typed {
        "digest" => SaltLen::Digest,
        "max" => SaltLen::Max,
        "any" => SaltLen::Any,
        number => SaltLen::Bytes(number.parse().map_err(|_| {
            "a number of bytes is possible, or 'digest', 'max' or 'any'".to_owned()
        })?),
    }))
}
